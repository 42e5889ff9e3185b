"""Models bound to columns are the functions of those columns, and know the link."""

import numpy as np
import pandas as pd
import pytest

from netlab import models

MSS = 1448
RUNS = pd.DataFrame(
    {
        "mss_bytes": MSS,
        "base_rtt_s": 0.02,
        "loss_rate": [1e-4, 1e-2, 0, np.nan],
        "streams": [1, 8, 1, 1],
    },
    index=list("wxyz"),
)


def test_bound_models_are_the_functions_of_the_columns():
    labs, periodic = models.mathis_labs(RUNS), models.mathis(RUNS)
    assert list(labs.index) == list(RUNS.index) and labs.y == np.inf and np.isnan(labs.z)
    assert labs.x == pytest.approx(models.mathis_bps(MSS, 0.02, 0.01, streams=8))
    assert periodic.w / labs.w == pytest.approx(models.MATHIS_C["periodic"])
    assert (models.mathis.label, models.mathis_labs.label) == (
        "Mathis, C = √(3/2)",
        "Mathis, C = 1 (the labs)",
    )


def test_bound_models_never_exceed_the_link():
    link = models.goodput_bps(2e7)
    slow = models.mathis(RUNS.assign(bottleneck_bps=2e7))
    assert slow[["w", "x", "y"]].tolist() == pytest.approx([link] * 3) and np.isnan(slow.z), (
        "missing stays missing"
    )
    for no_rate in (np.inf, np.nan):
        unlimited = models.mathis(RUNS.assign(bottleneck_bps=no_rate))
        pd.testing.assert_series_equal(unlimited, models.mathis(RUNS), check_names=False)
    jumbo = models.mathis(RUNS.assign(bottleneck_bps=2e7, mss_bytes=8948))
    assert jumbo.w == pytest.approx(2e7 * 8948 / 9014)


def test_a_model_of_ones_own_and_a_missing_column():
    assert models.Model("twice", lambda runs: 2 * runs["streams"])(RUNS).tolist() == [2, 16, 2, 2]
    with pytest.raises(
        ValueError,
        match=r"Mathis, C = 1 .* needs the column 'loss_rate', not among mss_bytes, base",
    ):
        models.mathis_labs(RUNS.drop(columns="loss_rate"))


def test_padhye_and_cubic_take_the_same_columns():
    padhye, cubic = models.padhye(RUNS), models.cubic(RUNS)
    assert padhye.x == pytest.approx(models.padhye_bps(MSS, 0.02, 0.01, streams=8))
    assert cubic.x == pytest.approx(models.cubic_bps(MSS, 0.02, 0.01, streams=8))
    assert padhye.y == cubic.y == np.inf and np.isnan(padhye.z) and np.isnan(cubic.z)
    assert (models.padhye.label, models.cubic.label) == ("Padhye, RTO = 0.2 s", "CUBIC (RFC 9438)")
    link = models.goodput_bps(2e7)
    assert (
        models.padhye(RUNS.assign(bottleneck_bps=2e7)).w
        == models.cubic(RUNS.assign(bottleneck_bps=2e7)).w
        == link
    )
