"""Recorded results are what their experiments leave: a random few are run again each time, all with
NETLAB_CHECK_RECORDS=all.
"""

import json
import os
import random
from pathlib import Path

import pytest

import netlab as nl
from netlab.engines import recorded, second

RECORDS = sorted((Path(__file__).parent.parent / "data/records").glob("*.json.xz"))
OTHERS = sorted((RECORDS[0].parent / second.FOLDER).glob("*.json.xz"))
QUICK_S = 30  # a random one took no longer when it was recorded


def repeatable(path):
    kept = recorded.read(path)["provenance"]
    return kept["clock"] == "virtual" and (
        kept["wall_s"] < QUICK_S or os.environ.get("NETLAB_CHECK_RECORDS") == "all"
    )


def chosen():
    """Some six of them, or all."""
    if os.environ.get("NETLAB_CHECK_RECORDS") == "all":
        return [path for path in RECORDS if repeatable(path)]
    # the same ones in each process of a run that has several
    draw = random.Random(os.environ.get("PYTEST_XDIST_TESTRUNUID"))
    return [path for path in draw.sample(RECORDS, 9) if repeatable(path)][:6]


@pytest.mark.parametrize("path", chosen(), ids=lambda path: path.name.partition(".")[0])
def test_it_repeats(path):
    kept = recorded.read(path)
    experiment = nl.Experiment.from_json(json.dumps(kept["experiment"]))
    again = nl.run(experiment, engine="guest")  # never the record itself, where there is no engine
    if recorded.same_bytes(again.provenance["engine_digest"], kept["provenance"]["engine_digest"]):
        assert again.raw == kept["raw"]
        assert again.commands == kept["commands"]
    else:  # another engine: the same physics, within the scatter of seeds
        before = nl.run(experiment, engine="recorded")
        assert list(again.flows) == list(before.flows) and len(again.streams) == len(before.streams)
        assert again.flows.received_bps.sum() == pytest.approx(
            before.flows.received_bps.sum(), rel=0.3
        )


def test_each_is_found_by_what_it_is():
    for path in RECORDS:
        experiment = nl.Experiment.from_json(json.dumps(recorded.read(path)["experiment"]))
        assert recorded.path_of(experiment).name == path.name


def test_those_of_another_kernel_are_of_one_other_kernel():
    """... and each is of an experiment that has a record here, too."""
    kernels = {recorded.read(path)["provenance"]["kernel"] for path in OTHERS}
    mine = {recorded.read(path)["provenance"]["kernel"] for path in RECORDS}
    assert len(kernels) == len(mine) == 1 and kernels != mine
    assert {path.name for path in OTHERS} <= {path.name for path in RECORDS}


def test_together_they_are_small():
    assert RECORDS and sum(path.stat().st_size for path in RECORDS + OTHERS) < 30e6
