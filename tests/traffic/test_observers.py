"""Windows and queues that are watched: the run stays as it is, and what they say agrees with what
iperf3 says.
"""

import numpy as np
import pytest

import netlab as nl

# as if it were lossy: without offload; what is lost is what its queue does not hold
PATH = nl.wan("100mbit", "20ms", burst=15_000, limit=100_000, offload=False)
TESTS = [
    nl.Iperf3("h1", "h2", parallel=2, congestion="reno", time=3),
    nl.Iperf3("h3", "h4", parallel=2, congestion="cubic", time=3),
]
SEEN = [nl.Windows("h1"), nl.Windows("h3", every="10ms"), nl.Queue("s1", "s2")]


@pytest.fixture(scope="module")
def alone():
    return nl.run(PATH, *TESTS)


@pytest.fixture(scope="module")
def watched():
    return nl.run(PATH, *TESTS, *SEEN)


def test_a_run_that_is_watched_has_the_bytes_of_one_that_is_not(alone, watched):
    assert {name: watched.raw[name] for name in alone.raw} == alone.raw
    assert len(watched.raw) == len(alone.raw) + 3
    assert watched.flows.equals(alone.flows) and watched.streams.equals(alone.streams)


def test_the_order_of_the_traffic_does_not_matter(watched):
    mixed = nl.run(PATH, SEEN[0], TESTS[0], SEEN[1], TESTS[1], SEEN[2])
    assert mixed.raw == watched.raw and mixed.windows.equals(watched.windows)
    assert mixed.flows.equals(watched.flows)


def test_streams_are_numbered_as_iperf3_numbers_them(watched):
    """Each stream's retransmissions, as the kernel counts them, are those of the same row."""
    streams = watched.streams.set_index(["flow", "stream"]).retransmits
    last = watched.windows.groupby(["flow", "stream"]).retransmits.last()
    assert last.index.tolist() == [(1, 1), (1, 2), (2, 1), (2, 2)]
    # the kernel goes on counting when iperf3 has looked for the last time
    assert (last - streams.loc[last.index]).between(0, 2).all() and last.max() > 100
    assert len(set(last)) > 2, "which tells them apart"


def test_each_flow_has_its_host_and_times_begin_with_the_traffic(watched):
    windows = watched.windows
    assert windows.groupby("flow").src.unique().map(list).tolist() == [["h1"], ["h3"]]
    begins = windows.groupby("flow").time_s.min()
    starts = watched.flows.start_s.to_numpy()
    assert (begins > starts).all() and (begins < starts + 0.3).all()
    assert windows.time_s.max() < starts.max() + 3.5


@pytest.fixture(scope="module")
def every():
    """Every change is told."""
    return nl.run(PATH, *TESTS, nl.Windows("h3"), nl.Queue("s1", "s2", every=None))


def test_thinned_windows_are_some_of_all(watched, every):
    every = every.windows
    thin = watched.windows[watched.windows.flow == 2]
    assert 300 < len(thin) < 0.5 * len(every)
    both = thin.merge(every, how="inner")
    assert len(both) == len(thin)
    for (_, number), own in every.groupby(["flow", "stream"]):
        kept = thin[thin.stream == number]
        changed = own[own.state != own.state.shift()]
        assert set(changed.time_s) <= set(kept.time_s)
        assert kept.time_s.diff().max() < 0.3


def test_a_queue_tells_its_disciplines_and_keeps_its_peaks(watched, every):
    queues = watched.queues
    assert set(queues.qdisc) == {"tbf", "netem"} and set(queues.src + queues.dst) == {"s1s2"}
    tbf = queues[queues.qdisc == "tbf"]
    assert 90_000 < tbf.backlog_bytes.max() <= 100_000
    assert tbf.drops.is_monotonic_increasing and tbf.drops.max() > 0
    assert len(tbf) <= (tbf.time_s.max() - tbf.time_s.min()) / 0.01 + 3
    every = every.queues
    assert every[every.qdisc == "tbf"].backlog_bytes.max() == tbf.backlog_bytes.max()
    assert every.drops.max() == queues.drops.max()


def test_the_sender_of_a_reverse_test_cannot_be_watched():
    path = nl.wan("100mbit", "20ms", pairs=1)
    test = nl.Iperf3("h1", "h2", reverse=True, time=2)
    with pytest.raises(nl.SpecificationError, match=r"Windows\.src = .h2.: with reverse"):
        nl.Experiment(path, test, nl.Windows("h2"))
    assert nl.Experiment(path, test, nl.Windows("h1"))


def test_what_is_not_there_is_refused():
    with pytest.raises(nl.SpecificationError, match="h9"):
        nl.Experiment(PATH, *TESTS, nl.Windows("h9"))
    with pytest.raises(nl.SpecificationError):
        nl.Experiment(PATH, *TESTS, nl.Queue("h1", "h2"))
    with pytest.raises(nl.SpecificationError, match=r"Windows.every = 'often'"):
        nl.Windows("h1", every="often")


def test_windows_are_above_what_is_in_flight_while_nothing_is_lost(watched):
    calm = watched.windows[watched.windows.state == "open"]
    assert (calm.in_flight <= calm.cwnd + 1).mean() > 0.99
    assert np.allclose(calm.mss_bytes, 1448) and calm.srtt_s.between(0.02, 0.05).all()
