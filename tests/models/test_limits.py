"""Each limit against arithmetic by hand, the least of them, and the streams that reach a rate."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from netlab.models import (
    MATHIS_C,
    bandwidth_delay_product_bytes,
    buffer_limited_bps,
    goodput_bps,
    limited_bps,
    limiting,
    mathis_bps,
    sawtooth_utilisation,
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


@given(st.floats(1e3, 1e12), st.floats(1e-4, 1))
def test_a_window_of_one_bdp_fills_the_path(rate, rtt):
    window = bandwidth_delay_product_bytes(rate, rtt)
    assert buffer_limited_bps(window, rtt) == approx(rate)
    assert buffer_limited_bps(window / 8, rtt, streams=8) == approx(rate)


def test_bandwidth_delay_product_and_buffer_limit():
    # Lab 10, section 3: 10 Gbit/s x 20 ms = 200,000,000 bits = 25,000,000 bytes
    assert bandwidth_delay_product_bytes(10_000_000_000, 0.02) == 25_000_000
    assert bandwidth_delay_product_bytes(1e9, 0) == 0
    # Linux's default tcp_rmem maximum, 6 MiB, over 20 ms: why 10 Gbit/s gives 3
    windows = [6 * 2**20, 0, np.inf]
    assert buffer_limited_bps(windows, 0.02).tolist() == [approx(2_516_582_400), 0, np.inf]


def test_goodput():
    assert goodput_bps(10e9) == 10e9 * 1448 / 1514 == approx(9.56e9, rel=5e-4)
    assert goodput_bps(1e9, 1000, 1000) == 1e9 and goodput_bps(np.inf) == np.inf
    assert goodput_bps(1e9, 8948, 9014) > goodput_bps(1e9)  # jumbo frames waste less
    with pytest.raises(ValueError, match=r"frame_bytes must be .*mss_bytes \(1448\), not 1000"):
        goodput_bps(1e9, [536, 1448], 1000)


def simulated_utilisation(queue, product, beta):
    """The same sawtooth, walked one round trip after the other; windows in segments."""
    window, time, sent = beta * (product + queue), 0.0, 0.0
    while window < product + queue:
        sent += window
        time += max(window, product) / product  # a round trip; more where the queue is filling
        window += 1
    return sent / (time * product)


@pytest.mark.parametrize("beta", [0.5, 0.7])
@pytest.mark.parametrize("queue", [0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1, 3])
def test_a_short_queue_leaves_the_link_idle(queue, beta):
    found = sawtooth_utilisation(queue * 1e6 / 8, 1e6, 1.0, beta)
    product = 20_000
    assert found == approx(simulated_utilisation(queue * product, product, beta), abs=1e-4)


@given(st.floats(0, 1e9), st.floats(1, 1e9), st.floats(0.01, 0.99))
def test_a_longer_queue_and_a_smaller_cut_never_idle_more(queue, more, beta):
    one = sawtooth_utilisation(queue, 1e9, 0.1, beta)
    assert (1 + beta) / 2 - 1e-12 <= one <= 1 + 1e-12
    assert sawtooth_utilisation(queue + more, 1e9, 0.1, beta) >= one - 1e-12
    assert sawtooth_utilisation(queue, 1e9, 0.1, (1 + beta) / 2) >= one - 1e-12
