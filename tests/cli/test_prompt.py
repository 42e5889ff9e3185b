"""Mininet's prompt: each command against what Mininet prints, on a real network."""

import re
import signal
import threading
from types import SimpleNamespace

import pytest

import netlab as nl
from netlab.cli.magic import on
from netlab.cli.prompt import Printed, Prompt
from netlab.engines.guest.store import ticks_per_s
from tests.test_patterns import cpu_limit

PATH = nl.wan("100mbit", "20ms")
BATCH = """\
# two hosts, one algorithm, at the same time

h2 iperf3 -s -D -I /tmp/server2
h4 iperf3 -s -D -I /tmp/server4
h1 iperf3 -c h2 -t 3 -C reno -J > h1.json &
h3 iperf3 -c h4 -t 3 -C reno -J > h3.json &
h1 wait  # for both: they end together
h3 wait
sh ls *.json
"""


@pytest.fixture(scope="module")
def prompt():
    with nl.Network(PATH) as net:
        yield Prompt(net, show=lambda piece: None)


@pytest.fixture
def says(prompt):
    """What the prompt prints for these lines."""

    def lines(*texts):
        shown = []
        prompt.show = shown.append
        prompt.stdout.write = shown.append
        for text in texts:
            assert not prompt.line(text)
        return "".join(shown)

    return lines


def test_nodes_and_links_are_listed_as_in_mininet(says):
    assert says("nodes") == "available nodes are: \nh1 h2 h3 h4 s1 s2\n"
    assert says("net") == (
        "h1 h1-eth0:s1-eth1\nh2 h2-eth0:s2-eth2\nh3 h3-eth0:s1-eth3\nh4 h4-eth0:s2-eth3\n"
        "s1 lo:  s1-eth1:h1-eth0 s1-eth2:s2-eth1 s1-eth3:h3-eth0\n"
        "s2 lo:  s2-eth1:s1-eth2 s2-eth2:h2-eth0 s2-eth3:h4-eth0\n"
    )
    assert says("links").splitlines()[:2] == [
        "h1-eth0<->s1-eth1 (OK OK) ",
        "s1-eth2<->s2-eth1 (OK OK) ",
    ]


def test_names_of_hosts_become_addresses_and_bash_stays(says):
    assert says("h1 echo h2 h3 xh2 s1") == "10.0.0.2 10.0.0.3 xh2 s1\n"
    assert "1 packets transmitted, 1 received" in says("h1 ping -c 1 h2")
    assert says("h1 x=5", "h1 cd /tmp", "h1 echo $x in $PWD # h1", "h1 cd") == "5 in /tmp\n"
    assert says("h1 for i in 1 2; do", "h1   echo $i", "h1 done") == "1\n2\n"
    assert says("h1") == ("*** Please enter a command for node: h1 <cmd>\n")


def test_jobs_in_the_background_go_on_while_time_passes(says):
    started = says("h3 (sleep 1; echo late) &")
    assert re.fullmatch(r"\[1\] \d+\n", started)
    assert "late\n" in says("sh sleep 2", "h3 echo now")
    assert "root@" not in says("h3 echo next")


def test_sh_is_the_machine_of_the_switches(says, prompt):
    before = prompt.net.clock
    assert says("sh sleep 2.5", "sh") == ""
    assert prompt.net.clock - before == pytest.approx(2.5, abs=0.01)
    assert "netem" in says("sh tc qdisc show dev s1-eth2")
    assert says('sh echo "a #b"') == "a #b\n"


def test_pings_are_counted_as_in_mininet(says):
    assert says("pingall") == (
        "*** Ping: testing ping reachability\n"
        "h1 -> h2 h3 h4 \nh2 -> h1 h3 h4 \nh3 -> h1 h2 h4 \nh4 -> h1 h2 h3 \n"
        "*** Results: 0% dropped (12/12 received)\n"
    )


