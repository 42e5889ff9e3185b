"""What the checks of queueing disciplines accept, tc accepts, and what they refuse is named."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import netlab as nl
from netlab import Host, Link, Network, SpecificationError, Switch, Topology, wan
from netlab.topology.qdisc import DISCIPLINES, REQUIRED, check_qdisc

RED = "red limit 400kb min 30kb max 90kb avpkt 1000"


def extremes(name):
    """Texts that have every parameter at its least and at its most, and every flag."""
    table = DISCIPLINES[name]
    for n in range(max([2, *(len(group.split("|")) for group in table)])):
        words = [name]
        for group, kind in table.items():
            flags = group.split("|")
            words += [group, (kind.least, kind.most)[n % 2]] if kind else [flags[n % len(flags)]]
        yield " ".join(words)


REDS = [
    RED,
    f"{RED} burst 31 bandwidth 8bit probability 0.0001 adaptive",
    f"{RED} burst 255 bandwidth 34gbit probability 0.999 ecn harddrop nodrop",
    "red limit 3 min 1 max 2 avpkt 1".replace("1", "1514").replace("2", "1600").replace("3", "2mb"),
    "red limit 4294967295 min 30000 max 4mb avpkt 1514 burst 30",
]
TEXTS = [*REDS, *(text for name in DISCIPLINES if name != "red" for text in extremes(name))]
PLAIN = [name + "".join(f" {word} 4000" for word in REQUIRED.get(name, ())) for name in DISCIPLINES]
PLAIN = [RED if text.startswith("red") else text for text in PLAIN]


def star(texts):
    """A switch, and at each port a host: both cards with one of the disciplines."""
    hosts = [Host(f"h{n}", f"10.0.0.{n}/8", qdisc=text) for n, text in enumerate(texts, 1)]
    links = [Link("s1", f"h{n}", rate="10mbit", qdisc=text) for n, text in enumerate(texts, 1)]
    return Topology(hosts, [Switch("s1")], links)


def disciplines(net, node):
    text = net.run(node, "tc -j -s qdisc show", echo=False).text
    # tc 6.15 prints this among its JSON for dualpi2
    shown = json.loads(re.sub(r"\[Unknown qdisc, optlen=\d+\] ", "", text))
    return {(one["dev"], one.get("parent", "root")): one for one in shown}


def test_live_tc_takes_every_parameter_at_its_least_and_at_its_most():
    texts = [text for text in TEXTS if not text.startswith("fq ") or "nopacing" in text]
    paced = next(text for text in TEXTS if re.search(r"^fq .* pacing", text))
    with Network(star(texts)) as net:  # it is refused where tc refuses a line
        shown = disciplines(net, "s1")
        for n, text in enumerate(texts, 1):
            assert shown[f"s1-eth{n}", "2:1"]["kind"] == text.split()[0]
        again = net.run("h1", f"tc qdisc replace dev h1-eth0 root {paced}; echo $?", echo=False)
        assert again.text == "0\n"


def test_live_every_discipline_passes_packets_on_links_and_on_hosts():
    texts = [text + " nopacing" * (text == "fq") for text in PLAIN]
    with Network(star(texts)) as net:
        for n in range(2, len(texts) + 1):
            assert net.run("h1", f"ping -c 1 10.0.0.{n}", echo=False).status == 0, texts[n - 1]
        links = disciplines(net, "s1")
        for n, text in enumerate(texts, 1):
            name = text.split()[0]
            assert links[f"s1-eth{n}", "2:1"]["kind"] == name
            assert links[f"s1-eth{n}", "2:1"]["packets"] >= 2
            card = disciplines(net, f"h{n}")[f"h{n}-eth0", "root"]
            assert card["kind"] == name and card["packets"] >= 2


@pytest.mark.parametrize("text", [*TEXTS, *PLAIN])
def test_what_the_table_allows_is_accepted(text):
    assert check_qdisc(text) == text
    assert check_qdisc(f"  {text.replace(' ', chr(10))} ") == text, "spaces and lines do not count"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fq_codle", "'fq_codle': .*one of pfifo, bfifo"),
        ("", "'': .*one of"),
        (3, "3: .*one of"),
        ("codel flows 3", "codel has no parameter 'flows': it has limit, target"),
        ("pfifo_fast limit 3", "pfifo_fast has no parameter 'limit': it has none"),
        ("codel limit", "codel's limit needs a whole number from 1"),
        ("codel limit 0", "codel's limit needs a whole number from 1 to 4294967295"),
        ("codel limit 1k", "codel's limit needs a whole number"),
        ("codel limit 010", "codel's limit needs a whole number"),
        ("codel target 5", "codel's target needs a time such as '5ms', from 10us to 4s"),
        ("codel limit 3 limit 4", "limit was given twice"),
        ("codel ecn noecn", r"ecn\|noecn was given twice"),
        ("fq nopacing maxrate 40gbit", "fq's maxrate needs a rate .*from 8bit to 34gbit"),
        ("pfifo", "pfifo needs limit"),
        ("bfifo limit 100", "bfifo's limit needs bytes .*from 1514"),
        ("red limit 400kb max 90kb", "red needs min and avpkt"),
        (f"{RED} probability 1", "red's probability needs a number such as 0.02"),
        ("red limit 80kb min 30kb max 90kb avpkt 1000", "avpkt <= min < max < limit"),
        (f"{RED} burst 30", "bursts of 30 packets: give a burst from 31 on"),
        (f"{RED} burst 100000", "bursts of 100000 packets"),
        ("red limit 1gb min 100mb max 300mb avpkt 1500", "smaller thresholds"),
        ("fq", "on a link, write 'fq nopacing'.* one kernel"),
    ],
)
def test_a_refusal_names_the_word_and_what_is_allowed(text, words):
    with pytest.raises(SpecificationError, match=f"qdisc = .*{words}"):
        wan(qdisc=text)


@given(st.text(), st.sampled_from(PLAIN), st.sampled_from(["target", "limit", "rtt", "maxrate"]))
def test_nothing_reaches_the_shell_but_words_and_numbers(text, start, word):
    for tried in (text, f"{start} {text}", f"{start} {word} {text}"):
        try:
            accepted = check_qdisc(tried)
        except ValueError:
            continue
        assert re.fullmatch(r"[a-zA-Z0-9_. -]+", accepted)


@pytest.mark.parametrize(
    ("link", "host", "streams", "bps"),
    [
        ("fq_codel", "fq", 1, 100e6),
        ("cake bandwidth 10mbit", None, 1, 10e6),
        ("cake bandwidth 1gbit", None, 1, 100e6),
        ("fq nopacing maxrate 10mbit", None, 1, 100e6),  # without pacing it has no effect
        (None, "cake bandwidth 10mbit", 4, 10e6),
        (None, "fq maxrate 10mbit", 1, 10e6),
        (None, "fq maxrate 10mbit", 4, 40e6),  # each connection has it for itself
        (None, "fq maxrate 10mbit", 20, 100e6),
    ],
)
def test_a_discipline_s_own_rate_counts(link, host, streams, bps):
    path = nl.wan("100mbit", "20ms", qdisc=link) if link else nl.wan("100mbit", "20ms")
    if host:
        path = path.but(hosts=[one.but(qdisc=host) for one in path.hosts])
    assert path.bottleneck_bps("h1", "h2", streams) == bps
    row = nl.expected(path, ("h1", "h2", streams)).iloc[0]
    assert row.rate_bps == row.split_bps == row.max_min_bps == bps
    assert (row.bottleneck in {one.name for one in path.hosts}) == (
        bps < 100e6 and host is not None
    )


def test_what_counts_is_what_is_measured():
    """fq has its rate for each of two connections, and none without pacing."""
    cards = ["cake bandwidth 10mbit", "fq maxrate 10mbit", "fq maxrate 10mbit nopacing"]
    own, path = dict(zip(("h1", "h3", "h5"), cards, strict=True)), nl.wan("100mbit", "2ms", pairs=3)
    path = path.but(hosts=[host.but(qdisc=own.get(host.name)) for host in path.hosts])
    ends = ("h1", "h2"), ("h3", "h4"), ("h5", "h6")
    flows = nl.run(path, *(nl.Iperf3(*two, parallel=2, time=5) for two in ends)).flows
    cake, paced, free = flows.received_bps
    assert 8e6 < cake < 10e6 and 16e6 < paced < 20e6 and free > 50e6
