"""Whose the kernel's counters are: a rate of window reductions is one test's, or NaN."""

from math import isnan, nan
from pathlib import Path

import pandas as pd
import pytest

import netlab as nl

DATA = Path(__file__).parents[1] / "data"
REAL = nl.readers.read_nstat(DATA / "nstat/linux-7.2-reno-1-percent.json")
TEST = nl.Iperf3("h1", "h2", congestion="reno")


@pytest.mark.parametrize(
    ("other", "known"),
    [
        (nl.Ping("h1", "h2"), True),
        (nl.Iperf3("h3", "h4"), True),
        (nl.Iperf3("h2", "h1"), False),  # its receiver sends back
        (nl.Iperf3("h3", "h1"), False),
        (nl.Iperf3("h1", "h4"), False),
        (nl.Iperf3("h1", "h4", udp=True), False),
        (nl.Shell("h4", "sleep 1"), False),  # nobody knows to whom it talks
    ],
)
def test_beside_whatever_else_may_be_counted_there_it_is_not_known(other, known):
    experiment = nl.Experiment(nl.wan(), TEST, nl.Nstat("h1"), other)
    flows = pd.DataFrame({"flow": [1], "congestion": ["reno"], "halving_rate": [nan]})
    item, place = experiment.places[1]
    item.annotate({"flows": flows, "counts": {"h1": REAL.counts}}, place)
    assert flows.halving_rate[0] == REAL.halving_rate if known else isnan(flows.halving_rate[0])
