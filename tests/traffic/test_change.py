"""A link that changes: what flows through it is what the new link carries, and nothing is lost by
the change itself.
"""

import re
import runpy
import signal
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as some

import netlab as nl
from netlab.engines.transports import Packets

DATA = Path(__file__).parents[2] / "data"
PATH = nl.wan("50mbit", "20ms", offload=False)
TEST = nl.Iperf3("h1", "h2", time=8, congestion="cubic")
SEEN = nl.Windows("h1"), nl.Queue("s1", "s2", every=None)
CHANGE = nl.Change("s1", "s2", at="4s", rate="10mbit", delay="60ms")


@pytest.fixture(scope="module")
def result():
    return nl.run(PATH, TEST, CHANGE, *SEEN)


def sent_bps(result, begin_s, end_s):
    """The mean over the intervals that lie between these times."""
    rows = result.intervals
    return rows[(rows.start_s > begin_s) & (rows.end_s < end_s)].sent_bps.mean()


def test_flows_carry_what_the_link_does_before_and_after(result):
    assert sent_bps(result, 1, 4) == pytest.approx(nl.models.goodput_bps(50e6), rel=0.03)
    assert sent_bps(result, 5, 8.2) == pytest.approx(nl.models.goodput_bps(10e6), rel=0.08)


def test_round_trips_take_what_the_link_delays():
    pings = nl.Ping("h1", "h2", count=40, interval=0.1)
    there, back = (
        nl.Change("s1", "s2", at, delay=ms) for at, ms in (("1s", "60ms"), ("3s", "5ms"))
    )
    rtts = nl.run(PATH, pings, back, there).pings.set_index("seq").rtt_s
    assert rtts.loc[3:10].to_list() == pytest.approx([0.020] * 8, abs=2e-4)
    assert rtts.loc[12:29].to_list() == pytest.approx([0.060] * 18, abs=2e-4)
    assert rtts.loc[32:].to_list() == pytest.approx([0.005] * 9, abs=2e-4)


def test_what_comes_after_a_shorter_delay_overtakes_what_is_under_way():
    path, pings = nl.wan("50mbit", "60ms"), nl.Ping("h1", "h2", count=80, interval=0.02)
    raw = nl.run(path, pings, nl.Change("s1", "s2", "1s", delay="10ms")).raw["1-ping-h1-h2"]
    numbers = [int(number) for number in re.findall(r"icmp_seq=(\d+)", raw)]
    late = [later for one, later in pairwise(numbers) if later < one]
    assert sorted(numbers) == [*range(1, 81)] and 1 <= len(late) <= 3


def test_packets_are_lost_while_the_link_is_lossy():
    tests = [
        nl.Iperf3("h1", "h2", udp=True, bitrate="20mbit", time=1, start=start)
        for start in (0, 3, 6)
    ]
    lossy = [nl.Change("s1", "s2", at, loss=loss) for at, loss in (("2s", "10%"), ("5s", "0%"))]
    before, during, after = nl.run(PATH, *tests, *lossy).streams.loss
    assert before == after == 0
    assert during == pytest.approx(0.1, abs=0.025)  # 3.5 standard deviations of 1700 packets


def test_the_kernel_says_what_it_has_then(result):
    raw = result.raw["2-change-s1-s2-s1"]
    assert re.search("netem 1: root .* delay 60ms", raw)
    limit = next(link.queue_bytes for link in PATH.links if link.rate)
    ((lat_ms),) = re.findall("tbf 2: parent 1: rate 10Mbit burst 5000b lat ([0-9]+)ms", raw)
    kept = int(lat_ms) / 1000 * 10e6 / 8 + 5000  # tc tells the limit as a time
    assert kept == pytest.approx(limit, rel=0.02)
    row = result.changes.iloc[0].to_dict()
    assert row == dict(
        flow=2, time_s=4, src="s1", dst="s2", rate_bps=10e6, delay_s=0.06, loss_rate=0,
        change="rate 10mbit, delay 60ms",
    )  # fmt: skip


