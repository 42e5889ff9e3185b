"""Loops of switches, against the protocol itself: bridges that tell each other what they know."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab.topology.miniedit import graph, read_miniedit

FILES = Path(__file__).parents[1] / "data" / "miniedit"


def spanning_tree_protocol(switches, ends):
    """IEEE 802.1D in rounds: every bridge sends its vector (root, cost, bridge, port) from each of
    its ports, and takes the best that it hears; a port is blocked if it is neither the root port,
    nor the better end of its link.
    """
    ports = {name: [n for n, pair in enumerate(ends) if name in pair] for name in switches}

    def far(name, link):
        return ends[link][1] if ends[link][0] == name else ends[link][0]

    def sent(name, link):
        return (*known[name], switches[name], ports[name].index(link))

    known = {name: (bridge, 0) for name, bridge in switches.items()}
    for _ in range(len(switches) + 1):
        known = {
            name: min(
                [(bridge, 0)]
                + [(known[far(name, n)][0], known[far(name, n)][1] + 1) for n in ports[name]]
            )
            for name, bridge in switches.items()
        }
    root_ports = {
        name: min((sent(far(name, n), n), ports[name].index(n), n) for n in ports[name])[-1]
        for name in switches
        if known[name][0] != switches[name]
    }
    return [
        n
        for n, (a, b) in enumerate(ends)
        if root_ports.get(max(a, b, key=lambda name: sent(name, n))) != n
    ]


@st.composite
def networks_of_switches(draw):
    count = draw(st.integers(2, 9))
    names = [f"s{n}" for n in range(count)]
    bridges = draw(st.permutations(range(count)))
    pairs = st.tuples(*2 * [st.sampled_from(names)]).filter(lambda pair: pair[0] != pair[1])
    return dict(zip(names, bridges, strict=True)), draw(st.lists(pairs, max_size=25))


@given(networks_of_switches())
def test_the_links_that_are_left_out_are_those_that_the_protocol_blocks(network):
    switches, ends = network
    found = graph.blocked(switches, ends)
    assert sorted(link for links in found.values() for link in links) == spanning_tree_protocol(
        *network
    )
    left = [pair for n, pair in enumerate(ends) if not any(n in links for links in found.values())]
    assert len(left) == len(switches) - len(graph.parts([*switches], ends)), "no circle is left"
    assert graph.parts([*switches], left) == graph.parts([*switches], ends)


def test_a_ring_is_cut_far_from_its_root_and_told():
    with pytest.warns(UserWarning) as told:
        ring = read_miniedit(FILES / "ring.mn")
    lines = str(told[0].message).splitlines()
    assert lines[1].endswith(
        "with root s1 would block them: links s3-s4, s1-s2 (without options), s2-s4"
    )
    assert lines[2].endswith("or no host behind them: nodes s4, s5")
    assert [f"{link.a}-{link.b}" for link in ring.links] == [
        "s2-s3",
        "s1-s2",
        "h1-s1",
        "h2-s2",
        "s3-h3",
    ]
    assert ring.rtt_s("h1", "h3") == 0.06


def test_a_datapath_id_decides_who_is_the_root(tmp_path):
    saved = json.loads((FILES / "ring.mn").read_text())
    saved["switches"][0]["opts"]["dpid"] = "0000000000000000"  # s4
    (tmp_path / "ring.mn").write_text(json.dumps(saved))
    with pytest.warns(UserWarning, match="with root s4 would block them"):
        ring = read_miniedit(tmp_path / "ring.mn")
    assert [f"{link.a}-{link.b}" for link in ring.links][:3] == ["s3-s4", "s4-s1", "s2-s4"]
