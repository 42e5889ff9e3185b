"""Recorded results are what their experiments leave: some are looked at each time, and a few run
again, or all with --every.
"""

import json
import random

import pytest

import netlab as nl
from netlab.engines import recorded
from netlab.engines.result_store import key_of
from tests import cases, compare_with_stored, not_compared

STORES = recorded.records(), recorded.records(recorded.SECOND)
RECORDS, OTHERS = ({entry.key: (one, entry) for one, entry in store.entries()} for store in STORES)
SOME, QUICK_S = 4, 15  # how many, and how long they took at most when they were recorded


def read(key, records=RECORDS):
    archive, entry = records[key]
    return archive.record(entry)


def pytest_generate_tests(metafunc):
    """The quickest of some records is for the short run."""
    if "key" not in metafunc.fixturenames:
        return
    options, keys = metafunc.config.option, [*RECORDS]
    if not options.every:
        keys = random.Random(options.seed).sample(keys, 9)
    took_s = {key: read(key)["provenance"] for key in keys}
    took_s = {key: kept["wall_s"] for key, kept in took_s.items() if kept["clock"] == "virtual"}
    chosen = sorted(took_s, key=took_s.get)
    if not options.every:
        chosen = [key for key in chosen if took_s[key] < QUICK_S][:SOME]
    metafunc.parametrize("key", cases(chosen, "record"))


def test_it_repeats(key):
    kept = read(key)
    experiment = nl.Experiment.from_json(json.dumps(kept["experiment"]))
    again = nl.run(experiment, engine="guest")  # never the record itself, where there is no engine
    compare_with_stored(kept["provenance"]["engine_digest"])
    assert again.raw == kept["raw"]
    assert again.commands == kept["commands"]


def test_each_is_found_by_what_it_is_and_those_of_another_kernel_are_of_one(request, draw):
    """... and each of these is of an experiment that has a record here, too."""
    kernels = []
    for store, records in zip(STORES, (RECORDS, OTHERS), strict=True):
        keys = [*records]
        if not request.config.option.every:
            first = draw("records").randrange(len(keys) // 2)  # neighbours lie in one block
            keys = keys[first : first + 40]
        for key in keys:
            kept = read(key, records)
            experiment = nl.Experiment.from_json(json.dumps(kept["experiment"]))
            assert key_of(kept) == key and store.find(experiment) == kept
            kernels.append(kept["provenance"]["kernel"])
    assert len({*kernels}) == 2
    assert {key[:16] for key in OTHERS} <= {key[:16] for key in RECORDS}


def test_together_they_are_small_and_each_experiment_is_in_one_archive_of_a_notebook():
    for store, records in zip(STORES, (RECORDS, OTHERS), strict=True):
        assert len(store.entries()) == len({key[:16] for key in records}) > 100
        notebooks = recorded.records().place.parents[1] / "notebooks"
        names = {path.stem for path in notebooks.rglob("*.ipynb")}
        assert {archive.path.stem for archive in store.archives()} <= names
    size = sum(path.stat().st_size for path in STORES[0].place.parent.rglob("*"))
    assert size < 30e6


def test_what_another_engine_left_is_not_compared_and_a_line_says_how_often():
    here, other = nl.engines.pick("guest").digest, "0123456789ab"
    compare_with_stored(here)
    with pytest.raises(pytest.skip.Exception) as skipped:
        compare_with_stored(other)
    reasons = ["Skipped: no root", f"Skipped: {skipped.value}", f"Skipped: {skipped.value}"]
    said = f"2 tests skipped: stored numbers are of engine {other}, this one is {here}"
    assert not_compared(reasons) == said and not_compared(reasons[:1]) == ""
