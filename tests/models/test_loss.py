"""Response functions to loss against arithmetic done by hand, published tables, limits and one
another.
"""

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
    assert models.mathis_bps(MSS, rtt, 4 * loss) == pytest.approx(one / 2), (
        "quadrupling the loss halves"
    )
    assert models.mathis_bps(MSS, 2 * rtt, loss) == pytest.approx(one / 2), (
        "doubling the RTT halves"
    )
    assert models.mathis_bps(MSS, rtt, loss, streams=k) == pytest.approx(k * one), (
        "K streams carry K times as much"
    )
    assert models.mathis_bps(k * MSS, rtt, loss) == pytest.approx(k * one), (
        "... like one whose MSS is K times larger"
    )


def test_mathis_limits():
    assert models.mathis_bps(MSS, 0.02, 0) == np.inf
    assert models.mathis_bps(MSS, 0.02, 1) == pytest.approx(8 * MSS / 0.02), (
        "one segment per round trip"
    )
    assert models.mathis_bps(MSS, 0.02, [0, 1])[0] == np.inf
    assert models.mathis_bps(MSS, 0.02, pd.Series([0.0]))[0] == np.inf


# --- aimd_bps


@given(rtts, losses, st.integers(1, 64))
def test_aimd_of_reno_is_mathis_with_periodic_loss(rtt, loss, k):
    mathis = models.mathis_bps(MSS, rtt, loss, c=models.MATHIS_C["periodic"], streams=k)
    assert models.aimd_bps(MSS, rtt, loss, streams=k) == pytest.approx(mathis)


@given(st.floats(0.1, 20), st.floats(0.05, 0.95), rtts, losses)
def test_aimd_scales(alpha, beta, rtt, loss):
    one = models.aimd_bps(MSS, rtt, loss, alpha, beta)
    assert models.aimd_bps(MSS, rtt, loss, 4 * alpha, beta) == pytest.approx(2 * one), (
        "four times the gain doubles"
    )
    assert models.aimd_bps(MSS, rtt, 4 * loss, alpha, beta) == pytest.approx(one / 2), (
        "four times the loss halves"
    )
    assert models.aimd_bps(MSS, rtt, loss, alpha, beta + 0.04) > one, "giving up less carries more"
    friendly = 3 * (1 - beta) / (1 + beta)
    reno = models.aimd_bps(MSS, rtt, loss)
    assert models.aimd_bps(MSS, rtt, loss, friendly, beta) == pytest.approx(reno), (
        "RFC 9438, section 4.3"
    )


@pytest.mark.parametrize(("alpha", "beta"), [(1, 0.5), (8, 15 / 16), (0.53, 0.7), (3, 0.2)])
def test_aimd_is_the_mean_of_the_sawtooth(alpha, beta):
    w = 4000  # so large that a sawtooth has many round trips, as the formula has it
    trace = models.aimd_trace(
        MSS,
        0.01,
        60,
        start_bytes=beta * w * MSS,
        limit_bytes=w * MSS,
        increase=alpha,
        decrease=1 - beta,
    )
    cuts = (trace.cwnd_bytes.diff() < 0).to_numpy().nonzero()[0]
    whole = trace.iloc[cuts[0] : cuts[-1]]
    loss = (len(cuts) - 1) * MSS / whole.cwnd_bytes.sum()
    assert whole.sent_bps.mean() == pytest.approx(
        models.aimd_bps(MSS, 0.01, loss, alpha, beta), rel=0.02
    )


def test_aimd_limits():
    assert models.aimd_bps(MSS, 0.02, 0) == np.inf
    assert models.aimd_bps(1000, 0.1, 0.015) == pytest.approx(800_000), (
        "ten segments per round trip, by hand"
    )


# --- cubic_bps

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
    loss = 10.0 ** -np.arange(2, 9)
    window = models.cubic_bps(MSS, rtt, loss, c=c) * rtt / (8 * MSS)
    for ours, printed, reno in zip(window, TABLES[rtt, c], RENO, strict=True):
        if printed == reno:
            assert ours * 1.2 / 1.5**0.5 == pytest.approx(printed, abs=0.51)
        else:
            assert round(ours) == printed


@given(rtts, st.floats(1e-9, 0.1), st.floats(0.1, 0.9))
def test_cubic_is_never_slower_than_reno(rtt, loss, beta):
    cubic, reno = models.cubic_bps(MSS, rtt, loss, beta), models.aimd_bps(MSS, rtt, loss)
    assert cubic >= reno * (1 - 1e-12)
    assert (
        models.cubic_bps(MSS, rtt, loss * 1.1, beta) < cubic
        and models.cubic_bps(MSS, rtt * 1.1, loss, beta) < cubic
    )


@pytest.mark.parametrize("rtt", [0.02, 0.1])
def test_cubic_leaves_reno_where_the_docstring_says(rtt):
    reno = models.aimd_bps(MSS, rtt, 0.56 * rtt**3)
    assert models.cubic_bps(MSS, rtt, 0.56 * rtt**3) == pytest.approx(reno)
    assert (
        models.cubic_bps(MSS, rtt, 0.54 * rtt**3) > models.aimd_bps(MSS, rtt, 0.54 * rtt**3) * 1.001
    )


def test_cubic_scales_in_its_own_region():
    one = models.cubic_bps(MSS, 0.1, 1e-7)
    assert models.cubic_bps(MSS, 0.1, 16e-7) == pytest.approx(one / 8), "loss to the 3/4"
    assert models.cubic_bps(MSS, 1.6, 1e-7) == pytest.approx(one / 2), "16 times the RTT costs half"
    assert models.cubic_bps(MSS, 0.1, 1e-7, streams=8) == pytest.approx(8 * one)
    assert models.cubic_bps(MSS, 0.1, 0) == np.inf