def test_a_link_goes_down_and_up(says):
    assert says("link s1 s2 down") == ""
    assert says("pingall 1").endswith(
        "h1 -> X h3 X \nh2 -> X X h4 \nh3 -> h1 X X \nh4 -> X h2 X \n"
        "*** Results: 66% dropped (4/12 received)\n"
    )
    says("link s1 s2 up", "sh sleep 5")
    assert "0% dropped" in says("pingall")
    assert says("link h1 h2 up") == "src and dst not connected: h1 h2\n"
    assert says("link h1 s1 off") == says("link") == "usage: link end1 end2 [up down]\n"


def test_iperf_tells_both_ends(says):
    said = says("iperf h1 h2")
    assert said.startswith("*** Iperf: testing TCP bandwidth between h1 and h2 \n*** Results: ['9")
    assert re.search(r"\['9\d\.\d Mbits/sec', '9\d\.\d Mbits/sec'\]\n\Z", said)
    assert "two hosts" in says("iperf h1") and "two hosts" in says("iperf h1 h9")


def test_iperf_waits_until_its_server_listens():
    hosts = nl.Host("h1", "10.0.0.1/8"), nl.Host("h2", "10.0.0.2/8")
    links = nl.Link("h1", "s1", rate="10mbit"), nl.Link("s1", "h2")  # without a delay
    shown = []
    with nl.Network(nl.Topology(hosts, [nl.Switch("s1")], links)) as net:
        Prompt(net, show=shown.append).line("iperf h1 h2")
    assert re.search(r"Results: \['9\.\d+ Mbits/sec', '9\.\d+ Mbits/sec'\]\n\Z", "".join(shown))


def test_what_is_no_command_is_told_as_in_mininet(says):
    assert "`h1 COMMAND`" in says("xterm h1")
    assert says("ping h1 h2") == "*** Unknown command: ping h1 h2\n"
    assert says("", "   ", "# nodes", "  # nodes") == ""
    assert says("help link") == "Bring the links between two nodes up or down: link s1 s2 down\n"
    assert "pingall" in says("help") and "h2 ping -c 4 h3" in says("help")


def test_tab_completes_commands_and_nodes(prompt):
    assert prompt.completenames("pinga") == ["pingall"]
    assert prompt.completenames("h") == ["help", "h1", "h2", "h3", "h4"]
    assert prompt.completedefault("s", "link s", 5, 6) == ["s1", "s2"]


def test_exit_leaves_but_not_out_of_a_file(prompt, says, tmp_path):
    assert prompt.line("exit") and prompt.line("quit") and prompt.line("EOF")
    (tmp_path / "batch").write_text("nodes\nexit\nnet\n")
    assert says(f"source {tmp_path}/batch") == says("nodes")
    (tmp_path / "itself").write_text(f"source {tmp_path}/itself\n")
    assert "it is being read" in says(f"source {tmp_path}/itself")
    assert says("source /nowhere") == "error reading file /nowhere\n"
    assert says("source") == "error reading file \n"


def test_a_file_of_lines_has_two_clients_at_once_and_replays(tmp_path):
    (tmp_path / "batch").write_text(BATCH)
    shown = []
    with nl.Network(PATH, seed=3) as net:
        Prompt(net, shown.append).line(f"source {tmp_path}/batch")
        reports = [nl.readers.read_iperf3(net.files["h1"][f"{name}.json"]) for name in ("h1", "h3")]
        script = net.history.to_text()
    assert "".join(shown).endswith("h1.json  h3.json\n")
    rates = [one.streams.received_bps.sum() for one in reports]
    assert 80e6 < sum(rates) < 100e6 and min(rates) > 5e6
    with nl.replay(script) as again:
        assert nl.History.from_text(script).same(again.history)


def ctrl_c_once(seen):
    """A `show` that has Ctrl-C pressed soon after this has been seen."""
    shown = []

    def show(piece):
        shown.append(piece)
        if seen in piece and show.due:
            show.due = False
            threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()

    show.due = True
    return show, shown


