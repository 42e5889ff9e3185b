"""What is typed for each kind of traffic, as a person would, and what is refused."""

import re
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

import netlab as nl
from netlab.engines.guest import GuestEngine
from netlab.traffic import base

IPERF = "iperf -c 10.0.0.2 {} -f b -p 5201"
IPERF3 = "iperf3 -c 10.0.0.2 -p 5201 {} -J"
SIMPLE = "python3 - -c -I 10.0.0.2 -p 5201 {} < simpleperf.py"


class Mine(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwnd += acked / tcp.cwnd

    def on_loss(self, tcp):
        tcp.ssthresh = tcp.cwnd / 2


def typed(kind, options):
    """The server's command, where there is one, and the client's."""
    ((item, place),) = nl.Experiment(nl.wan(), kind("h1", "h2", **options), stagger="0ms").places
    programs = item.programs(place)
    assert [program.when for program in programs] == ["server", "start"][-len(programs) :]
    assert [program.host for program in programs] == ["h2", "h1"][-len(programs) :]
    return [program.typed for program in programs]


@pytest.mark.parametrize(
    ("options", "client"),
    [
        ({}, "-e -t 10 -i 1"),
        ({"udp": True}, "-u -t 10 -i 1"),
        ({"udp": True, "bitrate": "20mbit"}, "-u -b 20000000 -t 10 -i 1"),
        ({"udp": True, "bitrate": "20mibit"}, "-u -b 20971520 -t 10 -i 1"),
        ({"time": 2.5, "parallel": 3, "interval": 0.5}, "-e -t 2.5 -P 3 -i 0.5"),
        ({"congestion": "reno"}, "-e -t 10 -Z reno -i 1"),
    ],
)
def test_each_option_of_iperf(options, client):
    assert typed(nl.Iperf, options)[1] == IPERF.format(client)


def test_iperfs_server_is_told_the_same_and_stays_for_longer_than_the_client():
    options = dict(udp=True, length=200, window="100kb", time=3, start=1.5)
    server, client = typed(nl.Iperf, options)
    assert server == "timeout -k 1 -s INT 13 iperf -s -u -i 1 -f b -p 5201 -l 200 -w 102400"
    assert client == IPERF.format("-u -t 3 -i 1") + " -l 200 -w 102400"


@pytest.mark.parametrize(
    ("options", "client", "server"),
    [
        ({}, "-t 10 -P 1 -i 1", ""),
        ({"parallel": 8, "time": 2, "interval": 0.5}, "-t 2 -P 8 -i 0.5", ""),
        ({"congestion": "bbr"}, "-t 10 -P 1 -i 1 -C bbr", ""),
        ({"udp": True, "bitrate": "10mbit"}, "-t 10 -P 1 -i 1 -u -b 10000000", ""),
        ({"reverse": True, "omit": 2}, "-t 10 -P 1 -i 1 -R -O 2", ""),
        ({"mss": 536, "window": "1mb"}, "-t 10 -P 1 -i 1 -M 536 -w 1048576", ""),
        ({"get_server_output": True}, "-t 10 -P 1 -i 1 --get-server-output", " -J"),
        (
            {"get_server_output": True, "interval": 0.5},
            "-t 10 -P 1 -i 0.5 --get-server-output",
            " -i 0.5 -J",
        ),
    ],
)
def test_each_option_of_iperf3(options, client, server):
    assert typed(nl.Iperf3, options) == ["iperf3 -s -1 -p 5201" + server, IPERF3.format(client)]


@pytest.mark.parametrize(
    ("options", "client", "server"),
    [
        ({}, "-t 25 -P 1 -i 1", "-i 1"),
        ({"time": 2.5, "parallel": 4, "interval": 0.5}, "-t 2.5 -P 4 -i 0.5", "-i 0.5"),
        ({"length": 131_072}, "-t 25 -P 1 -i 1 -l 131072", "-i 1 -l 131072"),
        ({"congestion": "reno"}, "-t 25 -P 1 -i 1 -C reno", "-i 1"),
    ],
)
def test_each_option_of_simpleperf(options, client, server):
    server = f"python3 - -s -b 10.0.0.2 -p 5201 {server} -1 < simpleperf.py"
    assert typed(nl.Simpleperf, options) == [server, SIMPLE.format(client)]


@pytest.mark.parametrize(
    ("options", "line"), [({"count": 3}, "3"), ({"interval": 0.2}, "4 -i 0.2")]
)
def test_each_option_of_ping(options, line):
    assert typed(nl.Ping, options) == [f"ping -c {line} 10.0.0.2"]


def test_an_algorithm_in_python_is_typed_by_the_kernels_name_for_it():
    own = [Mine, nl.algorithms.AIMD(0.06, 8), Mine, "bbr"]
    tests = [nl.Iperf3("h1", "h2", congestion=one) for one in own]
    experiment = nl.Experiment(nl.wan("100mbit"), *tests)
    lines = [item.programs(place)[1].command.split(" -C ")[1] for item, place in experiment.places]
    assert [line.split()[0] for line in lines] == ["netlab0", "netlab1", "netlab0", "bbr"]
    assert str(experiment.algorithms) == "[Mine, AIMD(0.06, 8)]"


NO_NAME = "congestion = .*the kernel's name of one"
NAMES = 3, "BBR", ["reno"], "-J", object


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        (nl.Iperf, {"udp": True, "congestion": "reno"}, "UDP has no congestion control"),
        (nl.Iperf, {"congestion": "reno; reboot"}, "congestion"),
        (nl.Iperf, {"length": 63}, "length = 63"),
        (nl.Iperf, {"length": 65_508}, "length = 65508"),
        (nl.Iperf, {"window": 0}, "window = 0: from 1 byte"),
        (nl.Iperf, {"bitrate": "20M"}, "bitrate = '20M'"),
        (nl.Iperf, {"bandwidth": "20mbit"}, "it is called bitrate"),
        (nl.Iperf, {"dst": "h1"}, "src and dst are both 'h1'"),
        (nl.Iperf3, {"time": 1.5}, "time = .*whole seconds"),
        (nl.Iperf3, {"omit": 2.000001}, "omit = .*whole seconds"),
        (nl.Iperf3, {"window": "1gb"}, "window = .*from 1 byte"),
        *((nl.Iperf3, {"congestion": name}, NO_NAME) for name in NAMES),
        (nl.Iperf3, {"udp": True, "congestion": Mine}, "UDP has no congestion control"),
        (nl.Simpleperf, {"parallel": 0}, "parallel = 0"),
        (nl.Simpleperf, {"time": 0}, "time = 0"),
        (nl.Simpleperf, {"chunk": 5}, "there is no such field, it is called length"),
        (nl.Shell, {"line": "printf 'a\0b'"}, "NUL"),
        (nl.Shell, {"line": "echo " + 200_000 * "x"}, "at most 131071"),
        (nl.Shell, {"line": " "}, "a line for bash"),
    ],
)
def test_what_is_refused(kind, options, words):
    ends = {"src": "h1"} if kind is nl.Shell else {"src": "h1", "dst": "h2"}
    with pytest.raises(nl.SpecificationError, match=f"{kind.__name__}.*{words}"):
        kind(**ends | options)