def test_what_waits_stays_in_the_queue(result):
    """A queue that is emptied by a change would hold nothing after it, at an unchanged count."""
    rows = result.queues[(result.queues.qdisc == "tbf") & result.queues.time_s.between(3.99, 4.01)]
    assert (rows.packets > 0).all() and rows.packets.diff().abs().max() <= 45, "a burst at most"
    assert rows.time_s.diff().max() < 0.005


def test_a_run_has_the_same_bytes_again(result):
    again = nl.run(PATH, TEST, CHANGE, *SEEN)
    assert again.raw == result.raw and again.commands == result.commands


def test_it_is_a_part_of_the_experiment_in_json_in_files_and_in_sweeps(result, tmp_path):
    experiment = result.experiment
    assert nl.Experiment.from_json(experiment.to_json()) == experiment
    result.save(tmp_path / "kept")
    assert nl.load(tmp_path / "kept").changes.equals(result.changes)

    def cell(rate):
        changes = nl.Change("s1", "s2", "1s", rate=rate)
        return nl.Experiment(PATH, nl.Iperf3("h1", "h2", time=3, omit=1), changes)

    grid = nl.sweep(cell, rate=["20mbit"])
    assert grid.received_bps[0] == pytest.approx(nl.models.goodput_bps(20e6), rel=0.1)
    assert grid.bottleneck_bps.tolist() == [50e6], "of the network as it begins"


def test_an_algorithm_in_python_lives_through_it():
    class Own(nl.CongestionControl):
        def on_ack(self, tcp, acked):
            tcp.cwnd += acked if tcp.cwnd < tcp.ssthresh else acked / tcp.cwnd

        def on_loss(self, tcp):
            tcp.ssthresh = tcp.cwnd / 2

    test = nl.Iperf3("h1", "h2", congestion=Own, time=8)
    own = nl.run(PATH, test, nl.Change("s1", "s2", "2s", rate="10mbit"))
    assert sent_bps(own, 3, 8.2) == pytest.approx(nl.models.goodput_bps(10e6), rel=0.2)


DISCIPLINES = {  # and what tc shows of each
    "pfifo limit 60": "limit 60p",
    "bfifo limit 90000": "limit 90000b",
    "pfifo_fast": "",
    "fq_codel": "",
    "cake": "",
    "red limit 400kb min 30kb max 90kb avpkt 1000 bandwidth 10mbit": "limit 400Kb min 30Kb",
}


def test_disciplines_stay_as_they_were_with_what_they_hold():
    """One host floods others, each of which is behind a link with another discipline."""
    hosts = [nl.Host(f"h{n}", f"10.0.0.{n + 1}/8") for n in range(len(DISCIPLINES) + 1)]
    far = dict(zip([host.name for host in hosts[1:]], DISCIPLINES, strict=True))
    links = [nl.Link("s1", h, "20ms", rate="10mbit", qdisc=qdisc) for h, qdisc in far.items()]
    path = nl.Topology(hosts, [nl.Switch("s1")], [nl.Link("h0", "s1"), *links])
    tests = [nl.Iperf3("h0", h, time=2, udp=True, bitrate="12mbit") for h in far]
    changes = [nl.Change("s1", h, "1s", rate="8mbit", delay="25ms") for h in far]
    run = nl.run(path, *tests, *changes)
    for number, (h, qdisc) in enumerate(far.items(), len(far) + 1):
        _, own = run.raw[f"{number}-change-s1-{h}-s1"].split("\nqdisc " + qdisc.split()[0])
        assert DISCIPLINES[qdisc] in own
        assert int(re.search(r"backlog \w+ (\d+)p", own)[1]) > 0, qdisc


def test_mininets_own_link_changes_at_both_ends():
    names = "h1", "h2"
    link = nl.Link(*names, delay="10ms", rate="50mbit", both=True, tclink=True)
    path = nl.Topology(hosts=[*BARE.hosts], links=[link])
    change = nl.Change("h2", "h1", "1s", rate="10mbit", delay="30ms")
    run = nl.run(path, nl.Ping("h1", "h2", count=20, interval=0.1), change)
    assert run.pings.rtt_s[12:].to_list() == pytest.approx([0.060] * 8, abs=3e-4)
    assert {name.rpartition("-")[2] for name in run.raw if "change" in name} == {*names}
    assert all("rate 10.000000Mbit" in line for line in run.commands if "tc class change" in line)
    assert len([line for line in run.commands if "tc class change" in line]) == 2


