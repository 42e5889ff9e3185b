import base64
import re
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from netlab import Host, Link, Topology, portfolio, wan
from netlab.topology.layout import Box, Layout, words
from netlab.topology.picture import svg
from tests.topology.networks import addressed, graphs
from tests.topology.test_topology import routed


def joined(hosts, pairs, **emulated):
    """A network of routers that are joined in these pairs; some of them have a host each."""
    links = [Link(f"h{n}", f"r{n}") for n in hosts]
    return addressed(*links, *(Link(f"r{a}", f"r{b}", **emulated) for a, b in pairs))


def ring(size, **emulated):
    pairs = [(n, n % size + 1) for n in range(1, size + 1)]
    return joined(range(1, size + 1), pairs, **emulated)


def mesh(size, **emulated):
    return joined(range(1, size + 1), combinations(range(1, size + 1), 2), **emulated)


EMULATED = {"delay": "20ms", "rate": "2500kbit", "loss": "0.25%", "queue_packets": 1000}


def overlap(one, other):
    apart_x, apart_y = abs(one.x - other.x), abs(one.y - other.y)
    return 2 * apart_x < one.width + other.width and 2 * apart_y < one.height + other.height


def stroke(start, end):
    (x, y), (to_x, to_y) = start, end
    return Box((x + to_x) / 2, (y + to_y) / 2, abs(to_x - x), abs(to_y - y))


def check(topology):
    """Nothing lies on anything else: no two nodes or labels, and no link on a node or label that is
    not its own.
    """
    picture = Layout(topology)
    assert set(picture.nodes) == set(topology.node_names)
    assert len(picture.lines) == len(topology.links)
    told = [link for _, _, link in picture.labels]
    assert all(told.count(link) >= bool(words(link)) for link in topology.links)
    things = [*picture.nodes.items(), *((text, box) for box, text, _ in picture.labels)]
    for (one, box), (other, other_box) in combinations(things, 2):
        assert not overlap(box, other_box), f"{one} lies on {other}"
    for line in picture.lines:
        own = (line.link.a, line.link.b)
        strangers = [box for name, box in picture.nodes.items() if name not in own]
        strangers += [box for box, _, link in picture.labels if link != line.link]
        for start, end in pairwise(line.points):
            assert start[0] == end[0] or start[1] == end[1]
            assert not any(overlap(stroke(start, end), box) for box in strangers), own
        ends = own if line.towards_b else own[::-1]
        for (x, y), name in zip((line.points[0], line.points[-1]), ends, strict=True):
            box = picture.nodes[name]
            beyond = max(abs(x - box.x) - box.width / 2, abs(y - box.y) - box.height / 2)
            assert beyond == pytest.approx(0), "it ends at its node"


@pytest.mark.parametrize("pairs", range(1, 6))
def test_the_wan_has_its_left_hosts_left_and_its_right_hosts_right(pairs):
    network = wan(pairs=pairs, loss="0.1%")
    check(network)
    nodes = Layout(network).nodes
    for n in range(1, 2 * pairs, 2):
        assert nodes[f"h{n}"].x < nodes["s1"].x < nodes["s2"].x < nodes[f"h{n + 1}"].x
        assert nodes[f"h{n}"].y == nodes[f"h{n + 1}"].y
    assert nodes["s1"].y == nodes["s2"].y == 0


def test_nine_hosts_four_routers_and_two_switches_are_readable():
    network = portfolio()
    check(network)
    nodes = Layout(network).nodes
    spine = [name for name in sorted(nodes, key=lambda name: nodes[name].x) if nodes[name].y == 0]
    assert spine == ["h2", "s1", "r1", "r2", "r3", "r4", "h9"], "the slow lines, from left to right"
    assert nodes["h8"].y < 0 < nodes["s2"].y < nodes["h5"].y
    assert float(re.search(r' width="([\d.]+)"', svg(network))[1]) < 1200


@settings(max_examples=250)
@given(graphs(most=9))
def test_in_any_network_nothing_lies_on_anything_else(network):
    check(network)


@pytest.mark.parametrize("emulated", [{}, EMULATED, EMULATED | {"both": True}])
@pytest.mark.parametrize("network", [ring, mesh])
@pytest.mark.parametrize("size", [3, 5])
def test_the_nodes_of_loops_are_in_one_row_and_their_other_links_below(network, size, emulated):
    network = network(size, **emulated)
    check(network)
    picture = Layout(network)
    row = [f"r{n}" for n in range(1, size + 1)]
    assert sorted(row, key=lambda name: picture.nodes[name].x) == row
    assert {picture.nodes[name].y for name in row} == {0}
    lanes = [line for line in picture.lines if line.lane]
    steps = [abs(int(line.link.a[1:]) - int(line.link.b[1:])) for line in lanes]
    assert steps == sorted(steps) and min(steps) >= 2, "those between neighbours are in the row"
    assert len(lanes) == len(network.links) - size - (size - 1)
    below = max(picture.nodes[name].height / 2 for name in row)
    assert all(y > below for line in lanes for _, y in line.points[1:3])
    assert all(picture.nodes[f"h{n}"].y < 0 for n in range(2, size))


