"""The inverses against published figures, and against the formulas that they invert."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab import models

MSS = 1448
rtts, losses, counts = st.floats(1e-3, 1), st.floats(1e-9, 0.1), st.integers(1, 1000)


# --- affordable_loss


def test_what_highspeed_tcp_starts_from():
    # RFC 3649, abstract: 10 Gbit/s, 1500-byte packets, 100 ms take a window of 83,333 segments and
    # at most one congestion
    # event in 5,000,000,000 packets, or every 1 2/3 hours. Its C is 1.2
    loss = models.affordable_loss(10e9, 1500, 0.1, c=1.2)
    assert models.bandwidth_delay_product_bytes(10e9, 0.1) / 1500 == pytest.approx(83_333, abs=0.5)
    assert float(f"{1 / loss:.0e}") == 5_000_000_000
    assert 1 / loss * 1500 * 8 / 10e9 / 3600 == pytest.approx(1 + 2 / 3, rel=0.05)


def test_the_response_function_of_standard_tcp():
    # RFC 3649, Table 2: mean window in segments at drop rates of 1e-2 to 1e-10
    windows = np.array([12, 38, 120, 379, 1200, 3795, 12_000, 37_948, 120_000])
    loss = models.affordable_loss(windows * 1500 * 8 / 0.1, 1500, 0.1, c=1.2)
    assert loss == pytest.approx(10.0 ** -np.arange(2, 11), rel=0.01)


def test_what_eight_streams_afford():
    # 1 Gbit/s over 80 ms: K C 8 MSS / (RTT B) = 8 x 11,584 / 80e6 = 1.1584e-3, squared 1.342e-6;
    # one stream a 64th of it
    assert models.affordable_loss(1e9, MSS, 0.080, streams=[8, 1]).tolist() == pytest.approx(
        [1.342e-6, 2.097e-8], rel=1e-3
    )


@given(rtts, losses, st.integers(1, 64), st.floats(0.5, 2))
def test_affordable_loss_inverts_mathis(rtt, loss, k, c):
    rate = models.mathis_bps(MSS, rtt, loss, c, k)
    assert models.affordable_loss(rate, MSS, rtt, c, k) == pytest.approx(loss)
    assert models.affordable_loss(2 * rate, MSS, rtt, c, k) == pytest.approx(loss / 4), (
        "twice the rate affords a quarter"
    )
    assert models.affordable_loss(2 * rate, MSS, rtt, c, 2 * k) == pytest.approx(loss), (
        "or takes twice the streams"
    )


def test_affordable_loss_is_at_most_all():
    assert models.affordable_loss(1, MSS, 0.02) == 1


# --- streams_needed


def test_streams_by_hand():
    # 1000 byte per 100 ms at 1 % are 800 kbit/s each (test_mathis_by_hand); a window of 5000 byte
    # 400 kbit/s
    assert models.streams_needed([1, 8e5, 8.1e5, 1.6e6, 8e6], 1000, 0.1, 0.01).tolist() == [
        1,
        1,
        2,
        2,
        10,
    ]
    assert models.streams_needed(8e5, 1000, 0.1, 0.01, window_bytes=5000) == 2
    # 10 Gbit/s over 20 ms in windows of 6 MiB, 2.52 Gbit/s each (test_buffer_limit): four
    assert models.streams_needed(10e9, MSS, 0.02, window_bytes=6 * 2**20) == 4


@given(st.floats(1e3, 1e11), rtts, losses, st.floats(1e3, 1e9))
def test_so_many_streams_suffice_and_one_less_does_not(rate, rtt, loss, window):
    k = models.streams_needed(rate, MSS, rtt, loss, window)
    one = min(models.mathis_bps(MSS, rtt, loss), models.buffer_limited_bps(window, rtt))
    assert k >= 1 and k * one >= rate * (1 - 1e-8)
    assert k == 1 or (k - 1) * one < rate


@given(counts, rtts, losses)
def test_an_exact_multiple_takes_no_stream_more(k, rtt, loss):
    assert models.streams_needed(models.mathis_bps(MSS, rtt, loss, streams=k), MSS, rtt, loss) == k
    assert (
        models.streams_needed(
            models.buffer_limited_bps(65_536, rtt, k), MSS, rtt, window_bytes=65_536
        )
        == k
    )
    assert (
        models.streams_needed(k * models.mathis_bps(MSS, rtt, loss, c=1.31), MSS, rtt, loss, c=1.31)
        == k
    )


def test_streams_where_nothing_limits_and_where_nothing_passes():
    assert models.streams_needed(1e12, MSS, 0.02) == 1
    assert models.streams_needed(1, MSS, 0.02, window_bytes=[0, np.inf]).tolist() == [np.inf, 1]
