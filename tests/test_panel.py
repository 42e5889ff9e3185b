"""The panel without a browser: what a person would press is called."""

import sys
import time
from types import SimpleNamespace

import pytest

import netlab as nl
from netlab import explore
from netlab.explore._figures_of_looks import Figures
from netlab.explore._link_form import LinkForm
from netlab.explore.panel import serves

WAIT_S = 60


@pytest.fixture
def panel(network):
    panel = explore.panel(network)
    yield panel
    panel.pause()
    panel.wait(WAIT_S)


def pressed(view, **message):
    """What its page sends."""
    view._handle_custom_msg(message, [])


def typed(panel, host, line, stays=False):
    pressed(panel.terminals[host], line=line, stays=stays)
    panel.wait(WAIT_S)
    return panel.terminals[host].text


def test_a_node_opens_its_terminal_and_what_is_typed_there_is_shown_and_kept(panel):
    pressed(panel.picture, target="h1")
    assert panel.terminals["h1"].cursor == 1 and panel.picture.pressed == "h1"
    shown = typed(panel, "h1", "ping -c 2 10.0.0.2")
    assert shown.startswith("root@h1:~# ping -c 2 10.0.0.2\nPING 10.0.0.2")
    assert "2 received" in shown and shown.endswith("root@h1:~# ")
    assert str(panel.net.history) == "h1 ping -c 2 10.0.0.2\n"
    assert f"{panel.net.clock:.3f} s" in panel.clock.value
    terminal = panel.terminals["h1"]
    pressed(terminal, close=True)
    assert not panel.terminals and panel.picture.pressed == ""
    pressed(panel.picture, target="h1")
    assert panel.terminals["h1"].text == shown, "the node's terminal itself was not closed"


def test_a_link_is_changed_by_the_line_that_it_shows_before(panel):
    network = panel.net
    number = wide(network.topology)
    pressed(panel.picture, target=str(number))
    form = panel.link
    assert form.apply.disabled and "Nothing changes" in form.line.value
    form.fields["delay"].value = "50ms"
    line = "tc qdisc change dev s1-eth2 root handle 1: netem delay 50ms limit 1000000"
    assert f"s1# {line}" in form.line.value and not form.apply.disabled
    form.fields["delay"].value = "50 years"
    assert "50 years" in form.line.value and form.apply.disabled
    form.fields["delay"].value = "50ms"
    form.apply.click()
    panel.wait(WAIT_S)
    assert str(network.history) == f"s1 {line}\n" and form.apply.disabled
    assert "50 ms" in panel.picture.svg, "the picture has it, too"
    pressed(panel.picture, target="h1")
    assert "time=50.0 ms" in typed(panel, "h1", "ping -c 2 10.0.0.2")
    pressed(panel.picture, target=str(number))
    assert panel.link is None


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (dict(queue="100 packets"), "limit 151400"),
        (dict(queue="", discipline="fq_codel limit 99"), "handle 3: fq_codel limit 99"),
        (dict(rate=""), "tc qdisc del dev s1-eth2 root"),
        (dict(loss="1%"), "so much is lost at once"),
        (dict(queue="9"), "at least one frame"),
    ],
)
def test_the_fields_of_a_link(fields, words):
    topology = nl.wan("100mbit", "20ms")
    panel = SimpleNamespace(net=SimpleNamespace(topology=topology), states=[*topology.links])
    form = LinkForm(panel, wide(topology))
    for name, value in fields.items():
        form.fields[name].value = value
    assert words in form.line.value


def test_a_slower_link_keeps_a_bucket_for_what_waits_until_its_disciplines_are_made_anew():
    topology = nl.wan("50mbit", "20ms")
    panel = SimpleNamespace(net=SimpleNamespace(topology=topology), states=[*topology.links])
    form = LinkForm(panel, wide(topology))
    form.fields["rate"].value = "10mbit"
    assert "tbf rate 10mbit burst 25000 limit 75000" in form.line.value
    panel.states[wide(topology)] = form._after
    form.fields["rate"].value = "5mbit"
    assert "tbf rate 5mbit burst 25000 limit 75000" in form.line.value
    form.fields["delay"].value = ""
    assert "tbf rate 5mbit burst 2500 limit 75000" in form.line.value