def test_an_arrow_of_a_link_below_is_beside_its_interface():
    network = ring(3, delay="20ms")  # the last link is r3-r1, emulated at r3
    last = ElementTree.fromstring(svg(network)).findall(".//{*}polygon")[2].get("points")
    corners = [tuple(map(float, point.split(","))) for point in last.split()]
    box = Layout(network).nodes["r3"]
    assert abs(corners[1][0] - box.x) < box.width / 2, "below r3"
    assert corners[1][1] > corners[0][1] > box.height / 2, "down, away from it"


def test_what_hangs_on_a_loop_is_above_it_and_other_loops_are_beside_it():
    two = joined(
        [1, 4, 7, 8], [(1, 2), (2, 3), (3, 1), (3, 4), (4, 5), (5, 6), (6, 4), (6, 7), (2, 8)]
    )
    check(two)
    nodes = Layout(two).nodes
    row = sorted((name for name in nodes if nodes[name].y == 0), key=lambda name: nodes[name].x)
    assert row == ["h1", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "h7"]
    assert nodes["h8"].y < nodes["r8"].y < 0 > nodes["h4"].y


ALONE = Topology([Host("h1", "10.0.0.1/8")])
NETWORKS = [wan(), portfolio(), routed(), ALONE, mesh(4, **EMULATED), ring(4)]


@pytest.mark.parametrize("network", NETWORKS)
def test_it_is_one_svg_with_every_name_and_address_and_always_the_same(network):
    text = svg(network)
    assert text == svg(Topology.from_json(network.to_json()))
    shown = network._repr_html_().partition("base64,")[2].partition('"')[0]
    assert base64.b64decode(shown).decode() == text
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    written = [element.text for element in root.iter() if element.tag.endswith("text")]
    addresses = [host.address for host in network.hosts]
    addresses += [each for router in network.routers for each in router.addresses]
    assert {*network.node_names, *addresses} <= {*written}
    x, y, width, height = map(float, root.attrib["viewBox"].split())
    points = [Box(*point, 0, 0) for line in Layout(network).lines for point in line.points]
    for box in [*Layout(network).nodes.values(), *points]:
        assert x < box.x - box.width / 2 and box.x + box.width / 2 < x + width
        assert y < box.y - box.height / 2 and box.y + box.height / 2 < y + height


@pytest.mark.parametrize(
    ("link", "text"),
    [
        (Link("a", "b"), []),
        (Link("a", "b", "20ms", "0.1%", "10gbit"), ["10 Gbit/s", "20 ms", "0.1 %"]),
        (
            Link("a", "b", "500us", rate="1500kbit", queue_packets=9),
            ["1.5 Mbit/s", "500 µs", "queue 9"],
        ),
        (Link("a", "b", "0ms", "0.0046%"), ["0.0046 %"]),
        (Link("a", "b", "2s", rate="100bit"), ["100 bit/s", "2 s"]),
        (Link("a", "b", rate="1mbit", qdisc="fq_codel limit 9"), ["1 Mbit/s", "fq_codel"]),
    ],
)
def test_a_link_says_what_it_emulates(link, text):
    assert words(link) == text


def arrows(link):
    network = Topology([Host("h1", "10.0.0.1/8"), Host("h2", "10.0.0.2/8")], links=[link])
    found = re.findall(r'<polygon points="([^"]+)"', svg(network))
    arrows = [[tuple(map(float, point.split(","))) for point in one.split()] for one in found]
    return arrows, Layout(network).nodes


def test_an_arrow_shows_the_one_interface_that_emulates():
    (arrow,), nodes = arrows(Link("h2", "h1", "20ms"))
    near, far = nodes["h2"].x - nodes["h2"].width / 2, nodes["h1"].x + nodes["h1"].width / 2
    assert far < arrow[1][0] < arrow[0][0] < near, "it points from h2 to h1"
    assert near - arrow[1][0] < 30 < arrow[1][0] - far
    assert arrows(Link("h2", "h1", "20ms", both=True))[0] == arrows(Link("h2", "h1"))[0] == []


def test_who_does_not_see_it_is_told_links_and_rules():
    path = wan("1gbit", "20ms", "0.1%", pairs=1)
    said = (
        "A network of host h1, host h2, switch s1, switch s2. Links: h1 to s1; s1 to s2 with 1"
        " Gbit/s, 20 ms, 0.1 %, on the interface of s1 only; s2 to h2."
    )
    picture = ElementTree.fromstring(svg(path))
    assert picture.get("role") == "img" and picture.get("aria-labelledby") == "title desc"
    texts = {part.tag.rpartition("}")[2]: part.text for part in picture[:2]}
    assert texts == {"title": "A network", "desc": said}
    assert f'alt="{said}"' in path._repr_html_()
    assert "r3 to r1 with 5 ms, on the interface of r3 only" in svg(ring(3, delay="5ms"))
    assert "both interfaces" in svg(portfolio()) and "router r1" in svg(portfolio())
