"""Slow start, a file's time and windows over time against a textbook, counting, a sender simulated
segment by segment, and the formula that the sawtooth averages to.
"""

from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from netlab.models import aimd_trace, slow_start_s, slow_start_trace, transfer_s

MSS = 1448
rtts, rates, initial = st.floats(1e-3, 1), st.floats(1e4, 1e10), st.integers(1, 20)


def test_slow_start_by_hand():
    # 1, 2, 4, ... 1024 segments: ten doublings. From the standard's ten segments to 640: six; eight
    # streams have 80: three
    assert slow_start_s(1024 * MSS, MSS, 0.1, initial_segments=1) == approx(1)
    assert slow_start_s(640 * MSS, MSS, 0.1, streams=[1, 8]).tolist() == approx([0.6, 0.3])
    assert slow_start_s(5 * MSS, MSS, 0.1) == 0  # it begins with more


@given(st.integers(0, 12), rtts, initial, st.integers(1, 8))
def test_slow_start_counts_the_doublings_of_the_trace(doublings, rtt, segments, k):
    window = segments * MSS * 2**doublings
    time = slow_start_s(k * window, MSS, rtt, segments, streams=k)
    assert time == approx(doublings * rtt)
    trace = slow_start_trace(MSS, rtt, 15 * rtt, segments)
    assert trace.time_s[trace.cwnd_bytes >= window].iloc[0] == approx(time)
    assert slow_start_s(2 * k * window, MSS, rtt, segments, k) == approx(time + rtt)


@pytest.mark.parametrize(
    ("rtt", "expected"),
    # A file of 15 segments, S/R = 1 s, windows 1, 2, 4, 8 (a problem of Kurose and Ross's chapter
    # 3). The waits are RTT, RTT - 1 and RTT - 3, where above 0. RTT below S/R: 3 RTT + 15; from 1
    # to 3: 4 RTT + 14; above 3: 5 RTT + 11
    [(0.5, 3 * 0.5 + 15), (1, 18), (2, 4 * 2 + 14), (3, 26), (5, 5 * 5 + 11)],
)
def test_fifteen_segments(rtt, expected):
    assert transfer_s(15 * MSS, 8 * MSS, MSS, rtt, initial_segments=1) == approx(expected)


def test_the_textbook_s_file():
    # Kurose and Ross: S = 536 byte, O = 100 kbyte, RTT = 100 ms, 28 and 100 kbit/s, 1 and 10
    # Mbit/s. O/R is 28.6, 8, 0.8 and 0.08 s; 187 segments make 8 windows; P = 1, 2, 5, 7. The
    # waits, P (S/R + RTT) - (2^P - 1) S/R, by hand: 100 ms; 285.8 - 128.6; 521.4 - 132.9; 703.0 -
    # 54.5
    rate = np.array([28e3, 100e3, 1e6, 10e6])
    time = transfer_s(100e3, rate, 536, 0.1, initial_segments=1)
    waits = np.array([0.1, 0.1572, 0.3885, 0.6485])
    assert time == approx(100e3 * 8 / rate + 0.2 + waits, abs=1e-4)
    # The chart prints O/R + (2 + P) RTT, as if the sender waited P whole round trips. The formula
    # agrees to the printed digits where the waits are few, and is up to 7 % below where windows
    # overlap them
    printed = np.array([28.9, 8.4, 1.5, 0.98])
    assert 100e3 * 8 / rate + (2 + np.array([1, 2, 5, 7])) * 0.1 == approx(printed, abs=0.05)
    assert time[:2] == approx(printed[:2], abs=0.05)
    assert time[2:] == approx([1.39, 0.93], abs=0.005)


def fetched_s(segments, rate_bps, mss_bytes, rtt_s, initial_segments):
    """A sender that may send two more segments for each ACK, one RTT after its segment."""
    allowed, free = deque([0.0] * initial_segments), 0.0
    for _ in range(segments):
        free = max(free, allowed.popleft()) + 8 * mss_bytes / rate_bps
        allowed.extend([free + rtt_s] * 2)
    return 2 * rtt_s + free


