"""What the tables say of time and of who counted; a damaged folder of a result is refused."""

import json
import shutil

import pytest

import netlab as nl
from netlab.engines import recorded
from netlab.running.result import Result
from tests.cli.test_outputs import lost, seen

LINK_BPS = 100e6
BUCKET = dict(burst=5_000_000)  # which is full at the start
PATH = nl.wan("100mbit", "20ms", limit=250_000, **BUCKET)


@pytest.fixture(scope="module")
def counted():
    """Two streams whose receiver counts as well, and one whose does not."""
    return nl.run(
        PATH,
        nl.Iperf3("h1", "h2", parallel=2, time=5, get_server_output=True),
        nl.Iperf3("h3", "h4", time=5),
    )


@pytest.fixture(scope="module")
def omitting():
    """Three tests that leave out 2 s, 1 s and nothing."""
    return nl.run(
        nl.wan("100mbit", "20ms", limit=250_000, pairs=3, **BUCKET),
        nl.Iperf3("h1", "h2", time=2, omit=2, interval=0.5, parallel=2, get_server_output=True),
        nl.Iperf3("h3", "h4", time=3, omit=1),
        nl.Iperf3("h5", "h6", time=4),
    )


def of(table, flow):
    return table[table.flow == flow]


def test_no_more_is_received_than_the_link_carries_but_more_is_sent():
    alone = nl.run(
        nl.wan("100mbit", "20ms", limit=15_000_000, **BUCKET),
        nl.Iperf3("h1", "h2", parallel=2, time=5, get_server_output=True),
    )
    second = alone.intervals.groupby("stream").cumcount()
    each = alone.intervals.groupby(second)[["sent_bps", "received_bps"]].sum()
    assert len(each) == 5
    assert each.received_bps[0] > LINK_BPS, "the first second empties the bucket"
    # iperf3 counts a block of 128 KB when it has read all of it
    block_bps = 2 * 8 * 131_072  # of either stream, in a second
    most_bps = nl.models.goodput_bps(LINK_BPS)
    # and the link is never idle
    assert (
        each.received_bps[1:]
        .between(most_bps * 0.99 - block_bps, most_bps * 1.001 + block_bps)
        .all()
    )
    assert alone.intervals[alone.intervals.start_s > 1].received_bps.max() < LINK_BPS
    assert each.sent_bps[0] > 2 * LINK_BPS, "a sender counts what lies in its buffers"
    assert alone.flows.sent_bps[0] > LINK_BPS > alone.flows.received_bps[0] - 8 * 5_000_000 / 5


def test_with_the_servers_output_intervals_say_what_was_received(counted):
    rows, streams = of(counted.intervals, 1), of(counted.streams, 1).set_index("stream")
    assert rows.received_bps.notna().all() and counted.intervals.sent_bps.notna().all()
    assert of(counted.intervals, 2).received_bps.isna().all()
    received = (rows.received_bps * (rows.end_s - rows.start_s) / 8).groupby(rows.stream).sum()
    on_the_way = 250_000 + LINK_BPS * 0.02 / 8  # in the queue and on the line at the end
    for stream, total in streams.received_bytes.items():
        assert total - on_the_way <= received[stream] <= total * 1.001


def test_time_runs_on_from_what_is_omitted_to_what_counts(omitting):
    starts, everything = omitting.experiment.starts_s, omitting.intervals
    counts, flows = everything[~everything.omitted], omitting.flows.set_index("flow")
    assert everything.groupby("flow").omitted.sum().to_dict() == {1: 2 * 4, 2: 1, 3: 0}
    assert counts.groupby("flow").size().to_dict() == {1: 2 * 4, 2: 3, 3: 4}
    # the server's omitted intervals are beside the client's
    assert of(everything, 1).received_bps.notna().all()
    for (flow, _), rows in everything.groupby(["flow", "stream"]):
        begins, omit = starts[flow - 1], omitting.experiment.traffic[flow - 1].omit
        counted = rows[~rows.omitted]
        assert rows.start_s.iloc[0] == pytest.approx(begins, abs=0.001)
        assert counted.start_s.iloc[0] == pytest.approx(begins + omit, abs=0.001)
        assert rows.start_s.tolist()[1:] == pytest.approx(rows.end_s.tolist()[:-1], abs=0.005)
        assert rows.start_s.is_monotonic_increasing and rows.end_s.is_monotonic_increasing
        assert not rows.omitted.iloc[rows.omitted.sum() :].any(), "what is omitted comes first"
    for flow, rows in counts.groupby("flow"):  # a flow is what counts of it
        item, begins = omitting.experiment.traffic[flow - 1], starts[flow - 1]
        total = flows.loc[flow]
        assert total.start_s == pytest.approx(begins + item.omit)
        assert total.end_s == pytest.approx(begins + item.omit + item.time, abs=0.01)
        sent_bits = (rows.sent_bps * (rows.end_s - rows.start_s)).sum()
        assert total.sent_bps * (total.end_s - total.start_s) == pytest.approx(sent_bits, rel=0.01)
        assert total.retransmits == rows.retransmits.sum()
    slow_start = everything[everything.omitted]
    assert slow_start.retransmits.sum() > 0, "which the totals do not have"


