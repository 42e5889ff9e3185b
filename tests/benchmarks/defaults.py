"""Twenty conclusions of the notebooks under other defaults: docs/defaults.md.

``python -m tests.benchmarks.defaults`` measures them, keeps the values in defaults.csv, and writes
the page's tables and its figure; ``python -m tests.benchmarks.defaults_page`` only writes these.

The experiments are the notebooks' own, at rates of 10 to 100 Mbit/s (random loss: over a link that
is never full), so that each takes a few seconds. No path has a `burst` of its own.
"""

import argparse
import csv
import math
import time
from pathlib import Path
from typing import NamedTuple

import netlab as nl
from netlab.engines.guest import store
from netlab.errors import NetlabError
from tests import guest_here

CSV = Path(__file__).with_suffix(".csv")
OPTIONS = {  # what nl.wan is given
    "as is": {},
    "noise 20 µs": dict(noise="20us"),
    "bucket 15 kB": dict(burst=15_000),
    "fq": dict(host_qdisc="fq"),
    "bucket 3 kB": dict(burst=3028),
    "noise 200 µs": dict(noise="200us"),
    "line": dict(serialise=True),
}
RENO = dict(congestion="reno")
PAIRS = ("h1", "h2"), ("h3", "h4")
OWN = "dctcp-own"  # measured beside them: as dctcp-alike, of nl.algorithms.DCTCP


class Conclusion(NamedTuple):
    notebook: str
    sentence: str
    least: float  # it holds from this value ...
    most: float  # ... to this one
    where: str  # what is measured

    def holds(self, value):
        return self.least <= value <= self.most


INF = float("inf")
CONCLUSIONS = {
    "window": Conclusion(
        *("01", "Twice the RTT halves what a window carries", 0.475, 0.525),
        "throughput at 40 ms over that at 20 ms, buffers of 200 kB, 100 Mbit/s",
    ),
    "eight-fill": Conclusion(
        *("02", "Eight streams carry twice what one full window does", 1.8, INF),
        "throughput of 8 streams over that of 1, whose window is half of the pipe; 100 Mbit/s",
    ),
    "exponent": Conclusion(
        *("03", "Throughput falls with the square root of the loss", -0.6, -0.4),
        "exponent from 0.1 % to 1 %, 4 Reno streams, 20 ms",
    ),
    "constant": Conclusion(
        *("03", "Mathis' constant is near 1.3", 1.1, 1.4),
        "throughput over the formula with C = 1, the same runs",
    ),
    "k-times": Conclusion(
        *("03", "K streams carry K times what one does", 3.4, 4.6),
        "4 Reno streams over 1, 1 % of loss",
    ),
    "acks": Conclusion(
        *("03", "The receiver sends an ACK for four or five segments", 3.5, 5.5),
        "segments per ACK, 8 Reno streams, 0.1 % of loss",
    ),
    "overshoot": Conclusion(
        *("04", "Three seconds after the start a quarter of the peak is left", 0.2, 0.3),
        "sum of 4 Reno windows at 3 s over its peak, 100 Mbit/s, 100 ms, a queue of 1 BDP",
    ),
    "growth": Conclusion(
        *("04", "K streams grow by K segments per round trip", 0.98, 1.02),
        "growth of the sum from 5 to 9 s, per stream; the same runs",
    ),
    "one-loss": Conclusion(
        *("04", "One loss costs 1/(2K)", 0.85, 1.15),
        "mean cut of the throughput of 2 streams, times 2 K",
    ),
    "rtt-bias": Conclusion(
        *("05", "Under random loss shares go with 1/RTT", 0.75, 0.85),
        "share of the near one of two Renos, 20 and 80 ms, 0.4 % of loss, 20 s",
    ),
    "two-renos": Conclusion(
        *("06", "Two Renos share well after 45 sawteeth", 0.9, 1),
        "Jain's index over 50 s, 50 Mbit/s, 20 ms, a queue of 1 BDP",
    ),
    "eight-uneven": Conclusion(
        *("06", "Eight CUBIC streams are uneven after ten seconds", 0, 0.9),
        "Jain's index, 1 Gbit/s, 20 ms, 5 s",
    ),
    "bbr-short": Conclusion(
        *("07", "Behind a short queue BBR takes nine tenths", 0.85, 1),
        "BBR's share beside Reno, a queue of 1/2 BDP, 50 Mbit/s, 30 s",
    ),
    "root-n": Conclusion(
        *("07", "N flows need a queue of 1 BDP over the root of N", 0.98, 1.01),
        "part of the link that 4 Reno streams fill, 1/2 BDP, 50 Mbit/s, 40 ms",
    ),
    "nine-to-one": Conclusion(
        *("08", "One against nine has a tenth", 0.07, 0.13),
        "share of 1 Reno beside 9, 100 Mbit/s, a queue of 1 BDP, from the 10th second",
    ),
    "dctcp-wait": Conclusion(
        *("08", "DCTCP fills the link and waits for no more than the mark", 0.98, 1.01),
        "part of the link, the kernel's DCTCP; 0 where the mean wait is above 1.2 ms; codel marks"
        " from 1 ms",
    ),
    "dctcp-alike": Conclusion(
        *("08", "Two equal flows share a queue that marks", 0.5, 0.6),
        "the larger share of two of the kernel's DCTCP, codel marks from 1 ms, 100 Mbit/s",
    ),
    "short-queue": Conclusion(
        *("09", "A queue of a quarter of its BDP costs Reno a tenth, CUBIC little", 0.04, 0.2),
        "part of the link, CUBIC's less Reno's, 20 Mbit/s, 80 ms, 60 s",
    ),
    "fq-codel-one": Conclusion(
        *("10", "fq_codel makes single flows alike", 0.4, 0.6),
        "BBR's share beside Reno, 10 Mbit/s, 40 ms, 30 s",
    ),
    "fq-codel-eight": Conclusion(
        *("10", "fq_codel leaves eight flows eight", 0.8, 0.95),
        "share of 8 Renos beside 1, 10 Mbit/s, 40 ms, 30 s",
    ),
}


