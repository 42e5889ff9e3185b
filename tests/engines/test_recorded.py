"""Results of earlier runs: found again whole, or refused in words."""

from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

import netlab as nl
from netlab import engines
from netlab.engines import recorded
from netlab.engines.guest import GuestEngine
from netlab.engines.recorded import RecordedEngine
from netlab.engines.result_store import packed_result, result_name

PATH = nl.wan("100mbit", "20ms", "0.1%")
TRAFFIC = (
    nl.Iperf3("h1", "h2", parallel=2, time=2, congestion="reno"),
    nl.Ping("h3", "h4", count=3),
    nl.Shell("h2", "sysctl -n net.ipv4.tcp_congestion_control"),
    nl.Change("s1", "s2", "1s", rate="50mbit"),
)
EXPERIMENT = nl.Experiment(PATH, *TRAFFIC)
KEPT = ("raw", "commands", "provenance")
FRAMES = ("flows", "streams", "intervals", "pings", "changes")


def cell(parallel):
    return nl.Experiment(nl.wan("20mbit", "20ms"), nl.Iperf3("h1", "h2", parallel=parallel, time=1))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with the records of one run and one sweep, and what these gave when they ran."""
    folder = tmp_path_factory.mktemp("records")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NETLAB_RECORDS", str(folder))
        patch.setenv("NETLAB_RECORD", "on")
        ran = nl.run(PATH, *TRAFFIC)
        grid = nl.sweep(cell, parallel=[1, 2], seeds=[1, 2])
    return folder, ran, grid


@pytest.fixture
def records(made, monkeypatch):
    """They lie where netlab looks, it does not record, and no guest can be started."""
    monkeypatch.setenv("NETLAB_RECORDS", str(made[0]))
    monkeypatch.delenv("NETLAB_RECORD", raising=False)
    monkeypatch.setattr(GuestEngine, "connect", lambda *_: pytest.fail("nothing must start"))
    return made


@pytest.fixture
def place(made, tmp_path, monkeypatch):
    """A folder of one's own where netlab looks, with nothing in it."""
    monkeypatch.setenv("NETLAB_RECORDS", str(tmp_path))
    monkeypatch.delenv("NETLAB_RECORD", raising=False)
    return tmp_path


def test_it_gives_the_very_same_result_and_one_line_says_where_it_is_from(
    records, capsys, tmp_path
):
    _, ran, grid = records
    again = nl.run(PATH, *TRAFFIC, engine="recorded")
    for name in FRAMES:
        pd.testing.assert_frame_equal(getattr(again, name), getattr(ran, name), check_exact=True)
    assert [again.raw, again.commands, again.experiment] == [ran.raw, ran.commands, ran.experiment]
    told = ran.provenance
    assert again.provenance == told | {"recorded": True} and "recorded" not in told
    took = f"{told['virtual_s']:.0f} virtual s, which took {told['wall_s']:.0f} s"
    said = f"of earlier runs on guest {result_name(told['engine_digest'])}"
    assert said.endswith(repr(ran).rstrip(">").rpartition(" ")[2])
    assert capsys.readouterr().out == f"recorded: 1 result {said} ({took})\n"
    again.save(tmp_path / "kept")
    assert nl.load(tmp_path / "kept").provenance["recorded"] is True
    swept = nl.sweep(cell, parallel=[1, 2], seeds=[1, 2], engine="recorded")
    pd.testing.assert_frame_equal(swept, grid, check_exact=True)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"recorded: 4 results {said}")


def test_a_live_network_is_not_recorded_and_it_says_what_to_do(records):
    with pytest.raises(nl.EngineError, match=r"live network.*netlab engine build.*engine import"):
        nl.Network(PATH, engine="recorded")


def test_where_no_other_engine_works_records_are_taken(records, monkeypatch, capsys):
    class Away:
        def __init__(self):
            raise nl.EngineError("it is away")

    monkeypatch.setattr(engines, "ENGINES", engines.ENGINES | {"guest": Away, "mininet": Away})
    monkeypatch.setenv("NETLAB_PROGRESS", "on")
    assert nl.run(EXPERIMENT).raw == records[1].raw
    (said,) = capsys.readouterr().out.splitlines()
    assert said.startswith("recorded: 1 result ") and said.endswith(", as guest: it is away")
    with pytest.raises(nl.EngineError, match="netlab engine build"):
        nl.Network(PATH)


def test_what_was_never_recorded_is_refused_with_the_nearest_and_how_to_get_an_engine(
    records, capsys
):
    with pytest.raises(nl.EngineError) as refused:
        nl.run(EXPERIMENT, seed=2, engine="recorded")
    said = str(refused.value).splitlines()
    assert said[1:3] == ["The nearest have", "- seed = 1"] and len(said) == 2 + 3 + 1
    assert "netlab engine build" in said[-1] and "netlab engine import" in said[-1]
    with pytest.raises(nl.EngineError, match=r"topology.links.1.rate = '100mbit'\n"):
        nl.run(nl.wan("200mbit", "20ms", "0.1%"), *TRAFFIC, engine="recorded")
    with pytest.raises(nl.EngineError, match=r"\n- traffic.0.parallel = 2\n"):
        nl.sweep(cell, parallel=[1, 2, 3], seeds=[2], engine="recorded")
    assert capsys.readouterr().out == ""
    assert len(list(records[0].glob("*.zip"))) == len(list(records[0].iterdir())) == 5


def test_a_folder_without_records_is_refused(place):
    with pytest.raises(nl.EngineError, match="netlab engine build") as refused:
        nl.run(EXPERIMENT, engine="recorded")
    assert str(place) in str(refused.value)