def test_ctrl_c_ends_a_sleep_and_the_script_knows_when():
    with nl.Network(PATH) as net:
        prompt = Prompt(net, str)
        threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            prompt.line("sh sleep 1000000")
        prompt.line("h1 echo on")
        script, clock_s = net.history.to_text(), net.clock
    with nl.replay(script) as again:
        assert str(again.history) == str(net.history)
        # the agent hears it 3 us later, and what waits for a tick then waits for the next one
        assert again.clock == pytest.approx(clock_s, abs=1 / ticks_per_s() + 5e-5)


@pytest.mark.parametrize("line", ["pingall", "iperf"])
def test_ctrl_c_ends_what_consists_of_several_commands(line):
    with nl.Network(PATH) as net:
        show, shown = ctrl_c_once("*** ")
        prompt = Prompt(net, show)
        with pytest.raises(KeyboardInterrupt):
            for _ in range(1000):
                prompt.line(line)
        assert net.jobs == [] and prompt.line("h1 echo on") is False
    assert "".join(shown).endswith("on\n")


def test_ctrl_c_ends_the_whole_file(prompt, tmp_path):
    (tmp_path / "batch").write_text("h1 ping h2\nh1 touch /tmp/later\n")
    prompt.show, shown = ctrl_c_once("icmp_seq=3")
    with pytest.raises(KeyboardInterrupt):
        prompt.line(f"source {tmp_path}/batch")
    prompt.line("h1 ls /tmp | grep -c later")
    assert "".join(shown).endswith("\n0\n") and not prompt.sources


def test_routers_are_hosts_and_have_addresses():
    shown = []
    with nl.Network(nl.portfolio()) as net:
        prompt = Prompt(net, shown.append)
        for line in (
            "h1 ping -c 1 r4 | tail -n 2 | head -n 1",
            "r1 echo r2",
            "link r1 r2 down",
        ):
            prompt.line(line)
        assert "DOWN" in net.run("r2", "ip -br link show r2-eth0", echo=False).text
    shown = "".join(shown)
    assert "1 packets transmitted, 1 received" in shown and shown.endswith("10.0.1.2\n")


def test_a_network_without_switches_has_no_machine_of_theirs():
    shown, topology = [], nl.Topology([nl.Host("h1", "10.0.0.1/8")])
    net = SimpleNamespace(topology=topology)
    Prompt(net, shown.append).line("sh ls")
    assert "this network has none" in shown[0]


def test_in_a_notebook_a_cell_is_typed_at_the_prompt(network, capsys):
    shell = SimpleNamespace(user_ns={"net": network})
    on(shell, "mininet", "h1 echo h2\nexit\nnodes\n")
    assert capsys.readouterr().out == "mininet> h1 echo h2\n10.0.0.2\nmininet> exit\n"
    threading.Timer(1, signal.raise_signal, [signal.SIGINT]).start()
    on(shell, "mininet net", "h1 ping h2\nh1 echo later")
    shown = capsys.readouterr().out
    assert shown.startswith("mininet> h1 ping h2\n") and "later" not in shown
    with pytest.raises(nl.SpecificationError, match="for the terminal of a node"):
        on(shell, "mininet --stay", "h1 ls")


def test_the_prompt_of_bash_is_left_out_wherever_it_is_cut():
    text = "root@h1:~/a# [1]+  Done\necho a\na\n"
    for cut in range(len(text)):
        shown = []
        printed = Printed(shown.append, "h1", "echo a")
        printed.add(text[:cut])
        printed.add(text[cut:])
        printed.end()
        assert "".join(shown) == "[1]+  Done\na\n"


def test_many_prompts_are_looked_through_in_time():
    shown, text = [], "root@h1:" * 10_000
    with cpu_limit():
        Printed(shown.append, "h1", "echo a").add(f"{text}echo a\na\n")
    assert "".join(shown) == f"{text}a\n"