@given(st.integers(1, 2000), rates, rtts, initial)
def test_a_file_takes_as_long_as_a_simulated_one(segments, rate, rtt, first):
    time = transfer_s(segments * MSS, rate, MSS, rtt, first)
    assert time == approx(fetched_s(segments, rate, MSS, rtt, first))


@given(st.floats(1, 1e10), rates, rtts, initial, st.integers(1, 16))
def test_more_helps_and_streams_are_one_of_a_larger_mss(size, rate, rtt, first, k):
    time, rounding = transfer_s(size, rate, MSS, rtt, first), 1 - 1e-12
    assert time >= (2 * rtt + 8 * size / rate) * rounding
    assert transfer_s(size, 2 * rate, MSS, rtt, first) * rounding <= time
    assert transfer_s(size, rate, MSS, rtt, first + 1) * rounding <= time
    assert transfer_s(size, rate, MSS, 2 * rtt, first) >= (time + 2 * rtt) * rounding
    several = transfer_s(size, rate, MSS, rtt, first, streams=k)
    assert several == transfer_s(size, rate, k * MSS, rtt, first)


def test_transfer_limits():
    # 14 kbyte fit ten segments: two round trips, whatever the rate; 30 segments take a third, 70 a
    # fourth
    sizes = [14_000, 30 * MSS, 30 * MSS + 1, 70 * MSS]
    assert transfer_s(sizes, np.inf, MSS, 0.1).tolist() == approx([0.2, 0.3, 0.4, 0.4])
    assert transfer_s(1e12, 1e6, MSS, 0.1) == approx(8e6, rel=1e-6)  # a large file takes its rate
    assert transfer_s(1, np.inf, 1e9, 0.1, streams=1000) == approx(0.2)


@pytest.mark.parametrize(
    ("arguments", "windows"),
    [
        # a loss halves; losses of one round trip count once; a segment always remains
        ((0.6, [0.3], 9000), [9000, 10_000, 11_000, 12_000, 6000, 7000, 8000]),
        ((0.3, [0.11, 0.15, 0.19], 9000), [9000, 10_000, 5000, 6000]),
        ((0.9, np.arange(0, 0.95, 0.1)), [1000] * 10),
        # ORNL's AIMD(1/16, 8)
        ((0.2, [0], 160_000, None, 8, 1 / 16), [160_000, 150_000, 158_000]),
    ],
)
def test_aimd_by_hand(arguments, windows):
    trace = aimd_trace(1000, 0.1, *arguments)
    assert list(trace.columns) == ["time_s", "cwnd_bytes", "sent_bps"]
    assert trace.cwnd_bytes.tolist() == windows
    assert trace.time_s.tolist() == approx([0.1 * n for n in range(len(windows))])
    assert trace.sent_bps.tolist() == approx((8 * trace.cwnd_bytes / 0.1).tolist())


@pytest.mark.parametrize(
    ("arguments", "windows"),  # duration, initial segments, threshold, limit; in 1000 byte
    [
        ((0.6, 1, 7000), [1, 2, 4, 7, 8, 9, 10]),
        ((0.3,), [10, 20, 40, 80]),  # RFC 6928
        ((0.2, 10, 4000), [10, 11, 12]),  # it begins above the threshold
        ((0.4, 1, None, 6000), [1, 2, 4, 6, 6]),
        ((0.5, 2, 4000, 5500), [2, 4, 5, 5.5, 5.5, 5.5]),
        ((0.1, 10, None, 4000), [4, 4]),
    ],
)
def test_slow_start_doubles_up_to_the_threshold_then_adds_up_to_the_limit(arguments, windows):
    trace = slow_start_trace(1000, 0.1, *arguments)
    assert list(trace.columns) == ["time_s", "cwnd_bytes", "sent_bps"]
    assert (trace.cwnd_bytes / 1000).tolist() == windows
