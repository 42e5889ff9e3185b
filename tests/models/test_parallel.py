"""Connections side by side against sums done by hand, a simulation of what each formula assumes,
and one another.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from netlab.models import (
    aimd_trace,
    altman_bps,
    bbr_share,
    hacker_bps,
    mathis_bps,
    parallel_bps,
    rtt_shares,
)

MSS = 1448
rtts, losses = st.floats(1e-3, 1), st.floats(1e-6, 0.1)


@given(st.floats(0, 1e11) | st.just(np.inf), st.integers(1, 100), st.floats(1e3, 1e11))
def test_parallel_streams_add_up_until_the_link_is_full(single, k, link):
    total = parallel_bps(single, k, link)
    assert total == min(k * single, link) <= parallel_bps(single, k + 1, link)
    assert parallel_bps(single, k, np.inf) == k * single


def test_hacker_by_hand():
    # 1000 byte per 100 ms at 1 %: 800 kbit/s (test_mathis_by_hand); over 200 ms half of it; at 4 %
    # half of it
    assert hacker_bps(1000, [0.1, 0.2], [0.01, 0.04]) == approx(800_000 + 200_000)
    rows = hacker_bps(1000, [[0.1, 0.2], [0.1, 0.1]], 0.01)
    assert rows.tolist() == approx([1_200_000, 1_600_000])  # a row is a case
    assert type(hacker_bps(MSS, 0.02, 0.01)) is float
    assert hacker_bps(MSS, 0.02, [0, 0.01]) == np.inf
    assert np.isnan(hacker_bps(MSS, pd.Series([0.02, None]), 0.01))


@given(st.lists(st.tuples(rtts, losses), min_size=2, max_size=8), st.integers(1, 64))
def test_hacker_is_a_sum_and_of_equal_streams_mathis(connections, k):
    rtt, loss = np.transpose(connections)
    total = hacker_bps(MSS, rtt, loss)
    assert total == approx(mathis_bps(MSS, rtt, loss).sum())
    assert hacker_bps(MSS, rtt, 4 * loss) == approx(total / 2)
    equal = hacker_bps(MSS, rtt[0], [loss[0]] * k, c=1.2)
    assert equal == approx(mathis_bps(MSS, rtt[0], loss[0], c=1.2, streams=k))
    assert equal == approx(hacker_bps(k * MSS, rtt[0], loss[0], c=1.2))  # the virtual MSS


def test_altman_prints():
    # Altman et al., abstract: 90 % by three connections, 95 % almost by six; with beta = 1/2 it is
    # 3 N / (3 N + 1)
    assert altman_bps(1, [1, 2, 3, 6]).tolist() == approx([3 / 4, 6 / 7, 9 / 10, 18 / 19])
    assert altman_bps(1, 6) == approx(0.95, abs=0.005)


LOSERS = {
    "uniform": lambda rates, rng: rng.integers(rates.size),
    "the largest": lambda rates, rng: rates.argmax(),
    "in proportion": lambda rates, rng: rng.choice(rates.size, p=rates / rates.sum()),
}


@pytest.mark.parametrize("rule", LOSERS)
@pytest.mark.parametrize(("n", "beta"), [(1, 0.5), (2, 0.5), (6, 0.5), (4, 0.7)])
def test_altman_is_the_mean_whoever_loses(rule, n, beta):
    # The flow that loses, x before, gives up (1-b) x; all grow alike until the sum is C again, each
    # by g = (1-b) x / N. That takes a time in proportion to x, in which the sum's mean is
    # C - (1-b) x / 2: over time C - (1-b)/2 E[x^2] / E[x]. The sum of the squares changes by
    # (b^2 - 1) x^2 + 2 g (C - (1-b) x) + N g^2, on average by 0 in steady state:
    # E[x^2] ((1+b) + (1-b)/N) = 2 C E[x] / N, whoever x is. Together: C (1 - (1-b) / (N (1+b) +
    # (1-b))).
    rng = np.random.default_rng(1)
    rates, given_up = np.full(n, 1 / n), []
    for _ in range(12_000):
        loser = LOSERS[rule](rates, rng)
        given_up.append((1 - beta) * rates[loser])
        rates[loser] *= beta
        rates += given_up[-1] / n
    times = np.array(given_up[2000:])
    mean = ((1 - times / 2) * times).sum() / times.sum()
    assert mean == approx(altman_bps(1, n, beta), abs=0.003)


@given(st.floats(1e3, 1e12), st.integers(1, 1000), st.floats(0.05, 0.9))
def test_altman_scales(link, n, beta):
    share = altman_bps(1, n, beta)
    assert altman_bps(link, n, beta) == approx(link * share)
    assert share < altman_bps(1, n + 1, beta) < 1  # more flows fill more, never all
    assert share < altman_bps(1, n, beta + 0.05)  # giving up less fills more
    assert altman_bps(1, 1, beta) == approx((1 + beta) / 2)  # one flow: as if all lost at once


@given(st.lists(st.tuples(rtts, st.integers(1, 16)), min_size=1, max_size=6), losses)
def test_flows_that_meet_the_same_loss_share_as_mathis_says(groups, loss):
    rtt, k = np.transpose(groups)
    each = mathis_bps(MSS, rtt, loss, streams=k)
    assert rtt_shares(rtt, k) == approx(each / each.sum())


def test_flows_that_lose_at_the_same_moments_share_by_the_square():
    # Between two losses, T apart, a window gains T / RTT segments, so a rate gains MSS T / RTT^2.
    # In steady state that is what it gave up, half its peak: peaks, and means of 3/4 of them, are
    # as 1 / RTT^2. 50 and 100 ms: 4 to 1.
    traces = [aimd_trace(MSS, rtt, 200, np.arange(10, 201, 10)) for rtt in (0.05, 0.1)]
    means = [trace.query("100 <= time_s < 200").sent_bps.mean() for trace in traces]
    shares = rtt_shares([0.05, 0.1], exponent=2)
    assert shares.tolist() == approx([0.8, 0.2])
    assert np.divide(means, sum(means)) == approx(shares, abs=0.003)


@given(st.lists(rtts, min_size=1, max_size=6), st.floats(0, 3), st.integers(1, 16),
       st.floats(0.1, 10))  # fmt: skip
def test_shares_sum_to_one_and_know_only_ratios(rtt, exponent, k, factor):
    shares = rtt_shares(rtt, exponent=exponent)
    assert shares.sum() == approx(1)
    assert rtt_shares(np.multiply(rtt, factor), k, exponent) == approx(shares)
    assert rtt_shares(rtt, exponent=0) == approx(1 / len(rtt))
    assert shares[np.argmin(rtt)] == shares.max()  # the shortest round trip gets most


def test_shares_of_scalars_series_and_rows():
    assert rtt_shares(0.02) == 1 and type(rtt_shares(0.02)) is float
    series = rtt_shares(pd.Series([0.02, 0.06], index=["near", "far"]), streams=[1, 3])
    assert series.to_dict() == approx({"near": 0.5, "far": 0.5})
    rows = rtt_shares([0.02, 0.04], exponent=[[1], [2]])
    assert rows.tolist() == [approx([2 / 3, 1 / 3]), approx([0.8, 0.2])]
    assert np.isnan(rtt_shares([0.02, np.nan])).all()


def test_bbr_takes_half_of_a_deep_queue_and_nearly_all_of_a_short_one():
    rate, rtt = 100e6, 0.02
    bdp = rate / 8 * rtt
    deep = [bbr_share(x * bdp, rate, rtt) for x in (2, 4, 8, 16)]
    # as far as its ProbeRTTs leave it the link, and with four packets of it in them
    assert deep == approx([0.742, 0.612, 0.544, 0.504], abs=0.001)
    p = 0.5 - 1 / 8 - 4 * 1514 / (4 * bdp)  # of the others, at four bandwidth-delay products
    assert deep[1] == approx((1 - p) * (1 - (4 * rtt + 0.2 + rtt) / 10))
    for x in (0.1, 0.5, 1):  # the others get what the ProbeRTTs leave
        assert bbr_share(x * bdp, rate, rtt) == approx(1 - ((1 + x) * rtt + 0.2) / 10)
    assert bbr_share(bdp * 600, rate, rtt) == 0  # a queue of 12 s


@given(st.floats(0.1, 100), rtts, st.integers(1, 50))
def test_share_of_bbr_is_a_share_and_grows_with_its_flows(x, rtt, flows):
    rate = 100e6
    queue = pd.Series([x * rate / 8 * rtt + 1514], index=["one"])
    share = bbr_share(queue, rate, rtt, flows)
    assert share.index.tolist() == ["one"] and 0 <= share.iloc[0] < 1
    more = bbr_share(queue, rate, rtt, flows + 1)
    assert more.iloc[0] >= share.iloc[0]