def test_what_is_not_named_stays_and_only_what_differs_is_typed():
    lossy = nl.wan("50mbit", "20ms", "1%")
    changes = [
        nl.Change("s1", "s2", "3s", delay="40ms"),
        nl.Change("s2", "s1", "1s", rate="20mbit"),
        nl.Change("s1", "s2", "2s", loss="0%"),
    ]
    run = nl.run(lossy, nl.Ping("h1", "h2", count=4), *changes)
    rows = run.changes.sort_values("time_s")
    assert rows.rate_bps.tolist() == [20e6] * 3
    assert rows.delay_s.tolist() == [0.02, 0.02, 0.04]
    assert rows.loss_rate.tolist() == [0.01, 0, 0]
    typed = [line for line in run.commands if "tc qdisc change" in line]
    assert ["tbf rate" in line for line in typed] == [True, False, False]
    assert ["netem" in line for line in typed] == [False, True, True]
    assert "loss 1%" in run.raw["3-change-s2-s1-s1"]


@pytest.mark.long
def test_a_hundred_changes_are_not_late():
    """Each sleep ends up to a millisecond late; that does not add up."""
    steps = [nl.Change("s1", "s2", f"{50 * n}ms", delay="20ms") for n in range(1, 100)]
    steps.append(nl.Change("s1", "s2", "5s", loss="50%"))
    pings = nl.Ping("h1", "h2", count=400, interval=0.01)
    run = nl.run(PATH, pings, *steps, nl.Queue("s1", "s2", every=None), stagger="0ms")
    assert 5 < run.queues[run.queues.drops > 0].time_s.min() < 5.06
    assert run.changes.time_s.tolist() == [round(0.05 * n, 9) for n in range(1, 101)]


def test_it_lasts_with_the_experiment():
    assert CHANGE.longer(1.5) == CHANGE.but(at="6s")


BARE = nl.Topology(
    hosts=[nl.Host("h1", "10.0.0.1/8"), nl.Host("h2", "10.0.0.2/8")],
    switches=[nl.Switch("s1"), nl.Switch("s2")],
    links=[nl.Link("h1", "s1"), nl.Link("s1", "s2", rate="10mbit"), nl.Link("s2", "h2")],
)
PINGS = nl.Ping("h1", "h2")