def carried(path, *traffic, seed):
    """What each test received. [bit/s]"""
    return nl.run(path, *traffic, seed=seed).flows.received_bps.to_numpy()


def share(path, first, second, seed):
    bps = carried(path, first, second, seed=seed)
    return bps[0] / bps.sum()


def window(seed, **option):
    test = nl.Iperf3("h1", "h2", time=4, omit=1)
    near, far = (
        carried(nl.wan("100mbit", delay, buffers=200_000, pairs=1, **option), test, seed=seed)[0]
        for delay in ("20ms", "40ms")
    )
    return {"window": far / near}


def eight_fill(seed, **option):
    path = nl.wan("100mbit", "20ms", buffers=167_000, pairs=1, **option)
    one, eight = (
        carried(path, nl.Iperf3("h1", "h2", parallel=n, time=5), seed=seed)[0] for n in (1, 8)
    )
    return {"eight-fill": eight / one}


def random_loss(seed, **option):
    def reno(loss, streams, seconds):
        test = nl.Iperf3("h1", "h2", parallel=streams, time=seconds, omit=3, **RENO)
        return carried(nl.wan("1gbit", "20ms", loss, pairs=1, **option), test, seed=seed)[0]

    rare, often, single = reno("0.1%", 4, 10), reno("1%", 4, 10), reno("1%", 1, 20)
    of_model = [
        bps / nl.models.mathis_bps(1448, 0.02, loss, streams=4, c=1)
        for bps, loss in ((rare, 0.001), (often, 0.01))
    ]
    return {
        "exponent": math.log10(often / rare),
        "constant": (of_model[0] * of_model[1]) ** 0.5,
        "k-times": often / single,
    }


def acks(seed, **option):
    path = nl.wan("1gbit", "20ms", "0.1%", pairs=1, **option)
    test = nl.Iperf3("h1", "h2", parallel=8, time=5, omit=2, **RENO)
    n = nl.run(path, test, nl.Nstat("h1"), seed=seed).counts["h1"]
    return {"acks": n["TcpOutSegs"] / n["TcpInSegs"]}