CALLED = "net.ipv4.tcp_congestion_control"  # a host's sysctl


@pytest.mark.parametrize("kind", [nl.Iperf3, nl.Iperf, nl.Simpleperf, CALLED])
@pytest.mark.parametrize(("name", "meant"), [("brr", "'bbr'"), ("renoo", "'reno'"), ("x", None)])
def test_a_name_that_the_kernel_does_not_have_is_refused_before_anything_starts(
    kind, name, meant, monkeypatch
):
    """By a run, by a live network, and by a sweep before its first run."""
    monkeypatch.setattr(GuestEngine, "connect", lambda *_: pytest.fail("nothing must start"))

    def experiment(name):
        if kind is CALLED:
            path = nl.wan(pairs=1).tuned({CALLED: name}, "h2")
            return nl.Experiment(path, nl.Iperf3("h1", "h2"))
        return nl.Experiment(nl.wan(pairs=1), kind("h1", "h2", congestion=name))

    calls = [lambda: nl.run(experiment(name), engine="guest")]
    calls += [lambda: nl.sweep(experiment, name=["cubic", "vegas", name], engine="guest")]
    if kind is CALLED:
        calls += [lambda: nl.Network(experiment(name).topology, engine="guest")]
    for call in calls:
        with pytest.raises(nl.SpecificationError, match=f"congestion.* = {name!r}: ") as error:
            call()
        assert (f"did you mean {meant}" in str(error.value)) == bool(meant)
        assert "vegas" in str(error.value) and "netlab0" not in str(error.value)


def test_netlab0_is_a_name_where_an_algorithm_in_python_has_it():
    with pytest.raises(nl.SpecificationError, match=r"Iperf3\.congestion = 'netlab0'"):
        nl.Experiment(nl.wan(), nl.Iperf3("h1", "h2", congestion="netlab0"))
    pair = nl.Iperf3("h1", "h2", congestion=nl.algorithms.Reno), nl.Iperf("h3", "h4")
    assert nl.Experiment(nl.wan(), pair[0], pair[1].but(congestion="netlab0")).algorithms
    with pytest.raises(nl.SpecificationError, match=r"Iperf\.congestion = 'netlab1'"):
        nl.Experiment(nl.wan(), pair[0], pair[1].but(congestion="netlab1"))


def test_the_longest_line_runs():
    line = "echo done #"
    line += (128 * 1024 - 1 - len(line)) * "x"
    result = nl.run(nl.wan("100mbit", "20ms", pairs=1), nl.Shell("h1", line))
    assert result.raw == {"1-shell-h1": "done\n"}


