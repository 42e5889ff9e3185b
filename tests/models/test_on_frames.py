"""Models bound to columns are the functions of those columns, and know the link; the constant of
runs that a model made comes back, and its interval holds it as often as it says.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from netlab import models
from netlab.models import fit_constant, log_error, mathis, mathis_labs

MSS = 1448
LOSSES = {"loss_rate": [1e-4, 1e-2, 0, np.nan], "streams": [1, 8, 1, 1]}
RUNS = pd.DataFrame({"mss_bytes": MSS, "base_rtt_s": 0.02} | LOSSES, index=list("wxyz"))


@pytest.mark.parametrize(
    ("model", "function", "c", "label"),
    [
        (mathis, models.mathis_bps, {"c": 1.5**0.5}, "Mathis, C = √(3/2)"),
        (models.mathis_random, models.mathis_bps, {"c": 1.31}, "Mathis, C = 1.31 (random loss)"),
        (mathis_labs, models.mathis_bps, {}, "Mathis, C = 1 (the labs)"),
        (models.padhye, models.padhye_bps, {}, "Padhye, RTO = 0.2 s"),
        (models.cubic, models.cubic_bps, {}, "CUBIC (RFC 9438)"),
    ],
)
def test_a_bound_model_is_the_function_of_the_columns_up_to_the_link(model, function, c, label):
    out, slow = model(RUNS), model(RUNS.assign(bottleneck_bps=2e7))
    assert model.label == label and list(out.index) == list(RUNS.index)
    assert out.x == approx(function(MSS, 0.02, 0.01, streams=8, **c))
    assert out.y == np.inf and np.isnan(out.z) and np.isnan(slow.z)
    link = models.goodput_bps(2e7)
    assert slow[["w", "x", "y"]].tolist() == approx(np.minimum(out[["w", "x", "y"]], link).tolist())
    assert slow.y == link
    for no_rate in (np.inf, np.nan):
        unlimited = model(RUNS.assign(bottleneck_bps=no_rate))
        pd.testing.assert_series_equal(unlimited, out, check_names=False)
    jumbo = model(RUNS.assign(bottleneck_bps=2e7, mss_bytes=8948))
    assert jumbo.y == approx(2e7 * 8948 / 9014)


def test_a_model_of_ones_own_and_a_missing_column():
    assert models.Model("twice", lambda runs: 2 * runs["streams"])(RUNS).tolist() == [2, 16, 2, 2]
    with pytest.raises(ValueError, match="'loss_rate', not among mss_bytes, base"):
        mathis_labs(RUNS.drop(columns="loss_rate"))


def runs_of(c, losses=(1e-4, 1e-3, 1e-2), seeds=4, noise=0.0, rng=None):
    rows = [(MSS, 0.02, p, k) for p in losses for k in (1, 4) for _ in range(seeds)]
    runs = pd.DataFrame(rows, columns=["mss_bytes", "base_rtt_s", "loss_rate", "streams"])
    scatter = np.exp(noise * rng.standard_normal(len(runs))) if noise else 1.0
    return runs.assign(received_bps=c * mathis_labs(runs) * scatter)


@given(st.floats(0.1, 10))
def test_without_scatter_the_constant_is_exact(c):
    fit = fit_constant(runs_of(c))
    assert fit[:3] == approx((c, c, c)) and fit.runs == 24


def test_the_interval_holds_the_constant_about_as_often_as_it_says():
    rng = np.random.default_rng(7)
    fits = [fit_constant(runs_of(1.25, noise=0.1, rng=rng)) for _ in range(60)]
    assert 50 <= sum(fit.low <= 1.25 <= fit.high for fit in fits) <= 60
    normal = 2 * 1.96 * 0.1 * 1.25 / 24**0.5  # the normal interval of the mean
    assert np.mean([fit.high - fit.low for fit in fits]) == approx(normal, rel=0.15)


def test_only_runs_within_the_domain_count():
    good = runs_of(1.25)
    strange = good[:1].assign(received_bps=1.0, loss_rate=1e-3)
    outside = [strange.assign(loss_rate=p) for p in (0, 0.05)]
    outside.append(strange.assign(received_bps=np.nan))
    assert fit_constant(pd.concat([good, *outside])) == fit_constant(good)
    # 22 Mbit/s are predicted, the link has 20
    full = [good.assign(bottleneck_bps=np.inf), strange.assign(bottleneck_bps=2e7)]
    assert fit_constant(pd.concat(full)).runs == 24


def test_too_few_runs():
    with pytest.raises(ValueError, match=r"needs five runs .*, not 4"):
        fit_constant(runs_of(1.2, losses=[1e-3], seeds=2))


def test_log_error():
    runs = runs_of(1.25)
    assert log_error(runs, mathis_labs) == approx(np.log(1.25))
    assert log_error(runs, mathis) == approx(np.log(1.25 / 1.5**0.5))
    # too much and too little do not cancel
    both = pd.concat([runs.assign(received_bps=mathis(runs) * f) for f in (0.5, 2)])
    assert log_error(both, mathis) == approx(np.log(2))