@pytest.mark.parametrize(
    ("words", "path", "arguments"),
    [
        ("no link between 's1' and 'h2'", PATH, ("s1", "h2", "1s", "1mbit")),
        ("no link between 's1' and 's9'", PATH, ("s1", "s9", "1s", "1mbit")),
        (r"Change: nothing changes: give rate, delay or loss", PATH, ("s1", "s2", "1s")),
        (r"Change\.at = '5'.*'5s'|Change\.at = '5'.*ms", PATH, ("s1", "s2", "5", "1mbit")),
        (r"Change\.rate = '20 MB'", PATH, ("s1", "s2", "1s", "20 MB")),
        (r"Change\.loss = '101%'", PATH, ("s1", "s2", "1s", None, None, "101%")),
        (r"delay = '2s': at most 1.5 s", PATH, ("s1", "s2", "1s", None, "2s")),
        (r"at = '20s': the other traffic has ended", PATH, ("s1", "s2", "20s", "1mbit")),
        (r"needs a rate and a delay from the start", PATH, ("h1", "s1", "1s", "1mbit")),
        (r"needs a rate and a delay from the start", BARE, ("s1", "s2", "1s", None, "5ms")),
        (r"at 1s: Link.*at least '8bit'", PATH, ("s1", "s2", "1s", "1bit")),
        (r"offload=False", nl.wan("10mbit"), ("s1", "s2", "1s", None, None, "1%")),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(words, path, arguments):
    with pytest.raises(nl.SpecificationError, match=words):
        nl.Experiment(path, PINGS, nl.Change(*arguments))


def test_two_at_once_and_changes_alone_are_refused():
    with pytest.raises(nl.SpecificationError, match="two at this time; make them one"):
        nl.Experiment(PATH, TEST, CHANGE, nl.Change("s2", "s1", "4000ms", loss="1%"))
    with pytest.raises(nl.SpecificationError, match="has ended by then, after 0 s"):
        nl.Experiment(PATH, CHANGE)
    assert nl.Experiment(nl.wan("10mbit", offload=True), TEST, CHANGE.but(loss="1%"))


def test_where_tc_fails_so_does_the_run_with_what_it_said():
    link = nl.Link("h1", "s1", rate="10mbit", delay="5ms")
    path = BARE.but(links=[link, *BARE.links[1:]])
    spoiled = nl.Shell("h1", "tc qdisc del dev h1-eth0 root", time=3)
    with pytest.raises(
        nl.CommandError, match=r"(?s)tc qdisc change dev h1-eth0.*Error: "
    ) as caught:
        nl.run(path, spoiled, nl.Change("h1", "s1", "1s", delay="9ms"))
    assert "experiment.json" in str(caught.value) or "evidence" in str(caught.value)


def test_ctrl_c_ends_the_wait_for_it(monkeypatch):
    honest, asked = Packets.send, []

    def send(line, question, until):
        sent = honest(line, question, until)
        asked.append(question)
        before = asked[-2:][0].get("command", "")
        if question["op"] == "sleep" and "iperf3 -c" in before:
            signal.raise_signal(signal.SIGINT)
        return sent

    monkeypatch.setattr(Packets, "send", send)
    with pytest.raises(KeyboardInterrupt):
        nl.run(PATH, TEST, CHANGE, engine="guest")
    assert not any("tc qdisc change" in question.get("command", "") for question in asked)


def test_a_trace_is_a_list_of_changes(tmp_path):
    table = pd.DataFrame({"time_s": [0, 1.5, 3], "rate_bps": [2e7, None, 1.25e6]})
    table = table.assign(delay_s=[0.02, 0.0305, 0.03], loss_rate=[None, 0.001, None])
    wanted = [
        nl.Change("s1", "s2", "0us", "20mbit", "20ms"),
        nl.Change("s1", "s2", "1500ms", None, "30500us", "0.1%"),
        nl.Change("s1", "s2", "3s", "1250kbit", "30ms"),
    ]
    assert nl.Change.trace("s1", "s2", table) == wanted
    table.to_csv(tmp_path / "a.csv", index=False)
    assert nl.Change.trace("s1", "s2", tmp_path / "a.csv") == wanted
    assert nl.Change.trace("s1", "s2", str(tmp_path / "a.csv")) == wanted


@pytest.mark.parametrize("name", ["trace_satellite.csv", "trace_train.csv"])
def test_the_traces_in_data_are_those_of_their_generator_and_say_that_they_are_made_up(name):
    made = runpy.run_path(str(DATA / "traces.py"))
    text = (DATA / name).read_text()
    assert text == "\n".join([made["REMARK"], *made["TRACES"][name]()]) + "\n"
    assert text.startswith("# made up")
    changes = nl.Change.trace("s1", "s2", DATA / name)
    assert len(changes) in (8, 60)
    assert nl.Experiment(PATH, TEST.but(time=120), *changes)


@pytest.mark.long
def test_a_hand_over_is_followed():
    changes = nl.Change.trace("s1", "s2", DATA / "trace_satellite.csv")[:3]
    table = pd.read_csv(DATA / "trace_satellite.csv", comment="#")
    pings = nl.Ping("h1", "h2", count=40)
    rtts = nl.run(PATH, pings, *changes).pings.rtt_s
    for row, rtt_s in zip(table.itertuples(), (rtts[5], rtts[20], rtts[35]), strict=False):
        assert rtt_s == pytest.approx(row.delay_s, abs=2e-4)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("No columns", ""),
        ("the columns are time_s: time_s and one or more of rate_bps", "time_s\n1\n"),
        ("the columns are time_s, speed:", "time_s,speed\n1,2\n"),
        ("the columns are rate_bps", "rate_bps\n2\n"),
        ("row 2, rate_bps: could not convert string to float: '5mbit'",
         "time_s,rate_bps\n1,5e6\n2,5mbit\n"),
        ("row 1, rate_bps: .*not a rate", "time_s,rate_bps\n1,-5\n"),
        ("row 1, rate_bps: .*not a rate", "time_s,rate_bps\n1,inf\n"),
        ("row 2, time_s: ", "time_s,rate_bps\n1,1e6\n,1e6\n"),
        ("row 1, loss_rate: ", "time_s,loss_rate\n1,1.5\n"),
        ("1001 rows: at most 1000", "time_s,delay_s\n" + "1,1\n" * 1001),
        ("Error tokenizing|Expected 2 fields", "time_s,rate_bps\n1,2\n3,4,5,6\n"),
    ],
)  # fmt: skip
def test_a_trace_that_is_none_is_refused_in_words(words, text, tmp_path):
    path = tmp_path / "broken.csv"
    path.write_text(text)
    with pytest.raises(nl.SpecificationError, match=words):
        nl.Change.trace("s1", "s2", path)