def test_reversed_and_omitted_the_server_sends_and_time_runs_on():
    options = dict(time=1, omit=1, interval=0.5, reverse=True, bitrate="20mbit")
    result = nl.run(nl.wan("100mbit", "20ms"), nl.Iperf3("h1", "h2", **options))
    rows = result.intervals
    assert rows[["src", "dst"]].drop_duplicates().values.tolist() == [["h2", "h1"]]
    assert rows.omitted.tolist() == [True, True, False, False]
    starts_s = [result.experiment.starts_s[0] + 0.5 * n for n in range(4)]
    assert rows.start_s.tolist() == pytest.approx(starts_s, abs=0.005)
    assert rows.received_bps.iloc[-1] == pytest.approx(20e6, rel=0.05)
    assert rows.sent_bps.isna().all()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "run"
    nl.run(nl.wan("100mbit", "20ms", pairs=1), nl.Ping("h1", "h2", count=2)).save(folder)
    return folder


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("provenance.json", None, "provenance.json"),
        ("provenance.json", "{", "JSON|Expecting"),
        ("provenance.json", "[]", "lacks clock, engine"),
        ("provenance.json", '{"seed": 1}', "lacks clock, engine"),
        ("experiment.json", "{}", "Experiment.topology is missing"),
        ("experiment.json", "\udcff", "surrogates|JSON|utf"),
        ("raw/1-ping-h1-h2.txt", None, "raw/1-ping-h1-h2.txt is missing"),
        ("commands.txt", None, "commands.txt"),
    ],
)
def test_a_folder_with_a_missing_or_damaged_file_is_refused_by_name(
    saved, tmp_path, file, content, words
):
    shutil.copytree(saved, tmp_path / "copy")
    if content is None:
        (tmp_path / "copy" / file).unlink()
    else:
        (tmp_path / "copy" / file).write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(nl.NetlabError, match=rf"copy cannot be read as a folder .*({words})"):
        nl.load(tmp_path / "copy")


def test_what_was_printed_is_saved_to_the_byte(tmp_path):
    run = nl.run(nl.wan("100mbit", pairs=1), nl.Shell("h1", r"printf 'a\r\nb\rc\n\xff'"))
    run.save(tmp_path)
    assert nl.load(tmp_path).raw == run.raw == {"1-shell-h1": "a\r\nb\rc\n\ufffd"}
    assert json.loads((tmp_path / "provenance.json").read_text()) == run.provenance


def of_records():
    """Two results, without an engine."""
    entries = recorded.records().entries()
    for archive, entry in (entries[0], entries[-1]):
        kept, experiment = archive.record(entry), nl.Experiment.from_json(entry.experiment)
        yield Result(experiment, kept["raw"], kept["commands"], kept["provenance"])


def test_a_result_is_saved_over_itself_and_over_nothing_else(tmp_path):
    one, other = of_records()
    for name in ("kept", "kept", "annotated"):
        one.save(tmp_path / name)
    for result, file in (
        (other, "kept/commands.txt"),
        (one, "annotated/pings.csv"),
        (one, "notes/commands.txt"),
        (one, "outputs/raw/mine.txt"),  # `load` would take it for one of the result
    ):
        folder = tmp_path / file.partition("/")[0]
        if folder.name != "kept":
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_text("mine")
        before = seen(tmp_path)
        with pytest.raises(nl.NetlabError, match=rf"{file} is there already.*new folder"):
            result.save(folder)
        assert lost(before, tmp_path) == set()
    assert nl.load(tmp_path / "kept").raw == one.raw


def test_an_output_that_is_the_name_of_a_file_is_not_opened(tmp_path, monkeypatch):
    experiment = nl.Experiment(nl.wan("100mbit"), nl.Ping("h1", "h2"))
    (tmp_path / "other").write_text(nl.run(experiment).raw["1-ping-h1-h2"])
    monkeypatch.chdir(tmp_path)
    for name in ("other", str(tmp_path / "other")):
        with pytest.raises(nl.ReadError):
            Result(experiment, {"1-ping-h1-h2": name}, [], {})