def four_windows(seed, **option):
    queue = dict(limit=1_250_000, offload=False)
    path = nl.wan("100mbit", "100ms", pairs=1, **queue, **option)
    test = nl.Iperf3("h1", "h2", parallel=4, time=10, **RENO)
    rows = nl.run(path, test, nl.Windows("h1", every="10ms"), seed=seed).windows
    table = rows.pivot_table("cwnd", "time_s", "stream", aggfunc="last").ffill()
    sums, one = table.sum(axis=1), rows[rows.stream == 1].set_index("time_s").loc[5:9]
    round_trips = (one.index.to_series().diff() / one.srtt_s).sum()
    grown = sums.loc[:9].iloc[-1] - sums.loc[5:].iloc[0]
    return {
        "overshoot": sums.loc[:3].iloc[-1] / sums.max(),
        "growth": grown / round_trips / 4,
    }


def one_loss(seed, **option):
    """As notebook 04: h2 drops one packet of a stream, or none."""
    path = nl.wan("100mbit", "100ms", limit=150_000, pairs=1, offload=False, **option)
    rule = "dev h2-eth0 ingress protocol ip pref 1"
    match = "u32 match ip sport ${port##*:} 0xffff match u16 0 0x3f at 4"

    def second(stream):
        port = f"ss -tnH sport = :5201 | awk '{{print $5}}' | sort | sed -n {max(stream, 1) + 1}p"
        drop = nl.Shell(
            "h2",
            f"""tc qdisc add dev h2-eth0 clsact; sleep 3; port=$({port})
            tc filter add {rule} {match} action {"drop" if stream else "ok"}
            until [[ $(tc -s filter show {rule}) =~ Sent\\ [1-9] ]]; do sleep 0.005; done
            tc filter del {rule}""",
        )
        test = nl.Iperf3("h1", "h2", parallel=2, omit=3, time=1, **RENO)
        return carried(path, test, drop, seed=seed)[0]

    without, *each = map(second, range(3))
    return {"one-loss": 2 * 2 * (1 - sum(each) / len(each) / without)}


def rtt_bias(seed, **option):
    path = nl.wan("1gbit", "20ms", "0.4%", **option)
    far = nl.Link("s1", "h3", delay="60ms")  # ACKs wait: h3's own card is free for `fq`
    path = path.but(links=[far if "h3" in (link.a, link.b) else link for link in path.links])
    tests = [nl.Iperf3(*ends, time=20, omit=5, **RENO) for ends in PAIRS]
    return {"rtt-bias": share(path, *tests, seed)}


def two_renos(seed, **option):
    path = nl.wan("50mbit", "20ms", limit=125_000, **option)
    tests = [nl.Iperf3(*ends, time=50, **RENO) for ends in PAIRS]
    return {"two-renos": nl.jain_index(carried(path, *tests, seed=seed))}


def eight_uneven(seed, **option):
    path = nl.wan("1gbit", "20ms", buffers=5_242_880, pairs=1, **option)
    run = nl.run(path, nl.Iperf3("h1", "h2", parallel=8, time=5), seed=seed)
    return {"eight-uneven": nl.jain_index(run.streams.received_bps)}


def bbr_short(seed, **option):
    path = nl.wan("50mbit", "20ms", limit=62_500, **option)
    tests = [
        nl.Iperf3(*ends, congestion=one, time=30)
        for ends, one in zip(PAIRS, ("bbr", "reno"), strict=True)
    ]
    return {"bbr-short": share(path, *tests, seed)}


def root_n(seed, **option):
    path = nl.wan("50mbit", "40ms", limit=125_000, pairs=1, offload=False, **option)
    test = nl.Iperf3("h1", "h2", parallel=4, time=20, omit=10, **RENO)
    return {"root-n": carried(path, test, seed=seed)[0] / nl.models.goodput_bps(50e6)}


def nine_to_one(seed, **option):
    path = nl.wan("100mbit", "20ms", limit=250_000, offload=False, **option)
    how = dict(time=20, omit=10, **RENO)
    tests = nl.Iperf3("h1", "h2", **how), nl.Iperf3("h3", "h4", parallel=9, **how)
    return {"nine-to-one": share(path, *tests, seed)}


def marking(**more):
    sysctls = {"net.ipv4.tcp_ecn": 3}
    return nl.wan("100mbit", "20ms", qdisc="codel ce_threshold 1ms ecn", sysctls=sysctls, **more)


def dctcp_wait(seed, **option):
    test = nl.Iperf3("h1", "h2", congestion="dctcp", time=8, omit=3)
    flow = nl.run(marking(**option), test, seed=seed).flows.iloc[0]
    part = flow.received_bps / nl.models.goodput_bps(100e6)
    return {"dctcp-wait": part if flow.rtt_s - 0.02 <= 0.0012 else 0}


