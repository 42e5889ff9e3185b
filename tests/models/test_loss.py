"""Response functions to loss against arithmetic done by hand, published tables, limits and one
another.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from netlab.models import (
    MATHIS_C,
    affordable_loss,
    aimd_bps,
    aimd_trace,
    bandwidth_delay_product_bytes,
    buffer_limited_bps,
    cubic_bps,
    mathis_bps,
    padhye_bps,
    padhye_simple_bps,
)  # fmt: skip

rtts, losses, counts = st.floats(1e-4, 1), st.floats(1e-6, 0.1), st.integers(1, 64)
MSS = 1448


def test_mathis_by_hand():
    # 1000 byte = 8000 bit in 100 ms is 80 kbit/s; sqrt(1 %) = 0.1, so ten times that
    assert mathis_bps(1000, 0.1, 0.01) == approx(800_000)
    assert mathis_bps(MSS, 0.02, 1) == approx(8 * MSS / 0.02)  # one segment per round trip
    assert mathis_bps(MSS, 0.02, 0) == mathis_bps(MSS, 0.02, [0, 1])[0] == np.inf
    assert mathis_bps(MSS, 0.02, pd.Series([0.0]))[0] == aimd_bps(MSS, 0.02, 0) == np.inf


def test_mathis_constants():
    # Mathis et al. (1997), Table 1
    assert MATHIS_C["periodic"] == (3 / 2) ** 0.5 == approx(1.22, abs=0.005)
    assert MATHIS_C["periodic, delayed ACKs"] == (3 / 4) ** 0.5 == approx(0.87, abs=0.005)
    assert (MATHIS_C["random"], MATHIS_C["random, delayed ACKs"], MATHIS_C["labs"]) == (
        1.31,
        0.93,
        1,
    )
    # Reno over 20 ms with 2 % loss, C = sqrt(3/2): 5.02 Mbit/s; netlab's guest measured 5.03
    assert mathis_bps(MSS, 0.020, 0.02, c=MATHIS_C["periodic"]) == approx(5.02e6, rel=1e-3)


@given(rtts, losses, counts)
def test_mathis_scales(rtt, loss, k):
    one = mathis_bps(MSS, rtt, loss)
    assert mathis_bps(MSS, rtt, 4 * loss) == approx(one / 2)
    assert mathis_bps(MSS, 2 * rtt, loss) == approx(one / 2)
    assert mathis_bps(MSS, rtt, loss, streams=k) == approx(k * one)
    assert mathis_bps(k * MSS, rtt, loss) == approx(k * one)  # like one of a K times larger MSS


def test_what_highspeed_tcp_starts_from():
    # RFC 3649, abstract: 10 Gbit/s, 1500-byte packets, 100 ms take a window of 83,333 segments and
    # at most one congestion event in 5,000,000,000 packets, or every 1 2/3 hours. Its C is 1.2
    loss = affordable_loss(10e9, 1500, 0.1, c=1.2)
    assert bandwidth_delay_product_bytes(10e9, 0.1) / 1500 == approx(83_333, abs=0.5)
    assert float(f"{1 / loss:.0e}") == 5_000_000_000
    assert 1 / loss * 1500 * 8 / 10e9 / 3600 == approx(1 + 2 / 3, rel=0.05)
    # Table 2: mean window in segments at drop rates of 1e-2 to 1e-10
    windows = np.array([12, 38, 120, 379, 1200, 3795, 12_000, 37_948, 120_000])
    loss = affordable_loss(windows * 1500 * 8 / 0.1, 1500, 0.1, c=1.2)
    assert loss == approx(10.0 ** -np.arange(2, 11), rel=0.01)


def test_what_needs_no_loss_at_all_may_lose_everything():
    assert affordable_loss(1, MSS, 0.02) == 1


@given(rtts, losses, counts, st.floats(0.5, 2))
def test_affordable_loss_inverts_mathis(rtt, loss, k, c):
    rate = mathis_bps(MSS, rtt, loss, c, k)
    assert affordable_loss(rate, MSS, rtt, c, k) == approx(loss)
    assert affordable_loss(2 * rate, MSS, rtt, c, k) == approx(loss / 4)
    assert affordable_loss(2 * rate, MSS, rtt, c, 2 * k) == approx(loss)


@given(rtts, losses, counts)
def test_aimd_of_reno_is_mathis_with_periodic_loss(rtt, loss, k):
    mathis = mathis_bps(MSS, rtt, loss, c=MATHIS_C["periodic"], streams=k)
    assert aimd_bps(MSS, rtt, loss, streams=k) == approx(mathis)


@given(st.floats(0.1, 20), st.floats(0.05, 0.95), rtts, losses)
def test_aimd_scales(alpha, beta, rtt, loss):
    one = aimd_bps(MSS, rtt, loss, alpha, beta)
    assert aimd_bps(MSS, rtt, loss, 4 * alpha, beta) == approx(2 * one)
    assert aimd_bps(MSS, rtt, 4 * loss, alpha, beta) == approx(one / 2)
    assert aimd_bps(MSS, rtt, loss, alpha, beta + 0.04) > one  # giving up less carries more
    friendly = 3 * (1 - beta) / (1 + beta)  # RFC 9438, section 4.3
    assert aimd_bps(MSS, rtt, loss, friendly, beta) == approx(aimd_bps(MSS, rtt, loss))


@pytest.mark.parametrize(("alpha", "beta"), [(1, 0.5), (8, 15 / 16), (0.53, 0.7), (3, 0.2)])
def test_aimd_is_the_mean_of_the_sawtooth(alpha, beta):
    w = 4000 * MSS  # so large that a sawtooth has many round trips, as the formula has it
    trace = aimd_trace(MSS, 0.01, 60, (), beta * w, w, increase=alpha, decrease=1 - beta)
    cuts = (trace.cwnd_bytes.diff() < 0).to_numpy().nonzero()[0]
    whole = trace.iloc[cuts[0] : cuts[-1]]
    loss = (len(cuts) - 1) * MSS / whole.cwnd_bytes.sum()
    assert whole.sent_bps.mean() == approx(aimd_bps(MSS, 0.01, loss, alpha, beta), rel=0.02)


# RFC 8312 and its successor RFC 9438, section 5.1, Tables 1 and 2: mean window in segments at loss
# 1e-2 to 1e-8
TABLES = {
    (0.1, 0.04): [12, 38, 120, 593, 3332, 18740, 105383],
    (0.1, 0.4): [12, 38, 187, 1054, 5926, 33325, 187400],
    (0.1, 4): [12, 59, 333, 1874, 10538, 59261, 333250],
    (0.01, 0.04): [12, 38, 120, 379, 1200, 3795, 18740],
    (0.01, 0.4): [12, 38, 120, 379, 1200, 5926, 33325],
    (0.01, 4): [12, 38, 120, 379, 1874, 10538, 59261],
}
# their column for Reno is 1.2 / sqrt(p), 1.2 for sqrt(3/2)
RENO = [12, 38, 120, 379, 1200, 3795, 12000]


@pytest.mark.parametrize(("rtt", "c"), TABLES)
def test_cubic_gives_the_tables_of_its_rfc(rtt, c):
    window = cubic_bps(MSS, rtt, 10.0 ** -np.arange(2, 9), c=c) * rtt / (8 * MSS)
    for ours, printed, reno in zip(window, TABLES[rtt, c], RENO, strict=True):
        if printed == reno:
            assert ours * 1.2 / 1.5**0.5 == approx(printed, abs=0.51)
        else:
            assert round(ours) == printed


@given(rtts, st.floats(1e-9, 0.1), st.floats(0.1, 0.9))
def test_cubic_is_never_slower_than_reno(rtt, loss, beta):
    cubic, reno = cubic_bps(MSS, rtt, loss, beta), aimd_bps(MSS, rtt, loss)
    assert cubic >= reno * (1 - 1e-12)
    assert max(cubic_bps(MSS, rtt, loss * 1.1, beta), cubic_bps(MSS, rtt * 1.1, loss, beta)) < cubic


@pytest.mark.parametrize("rtt", [0.02, 0.1])
def test_cubic_leaves_reno_where_the_docstring_says(rtt):
    above, below = 0.56 * rtt**3, 0.54 * rtt**3
    assert cubic_bps(MSS, rtt, above) == approx(aimd_bps(MSS, rtt, above))
    assert cubic_bps(MSS, rtt, below) > aimd_bps(MSS, rtt, below) * 1.001


def test_cubic_scales_in_its_own_region():
    one = cubic_bps(MSS, 0.1, 1e-7)
    assert cubic_bps(MSS, 0.1, 16e-7) == approx(one / 8)  # loss to the 3/4
    assert cubic_bps(MSS, 1.6, 1e-7) == approx(one / 2)  # 16 times the RTT costs half
    assert cubic_bps(MSS, 0.1, 1e-7, streams=8) == approx(8 * one)
    assert cubic_bps(MSS, 0.1, 0) == np.inf


both = pytest.mark.parametrize("padhye", [padhye_bps, padhye_simple_bps])
short_rtts, high_losses = st.floats(1e-3, 0.3), st.floats(1e-7, 0.9)
acks = st.sampled_from([1, 2])


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


@given(
    short_rtts, st.floats(1e-4, 0.9), st.floats(0.2, 3), acks, st.sampled_from([2, 12, 100, np.inf])
)
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


@both
@given(short_rtts, high_losses, st.floats(0.3, 3), acks)
def test_falls_with_loss_rtt_timeout_and_delayed_acks(padhye, rtt, loss, rto, b):
    worse = [(loss * 1.1, rtt, rto, b), (loss, rtt * 1.1, rto, b), (loss, rtt, rto * 1.1, b)]
    worse.append((loss, rtt, rto, b + 1))
    one = padhye(MSS, rtt, loss, rto, b)
    assert all(padhye(MSS, r, p, t, acked) < one for p, r, t, acked in worse)


@both
@given(short_rtts, high_losses, st.floats(0.3, 3), st.integers(1, 64), st.floats(1, 1000))
def test_streams_and_bounds(padhye, rtt, loss, rto, k, segments):
    one = padhye(MSS, rtt, loss, rto)
    assert padhye(MSS, rtt, loss, rto, streams=k) == approx(k * one)
    assert padhye(k * MSS, rtt, loss, rto) == approx(k * one)
    limited = padhye(MSS, rtt, loss, rto, b=2, window_bytes=segments * MSS)
    assert 0 < limited <= buffer_limited_bps(segments * MSS, rtt) * (1 + 1e-9)
