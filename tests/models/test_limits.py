"""The least limit, and its name, against each limit alone."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab import models

MSS = 1448
losses = st.one_of(st.just(0), st.floats(1e-7, 0.5))
rates, windows = (
    st.one_of(st.just(np.inf), st.floats(*range_)) for range_ in [(1e5, 1e12), (1e3, 1e9)]
)


def test_each_limit_in_turn():
    # 6 MiB over 20 ms: 2.52 Gbit/s; 1e-6 loss: sqrt(3/2) x 1448 x 8 / (20 ms x 1e-3) = 709 Mbit/s;
    # 1 Gbit/s carries 956
    path = {"rate_bps": 1e9, "window_bytes": 6 * 2**20, "loss": 1e-6}
    one, four = (models.limited_bps(MSS, 0.02, **path, streams=k) for k in (1, 4))
    assert (one, four) == (pytest.approx(709.4e6, rel=1e-3), pytest.approx(956.4e6, rel=1e-3))
    assert [models.limiting(MSS, 0.02, **path, streams=k) for k in (1, 4)] == ["loss", "link"]
    assert models.limiting(MSS, 0.1, rate_bps=1e9, window_bytes=6 * 2**20) == "window"
    assert models.limited_bps(MSS, 0.1, rate_bps=1e9, window_bytes=6 * 2**20) == pytest.approx(
        503.3e6, rel=1e-3
    )


@given(st.floats(1e-4, 1), losses, rates, windows, st.integers(1, 32))
def test_the_least_is_one_of_the_three_and_has_its_name(rtt, loss, rate, window, k):
    arguments = {"loss": loss, "rate_bps": rate, "window_bytes": window, "streams": k}
    least, name = (
        function(MSS, rtt, **arguments) for function in (models.limited_bps, models.limiting)
    )
    limits = {
        "loss": models.mathis_bps(MSS, rtt, loss, c=models.MATHIS_C["periodic"], streams=k),
        "window": models.buffer_limited_bps(window, rtt, k),
        "link": models.goodput_bps(rate, MSS, MSS + 66),
        "nothing": np.inf,
    }
    assert type(name) is str
    assert least == limits[name] == min(limits.values())
    assert models.limited_bps(MSS, rtt, **arguments | {"streams": k + 1}) >= least, (
        "one more never carries less"
    )
    assert models.limited_bps(MSS, 2 * rtt, **arguments) <= least


def test_where_nothing_limits_and_where_two_limits_tie():
    assert models.limited_bps(MSS, 0.02) == np.inf and models.limiting(MSS, 0.02) == "nothing"
    assert models.limiting(1000, 0.1, rate_bps=8e4, window_bytes=1000, frame_bytes=1000) == "link"
    assert models.limiting(1000, 0.1, loss=1, window_bytes=1000, c=1) == "window"
    assert models.limited_bps(8948, 0.02, rate_bps=1e9) == pytest.approx(1e9 * 8948 / 9014), (
        "a jumbo frame's headers"
    )


def test_names_of_arrays_and_series():
    names = models.limiting(MSS, 0.02, loss=[[0], [0.01]], rate_bps=[1e6, 1e9, np.nan])
    assert (
        names[:, :2].tolist() == [["link", "link"], ["link", "loss"]] and pd.isna(names[:, 2]).all()
    )
    frame = pd.DataFrame(
        {"loss": [0.01, None, 0], "rate": [1e9, 1e9, np.inf]}, index=["x", "y", "z"]
    )
    series = models.limiting(MSS, 0.02, frame.loss, frame.rate)
    assert series.dropna().to_dict() == {"x": "loss", "z": "nothing"} and pd.isna(series.y)
    assert pd.isna(models.limiting(MSS, np.nan)), "missing stays missing"
