"""The path's and the buffers' limits against arithmetic done by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from netlab.models import (
    bandwidth_delay_product_bytes,
    buffer_limited_bps,
    goodput_bps,
    sawtooth_utilisation,
)  # fmt: skip


@given(st.floats(1e3, 1e12), st.floats(1e-4, 1))
def test_a_window_of_one_bdp_fills_the_path(rate, rtt):
    window = bandwidth_delay_product_bytes(rate, rtt)
    assert buffer_limited_bps(window, rtt) == approx(rate)
    assert buffer_limited_bps(window / 8, rtt, streams=8) == approx(rate)


def test_bandwidth_delay_product_and_buffer_limit():
    # Lab 10, section 3: 10 Gbit/s x 20 ms = 200,000,000 bits = 25,000,000 bytes
    assert bandwidth_delay_product_bytes(10_000_000_000, 0.02) == 25_000_000
    assert bandwidth_delay_product_bytes(1e9, 0) == 0
    # Linux's default tcp_rmem maximum, 6 MiB, over 20 ms: why 10 Gbit/s gives 3
    windows = [6 * 2**20, 0, np.inf]
    assert buffer_limited_bps(windows, 0.02).tolist() == [approx(2_516_582_400), 0, np.inf]


def test_goodput():
    assert goodput_bps(10e9) == 10e9 * 1448 / 1514 == approx(9.56e9, rel=5e-4)
    assert goodput_bps(1e9, 1000, 1000) == 1e9 and goodput_bps(np.inf) == np.inf
    assert goodput_bps(1e9, 8948, 9014) > goodput_bps(1e9)  # jumbo frames waste less
    with pytest.raises(ValueError, match=r"frame_bytes must be .*mss_bytes \(1448\), not 1000"):
        goodput_bps(1e9, [536, 1448], 1000)


def simulated_utilisation(queue, product, beta):
    """The same sawtooth, walked one round trip after the other; windows in segments."""
    window, time, sent = beta * (product + queue), 0.0, 0.0
    while window < product + queue:
        sent += window
        time += max(window, product) / product  # a round trip; more where the queue is filling
        window += 1
    return sent / (time * product)


@pytest.mark.parametrize("beta", [0.5, 0.7])
@pytest.mark.parametrize("queue", [0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1, 3])
def test_a_short_queue_leaves_the_link_idle(queue, beta):
    found = sawtooth_utilisation(queue * 1e6 / 8, 1e6, 1.0, beta)
    product = 20_000
    assert found == approx(simulated_utilisation(queue * product, product, beta), abs=1e-4)


def test_known_utilisations():
    assert sawtooth_utilisation(0, 1e6, 1) == 0.75  # no queue: the mean of 1/2 and 1
    assert sawtooth_utilisation(0, 1e6, 1, beta=0.7) == approx(0.85)
    assert sawtooth_utilisation([125e3, 1e9, np.inf], 1e6, 1).tolist() == approx([1] * 3)
    assert sawtooth_utilisation((1 / 0.7 - 1) * 125e3, 1e6, 1, beta=0.7) == approx(1)


@given(st.floats(0, 1e9), st.floats(1, 1e9), st.floats(0.01, 0.99))
def test_a_longer_queue_and_a_smaller_cut_never_idle_more(queue, more, beta):
    one = sawtooth_utilisation(queue, 1e9, 0.1, beta)
    assert (1 + beta) / 2 - 1e-12 <= one <= 1 + 1e-12
    assert sawtooth_utilisation(queue + more, 1e9, 0.1, beta) >= one - 1e-12
    assert sawtooth_utilisation(queue, 1e9, 0.1, (1 + beta) / 2) >= one - 1e-12
