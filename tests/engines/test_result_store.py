"""A store of results: what goes in comes out, from archives of one and of many."""

import itertools
import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netlab as nl
from netlab.engines import result_store
from netlab.engines.result_store import PARTS, ResultStore, experiment_key, packed, result_name

DIGESTS = st.sampled_from([None, "37205abcba6a", "3865cb04bf3b", "0123456789ab"])
TEXTS = st.dictionaries(st.text(min_size=1), st.text(), max_size=3)


def experiment(seed):
    return nl.Experiment(nl.wan(), nl.Ping("h1", "h2"), seed=seed)


def record(seed, raw=None, digest="0123456789ab", **about):
    about = {"engine": "guest", "engine_digest": digest, "clock": "virtual"} | about
    parts = json.loads(experiment(seed).to_json()), ["ping"], about, raw or {"1-ping": f"{seed}\n"}
    return dict(zip(PARTS, parts, strict=True))


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


RECORDS = st.lists(
    st.builds(record, st.integers(0, 40), TEXTS, DIGESTS, told=TEXTS),
    unique_by=lambda one: json.dumps(one["experiment"]),
    max_size=12,
)


@settings(max_examples=30)
@given(records=RECORDS, block=st.integers(1, 5000), data=st.data())
def test_any_results_come_out_as_they_went_in_and_their_order_is_none(
    records, block, data, tmp_path_factory
):
    one, other = (ResultStore(tmp_path_factory.mktemp("store")) for _ in range(2))
    cut = data.draw(st.integers(0, len(records)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(result_store, "BLOCK_BYTES", block)
        one.pack(records[:cut], "a")
        one.pack(records[cut:], "a")
        other.pack(data.draw(st.permutations(records)), "a")
    assert files_of(one.place) == files_of(other.place)
    for kept in records:
        found = one.find(nl.Experiment.from_json(json.dumps(kept["experiment"])))
        assert list(found) == list(PARTS) and json.dumps(found) == json.dumps(kept)
    assert len(one.entries()) == len(records) and one.find(experiment(41)) is None


def test_a_result_belongs_to_its_engine_and_engines_of_the_same_bytes_are_one(tmp_path):
    store = ResultStore(tmp_path)
    for number, digest in enumerate([None, "0123456789ab", "37205abcba6a", "3865cb04bf3b"]):
        kept = record(1, {"ping": str(number)}, digest)
        key = result_store.key_of(kept).partition("-")[2]
        store.path(experiment(1), key).write_bytes(packed([kept]))
    names = "guest", "0123456789ab", "8b5bb12e430a"
    found = [store.find(experiment(1), name)["raw"]["ping"] for name in names]
    assert found == ["0", "1", "3"] and store.find(experiment(1))["raw"]["ping"] == "3"
    assert store.find(experiment(1), "0123") is None and store.find(experiment(2), "guest") is None
    assert result_name("37205abcba6a") == result_name("a0871fe72f0f") == names[2]
    assert [result_name(one) for one in (None, names[1])] == [None, names[1]]


def test_a_result_goes_where_its_experiment_lies_and_other_archives_keep_their_bytes(tmp_path):
    store = ResultStore(tmp_path)
    assert store.pack(map(record, (1, 2)), "a") == 2
    assert store.pack(map(record, (2, 3)), "b") == 1, "it has the one of 2 already"
    before = files_of(tmp_path)
    store.path(experiment(2), "0123456789ab").write_bytes(packed([record(2, {"ping": "new"})]))
    assert store.find(experiment(2))["raw"] == {"ping": "new"}, "the last one counts"
    assert store.pack([record(2, {"ping": "newer"})], "b") == 1
    assert store.find(experiment(2))["raw"] == {"ping": "newer"}
    after = files_of(tmp_path)
    assert before.keys() == after.keys() == {"a.zip", "b.zip"}
    assert before["b.zip"] == after["b.zip"] and before["a.zip"] != after["a.zip"]
    assert store.pack([record(2)], "b") == 1 and files_of(tmp_path) == before, "and back"
    store.pack([], "", keep={experiment_key(record(1)["experiment"])})
    assert [one.path.name for one, _ in store.entries()] == ["a.zip"], "an empty one is removed"
    assert store.records() == [record(1)]


def test_one_is_found_without_reading_all(tmp_path, monkeypatch):
    store, read, original = ResultStore(tmp_path), [], result_store.lines_in
    monkeypatch.setattr(result_store, "BLOCK_BYTES", 1)
    for name, seeds in itertools.groupby(range(40), lambda seed: str(seed // 10)):
        store.pack(map(record, seeds), name)
    result_store.entries_of.cache_clear()
    monkeypatch.setattr(
        result_store, "lines_in", lambda file, name: read.append(name) or original(file, name)
    )
    for seed in (13, 13, 14):
        assert store.find(experiment(seed)) == record(seed)
    assert sorted(map(str, read)) == ["3", "4", "index", "index"]


@settings(max_examples=50)
@given(data=st.data())
def test_a_damaged_archive_is_refused_by_name_or_has_what_it_had(data, tmp_path_factory):
    store = ResultStore(tmp_path_factory.mktemp("store"))
    store.pack(map(record, range(3)), "a")
    path = store.place / "a.zip"
    whole = path.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    changed = bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :]
    path.write_bytes(whole[:at] + data.draw(st.sampled_from([b"", changed])))
    try:
        assert store.records() == [record(0), record(1), record(2)]
    except nl.EngineError as error:
        assert str(path) in str(error) and "NETLAB_RECORD=on or `netlab record`" in str(error)
        with pytest.raises(nl.EngineError):
            store.find(experiment(1))


BUSY = """
import sys
from netlab.engines import files
from netlab.engines.result_store import ResultStore, packed
from tests.engines.test_result_store import experiment, record
store, first = ResultStore(sys.argv[1]), int(sys.argv[2])
for seed in range(first, first + 20, 2):
    path = store.path(experiment(seed), "0123456789ab")
    files.write(path, packed([record(seed)]))
    store.pack([record(seed), record(seed + 1)] if seed % 4 else [record(seed + 1)], "notebook")
"""


def test_processes_that_record_at_once_lose_nothing(tmp_path):
    arguments = [[sys.executable, "-c", BUSY, tmp_path, str(first)] for first in (0, 20, 40)]
    processes = [subprocess.Popen(one) for one in arguments]
    assert [process.wait(120) for process in processes] == [0, 0, 0]
    store = ResultStore(tmp_path)
    found = sorted(one["experiment"]["seed"] for one in store.records())
    assert found == list(range(60)) and len(store.archives()) == 15 + 1
