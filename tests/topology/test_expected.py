"""What to expect of flows, against the portfolio's own tables and by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import netlab as nl

NETWORK = nl.portfolio()
ENDS = [f"h{n}" for n in range(1, 10)]


PAIRS = [("h1", "h4"), ("h2", "h5"), ("h3", "h6")]


@pytest.mark.parametrize(
    ("flows", "split", "fair"),
    [
        (PAIRS[:2], [15, 15], [15, 15]),
        (PAIRS, [10, 10, 10], [10, 10, 10]),
        ([("h1", "h4"), ("h8", "h9")], [30, 20], [30, 20]),  # no link in common
        ([("h1", "h4", 2), *PAIRS[1:]], [15, 7.5, 7.5], [15, 7.5, 7.5]),
        ([("h1", "h4"), ("h4", "h1")], [30, 30], [30, 30]),  # either direction has the rate
        # h7 to h9 has L3 for itself, but L2 not; what one cannot use goes to the others
        ([("h1", "h4"), ("h7", "h9")], [15, 20], [15, 15]),
        ([("h1", "h9"), ("h8", "h9"), ("h2", "h5")], [10, 10, 15], [10, 10, 20]),
    ],
)
def test_an_even_split_and_max_min_in_the_portfolio(flows, split, fair):
    table = nl.expected(NETWORK, *flows)
    assert (table.split_bps / 1e6).tolist() == split
    assert (table.max_min_bps / 1e6).tolist() == fair
    # of one full link both rules give each connection the same
    if len(set(table.bottleneck)) == 1:
        assert table.proportional_bps.tolist() == pytest.approx(table.max_min_bps.tolist())


def test_each_full_link_costs_a_flow_where_shares_are_proportional():
    table = nl.expected(NETWORK, ("h1", "h9"), ("h8", "h9"), ("h2", "h5"))
    assert (table.max_min_bps / 1e6).tolist() == [10, 10, 20]
    x = table.proportional_bps / 1e6
    # L3 and L2 are full, and 1/x is the price of a path: that of h1 to h9 is the sum of the others'
    assert [x[0] + x[1], x[0] + x[2]] == pytest.approx([20, 30])
    assert 1 / x[0] == pytest.approx(1 / x[1] + 1 / x[2])


def test_rtt_bottleneck_and_queue():
    table = nl.expected(NETWORK, ("h1", "h9"), ("r2", "r3"), ("h1", "h2"))
    assert table.rtt_s.tolist() == [0.08, 0.04, 0]
    assert table.bottleneck.tolist() == ["r3-r4", "r2-r3", ""]
    assert table.queue_bytes.tolist()[:2] == [33 * 1514, 100 * 1514]
    unlimited = table.iloc[2]
    assert unlimited.rate_bps == math.inf and math.isnan(unlimited.max_min_bps)
    assert math.isnan(unlimited.split_bps) and math.isnan(unlimited.queue_bytes)


flows = st.lists(
    st.tuples(st.sampled_from(ENDS), st.sampled_from(ENDS), st.integers(1, 3)).filter(
        lambda flow: flow[0] != flow[1]
    ),
    min_size=1,
    max_size=6,
)


@given(flows)
def test_no_link_carries_more_than_its_rate(asked):
    table = nl.expected(NETWORK, *asked)
    for number, link in enumerate(NETWORK.links):
        if not link.rate:
            continue
        for forward in (True, False):
            way = [
                row.max_min_bps
                for row in table.itertuples()
                if (link, forward) in NETWORK.path(row.src, row.dst)
            ]
            assert math.fsum(way) <= nl.units.rate_bps(link.rate) * (1 + 1e-9), number
    assert (table.max_min_bps.dropna() <= table.rate_bps[table.max_min_bps.notna()] + 1e-3).all()


@pytest.mark.parametrize(
    ("flows", "message"),
    [
        (["h1"], "is no flow"),
        ([("h1",)], "is no flow"),
        ([("h1", "h10")], "to = 'h10'"),
        ([("s1", "h4")], "from = 's1'"),
        ([("h1", "h1")], "from 'h1' to itself"),
        ([("h1", "h4", 0)], "a whole number from 1"),
        ([("h1", "h4", 1.5)], "a whole number from 1"),
        ([("h1", "h4", True)], "a whole number from 1"),
        ([], "give some"),
    ],
)
def test_what_is_no_flow(flows, message):
    with pytest.raises(nl.SpecificationError, match=message):
        nl.expected(NETWORK, *flows)


def test_what_is_no_network():
    with pytest.raises(nl.SpecificationError, match=r"expected.topology = 'P': a Topology"):
        nl.expected("P", ("h1", "h4"))
