"""What holds for every model: scalar, array and Series agree, missing stays missing, nonsense is
refused.
"""

import numpy as np
import pandas as pd
import pytest

from netlab import models

MSS = 1448

EACH = [
    (models.mathis_bps, (MSS, 0.02, 0.01)),
    (models.aimd_bps, (MSS, 0.02, 0.01, 1.0, 0.5)),
    (models.cubic_bps, (MSS, 0.02, 0.01, 0.7, 0.4)),
    (models.padhye_bps, (MSS, 0.02, 0.01, 0.2, 1, 1e5)),
    (models.padhye_simple_bps, (MSS, 0.02, 0.01, 0.2, 1, 1e5)),
    (models.bandwidth_delay_product_bytes, (1e9, 0.02)),
    (models.buffer_limited_bps, (1e6, 0.02)),
    (models.goodput_bps, (1e9, 1448, 1514)),
    (models.sawtooth_utilisation, (50e3, 20e6, 0.08, 0.5)),
    (models.parallel_bps, (1e8, 4, 1e9)),
    (models.altman_bps, (1e9, 4, 0.7)),
    (models.limited_bps, (MSS, 0.02, 0.01, 1e9, 1e6, 1.2, 4, 1514)),
    (models.affordable_loss, (1e9, MSS, 0.02, 1.2, 4)),
    (models.streams_needed, (1e9, MSS, 0.02, 1e-4, 1e6, 1.2)),
    (models.slow_start_s, (1e6, MSS, 0.02, 10, 4)),
    (models.transfer_s, (1e6, 1e8, MSS, 0.02, 10, 4)),
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


PADHYE_REFUSES = [
    ({"mss_bytes": 0}, "mss_bytes must be above 0"),
    ({"rtt_s": [0.02, 0]}, "rtt_s must be above 0 .*not 0"),
    ({"loss": -0.1}, "loss must be at least 0 .*not -0.1"),
    ({"rto_s": 0}, "rto_s must be above 0 .*not 0"),
    ({"rto_s": np.inf}, "rto_s .*finite, not inf"),
    ({"b": 0.5}, "b must be at least 1 .*not 0.5"),
    ({"window_bytes": 0}, "window_bytes must be above 0, not 0"),
    ({"window_bytes": [1e6, 1000]}, r"window_bytes must be at least mss_bytes \(1448\).* not 1000"),
    ({"streams": 1.5}, "streams must be at least 1 .*whole, not 1.5"),
]


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
        (models.aimd_bps, {"loss": 2}, "loss must be at least 0 and at most 1 .*not 2"),
        (models.aimd_bps, {"alpha": 0}, "alpha must be above 0 .*not 0"),
        (models.aimd_bps, {"beta": 1}, "beta must be above 0 and below 1 .*not 1"),
        (models.cubic_bps, {"beta": 0}, "beta must be above 0 and below 1 .*not 0"),
        (models.cubic_bps, {"c": -1}, "c must be above 0 .*not -1"),
        (models.cubic_bps, {"rtt_s": "20ms"}, "rtt_s must be numbers in SI units"),
        *(
            (padhye, *refusal)
            for padhye in (models.padhye_bps, models.padhye_simple_bps)
            for refusal in PADHYE_REFUSES
        ),
        (models.bandwidth_delay_product_bytes, {"rate_bps": 0}, "rate_bps must be above 0"),
        (models.bandwidth_delay_product_bytes, {"rtt_s": -1}, "rtt_s must be at least 0"),
        (models.buffer_limited_bps, {"window_bytes": -1}, "window_bytes must be at least 0"),
        (models.buffer_limited_bps, {"rtt_s": 0}, "rtt_s must be above 0"),
        (models.goodput_bps, {"rate_bps": -1}, "rate_bps must be above 0"),
        (models.goodput_bps, {"mss_bytes": 0}, "mss_bytes must be above 0"),
        (models.sawtooth_utilisation, {"queue_bytes": -1}, "queue_bytes must be at least 0"),
        (models.sawtooth_utilisation, {"beta": 1}, "beta must be above 0 and below 1"),
        (models.parallel_bps, {"single_bps": -1}, "single_bps must be at least 0, not -1"),
        (models.parallel_bps, {"link_bps": 0}, "link_bps must be above 0, not 0"),
        (models.altman_bps, {"link_bps": 0}, "link_bps must be above 0 .*not 0"),
        (models.altman_bps, {"flows": 1.5}, "flows must be at least 1 .*whole, not 1.5"),
        (models.altman_bps, {"beta": 1}, "beta must be above 0 and below 1 .*not 1"),
        (models.hacker_bps, {"loss": [0.1, 2]}, "loss must be at least 0 and at most 1 .*not 2"),
        (models.hacker_bps, {"c": 0}, "c must be above 0 .*not 0"),
        (models.rtt_shares, {"rtt_s": [0.02, 0]}, "rtt_s must be above 0 .*not 0"),
        (models.rtt_shares, {"streams": [1, 0]}, "streams must be at least 1 .*not 0"),
        (models.rtt_shares, {"exponent": -1}, "exponent must be at least 0 .*not -1"),
        *(
            (function, *refusal)
            for function in (models.limited_bps, models.limiting)
            for refusal in [
                ({"mss_bytes": 0}, "mss_bytes must be above 0"),
                ({"rtt_s": [0.02, 0]}, "rtt_s must be above 0"),
                ({"loss": -0.1}, "loss must be at least 0"),
                ({"rate_bps": 0}, "rate_bps must be above 0, not 0"),
                ({"window_bytes": -1}, "window_bytes must be at least 0, not -1"),
                ({"c": 0}, "c must be above 0"),
                ({"streams": 1.5}, "streams must be at least 1 .*whole, not 1.5"),
                (
                    {"frame_bytes": 1000},
                    r"frame_bytes must be at least mss_bytes \(1448\).* not 1000",
                ),
            ]
        ),
        (models.affordable_loss, {"bps": 0}, "bps must be above 0 and finite, not 0"),
        (models.affordable_loss, {"streams": 0}, "streams must be at least 1"),
        (models.affordable_loss, {"c": -1}, "c must be above 0"),
        (models.streams_needed, {"bps": np.inf}, "bps must be above 0 and finite, not inf"),
        (models.streams_needed, {"loss": 2}, "loss must be at least 0 and at most 1"),
        (models.streams_needed, {"window_bytes": -1}, "window_bytes must be at least 0, not -1"),
        (models.slow_start_s, {"window_bytes": 0}, "window_bytes must be above 0"),
        (models.slow_start_s, {"rtt_s": "20ms"}, "rtt_s must be numbers in SI units"),
        (
            models.slow_start_s,
            {"initial_segments": 0},
            "initial_segments must be at least 1 .*not 0",
        ),
        (models.slow_start_s, {"streams": 2.5}, "streams must be at least 1 .*whole, not 2.5"),
        (models.transfer_s, {"size_bytes": 0}, "size_bytes must be above 0 and finite, not 0"),
        (models.transfer_s, {"rate_bps": 0}, "rate_bps must be above 0, not 0"),
        (
            models.transfer_s,
            {"initial_segments": 1.5},
            "initial_segments must be at least 1 .*whole, not 1.5",
        ),
        (models.slow_start_trace, {"duration_s": -1}, "duration_s must be at least 0"),
        (models.slow_start_trace, {"mss_bytes": [1000, 1448]}, "mss_bytes must be one number"),
        (
            models.slow_start_trace,
            {"initial_segments": 0.5},
            "initial_segments must be at least 1 .*whole, not 0.5",
        ),
        (models.slow_start_trace, {"threshold_bytes": 10}, "threshold_bytes must be at least 1000"),
        (models.slow_start_trace, {"limit_bytes": 10}, "limit_bytes must be at least 1000"),
        (models.aimd_trace, {"duration_s": -1}, "duration_s must be at least 0"),
        (models.aimd_trace, {"duration_s": np.nan}, "duration_s must be one number, not nan"),
        (models.aimd_trace, {"rtt_s": [0.1, 0.2]}, "rtt_s must be one number"),
        (models.aimd_trace, {"start_bytes": 10}, "start_bytes must be at least 1000"),
        (models.aimd_trace, {"limit_bytes": 10}, "limit_bytes must be at least 1000"),
        (
            models.aimd_trace,
            {"loss_times_s": [0.5, 3]},
            "loss_times_s must be at least 0 and at most 1 .*not 3",
        ),
        (models.aimd_trace, {"increase": 0}, "increase must be above 0"),
        (models.aimd_trace, {"decrease": 1}, "decrease must be above 0 and below 1 .*not 1"),
    ],
)
def test_refuses_what_is_outside_the_model(model, changes, message):
    good = {
        models.mathis_bps: {"mss_bytes": MSS, "rtt_s": 0.02, "loss": 0.01},
        models.aimd_bps: {"mss_bytes": MSS, "rtt_s": 0.02, "loss": 0.01},
        models.cubic_bps: {"mss_bytes": MSS, "rtt_s": 0.02, "loss": 0.01},
        models.padhye_bps: {"mss_bytes": MSS, "rtt_s": 0.02, "loss": 0.01},
        models.padhye_simple_bps: {"mss_bytes": MSS, "rtt_s": 0.02, "loss": 0.01},
        models.bandwidth_delay_product_bytes: {"rate_bps": 1e9, "rtt_s": 0.02},
        models.buffer_limited_bps: {"window_bytes": 1e6, "rtt_s": 0.02},
        models.goodput_bps: {"rate_bps": 1e9},
        models.sawtooth_utilisation: {"queue_bytes": 50e3, "rate_bps": 20e6, "rtt_s": 0.08},
        models.parallel_bps: {"single_bps": 1e8, "streams": 4, "link_bps": 1e9},
        models.altman_bps: {"link_bps": 1e9, "flows": 4},
        models.hacker_bps: {"mss_bytes": MSS, "rtt_s": 0.02, "loss": 0.01},
        models.rtt_shares: {"rtt_s": [0.02, 0.04]},
        models.limited_bps: {"mss_bytes": MSS, "rtt_s": 0.02},
        models.limiting: {"mss_bytes": MSS, "rtt_s": 0.02},
        models.affordable_loss: {"bps": 1e9, "mss_bytes": MSS, "rtt_s": 0.02},
        models.streams_needed: {"bps": 1e9, "mss_bytes": MSS, "rtt_s": 0.02},
        models.slow_start_s: {"window_bytes": 1e6, "mss_bytes": MSS, "rtt_s": 0.02},
        models.transfer_s: {"size_bytes": 1e6, "rate_bps": 1e9, "mss_bytes": MSS, "rtt_s": 0.02},
        models.slow_start_trace: {"mss_bytes": 1000, "rtt_s": 0.1, "duration_s": 1},
        models.aimd_trace: {"mss_bytes": 1000, "rtt_s": 0.1, "duration_s": 1},
    }
    with pytest.raises(ValueError, match=message):
        model(**good[model] | changes)