def test_the_panel_tells_what_a_typed_line_does_to_a_link(panel):
    panel.show("s1")
    line = "tc qdisc change dev s1-eth2 parent 1: handle 2: tbf rate 9mbit burst 1000 limit 9000"
    typed(panel, "s1", line)
    assert "1000 bytes never passes a frame of 1514" in panel.status.value


def wide(topology):
    return topology.links.index(topology.link_to("s1", "s2"))


def test_time_is_stepped_and_runs_until_it_is_paused(panel):
    before = panel.net.clock
    panel.steps[0.1].click()
    panel.steps[1].click()
    panel.wait(WAIT_S)
    assert panel.net.clock == pytest.approx(before + 1.1, abs=0.01)
    panel.show("h1")
    panel.speed.value = None
    panel.go.click()
    assert panel.go.description == "Pause"
    pressed(panel.terminals["h1"], line="ping 10.0.0.2", stays=False)
    deadline = time.monotonic() + WAIT_S
    while "icmp_seq=9" not in panel.terminals["h1"].text and time.monotonic() < deadline:
        time.sleep(0.05)
    assert panel.terminals["h1"].busy, "it goes on while time runs"
    panel.go.click()
    panel.wait(WAIT_S)
    assert panel._thread is None, "no thread lives while nothing is asked for"
    stands = panel.net.clock
    assert panel.go.description == "Run" and f"{stands:.3f} s" in panel.clock.value
    assert "packets transmitted" in typed(panel, "h1", "^C") and not panel.terminals["h1"].busy


def test_a_server_stays_until_ctrl_c_and_the_panel_says_so(panel):
    panel.show("h2"), panel.show("h1")
    assert "Server listening" in typed(panel, "h2", "iperf3 -s")
    assert panel.net.clock < 10 and panel.terminals["h2"].busy
    assert "Ctrl-C" in panel.status.value
    assert "iperf Done." in typed(panel, "h1", "iperf3 -c 10.0.0.2 -t 1")
    assert "interrupt" in typed(panel, "h2", "^C") and not panel.terminals["h2"].busy


@pytest.mark.parametrize(
    ("line", "stays"),
    [
        ("iperf3 -s", True),
        ("sudo iperf -s -p 5002 -i 1", True),
        ("python3 simpleperf.py --server -b 10.0.0.2", True),
        ("/usr/bin/iperf3 --server", True),
        ("iperf3 -s -1", False),
        ("iperf3 -s -D", False),
        ("iperf3 -c 10.0.0.2", False),
        ("ls -s", False),
        ("", False),
    ],
)
def test_what_is_a_server(line, stays):
    assert serves(line) == stays


def test_figures_without_data_have_axes_from_0(panel):
    panel.looking.value = True
    panel.wait(WAIT_S)
    for figure in panel._figures.figures:
        assert figure.layout.yaxis.range == (0, 1) and figure.layout.xaxis.range[0] == 0
    panel.show("h1")
    typed(panel, "h1", "ping -c 3 -i 0.2 -s 1000 10.0.0.2")
    panel.step(2), panel.wait(WAIT_S)
    throughput = panel._figures.figures[0]
    assert throughput.layout.yaxis.autorange and any(trace.visible for trace in throughput.data)


def test_ctrl_c_ends_what_is_waited_for_and_the_panel_goes_on(panel):
    panel.show("h1")
    pressed(panel.terminals["h1"], line="ping 10.0.0.2", stays=False)
    deadline = time.monotonic() + WAIT_S
    while "icmp_seq=2" not in panel.terminals["h1"].text and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "packets transmitted" in typed(panel, "h1", "^C")
    assert "hello" in typed(panel, "h1", "echo hello")


