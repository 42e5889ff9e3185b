"""Windows over time against counting, and against the formula that the sawtooth averages to."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab import models

MSS = 1448


def test_trace_adds_a_segment_each_round_trip_and_halves_on_loss():
    trace = models.aimd_trace(1000, 0.1, 0.6, loss_times_s=[0.3], start_bytes=9000)
    assert list(trace.columns) == ["time_s", "cwnd_bytes", "sent_bps"]
    assert trace.time_s.tolist() == pytest.approx([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert trace.cwnd_bytes.tolist() == [9000, 10_000, 11_000, 12_000, 6000, 7000, 8000]
    assert trace.sent_bps.tolist() == pytest.approx((8 * trace.cwnd_bytes / 0.1).tolist())


def test_six_times_the_mss_recovers_six_times_as_fast():
    # Lab 9, Figure 2
    red, green = (
        models.aimd_trace(mss, 0.1, 40, loss_times_s=[0], start_bytes=240_000)
        for mss in (1000, 6000)
    )
    recovered = [trace.time_s[trace.cwnd_bytes >= 240_000].iloc[1] - 0.1 for trace in (red, green)]
    assert recovered == pytest.approx([12, 2]), "120 segments at 0.1 s each, and 20"


def test_losses_of_one_round_trip_count_once_and_a_segment_always_remains():
    trace = models.aimd_trace(1000, 0.1, 0.3, loss_times_s=[0.11, 0.15, 0.19], start_bytes=9000)
    assert trace.cwnd_bytes.tolist() == [9000, 10_000, 5000, 6000]
    assert (
        models.aimd_trace(1000, 0.1, 1, loss_times_s=np.arange(0, 1, 0.1)).cwnd_bytes.eq(1000).all()
    )


def test_aimd_of_ornl_loses_a_sixteenth_and_gains_eight():
    trace = models.aimd_trace(
        1000, 0.1, 0.2, loss_times_s=[0], start_bytes=160_000, increase=8, decrease=1 / 16
    )
    assert trace.cwnd_bytes.tolist() == [160_000, 150_000, 158_000]


def test_the_sawtooth_averages_to_mathis():
    # Between losses the window grows from W/2 to W: 3/8 W^2 segments, one of them lost (Mathis et
    # al. 1997, section 2)
    w = 400
    trace = models.aimd_trace(MSS, 0.01, 60, start_bytes=w / 2 * MSS, limit_bytes=(w - 0.5) * MSS)
    mathis = models.mathis_bps(MSS, 0.01, 1 / (3 / 8 * w**2), c=models.MATHIS_C["periodic"])
    assert trace.cwnd_bytes.max() == w * MSS
    assert trace.sent_bps.mean() == pytest.approx(mathis, rel=0.01)


@given(st.floats(2, 1e4), st.floats(0.05, 1), st.floats(0.1, 20), st.floats(0.01, 0.99))
def test_the_window_stays_within_its_limits(segments, rtt, increase, decrease):
    trace = models.aimd_trace(
        MSS, rtt, 20, limit_bytes=segments * MSS, increase=increase, decrease=decrease
    )
    assert trace.cwnd_bytes.min() >= MSS
    assert trace.cwnd_bytes.max() <= (segments + increase) * MSS * (1 + 1e-12)
    assert trace.time_s.iloc[-1] <= 20 + 1e-9


def test_slow_start_doubles_up_to_the_threshold_then_adds_a_segment():
    trace = models.slow_start_trace(1000, 0.1, 0.6, initial_segments=1, threshold_bytes=7000)
    assert list(trace.columns) == ["time_s", "cwnd_bytes", "sent_bps"]
    assert trace.cwnd_bytes.tolist() == [1000, 2000, 4000, 7000, 8000, 9000, 10_000]
    assert trace.sent_bps.tolist() == pytest.approx((8 * trace.cwnd_bytes / 0.1).tolist())
    assert models.slow_start_trace(1000, 0.1, 0.3).cwnd_bytes.tolist() == [
        10_000,
        20_000,
        40_000,
        80_000,
    ], "RFC 6928"
    above = models.slow_start_trace(1000, 0.1, 0.2, threshold_bytes=4000)
    assert above.cwnd_bytes.tolist() == [10_000, 11_000, 12_000], "it begins above the threshold"


def test_slow_start_stays_at_the_buffer():
    trace = models.slow_start_trace(1000, 0.1, 0.4, initial_segments=1, limit_bytes=6000)
    assert trace.cwnd_bytes.tolist() == [1000, 2000, 4000, 6000, 6000]
    slow = models.slow_start_trace(
        1000, 0.1, 0.5, initial_segments=2, threshold_bytes=4000, limit_bytes=5500
    )
    assert slow.cwnd_bytes.tolist() == [2000, 4000, 5000, 5500, 5500, 5500]
    assert models.slow_start_trace(1000, 0.1, 0.1, limit_bytes=4000).cwnd_bytes.tolist() == [
        4000,
        4000,
    ]


@given(st.integers(1, 20), st.floats(1, 1e4), st.floats(1, 1e4), st.floats(0.05, 1))
def test_slow_start_grows_within_its_limits(initial, threshold, limit, rtt):
    trace = models.slow_start_trace(MSS, rtt, 20, initial, threshold * MSS, limit * MSS)
    windows = trace.cwnd_bytes.to_numpy()
    assert windows[0] == min(initial, limit) * MSS and windows.max() <= limit * MSS
    assert (np.diff(windows) >= 0).all() and (
        windows[1:] <= np.maximum(2 * windows[:-1], windows[:-1] + MSS)
    ).all()
    late = windows[:-1] >= threshold * MSS
    assert (np.diff(windows)[late] <= MSS * (1 + 1e-9)).all(), (
        "from the threshold on at most one segment"
    )