def larger_share(congestion, seed, **option):
    tests = [nl.Iperf3(*ends, congestion=congestion, time=15, omit=5) for ends in PAIRS]
    first = share(marking(**option), *tests, seed)
    return max(first, 1 - first)


def dctcp_alike(seed, **option):
    return {"dctcp-alike": larger_share("dctcp", seed, **option)}


def dctcp_own(seed, **option):
    if "host_qdisc" in option:  # it sets no pacing rate, and two do not fill the link
        return {}
    return {OWN: larger_share(nl.algorithms.DCTCP, seed, **option)}


def short_queue(seed, **option):
    path = nl.wan("20mbit", "80ms", limit=50_000, pairs=1, **option)
    reno, cubic = (
        carried(path, nl.Iperf3("h1", "h2", congestion=one, time=60, omit=20), seed=seed)[0]
        for one in ("reno", "cubic")
    )
    return {"short-queue": (cubic - reno) / nl.models.goodput_bps(20e6)}


def fq_codel(seed, **option):
    path = nl.wan("10mbit", "40ms", qdisc="fq_codel", offload=False, **option)
    victim = nl.Iperf3("h3", "h4", time=30, **RENO)
    bbr = nl.Iperf3("h1", "h2", congestion="bbr", time=30)
    eight = nl.Iperf3("h1", "h2", parallel=8, time=30, **RENO)
    return {
        "fq-codel-one": share(path, bbr, victim, seed),
        "fq-codel-eight": share(path, eight, victim, seed),
    }


MEASURES = (
    *(window, eight_fill, random_loss, acks, four_windows, one_loss, rtt_bias, two_renos),
    *(eight_uneven, bbr_short, root_n, nine_to_one, dctcp_wait, dctcp_alike, dctcp_own),
    *(short_queue, fq_codel),
)


def lines():
    """Of defaults.csv."""
    if not CSV.exists():
        return []
    with open(CSV, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def stored():
    """{(conclusion, option, seed): value}, as measured last."""
    return {
        (row["conclusion"], row["option"], int(row["seed"])): float(row["value"]) for row in lines()
    }


def engine():
    """The digest of the engine of what is stored."""
    return next((row["engine"] for row in lines()), None)


def keep(found):
    """Add values to defaults.csv, and leave out those of another engine."""
    digest = store.current().digest
    values = (stored() if engine() == digest else {}) | found
    order = [*CONCLUSIONS, OWN], [*OPTIONS]
    rows = sorted(values, key=lambda key: (order[0].index(key[0]), order[1].index(key[1]), key[2]))
    with open(CSV, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["conclusion", "option", "seed", "value", "engine"])
        writer.writerows([*key, f"{values[key]:.6g}", digest] for key in rows)


def measure(options, seeds, names=()):
    """Measure, print a line for each value, and keep all in the CSV."""
    for option in options:
        for one in [one for one in MEASURES if not names or one.__name__ in names]:
            for seed in seeds:
                began_s = time.monotonic()
                found = one(seed, **OPTIONS[option])
                keep({(name, option, seed): value for name, value in found.items()})
                took_s = time.monotonic() - began_s
                for name, value in found.items():
                    wrong = name in CONCLUSIONS and not CONCLUSIONS[name].holds(value)
                    told = f"{value:.4g}{'  does not hold' if wrong else ''}  {took_s:.0f} s"
                    print(f"{option}, {name}, {seed}: {told}", flush=True)


def main():
    from tests.benchmarks import defaults_page  # which imports this module

    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.defaults")
    parser.add_argument("names", nargs="*", help="functions that measure, such as acks; none: all")
    parser.add_argument("--option", choices=OPTIONS, action="append", help="none: all")
    parser.add_argument("--seeds", type=int, default=3, help="how many [%(default)s]")
    given = parser.parse_args()
    known = [one.__name__ for one in MEASURES]
    if unknown := [name for name in given.names if name not in known]:
        parser.error(f"unknown: {', '.join(unknown)}; these measure: {', '.join(known)}")
    try:
        guest_here()
    except NetlabError as error:
        parser.error(str(error))
    measure(given.option or OPTIONS, range(1, given.seeds + 1), given.names)
    defaults_page.write(stored())


if __name__ == "__main__":
    main()
