"""The sawtooth against counting, and against the formula that it averages to."""

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
    red, green = (models.aimd_trace(mss, 0.1, 40, loss_times_s=[0], start_bytes=240_000) for mss in (1000, 6000))
    recovered = [trace.time_s[trace.cwnd_bytes >= 240_000].iloc[1] - 0.1 for trace in (red, green)]
    assert recovered == pytest.approx([12, 2]), "120 segments at 0.1 s each, and 20"


def test_losses_of_one_round_trip_count_once_and_a_segment_always_remains():
    trace = models.aimd_trace(1000, 0.1, 0.3, loss_times_s=[0.11, 0.15, 0.19], start_bytes=9000)
    assert trace.cwnd_bytes.tolist() == [9000, 10_000, 5000, 6000]
    assert models.aimd_trace(1000, 0.1, 1, loss_times_s=np.arange(0, 1, 0.1)).cwnd_bytes.eq(1000).all()


def test_aimd_of_ornl_loses_a_sixteenth_and_gains_eight():
    trace = models.aimd_trace(1000, 0.1, 0.2, loss_times_s=[0], start_bytes=160_000, increase=8, decrease=1 / 16)
    assert trace.cwnd_bytes.tolist() == [160_000, 150_000, 158_000]


def test_the_sawtooth_averages_to_mathis():
    # Between losses the window grows from W/2 to W: 3/8 W^2 segments, one of them lost (Mathis et al. 1997, section 2)
    w = 400
    trace = models.aimd_trace(MSS, 0.01, 60, start_bytes=w / 2 * MSS, limit_bytes=(w - 0.5) * MSS)
    mathis = models.mathis_bps(MSS, 0.01, 1 / (3 / 8 * w**2), c=models.MATHIS_C["periodic"])
    assert trace.cwnd_bytes.max() == w * MSS
    assert trace.sent_bps.mean() == pytest.approx(mathis, rel=0.01)


@given(st.floats(2, 1e4), st.floats(0.05, 1), st.floats(0.1, 20), st.floats(0.01, 0.99))
def test_the_window_stays_within_its_limits(segments, rtt, increase, decrease):
    trace = models.aimd_trace(MSS, rtt, 20, limit_bytes=segments * MSS, increase=increase, decrease=decrease)
    assert trace.cwnd_bytes.min() >= MSS
    assert trace.cwnd_bytes.max() <= (segments + increase) * MSS * (1 + 1e-12)
    assert trace.time_s.iloc[-1] <= 20 + 1e-9