def test_what_goes_wrong_is_said(panel):
    panel.show("h1")
    typed(panel, "h1", "cat", stays=True)
    typed(panel, "h1", "echo second")
    assert "`cat` runs in the terminal of h1" in panel.status.value
    typed(panel, "h1", "^C")
    assert "runs in" not in panel.status.value
    panel.net.close()
    panel.steps[1].click()
    panel.wait(WAIT_S)
    assert "has been closed" in panel.status.value and panel.go.disabled


def test_figures_show_throughput_windows_and_queue_while_they_are_asked_for(panel):
    panel.show("h1"), panel.show("h2")
    panel.looking.value = True
    typed(panel, "h2", "iperf3 -s", stays=True)
    typed(panel, "h1", "iperf3 -c 10.0.0.2 -t 4")
    throughput, window, queue = panel._figures.figures
    shown = {one.name: one for one in throughput.data if one.visible}
    assert {"h1 → s1", "s1 → s2", "s2 → h2"} == set(shown)
    assert max(shown["s1 → s2"].y) == pytest.approx(100, rel=0.1)
    (cwnd,) = (one for one in window.data if one.visible)
    assert cwnd.name.startswith("h1:") and max(cwnd.y) > 100
    assert [one.name for one in queue.data if one.visible] == ["s1 → s2"]
    assert "s1 → s2" in throughput.description
    jobs = list(panel._figures.jobs.values())
    panel.looking.value = False
    panel.wait(WAIT_S)
    assert all(job.status is not None for job in jobs) and not panel._drawn.children


def test_all_that_is_done_on_a_panel_is_done_again_by_its_script(panel):
    panel.show("h1"), panel.show("h2")
    typed(panel, "h2", "iperf3 -s", stays=True)
    panel.looking.value = True
    typed(panel, "h1", "iperf3 -c 10.0.0.2 -t 2")
    panel.choose(str(wide(panel.net.topology)))
    panel.link.fields["rate"].value = "20mbit"
    panel.link.apply.click()
    panel.speed.value = None
    panel.run()
    pressed(panel.terminals["h1"], line="ping 10.0.0.2", stays=False)
    while "icmp_seq=3" not in panel.terminals["h1"].text:
        time.sleep(0.05)
    panel.pause()
    panel.wait(WAIT_S)
    typed(panel, "h1", "^C")
    panel.looking.value = False
    panel.steps[0.1].click()
    panel.wait(WAIT_S)
    assert not panel.status.value
    script = nl.History.from_text(panel.net.history.to_text())
    with nl.replay(script) as again:
        assert script.same(again.history) and again.clock == panel.net.clock


def test_programs_that_look_are_stopped_before_they_have_printed_too_much(panel, monkeypatch):
    monkeypatch.setattr(sys.modules["netlab.explore.panel"], "MOST_PRINTED", 5000)
    panel.looking.value = True
    panel.step(3)
    panel.wait(WAIT_S)
    assert not panel.looking.value and panel._figures is None and not panel.net.jobs


def test_figures_of_a_network_of_routers_have_each_direction_once():
    topology = nl.portfolio()
    names = Figures(SimpleNamespace(topology=topology)).names.values()
    assert len(names) == len(set(names)) == 2 * len(topology.links)


def test_only_a_network_has_a_panel():
    with pytest.raises(nl.SpecificationError, match=r"panel\(3\): a netlab.Network that is up"):
        explore.panel(3)


def test_a_connection_that_has_ended_leaves_the_figure_of_windows():
    jobs = {}
    start = lambda node, line: jobs.setdefault(node, SimpleNamespace())  # noqa: E731
    figures = Figures(SimpleNamespace(topology=nl.wan(pairs=1), clock=0.0, start=start))
    figures.begin()
    said = "0 0 10.0.0.1:38068 10.0.0.2:5201 cubic cwnd:200\n"
    jobs["h1"].heard(f"at 100.0\n{said}end\n")
    figures.draw()
    window = figures.figures[1]
    assert list(window.data[0].y) == [200] and "h1:38068 200" in window.description
    jobs["h1"].heard("at 140.0\nend\n")
    figures.draw()
    assert window.description.endswith("nothing yet")
    assert [*window.layout.xaxis.range] == [10, 40] and window.layout.xaxis.autorange is False