def test_a_trace_that_is_not_there_is_refused(tmp_path):
    for path in (tmp_path / "none.csv", tmp_path, None, 5, "a\0b"):
        with pytest.raises(nl.SpecificationError, match="trace"):
            nl.Change.trace("s1", "s2", path)


CELLS = some.one_of(
    some.floats().map(repr), some.integers(-5, 10**12).map(str), some.text(max_size=8),
    some.sampled_from(["", "nan", "1e309", "20mbit", "1_0", "True", "0x10", '"', "#", ",", "\n"]),
)  # fmt: skip
LINES = some.lists(some.lists(CELLS, max_size=5).map(",".join), max_size=6).map("\n".join)
HEADS = some.sampled_from(["time_s,rate_bps", "time_s,delay_s,loss_rate", "time_s,time_s,rate_bps"])


@given(some.one_of(some.binary(max_size=200), some.builds("{}\n{}".format, HEADS, LINES)))
def test_a_broken_file_is_read_or_refused(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "broken.csv"
    path.write_bytes(data if isinstance(data, bytes) else data.encode(errors="replace"))
    try:
        changes = nl.Change.trace("s1", "s2", path)
    except nl.SpecificationError as error:
        assert len(str(error)) < 5000
    else:
        assert all(type(change) is nl.Change for change in changes)


@pytest.mark.parametrize("offload", [None, False])
def test_a_link_that_is_made_slower_carries_its_new_rate(offload):
    path = nl.wan("50mbit", "20ms", pairs=1, offload=offload)
    test = nl.Iperf3("h1", "h2", time=8, get_server_output=True)
    run = nl.run(path, test, nl.Change("s1", "s2", "3s", rate="10mbit"))
    late = run.intervals[run.intervals.start_s > 4].received_bps.mean()
    assert late == pytest.approx(nl.models.goodput_bps(10e6), rel=0.1) and run.warnings == []


@pytest.mark.parametrize(
    ("rates", "offload", "given", "bursts"),
    [
        (["50mbit", "10mbit"], None, None, [25_000]),  # all that waits fits into it
        (["50mbit", "10mbit"], False, None, [5000]),
        (["10gbit", "10mbit", "1gbit", "10mbit"], None, None, [68_130, 500_000, 68_130]),
        (["10mbit", "100mbit", "10mbit"], None, None, [50_000, 50_000]),
        (["10gbit", "10mbit"], None, 9000, [9000]),
    ],
)
def test_a_bucket_that_was_not_given_takes_what_may_wait_already(rates, offload, given, bursts):
    path = nl.wan(rates[0], "20ms", burst=given, pairs=1, offload=offload)
    changes = [nl.Change("s1", "s2", f"{n}s", rate=rate) for n, rate in enumerate(rates[1:], 1)]
    places = nl.Experiment(path, TEST, *reversed(changes)).places
    own = {item.at: item.programs(place)[0].command for item, place in places if item in changes}
    typed = [re.search(r"burst (\d+) ", own[change.at])[1] for change in changes]
    assert [*map(int, typed)] == bursts
