"""The models against arithmetic done by hand, limiting cases and one another."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab import models

rtts, losses = st.floats(1e-4, 1), st.floats(1e-6, 0.1)
MSS = 1448


# --- mathis_bps


def test_mathis_by_hand():
    # 1000 byte = 8000 bit in 100 ms is 80 kbit/s; sqrt(1 %) = 0.1, so ten times that
    assert models.mathis_bps(1000, 0.1, 0.01) == pytest.approx(800_000)


def test_mathis_constants():
    # Mathis et al. (1997), Table 1
    c = models.MATHIS_C
    assert c["periodic"] == pytest.approx(1.22, abs=0.005)
    assert c["periodic, delayed ACKs"] == pytest.approx(0.87, abs=0.005)
    assert (c["random"], c["random, delayed ACKs"], c["labs"]) == (1.31, 0.93, 1)
    # Reno over 20 ms with 2 % loss, C = sqrt(3/2): 5.02 Mbit/s; netlab's guest measured 5.03
    assert models.mathis_bps(MSS, 0.020, 0.02, c=c["periodic"]) == pytest.approx(5.02e6, rel=1e-3)


@given(rtts, losses, st.integers(1, 64))
def test_mathis_scales(rtt, loss, k):
    one = models.mathis_bps(MSS, rtt, loss)
    assert models.mathis_bps(MSS, rtt, 4 * loss) == pytest.approx(one / 2), "quadrupling the loss halves"
    assert models.mathis_bps(MSS, 2 * rtt, loss) == pytest.approx(one / 2), "doubling the RTT halves"
    assert models.mathis_bps(MSS, rtt, loss, streams=k) == pytest.approx(k * one), "K streams carry K times as much"
    assert models.mathis_bps(k * MSS, rtt, loss) == pytest.approx(k * one), "... like one whose MSS is K times larger"


def test_mathis_limits():
    assert models.mathis_bps(MSS, 0.02, 0) == np.inf
    assert models.mathis_bps(MSS, 0.02, 1) == pytest.approx(8 * MSS / 0.02), "one segment per round trip"
    assert models.mathis_bps(MSS, 0.02, [0, 1])[0] == np.inf
    assert models.mathis_bps(MSS, 0.02, pd.Series([0.0]))[0] == np.inf


# --- bandwidth-delay product, buffers, goodput, parallel streams


def test_bandwidth_delay_product_of_the_labs():
    # Lab 10, section 3: 10 Gbit/s x 20 ms = 200,000,000 bits = 25,000,000 bytes
    assert models.bandwidth_delay_product_bytes(10_000_000_000, 0.02) == 25_000_000
    assert models.bandwidth_delay_product_bytes(1e9, 0) == 0


@given(st.floats(1e3, 1e12), rtts)
def test_a_window_of_one_bdp_fills_the_path(rate, rtt):
    window = models.bandwidth_delay_product_bytes(rate, rtt)
    assert models.buffer_limited_bps(window, rtt) == pytest.approx(rate)
    assert models.buffer_limited_bps(window / 8, rtt, streams=8) == pytest.approx(rate), "or eight windows of an eighth"


def test_buffer_limit():
    # Linux's default tcp_rmem maximum, 6 MiB, over 20 ms: why 10 Gbit/s gives 3
    assert models.buffer_limited_bps(6 * 2**20, 0.02) == pytest.approx(2_516_582_400)
    assert models.buffer_limited_bps(0, 0.02) == 0


def test_goodput():
    assert models.goodput_bps(10e9) == pytest.approx(10e9 * 1448 / 1514)
    assert models.goodput_bps(10e9) / 1e9 == pytest.approx(9.56, abs=0.005)
    assert models.goodput_bps(1e9, 1000, 1000) == 1e9
    assert models.goodput_bps(1e9, 8948, 9014) > models.goodput_bps(1e9), "jumbo frames waste less"
    with pytest.raises(ValueError, match=r"frame_bytes must be at least mss_bytes \(1448\).* not 1000"):
        models.goodput_bps(1e9, [536, 1448], 1000)


@given(st.floats(0, 1e11), st.integers(1, 100), st.floats(1e3, 1e11))
def test_parallel_streams_add_up_until_the_link_is_full(single, k, link):
    total = models.parallel_bps(single, k, link)
    assert total == min(k * single, link)
    assert total <= models.parallel_bps(single, k + 1, link), "one more never carries less"


def test_parallel_limits():
    assert models.parallel_bps(np.inf, 1, 1e9) == 1e9, "nothing but the link"
    assert models.parallel_bps(3e9, 8, np.inf) == 24e9, "no link"


# --- scalars, arrays, Series, missing values

EACH = [
    (models.mathis_bps, (MSS, 0.02, 0.01)),
    (models.bandwidth_delay_product_bytes, (1e9, 0.02)),
    (models.buffer_limited_bps, (1e6, 0.02)),
    (models.goodput_bps, (1e9, 1448, 1514)),
    (models.parallel_bps, (1e8, 4, 1e9)),
]


@pytest.mark.parametrize(("model", "args"), EACH)
def test_scalar_vector_and_series_agree(model, args):
    scalar = model(*args)
    assert type(scalar) is float
    for i, arg in enumerate(args):
        vector = model(*args[:i], [arg] * 3, *args[i + 1 :])
        assert isinstance(vector, np.ndarray) and vector.tolist() == [scalar] * 3
        series = pd.Series([arg, None, arg], index=["x", "y", "z"])
        out = model(*args[:i], series, *args[i + 1 :])
        assert isinstance(out, pd.Series) and list(out.index) == ["x", "y", "z"]
        assert out.x == out.z == scalar and np.isnan(out.y), "missing stays missing"
        nullable = model(*args[:i], series.convert_dtypes(), *args[i + 1 :])
        assert nullable.x == scalar and np.isnan(nullable.y)


def test_broadcasts_a_grid():
    grid = models.mathis_bps(MSS, 0.02, np.array([[0.0001], [0.01]]), streams=[1, 2, 4])
    assert grid.shape == (2, 3)
    assert grid[0] / grid[1] == pytest.approx([10, 10, 10])


def test_columns_of_one_frame():
    frame = pd.DataFrame({"rtt_s": [0.02, 0.04], "loss": [0.01, 0.04], "parallel": [1, 8]})
    out = models.mathis_bps(MSS, frame.rtt_s, frame.loss, streams=frame.parallel)
    assert out.tolist() == pytest.approx([5.792e6, 8 * 1.448e6])


# --- invalid input


@pytest.mark.parametrize(
    ("model", "changes", "message"),
    [
        (models.mathis_bps, {"mss_bytes": 0}, "mss_bytes must be above 0 and finite, not 0"),
        (models.mathis_bps, {"rtt_s": 0}, "rtt_s must be above 0"),
        (models.mathis_bps, {"rtt_s": [0.02, -1]}, "rtt_s .* not -1"),
        (models.mathis_bps, {"rtt_s": np.inf}, "rtt_s .* finite, not inf"),
        (models.mathis_bps, {"rtt_s": "20ms"}, "rtt_s must be numbers in SI units, not '20ms'"),
        (models.mathis_bps, {"rtt_s": "0.02"}, "rtt_s must be numbers"),
        (models.mathis_bps, {"rtt_s": None}, "rtt_s must be numbers"),
        (models.mathis_bps, {"rtt_s": pd.Series(["0.02"])}, "rtt_s must be numbers"),
        (models.mathis_bps, {"loss": 1.5}, "loss must be at least 0 and at most 1 .*not 1.5"),
        (models.mathis_bps, {"loss": -0.1}, "loss .* not -0.1"),
        (models.mathis_bps, {"c": 0}, "c must be above 0"),
        (models.mathis_bps, {"streams": 0}, "streams must be at least 1 and .* whole, not 0"),
        (models.mathis_bps, {"streams": [1, 2.5]}, "streams .* not 2.5"),
        (models.bandwidth_delay_product_bytes, {"rate_bps": 0}, "rate_bps must be above 0"),
        (models.bandwidth_delay_product_bytes, {"rtt_s": -1}, "rtt_s must be at least 0"),
        (models.buffer_limited_bps, {"window_bytes": -1}, "window_bytes must be at least 0"),
        (models.buffer_limited_bps, {"rtt_s": 0}, "rtt_s must be above 0"),
        (models.goodput_bps, {"rate_bps": -1}, "rate_bps must be above 0"),
        (models.goodput_bps, {"mss_bytes": 0}, "mss_bytes must be above 0"),
        (models.parallel_bps, {"single_bps": -1}, "single_bps must be at least 0, not -1"),
        (models.parallel_bps, {"link_bps": 0}, "link_bps must be above 0, not 0"),
        (models.aimd_trace, {"duration_s": -1}, "duration_s must be at least 0"),
        (models.aimd_trace, {"duration_s": np.nan}, "duration_s must be one number, not nan"),
        (models.aimd_trace, {"rtt_s": [0.1, 0.2]}, "rtt_s must be one number"),
        (models.aimd_trace, {"start_bytes": 10}, "start_bytes must be at least 1000"),
        (models.aimd_trace, {"limit_bytes": 10}, "limit_bytes must be at least 1000"),
        (models.aimd_trace, {"loss_times_s": [0.5, 3]}, "loss_times_s must be at least 0 and at most 1 .*not 3"),
        (models.aimd_trace, {"increase": 0}, "increase must be above 0"),
        (models.aimd_trace, {"decrease": 1}, "decrease must be above 0 and below 1 .*not 1"),
    ],
)
def test_refuses_what_is_outside_the_model(model, changes, message):
    good = {
        models.mathis_bps: {"mss_bytes": MSS, "rtt_s": 0.02, "loss": 0.01},
        models.bandwidth_delay_product_bytes: {"rate_bps": 1e9, "rtt_s": 0.02},
        models.buffer_limited_bps: {"window_bytes": 1e6, "rtt_s": 0.02},
        models.goodput_bps: {"rate_bps": 1e9},
        models.parallel_bps: {"single_bps": 1e8, "streams": 4, "link_bps": 1e9},
        models.aimd_trace: {"mss_bytes": 1000, "rtt_s": 0.1, "duration_s": 1},
    }
    with pytest.raises(ValueError, match=message):
        model(**good[model] | changes)


# --- aimd_trace


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


# --- models bound to a frame's columns

RUNS = pd.DataFrame(
    {"mss_bytes": MSS, "base_rtt_s": 0.02, "loss_rate": [1e-4, 1e-2, 0, np.nan], "streams": [1, 8, 1, 1]},
    index=list("wxyz"),
)


def test_bound_models_are_the_functions_of_the_columns():
    labs, periodic = models.mathis_labs(RUNS), models.mathis(RUNS)
    assert list(labs.index) == list(RUNS.index) and labs.y == np.inf and np.isnan(labs.z)
    assert labs.x == pytest.approx(models.mathis_bps(MSS, 0.02, 0.01, streams=8))
    assert periodic.w / labs.w == pytest.approx(models.MATHIS_C["periodic"])
    assert (models.mathis.label, models.mathis_labs.label) == ("Mathis, C = √(3/2)", "Mathis, C = 1 (the labs)")


def test_bound_models_never_exceed_the_link():
    link = models.goodput_bps(2e7)
    slow = models.mathis(RUNS.assign(bottleneck_bps=2e7))
    assert slow[["w", "x", "y"]].tolist() == pytest.approx([link] * 3) and np.isnan(slow.z), "missing stays missing"
    for no_rate in (np.inf, np.nan):
        unlimited = models.mathis(RUNS.assign(bottleneck_bps=no_rate))
        pd.testing.assert_series_equal(unlimited, models.mathis(RUNS), check_names=False)
    jumbo = models.mathis(RUNS.assign(bottleneck_bps=2e7, mss_bytes=8948))
    assert jumbo.w == pytest.approx(2e7 * 8948 / 9014)


def test_a_model_of_ones_own_and_a_missing_column():
    assert models.Model("twice", lambda runs: 2 * runs["streams"])(RUNS).tolist() == [2, 16, 2, 2]
    with pytest.raises(ValueError, match=r"Mathis, C = 1 .* needs the column 'loss_rate', not among mss_bytes, base"):
        models.mathis_labs(RUNS.drop(columns="loss_rate"))
