"""The path's and the buffers' limits against arithmetic done by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab import models

rtts = st.floats(1e-4, 1)


def test_bandwidth_delay_product_of_the_labs():
    # Lab 10, section 3: 10 Gbit/s x 20 ms = 200,000,000 bits = 25,000,000 bytes
    assert models.bandwidth_delay_product_bytes(10_000_000_000, 0.02) == 25_000_000
    assert models.bandwidth_delay_product_bytes(1e9, 0) == 0


@given(st.floats(1e3, 1e12), rtts)
def test_a_window_of_one_bdp_fills_the_path(rate, rtt):
    window = models.bandwidth_delay_product_bytes(rate, rtt)
    assert models.buffer_limited_bps(window, rtt) == pytest.approx(rate)
    assert models.buffer_limited_bps(window / 8, rtt, streams=8) == pytest.approx(rate), (
        "or eight windows of an eighth"
    )


def test_buffer_limit():
    # Linux's default tcp_rmem maximum, 6 MiB, over 20 ms: why 10 Gbit/s gives 3
    assert models.buffer_limited_bps(6 * 2**20, 0.02) == pytest.approx(2_516_582_400)
    assert models.buffer_limited_bps(0, 0.02) == 0
    assert models.buffer_limited_bps(np.inf, 0.02) == np.inf


def test_goodput():
    assert models.goodput_bps(10e9) == pytest.approx(10e9 * 1448 / 1514)
    assert models.goodput_bps(10e9) / 1e9 == pytest.approx(9.56, abs=0.005)
    assert models.goodput_bps(1e9, 1000, 1000) == 1e9 and models.goodput_bps(np.inf) == np.inf
    assert models.goodput_bps(1e9, 8948, 9014) > models.goodput_bps(1e9), "jumbo frames waste less"
    with pytest.raises(
        ValueError, match=r"frame_bytes must be at least mss_bytes \(1448\).* not 1000"
    ):
        models.goodput_bps(1e9, [536, 1448], 1000)
