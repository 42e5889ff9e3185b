"""Two equal Reno flows where no link has a delay, or loses it: the share of the first, and losses.
`make bench ARGS="-k without_delay"` prints a line for each path; SEEDS says how many runs.
"""

import os

import pytest

import netlab as nl

SEEDS = range(1, int(os.environ.get("SEEDS", 10)) + 1)
SECONDS = {"10mbit": 40, "80mbit": 20, "500mbit": 20}  # a slow line has fewer losses in a second
FRAME_BYTES = 1514
PAIRS = ("h1", "h2"), ("h3", "h4")


def queue_bytes(rate):
    """Room for 20 ms of a link, and for 40 frames at least."""
    return max(int(nl.units.rate_bps(rate) * 0.02 / 8), 40 * FRAME_BYTES)


def plain(rate, delay=None, **more):
    return nl.wan(rate, delay, burst=15_000, limit=queue_bytes(rate), **more)


def a_discipline_at_each_hop(rate):
    """Queues before and behind the bottleneck, which are never full."""
    path = plain(rate)
    faster = f"{2 * nl.units.rate_bps(rate):.0f}bit"
    links = [
        link if link.rate else link.but(rate=faster, burst=15_000, limit=1_000_000)
        for link in path.links
    ]
    return path.but(links=links)


def two_routers(rate):
    """Hosts at two routers, with the bottleneck between these."""
    bottleneck = nl.Link("r1", "r2", rate=rate, burst=15_000, limit=queue_bytes(rate))
    hosts = [nl.Host(f"h{n}", f"10.0.{n}.1/24") for n in range(1, 5)]
    near, far = ["10.0.1.254/24", "10.0.3.254/24"], ["10.0.2.254/24", "10.0.4.254/24"]
    return nl.Topology(
        hosts=hosts,
        switches=[],
        routers=[nl.Router("r1", [*near, "10.1.0.1/24"]), nl.Router("r2", [*far, "10.1.0.2/24"])],
        links=[
            *(nl.Link(host, "r1") for host in ("h1", "h3")),
            *(nl.Link(host, "r2") for host in ("h2", "h4")),
            bottleneck,
        ],
    )


PATHS = {
    "no delay": plain,
    "0ms": lambda rate: plain(rate, "0ms"),
    "no offload": lambda rate: plain(rate, offload=False),
    "a discipline at each hop": a_discipline_at_each_hop,
    "two routers": two_routers,
    "serialised": lambda rate: nl.wan(rate, None, limit=queue_bytes(rate), serialise=True),
    "paced hosts": lambda rate: plain(rate, host_qdisc="fq"),
    "the delay goes": lambda rate: plain(rate, "20ms"),
}


@pytest.mark.parametrize("rate", SECONDS)
@pytest.mark.parametrize("what", PATHS)
def test_two_equal_flows_share(what, rate):
    path, after_s, more = PATHS[what](rate), 2, []
    if what == "the delay goes":
        bottleneck = next(link for link in path.links if link.rate)
        more, after_s = [nl.Change(bottleneck.a, bottleneck.b, at="6s", delay="0ms")], 8
    shares, losses = [], []
    for seed in SEEDS:
        flows = [nl.Iperf3(*ends, congestion="reno", time=SECONDS[rate]) for ends in PAIRS]
        rows = nl.run(path, *flows, *more, seed=seed).intervals
        rows = rows[rows.start_s >= after_s - 0.01].groupby("flow")
        sent = rows.sent_bps.sum()
        shares.append(sent.iloc[0] / sent.sum())
        losses.append(rows.retransmits.sum().sum())
    print(
        f"\n{what}, {rate}: share of the first {min(shares):.2f} to {max(shares):.2f},"
        f" lost {min(losses):.0f} to {max(losses):.0f}",
        flush=True,
    )
    assert min(shares) >= 0.35 and max(shares) <= 0.65 and min(losses) > 0
