"""What holds for every model: scalar, array and Series agree, missing stays missing, nonsense is
refused.
"""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from pytest import approx

from netlab import ModelWarning, models

MSS = 1448
EACH = [
    (models.mathis_bps, (MSS, 0.02, 0.01, 1.2, 4)),
    (models.aimd_bps, (MSS, 0.02, 0.01, 1.0, 0.5, 4)),
    (models.cubic_bps, (MSS, 0.02, 0.01, 0.7, 0.4, 4)),
    (models.padhye_bps, (MSS, 0.02, 0.01, 0.2, 1, 1e5, 4)),
    (models.padhye_simple_bps, (MSS, 0.02, 0.01, 0.2, 1, 1e5, 4)),
    (models.bandwidth_delay_product_bytes, (1e9, 0.02)),
    (models.buffer_limited_bps, (1e6, 0.02, 4)),
    (models.goodput_bps, (1e9, 1448, 1514)),
    (models.sawtooth_utilisation, (50e3, 20e6, 0.08, 0.5)),
    (models.parallel_bps, (1e8, 4, 1e9)),
    (models.altman_bps, (1e9, 4, 0.7)),
    (models.bbr_share, (1e6, 1e8, 0.02, 2, 1514)),
    (models.limited_bps, (MSS, 0.02, 0.01, 1e9, 1e6, 1.2, 4, 1514)),
    (models.affordable_loss, (1e9, MSS, 0.02, 1.2, 4)),
    (models.streams_needed, (1e9, MSS, 0.02, 1e-4, 1e6, 1.2)),
    (models.slow_start_s, (1e6, MSS, 0.02, 10, 4)),
    (models.transfer_s, (1e6, 1e8, MSS, 0.02, 10, 4)),
]
OTHERS = [
    (models.hacker_bps, (MSS, [0.02, 0.04], 0.01, 1.0)),
    (models.rtt_shares, ([0.02, 0.04], 1, 1.0)),
    (models.limiting, EACH[12][1]),
    (models.slow_start_trace, (MSS, 0.02, 1, 10, 1e5, 1e6)),
    (models.aimd_trace, (MSS, 0.02, 1, [0.5], 1e5, 1e6, 1, 0.5)),
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
        assert out.x == out.z == scalar and np.isnan(out.y)
        nullable = model(*args[:i], series.convert_dtypes(), *args[i + 1 :])
        assert nullable.x == scalar and np.isnan(nullable.y)


def test_broadcasts_a_grid_and_the_columns_of_a_frame():
    grid = models.mathis_bps(MSS, 0.02, np.array([[0.0001], [0.01]]), streams=[1, 2, 4])
    assert grid.shape == (2, 3) and grid[0] / grid[1] == approx([10, 10, 10])
    frame = pd.DataFrame({"rtt_s": [0.02, 0.04], "loss": [0.01, 0.04], "parallel": [1, 8]})
    out = models.mathis_bps(MSS, frame.rtt_s, frame.loss, streams=frame.parallel)
    assert out.tolist() == approx([5.792e6, 8 * 1.448e6])


POSITIVE, SHARE, COUNT = [0, -1], [0, 1], [0, 2.5]
WRONG = {
    "mss_bytes": POSITIVE, "rtt_s": [-1, np.inf, "20ms", None, pd.Series(["0.02"])],
    "loss": [-0.1, 1.5], "c": POSITIVE, "streams": COUNT, "alpha": POSITIVE, "beta": SHARE,
    "rto_s": [0, np.inf], "b": [0.5], "window_bytes": [-1], "rate_bps": POSITIVE,
    "queue_bytes": [-1], "frame_bytes": [1000], "single_bps": [-1], "link_bps": POSITIVE,
    "flows": COUNT, "exponent": [-1], "bps": [0, np.inf], "initial_segments": COUNT,
    "size_bytes": POSITIVE, "duration_s": [-1, np.nan], "threshold_bytes": [10],
    "limit_bytes": [10], "start_bytes": [10], "loss_times_s": [[0.5, 3]], "increase": POSITIVE,
    "decrease": SHARE, "packet_bytes": POSITIVE,
}  # fmt: skip
CASES = [
    (model, args, name, wrong)
    for model, args in EACH + OTHERS
    for name in inspect.signature(model).parameters
    for wrong in WRONG[name]
]
CASES += [(models.padhye_bps, EACH[3][1], "window_bytes", wrong) for wrong in (0, [1e6, 1000])]
CASES += [(model, args, "mss_bytes", [1000, 1448]) for model, args in OTHERS[3:]]


@pytest.mark.parametrize(("model", "args", "name", "wrong"), CASES)
def test_what_is_outside_the_model_is_refused_by_name(model, args, name, wrong):
    names = list(inspect.signature(model).parameters)
    args = dict(zip(names, args, strict=True))
    with pytest.raises(ValueError, match=f"^{name} must be .*, not "):
        model(**args | {name: wrong})


@pytest.mark.parametrize(("model", "args"), EACH + OTHERS)
def test_a_number_just_above_zero_is_taken_where_zero_is_not(model, args):
    args = dict(zip(inspect.signature(model).parameters, args, strict=True))
    for name in args:
        if WRONG[name] is POSITIVE:
            model(**args | {name: 0.5})


def warned(call, *args, **kwargs):
    """What a call warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*args, **kwargs)
    assert all(one.category is ModelWarning and one.filename == __file__ for one in caught)
    return [str(one.message) for one in caught]


# ms, kB, per cent; and the first value outside, in an array with one that is inside
ANOTHER_UNIT = {
    "rtt_s": (80, [0.02, 80]), "mss_bytes": (1.448, [1448, 1.448]), "rto_s": (200, [0.2, 200]),
    "loss": (1, [0.01, 0.6]), "window_bytes": (64, [64e3, 64]),
}  # fmt: skip
DOMAINS = [
    (model, args, name)
    for model, args in EACH + OTHERS
    for name in inspect.signature(model).parameters
    if name in ANOTHER_UNIT and not (model is models.rtt_shares and name == "rtt_s")  # ratios only
]


@pytest.mark.parametrize(("model", "args", "name"), DOMAINS)
def test_an_argument_of_another_unit_is_computed_with_one_warning(model, args, name):
    args = dict(zip(inspect.signature(model).parameters, args, strict=True))
    sizes = dict(window_bytes=6e3) if name == "mss_bytes" and "window_bytes" in args else {}
    sizes |= dict(limit_bytes=1e9) if "limit_bytes" in args else {}
    if model in (models.padhye_bps, models.padhye_simple_bps) and name == "window_bytes":
        return  # there it is refused, as it holds no segment
    assert not warned(model, **args)
    scalar, vector = ANOTHER_UNIT[name]
    for value in [scalar] + [vector] * (model not in [model for model, _ in OTHERS[3:]]):
        (told,) = warned(model, **args | sizes | {name: value})
        assert told.startswith(f"{model.__name__}: {name} = ") and told.count(" = ") == 1
    both = {"rtt_s": 80, "mss_bytes": 1.448}
    if both.keys() <= args.keys():
        (told,) = warned(model, **args | both)
        assert "rtt_s = 80 " in told and "mss_bytes = 1.448 " in told


def test_the_same_models_on_frames_leave_a_loss_to_the_figure_and_warn_of_the_rest():
    runs = pd.DataFrame({"mss_bytes": [1448], "base_rtt_s": 0.02, "loss_rate": 0.1, "streams": 1})
    for model in (models.mathis, models.padhye, models.cubic):
        assert not warned(model, runs)
        (told,) = warned(model, runs.assign(base_rtt_s=20))
        assert "rtt_s = 20 " in told


def test_what_is_at_the_end_of_a_domain_is_inside_and_a_window_of_none_is():
    assert not warned(models.mathis_bps, 88, 3, models.MATHIS_MOST_LOSS)
    assert not warned(models.padhye_bps, 65_535, 3, 0.5)
    assert not warned(models.buffer_limited_bps, [0, np.inf, np.nan, 88], 0.02)
    assert not warned(models.affordable_loss, 1e6, 1448, 0.02)  # whose result may be 1