def test_a_file_under_the_name_of_another_experiment_does_not_pass_for_it(records, place):
    store, seconds = recorded.records(), EXPERIMENT.but(seed=2)
    store.path(seconds, "guest").write_bytes(packed_result(records[1]))
    with pytest.raises(nl.EngineError, match=r"\n- seed = 1\n"):
        nl.run(seconds, engine="recorded")
    assert nl.run(EXPERIMENT, engine="recorded").raw == records[1].raw, "it is found by what it is"


def test_sysctls_in_another_order_are_the_same_experiment(records, place):
    pairs = [("net.ipv4.tcp_sack", 0), ("net.ipv4.tcp_ecn", 1)]
    orders = pairs, pairs[::-1]
    one, other = (EXPERIMENT.but(topology=PATH.tuned(dict(order))) for order in orders)
    assert one == other
    kept = nl.Result(one, records[1].raw, records[1].commands, records[1].provenance)
    recorded.records().record(kept)
    assert recorded.records().find(other)["raw"] == kept.raw, "and that without comparing all"
    assert nl.run(other, engine="recorded").raw == records[1].raw


def test_recording_again_replaces_what_came_out_differently_or_is_damaged(records, place):
    ran, store = records[1], recorded.records()

    def kept(raw, wall_s, engine="0123456789ab", clock="virtual"):
        again = ran.provenance | {"wall_s": wall_s, "engine_digest": engine, "clock": clock}
        store.record(nl.Result(EXPERIMENT, raw, ran.commands, again))
        return store.find(EXPERIMENT)["provenance"]["wall_s"]

    other = {name: text + " " for name, text in ran.raw.items()}
    assert kept(ran.raw, 1.0) == 1.0
    assert kept(ran.raw, 2.0) == 1.0, "the same output again: the file stays"
    assert kept(ran.raw, 3.0, "another") == 3.0
    assert kept(ran.raw, 4.0, "37205abcba6a") == 4.0
    assert kept(ran.raw, 5.0, "3865cb04bf3b") == 4.0, "its engine leaves the same bytes"
    assert kept(other, 6.0, "3865cb04bf3b") == 6.0
    (path,) = place.glob("*-8b5bb12e430a.zip")
    path.write_bytes(b"damaged")
    assert kept(ran.raw, 7.0, "3865cb04bf3b") == 7.0
    assert kept(ran.raw, 8.0, None, "real") == 8.0
    assert kept(other, 9.0, None, "real") == 9.0


@pytest.mark.parametrize(
    ("value", "wanted", "engine"),
    [
        *((value, False, "recorded") for value in (None, "off", "")),
        *((value, True, "guest") for value in ("on", "1", "yes")),
        ("live", True, "recorded"),
    ],
)
def test_what_netlab_record_may_be(value, wanted, engine, records, monkeypatch):
    if value is not None:
        monkeypatch.setenv("NETLAB_RECORD", value)
    assert recorded.wanted() is wanted and engines.pick("recorded").name == engine


def test_the_line_is_left_out_where_progress_is_and_nobody_asked(records, monkeypatch, capsys):
    monkeypatch.setenv("NETLAB_ENGINE", "recorded")
    for progress, lines in {"off": 0, "on": 1}.items():
        monkeypatch.setenv("NETLAB_PROGRESS", progress)
        nl.run(EXPERIMENT)
        assert capsys.readouterr().out.count("recorded: ") == lines


def test_what_another_engine_left_is_said_to_be_where_a_guest_is_here(
    records, place, capsys, monkeypatch
):
    """... whose live numbers stand beside them."""
    ran, here = records[1], result_name(nl.engines.pick("guest").digest)
    of_another = ran.provenance | {"engine_digest": "0123456789ab"}
    recorded.records().record(nl.Result(EXPERIMENT, ran.raw, ran.commands, of_another))
    nl.run(EXPERIMENT, engine="recorded")
    said = capsys.readouterr().out
    assert said.startswith("recorded: 1 result of earlier runs on guest 0123456789ab (")
    assert said.endswith(f"); the guest here is {here}, which gives other numbers\n")
    monkeypatch.setenv("NETLAB_CACHE", str(place / "none"))
    nl.run(EXPERIMENT, engine="recorded")
    assert "here" not in capsys.readouterr().out


def test_threads_that_record_the_same_do_not_meet(records, place, capsys):
    """... here what Mininet on a machine itself gave, which has no digest."""
    ran = records[1]
    of_mininet = ran.provenance | {"engine": "mininet", "engine_digest": None}
    result = nl.Result(EXPERIMENT, ran.raw, ran.commands, of_mininet)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(recorded.records().record, [result] * 12))
    assert len(list(place.iterdir())) == 1
    assert nl.run(EXPERIMENT, engine="recorded").raw == ran.raw
    assert "earlier runs on mininet (" in capsys.readouterr().out


def test_a_run_leaves_no_record_unless_it_is_wanted_and_has_succeeded(place, monkeypatch):
    one = nl.Experiment(nl.wan("20mbit", "20ms", pairs=1), nl.Shell("h1", "echo done"))
    nl.run(one)
    assert not list(place.iterdir())
    monkeypatch.setenv("NETLAB_RECORD", "on")
    with pytest.raises(nl.CommandError):
        nl.run(one.but(traffic=[nl.Shell("h1", "exit 3")]))
    assert not list(place.iterdir())
    monkeypatch.setattr(RecordedEngine, "recall", lambda *_: pytest.fail("one was read"))
    assert nl.run(one, engine="recorded").provenance["engine"] == "guest"
    (archive, entry), path = *recorded.records().entries(), *place.iterdir()
    assert nl.Experiment.from_json(entry.experiment) == one and archive.path == path
