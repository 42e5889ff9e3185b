"""Recorded results are what their experiments leave: some are looked at each time, and a few run
again, or all with --every.
"""

import json
import random
from pathlib import Path

import pytest

import netlab as nl
from netlab.engines import recorded
from tests import cases, compare_with_stored, not_compared

RECORDS = sorted((Path(__file__).parent.parent / "data/records").glob("*.json.xz"))
OTHERS = sorted((RECORDS[0].parent / recorded.SECOND).glob("*.json.xz"))
SOME, QUICK_S = 4, 15  # how many, and how long they took at most when they were recorded


def pytest_generate_tests(metafunc):
    """The quickest of some records is for the short run."""
    if "path" not in metafunc.fixturenames:
        return
    options, paths = metafunc.config.option, RECORDS
    if not options.every:
        paths = random.Random(options.seed).sample(RECORDS, 9)
    took_s = {path: recorded.read(path)["provenance"] for path in paths}
    took_s = {path: kept["wall_s"] for path, kept in took_s.items() if kept["clock"] == "virtual"}
    chosen = sorted(took_s, key=took_s.get)
    if not options.every:
        chosen = [path for path in chosen if took_s[path] < QUICK_S][:SOME]
    metafunc.parametrize("path", cases(chosen, "record"))


def test_it_repeats(path):
    kept = recorded.read(path)
    experiment = nl.Experiment.from_json(json.dumps(kept["experiment"]))
    again = nl.run(experiment, engine="guest")  # never the record itself, where there is no engine
    compare_with_stored(kept["provenance"]["engine_digest"])
    assert again.raw == kept["raw"]
    assert again.commands == kept["commands"]


def test_each_is_found_by_what_it_is_and_those_of_another_kernel_are_of_one(request, draw):
    """... and each of these is of an experiment that has a record here, too."""
    kernels = []
    for paths in (RECORDS, OTHERS):
        if not request.config.option.every:
            paths = draw("records").sample(paths, len(paths) // 5)
        kept = {path: recorded.read(path) for path in paths}
        for path, one in kept.items():
            experiment = nl.Experiment.from_json(json.dumps(one["experiment"]))
            assert recorded.path_of(experiment).name == path.name
        kernels += {one["provenance"]["kernel"] for one in kept.values()}
    assert len(kernels) == len({*kernels}) == 2
    assert {path.name for path in OTHERS} <= {path.name for path in RECORDS}


def test_together_they_are_small():
    assert RECORDS and sum(path.stat().st_size for path in RECORDS + OTHERS) < 40e6


def test_what_another_engine_left_is_not_compared_and_a_line_says_how_often():
    here, other = nl.engines.pick("guest").digest, "0123456789ab"
    compare_with_stored(here)
    with pytest.raises(pytest.skip.Exception) as skipped:
        compare_with_stored(other)
    reasons = ["Skipped: no root", f"Skipped: {skipped.value}", f"Skipped: {skipped.value}"]
    said = f"2 tests skipped: stored numbers are of engine {other}, this one is {here}"
    assert not_compared(reasons) == said and not_compared(reasons[:1]) == ""