def test_a_sweep_of_commands_alone_is_refused_as_they_measure_nothing():
    def echo(word):
        return nl.Experiment(nl.wan("100mbit", "20ms"), nl.Shell("h1", f"echo {word}"))

    with pytest.raises(nl.SpecificationError, match=r"Shell alone measures nothing"):
        nl.sweep(echo, word=["a"])


def test_a_program_s_input_reaches_it_whatever_is_in_it():
    text = "END\n$HOME `false` \\ 'END_' \"\n\nEND_ é\nlast, without a newline"
    program = base.Program("h1", "cat -", stdin=base.Input("notes.txt", text))
    assert program.typed == "cat - < notes.txt"
    done = subprocess.run(["bash", "-c", program.line], capture_output=True, text=True)
    assert done.stdout == text + "\n"
    plain = base.Program("h1", "ping -c 1 10.0.0.2")
    assert plain.line == plain.typed == plain.command


def test_an_error_of_a_program_with_an_input_does_not_print_the_input(network):
    program = base.Program("h1", "bash", stdin=base.Input("x.sh", "echo begun\nsleep 1000\n"))
    job = network.start("h1", program.line, program.typed)
    with pytest.raises(nl.CommandError, match=r"^`bash < x.sh` on h1 did not end within 2") as got:
        job.wait(limit_s=2)
    assert got.value.command == "bash < x.sh" and got.value.output == "begun\n"
    assert network.commands[-1] == "h1 bash < x.sh &"


SECONDS = st.floats(0.1, 86_400) | st.integers(10**4, 86_400 * 10).map(lambda tenth: tenth / 10)


@given(SECONDS, st.floats(0.1, 60), st.floats(0, 86_400))
def test_what_is_typed_is_what_was_given(time, interval, start):
    """Every digit, whatever the option, and no exponent."""
    ends = dict(src="h1", dst="h2", interval=interval)
    iperf = nl.Iperf(**ends, time=time).command("10.0.0.2", 5201)
    simple = nl.Simpleperf(**ends, time=time).command("10.0.0.2", 5201)
    for words in (iperf.split(), simple.split()):
        assert float(words[words.index("-t") + 1]) == time
        assert float(words[words.index("-i") + 1]) == interval
        assert not re.search("[0-9]e[-+0-9]", " ".join(words))
    seconds = dict(time=float(min(int(time) + 1, 86_400)), omit=float(int(interval)))
    words = nl.Iperf3(**ends, **seconds).command("10.0.0.2", 5201).split()
    assert float(words[words.index("-t") + 1]) == seconds["time"]
    assert float(words[words.index("-i") + 1]) == interval
    ping = nl.Ping("h1", "h2", count=3, interval=time / 24).command("10.0.0.2").split()
    assert time == 24 or float(ping[ping.index("-i") + 1]) == time / 24
    test = nl.Iperf3("h1", "h2", omit=3, start=start)
    experiment = nl.Experiment(nl.wan(), test, nl.Nstat("h1"))
    line = experiment.traffic[1].programs(experiment.places[1][1])[0].command
    pause = re.fullmatch(r"sleep ([0-9.]+); .*", line)[1]
    assert abs(float(pause) - experiment.omitted_s("h1")) <= 0.0005 + 1e-9


@given(st.floats(1, 1e12) | st.integers(1, 10**12))
def test_a_rate_is_typed_with_every_digit(bps):
    for kind in (nl.Iperf3, nl.Iperf):
        test = kind("h1", "h2", udp=True, bitrate=nl.units.format_rate(bps))
        words = test.command("10.0.0.2", 5201).split()
        assert float(words[words.index("-b") + 1]) == bps


def test_iperf3_s_own_rates_are_read_where_iperf3_has_them():
    assert nl.Iperf3("h1", "h2", bitrate="10G").bitrate == "10gbit"
    assert nl.Iperf3("h1", "h2", bitrate="1.5m").bitrate == "1.5mbit"
    for other in (
        lambda: nl.Iperf("h1", "h2", bitrate="10M"),  # iperf 2: 1024s
        lambda: nl.wan("10G"),
        lambda: nl.Iperf3("h1", "h2", bitrate="100Mbps"),
        lambda: nl.Iperf3("h1", "h2", bitrate="0.5bit"),  # iperf3 takes it for no limit
        lambda: nl.Change("s1", "s2", at="1s", rate="100Mbps"),
        lambda: nl.wan(qdisc="cake bandwidth 100Mbps"),
    ):
        with pytest.raises(nl.SpecificationError, match=r"rate|bandwidth"):
            other()
    assert nl.wan(qdisc="cake bandwidth 100Mb/s").links[1].qdisc == "cake bandwidth 100mbit"
