"""Padhye et al.'s models against figures worked out elsewhere, their limits and one another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from netlab.models import (
    MATHIS_C,
    buffer_limited_bps,
    mathis_bps,
    padhye_bps,
    padhye_simple_bps,
)  # fmt: skip

MSS = 1448
both = pytest.mark.parametrize("padhye", [padhye_bps, padhye_simple_bps])
rtts, losses, acks = st.floats(1e-3, 0.3), st.floats(1e-7, 0.9), st.sampled_from([1, 2])


def test_figures_worked_out_elsewhere():
    # 20 ms, RTO 0.2 s, every segment acknowledged, at 2, 3, 5 and 10 %
    loss = [0.02, 0.03, 0.05, 0.10]
    simple, full = padhye_simple_bps(MSS, 0.020, loss), padhye_bps(MSS, 0.020, loss)
    mathis = mathis_bps(MSS, 0.020, loss, c=MATHIS_C["periodic"])
    assert simple / 1e6 == approx([3.45, 2.42, 1.43, 0.57], abs=0.006)
    assert mathis / 1e6 == approx([5.02, 4.10, 3.17, 2.24], abs=0.006)
    assert full == approx(simple, rel=0.3) and (full < mathis).all()


def padhye_as_printed(rtt, p, rto, b, wm=np.inf):
    """Segments per second, as in the paper, neither multiplied out nor vectorised."""

    def timeout(w):
        q = 1 - p
        return min(1, (1 - q**3) * (1 + q**3 * (1 - q ** (w - 3))) / (1 - q**w))

    f = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    wu = (2 + b) / (3 * b) + (8 * (1 - p) / (3 * b * p) + ((2 + b) / (3 * b)) ** 2) ** 0.5
    if wu < wm:
        rounds, w = b / 2 * wu + 1, wu
    else:
        rounds, w = b / 8 * wm + (1 - p) / (p * wm) + 2, wm
    segments = (1 - p) / p + w + timeout(w) / (1 - p)
    return segments / (rtt * rounds + timeout(w) * rto * f / (1 - p))


@given(rtts, st.floats(1e-4, 0.9), st.floats(0.2, 3), acks, st.sampled_from([2, 12, 100, np.inf]))
def test_full_model_is_what_the_paper_prints(rtt, loss, rto, b, wm):
    ours = padhye_bps(MSS, rtt, loss, rto, b, wm * MSS)
    assert ours == approx(8 * MSS * padhye_as_printed(rtt, loss, rto, b, wm), rel=1e-6)


@both
@pytest.mark.parametrize("b", [1, 2])
def test_rare_loss_leaves_mathis(padhye, b):
    mathis = mathis_bps(MSS, 0.020, 1e-10, c=(3 / (2 * b)) ** 0.5)
    assert padhye(MSS, 0.020, 1e-10, b=b) == approx(mathis, rel=1e-4)
    assert padhye(MSS, 0.020, 0, b=b) == np.inf


@both
def test_the_window_limits(padhye):
    window = 64 * MSS
    for loss in (0, 1e-300, 1e-12):
        found = padhye(MSS, 0.020, loss, window_bytes=window, streams=[1, 8])
        assert found == approx(buffer_limited_bps(window, 0.020, [1, 8]))
    # a window that is never reached is no limit
    assert padhye(MSS, 0.020, 0.03, window_bytes=1e9) == padhye(MSS, 0.020, 0.03)
    assert padhye(MSS, 0.020, 1e-4, window_bytes=window) < padhye(MSS, 0.020, 1e-4)


def test_when_everything_is_lost_a_segment_goes_out_every_64_timeouts():
    assert padhye_bps(MSS, 0.020, 1, rto_s=0.2) == approx(8 * MSS / (64 * 0.2)) == approx(905)
    assert padhye_bps(MSS, 0.020, 1, rto_s=0.2, window_bytes=20 * MSS) == approx(905)


@pytest.mark.parametrize("b", [1, 2, 4])
def test_the_two_cases_meet(b):
    loss, c = 0.01, (2 + b) / (3 * b)
    w = MSS * (c + (8 * (1 - loss) / (3 * b * loss) + c**2) ** 0.5)
    windows = [w * (1 - 1e-9), w * (1 + 1e-9)]
    below, above = padhye_bps(MSS, 0.020, loss, b=b, window_bytes=windows)
    assert above == approx(below, rel=1e-6 if b == 2 else 0.03)


@both
@given(rtts, losses, st.floats(0.3, 3), acks)
def test_falls_with_loss_rtt_timeout_and_delayed_acks(padhye, rtt, loss, rto, b):
    worse = [(loss * 1.1, rtt, rto, b), (loss, rtt * 1.1, rto, b), (loss, rtt, rto * 1.1, b)]
    worse.append((loss, rtt, rto, b + 1))
    one = padhye(MSS, rtt, loss, rto, b)
    assert all(padhye(MSS, r, p, t, acked) < one for p, r, t, acked in worse)


@both
@given(rtts, losses, st.floats(0.3, 3), st.integers(1, 64), st.floats(1, 1000))
def test_streams_and_bounds(padhye, rtt, loss, rto, k, segments):
    one = padhye(MSS, rtt, loss, rto)
    assert padhye(MSS, rtt, loss, rto, streams=k) == approx(k * one)
    assert padhye(k * MSS, rtt, loss, rto) == approx(k * one)
    limited = padhye(MSS, rtt, loss, rto, b=2, window_bytes=segments * MSS)
    assert 0 < limited <= buffer_limited_bps(segments * MSS, rtt) * (1 + 1e-9)


def test_the_simple_model_is_never_above_mathis():
    loss = np.logspace(-6, 0, 50)
    mathis = mathis_bps(MSS, 0.020, loss, c=MATHIS_C["periodic"])
    assert (padhye_simple_bps(MSS, 0.020, loss) < mathis).all()
