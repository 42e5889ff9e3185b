"""The constant comes back from runs that were made with it, and its interval holds it as often as
it says.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab import models


def runs_of(c, losses=(1e-4, 1e-3, 1e-2), seeds=4, noise=0.0, rng=None, **path):
    runs = pd.DataFrame([
        dict(mss_bytes=1448, base_rtt_s=0.02, loss_rate=p, streams=k) | path
        for p in losses for k in (1, 4) for _ in range(seeds)
    ])  # fmt: skip
    scatter = np.exp(noise * rng.standard_normal(len(runs))) if noise else 1.0
    return runs.assign(received_bps=c * models.mathis_labs(runs) * scatter)


@given(st.floats(0.1, 10))
def test_without_scatter_it_is_exact(c):
    fit = models.fit_constant(runs_of(c))
    assert fit[:3] == pytest.approx((c, c, c)) and fit.runs == 24


def test_the_interval_holds_the_constant_about_as_often_as_it_says():
    rng = np.random.default_rng(7)
    fits = [models.fit_constant(runs_of(1.25, noise=0.1, rng=rng)) for _ in range(60)]
    assert 50 <= sum(fit.low <= 1.25 <= fit.high for fit in fits) <= 60
    widths = [fit.high - fit.low for fit in fits]
    assert np.mean(widths) == pytest.approx(2 * 1.96 * 0.1 * 1.25 / 24**0.5, rel=0.15), (
        "the normal interval of the mean"
    )
    wide, narrow = (
        models.fit_constant(runs_of(1.25, noise=0.1, rng=np.random.default_rng(3)), level)
        for level in (0.99, 0.5)
    )
    assert wide.low < narrow.low < narrow.high < wide.high and wide.c == narrow.c


def test_only_runs_within_the_domain_count():
    good = runs_of(1.25)
    strange = dict(received_bps=1.0, mss_bytes=1448, base_rtt_s=0.02, streams=1, loss_rate=1e-3)
    outside = pd.DataFrame(
        [strange | {"loss_rate": p} for p in (0, 0.05)] + [strange | {"received_bps": np.nan}]
    )
    assert models.fit_constant(pd.concat([good, outside])) == models.fit_constant(good)
    full = pd.concat(
        [good.assign(bottleneck_bps=np.inf), pd.DataFrame([strange | {"bottleneck_bps": 2e7}])]
    )
    assert models.fit_constant(full).runs == 24, "22 Mbit/s are predicted, the link has 20"


def test_too_few_runs_and_a_level_that_is_none():
    with pytest.raises(
        ValueError,
        match=(
            "4 runs are within the domain of Mathis's model: a constant and its interval take five"
        ),
    ):
        models.fit_constant(runs_of(1.2, losses=[1e-3], seeds=2))
    with pytest.raises(ValueError, match="level must be above 0 and below 1, not 95"):
        models.fit_constant(runs_of(1.2), level=95)


def test_log_error():
    runs = runs_of(1.25)
    assert models.log_error(runs, models.mathis_labs) == pytest.approx(np.log(1.25))
    assert models.log_error(runs, models.mathis) == pytest.approx(np.log(1.25 / 1.5**0.5))
    assert models.log_error(
        runs.assign(received_bps=2 * models.mathis(runs)), models.mathis
    ) == pytest.approx(np.log(2))
    both = pd.concat([runs.assign(received_bps=models.mathis(runs) * f) for f in (0.5, 2)])
    assert models.log_error(both, models.mathis) == pytest.approx(np.log(2)), (
        "too much and too little do not cancel"
    )
