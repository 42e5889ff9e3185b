"""A comparison holds the numbers of its table, and writes them out."""

import numpy as np
import pandas as pd
import pytest

from netlab import plots
from tests.plots.conventions import keeps_the_conventions

NAN = np.nan
TABLE = pd.DataFrame(
    {
        "quantity": ["one stream", "eight", "RTT"],
        "measured": [3.2e9, 9.51e9, 0.02],
        "predicted": [NAN, 9.56e9, 0.02],
        "published": [3.22e9, 9.5e9, NAN],
        "unit": ["bit/s", "bit/s", "s"],
    }
)


def test_keeps_the_conventions():
    keeps_the_conventions(plots.comparison, TABLE)


def test_comparison_has_a_panel_per_unit_and_the_numbers():
    fig = plots.comparison(TABLE)
    assert [axis.title.text for axis in fig.select_xaxes()] == ["throughput [Gbit/s]", "time [ms]"]
    rates, times = (trace for trace in fig.data if trace.name == "measured")
    assert rates.x == pytest.approx([3.2, 9.51]) and times.x == pytest.approx([20])
    numbers = [note.text for note in fig.layout.annotations]
    assert numbers.count("-") == 2 and {"3.2", "3.22", "9.56", "20", "● measured"} <= set(numbers)
    assert [list(axis.ticktext) for axis in fig.select_yaxes()] == [
        ["one stream", "eight"],
        ["RTT"],
    ]


def test_comparison_is_logarithmic_only_where_values_are_far_apart():
    far = TABLE.iloc[:2].assign(measured=[1e-6, 1e9], predicted=NAN, published=NAN, unit="packet")
    assert plots.comparison(far).layout.xaxis.type == "log"
    assert plots.comparison(far).layout.xaxis.title.text == "value [packet]"
    assert plots.comparison(far.assign(measured=[0, 1e9])).layout.xaxis.type is None, (
        "0 has no logarithm"
    )
    assert plots.comparison(far.assign(measured=NAN)).layout.xaxis.type is None, "nothing known"


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (
            lambda: plots.comparison(TABLE.drop(columns="published")),
            "comparison: the frame lacks published",
        ),
        (lambda: plots.comparison(TABLE.iloc[:0]), "comparison: the frame is empty"),
    ],
)
def test_refuses_what_it_cannot_draw(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
