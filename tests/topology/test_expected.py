"""What to expect of flows, against the portfolio's own tables and by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import netlab as nl

NETWORK = nl.portfolio()
ENDS = [f"h{n}" for n in range(1, 10)]


def mbit(*flows, column):
    return (nl.expected(NETWORK, *flows)[column] / 1e6).tolist()


@pytest.mark.parametrize("column", ["split_bps", "max_min_bps"])
def test_the_portfolios_concurrent_pairs(column):
    two, three = [("h1", "h4"), ("h2", "h5")], [("h1", "h4"), ("h2", "h5"), ("h3", "h6")]
    assert mbit(*two, column=column) == [15, 15]
    assert mbit(*three, column=column) == [10, 10, 10]
    assert mbit(("h1", "h4"), ("h8", "h9"), column=column) == [30, 20], "no link in common"
    assert mbit(("h1", "h4", 2), *three[1:], column=column) == [15, 7.5, 7.5]


def test_where_the_two_rules_part():
    """h7 to h9 has L3 for itself, but L2 not."""
    flows = ("h1", "h4"), ("h7", "h9")
    assert mbit(*flows, column="split_bps") == [15, 20]
    assert mbit(*flows, column="max_min_bps") == [15, 15], "as the portfolio's table has it"


def test_what_one_flow_cannot_use_goes_to_the_others():
    flows = ("h1", "h9"), ("h8", "h9"), ("h2", "h5")
    assert mbit(*flows, column="split_bps") == [10, 10, 15]
    assert mbit(*flows, column="max_min_bps") == [10, 10, 20]


def test_either_direction_of_a_link_has_its_own_rate():
    assert mbit(("h1", "h4"), ("h4", "h1"), column="max_min_bps") == [30, 30]


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
