"""The least limit, its name, and the streams that reach a rate, against each limit alone."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from netlab.models import (
    MATHIS_C,
    buffer_limited_bps,
    goodput_bps,
    limited_bps,
    limiting,
    mathis_bps,
    streams_needed,
)  # fmt: skip

MSS = 1448
rtts, some_losses, windows = st.floats(1e-3, 1), st.floats(1e-9, 0.1), st.floats(1e3, 1e9)
losses = st.just(0) | st.floats(1e-7, 0.5)


def test_each_limit_in_turn():
    # 6 MiB over 20 ms: 2.52 Gbit/s; 1e-6 loss: sqrt(3/2) x 1448 x 8 / (20 ms x 1e-3) = 709 Mbit/s;
    # 1 Gbit/s carries 956
    path = {"rate_bps": 1e9, "window_bytes": 6 * 2**20}
    found = limited_bps(MSS, [0.02, 0.02, 0.1], [1e-6, 1e-6, 0], **path, streams=[1, 4, 1])
    assert found.tolist() == approx([709.4e6, 956.4e6, 503.3e6], rel=1e-3)
    names = limiting(MSS, [0.02, 0.02, 0.1], [1e-6, 1e-6, 0], **path, streams=[1, 4, 1])
    assert names.tolist() == ["loss", "link", "window"]


@given(rtts, losses, st.just(np.inf) | st.floats(1e5, 1e12), st.just(np.inf) | windows,
       st.integers(1, 32))  # fmt: skip
def test_the_least_is_one_of_the_three_and_has_its_name(rtt, loss, rate, window, k):
    path = {"loss": loss, "rate_bps": rate, "window_bytes": window, "streams": k}
    least, name = (function(MSS, rtt, **path) for function in (limited_bps, limiting))
    limits = {
        "loss": mathis_bps(MSS, rtt, loss, c=MATHIS_C["periodic"], streams=k),
        "window": buffer_limited_bps(window, rtt, k),
        "link": goodput_bps(rate, MSS, MSS + 66),
        "nothing": np.inf,
    }
    assert type(name) is str
    assert least == limits[name] == min(limits.values())
    assert limited_bps(MSS, rtt, **path | {"streams": k + 1}) >= least
    assert limited_bps(MSS, 2 * rtt, **path) <= least


def test_where_nothing_limits_and_where_two_limits_tie():
    assert limited_bps(MSS, 0.02) == np.inf and limiting(MSS, 0.02) == "nothing"
    assert limiting(1000, 0.1, rate_bps=8e4, window_bytes=1000, frame_bytes=1000) == "link"
    assert limiting(1000, 0.1, loss=1, window_bytes=1000, c=1) == "window"
    jumbo = limited_bps(8948, 0.02, rate_bps=1e9)
    assert jumbo == approx(1e9 * 8948 / 9014)


def test_names_of_arrays_and_series():
    names = limiting(MSS, 0.02, loss=[[0], [0.01]], rate_bps=[1e6, 1e9, np.nan])
    assert names[:, :2].tolist() == [["link", "link"], ["link", "loss"]]
    assert pd.isna(names[:, 2]).all() and pd.isna(limiting(MSS, np.nan))
    frame = pd.DataFrame({"loss": [0.01, None, 0], "rate": [1e9, 1e9, np.inf]}, index=list("xyz"))
    series = limiting(MSS, 0.02, frame.loss, frame.rate)
    assert series.dropna().to_dict() == {"x": "loss", "z": "nothing"} and pd.isna(series.y)


def test_streams_by_hand():
    # 1000 byte per 100 ms at 1 % are 800 kbit/s each (test_mathis_by_hand); a window of 5000 byte
    # 400 kbit/s; 10 Gbit/s over 20 ms in windows of 6 MiB, 2.52 Gbit/s each (test_buffer_limit)
    rates = [1, 8e5, 8.1e5, 1.6e6, 8e6]
    assert streams_needed(rates, 1000, 0.1, 0.01).tolist() == [1, 1, 2, 2, 10]
    assert streams_needed(8e5, 1000, 0.1, 0.01, window_bytes=5000) == 2
    assert streams_needed(10e9, MSS, 0.02, window_bytes=6 * 2**20) == 4
    assert streams_needed(1e12, MSS, 0.02) == 1
    assert streams_needed(1, MSS, 0.02, window_bytes=[0, np.inf]).tolist() == [np.inf, 1]


@given(st.floats(1e3, 1e11), rtts, some_losses, windows)
def test_so_many_streams_suffice_and_one_less_does_not(rate, rtt, loss, window):
    k = streams_needed(rate, MSS, rtt, loss, window)
    one = min(mathis_bps(MSS, rtt, loss), buffer_limited_bps(window, rtt))
    assert k >= 1 and k * one >= rate * (1 - 1e-8)
    assert k == 1 or (k - 1) * one < rate


@given(st.integers(1, 1000), rtts, some_losses)
def test_an_exact_multiple_takes_no_stream_more(k, rtt, loss):
    assert streams_needed(mathis_bps(MSS, rtt, loss, streams=k), MSS, rtt, loss) == k
    full = buffer_limited_bps(65_536, rtt, k)
    assert streams_needed(full, MSS, rtt, window_bytes=65_536) == k
    assert streams_needed(k * mathis_bps(MSS, rtt, loss, c=1.31), MSS, rtt, loss, c=1.31) == k
