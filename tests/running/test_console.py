"""A terminal on a node: its bash stays, time passes until its next prompt, and a script does it
again to the byte.
"""

import hashlib
import json
import pathlib
import re
import shlex
import signal
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.interactiveshell import InteractiveShell

import netlab as nl
from netlab.running import job as jobs
from netlab.running.history import Step
from netlab.running.terminal import Console
from tests.test_patterns import cpu_limit

PATH = nl.wan("100mbit", "20ms")


@pytest.fixture(scope="module")
def net():
    with nl.Network(PATH) as up:
        yield up


def outputs(net, host, *lines):
    return [net.type(host, line).output for line in lines]


def test_variables_the_folder_and_jobs_last(net):
    said = outputs(
        net, "h1", "x=5; sleep 1000 &", "cd /tmp", "echo $x in $PWD", "jobs", "kill %1; wait"
    )
    assert said[2] == "5 in /tmp\n" and "Running" in said[3] and net.console("h1").folder == "/tmp"
    assert outputs(net, "h2", "echo $x in $PWD") == ["in /root\n"]


def test_it_shows_what_a_terminal_shows(net, capsys):
    assert net.type("s1", "echo a; false").text == "root@s1:~# echo a; false\na\n"
    assert net.type("s1", "true", show=lambda _: None).status == 0
    assert capsys.readouterr().out == "root@s1:~# echo a; false\na\n"
    assert net.history[-2].status == 1


def test_sudo_and_typographic_quotes_are_as_in_the_labs(net):
    set_delay = "sudo tc qdisc add dev s1-eth1 root handle 1: netem delay 20ms"
    assert net.type("s1", set_delay).status == 0
    assert net.type("s1", "sudo tc qdisc del dev s1-eth1 root").status == 0
    typed = net.type("h1", "sysctl -w net.ipv4.tcp_rmem=\u201910240 87380 52428800\u2019")
    assert typed.line == "sysctl -w net.ipv4.tcp_rmem='10240 87380 52428800'"
    assert typed.output == "net.ipv4.tcp_rmem = 10240 87380 52428800\n"


def test_a_line_may_be_continued(net):
    lines = "for i in 1 2; do", "  echo $i", "done"
    typed = [net.type("h1", line) for line in lines]
    assert [one.status for one in typed] == [None, None, 0]
    assert "".join(one.text for one in typed).endswith("do\n>   echo $i\n> done\n1\n2\n")


def test_a_server_stays_until_ctrl_c(net):
    server = net.type("h2", "iperf3 -s", stays=True)
    assert server.status is None and "listening" in server.output
    with pytest.raises(
        nl.CommandError, match=r"`iperf3 -s` runs in the terminal of h2: the line \^C"
    ):
        net.type("h2", "ls")
    assert net.type("h1", "iperf3 -c 10.0.0.2 -t 1").status == 0
    ended = net.type("h2", "^C")
    assert ended.status == 1 and "Accepted connection" in ended.text
    assert net.type("h2", "ls").status == 0


def test_what_stays_may_end_by_itself(net):
    net.type("h2", "sleep 1", stays=True)
    net.sleep(2)
    assert net.type("h2", "echo next").output == "next\n"


def test_it_is_ended_at_its_limit_and_the_next_line_is_as_ever(net):
    before = net.clock
    with pytest.raises(nl.CommandError, match=r"did not end within 2\.5 virtual seconds") as error:
        net.type("h1", "ping 10.0.0.2", limit_s=2.5)
    assert "3 packets transmitted" in str(error.value) and net.clock - before < 3
    assert "`%%on h1 --stay`, or `--for 4`" in str(error.value)
    assert outputs(net, "h1", "echo $x") == ["5\n"]


def test_what_does_not_hear_ctrl_c_is_killed_with_its_terminal(net):
    with pytest.raises(nl.CommandError, match="killed with its terminal; the next line gets a new"):
        net.type("h3", "trap '' INT; sleep 1000", limit_s=1)
    assert outputs(net, "h3", "ps -eo stat,comm | grep -c ^[^Z].*sleep") == ["0\n"]
    assert outputs(net, "h3", "exit", "echo $$ > pid") == ["exit\n", ""]


def test_what_prints_too_much_is_ended(net, monkeypatch):
    monkeypatch.setattr(jobs, "OUTPUT_LIMIT", 50_000)
    with pytest.raises(nl.CommandError, match=r"printed more than 0\.05 MB"):
        net.type("h4", "yes")
    monkeypatch.undo()
    assert outputs(net, "h4", "echo on") == ["on\n"]


@pytest.mark.parametrize("line", ["two\nlines", "\x1b[31m", "a\0", "x" * 5000, 5])
def test_what_is_no_line_is_refused(line, net):
    with pytest.raises(nl.SpecificationError, match=r"^line = "):
        net.type("h1", line)
    with pytest.raises(nl.SpecificationError, match=r"^host = 'h9'"):
        net.type("h9", "ls")


def test_files_are_texts_by_name(net):
    outputs(net, "h1", "cd /tmp")
    here = net.files["h1"]
    here["a b.txt"] = text = "'q' $x\n\n\tend\n"
    assert here["a b.txt"] == text and "a b.txt" in here and "c" not in here
    assert net.files["h2"]["/tmp/a b.txt"] == text and list(net.files) == PATH.node_names
    with pytest.raises(FileNotFoundError, match="/tmp/c on h1"):
        here["c"]


@pytest.mark.parametrize("content", [b"", b"\0\xff\n\r" * 40_000, "\u2019x'" * 60_000, "\0"])
def test_files_of_any_size_are_bytes_or_texts(content, net):
    net.files["h1"]["/tmp/program"] = content
    data = content if isinstance(content, bytes) else content.encode()
    (summed,) = outputs(net, "h2", "sha256sum </tmp/program")
    assert summed.split()[0] == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("content", [None, 5, ["a"], pathlib.Path("x")])
def test_what_is_no_content_of_a_file_is_refused(content, net):
    with pytest.raises(nl.SpecificationError, match=r"files\['h1'\]\['/tmp/x'\] = "):
        net.files["h1"]["/tmp/x"] = content


@pytest.mark.parametrize("name", [None, 5, "", "a\0b", b"x"])
def test_what_is_no_name_of_a_file_is_refused(name, net):
    with pytest.raises(nl.SpecificationError, match="the name of a file"):
        net.files["h1"][name]
    with pytest.raises(nl.SpecificationError, match="the name of a file"):
        net.files["h1"][name] = "x"


def session(net, pause=lambda: None):
    assert "x" not in net.files["h3"]
    for host, line, how in [
        ("h2", "iperf3 -s", {"stays": True}),
        ("h1", "date +%s.%N; od -An -tx1 -N4 /dev/urandom", {}),
        ("h1", "iperf3 -c 10.0.0.2 -t 2 -J > out.json", {}),
        ("h2", "^C", {}),
        ("h1", "(sleep 1; echo late) &", {}),
        ("s1", "sudo tc -s qdisc show", {}),
    ]:
        net.type(host, line, **how)
        pause()
    flow = net.start("h1", "ping -i 0.1 10.0.0.2")
    net.sleep(1)
    flow.stop()
    net.start("h1", "for i in 1 2; do\n  ping -c 1 10.0.0.2\ndone").wait()
    net.sleep(0.5)
    assert len(net.files["h1"]["out.json"]) > 1000
    with pytest.raises(nl.CommandError):
        net.type("h1", "ping 10.0.0.2", limit_s=1.5)
    net.type("h1", "echo end")


def test_a_script_does_it_again_to_the_byte(tmp_path):
    with nl.Network(PATH, seed=7, algorithms=[nl.algorithms.Reno]) as net:
        session(net)
        net.history.save(tmp_path / "it.txt")
        clock, shown = net.clock, str(net.history)
    assert "h2 iperf3 -s  #: stays\n" in shown and "h1 ping 10.0.0.2  #: ^C after 1.5 s\n" in shown
    script = nl.History.from_text((tmp_path / "it.txt").read_text())
    # with a queue for CPUs of its own: this process may have a network up, on the only one
    engine = f"exec:env TMPDIR={tmp_path} {sys.executable} -m netlab engine serve"
    for where in None, engine:
        with nl.replay(tmp_path / "it.txt", engine=where) as again:
            assert (again.clock, str(again.history)) == (clock, shown)
            assert script.same(again.history)
            again.type("h1", "echo more")
            assert not script.same(again.history)


def test_the_moment_of_a_ctrl_c_is_kept(tmp_path):
    with nl.Network(PATH) as net:
        threading.Timer(1, signal.raise_signal, [signal.SIGINT]).start()
        typed = net.type("h1", "ping -i 0.001 10.0.0.2 | tail -n 3", limit_s=1e6)
        assert typed.ended_after_s > 0
        net.type("h1", "date +%N")
        text = net.history.to_text()
    with nl.replay(text) as again:
        assert nl.History.from_text(text).same(again.history)


@given(
    st.sampled_from(["h1", "run", "start"]),
    st.text(max_size=40) | st.sampled_from(["a  #: stays", "for i in 1; do\n\techo\ndone"]),
    st.sampled_from(["stays", "refused", "^C after 0.05 s", "^C after 1000000 s", "3 times"]),
)
def test_a_step_reads_what_it_writes(what, line, how):
    for written in Step(what, line), Step.read(f"{what} {json.dumps(line)}  #: quoted, {how}"):
        read = Step.read(str(written))
        assert (read.what, read.line, str(read)) == (what, line, str(written))
        assert "\n" not in str(written)
    assert str(written).endswith(how)


HEAD = '{"topology": 1, "seed": 1, "clock": "virtual"}\n'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("h1 ls\nh2 ls", "no script of a network"),
        ("[]\n", "no script of a network"),
        ('{"topology": 1}\n', "no script of a network"),
        (HEAD + "h1 ls\n" * 100_001, "are read"),
        (HEAD + "h1 " + "x" * 4_000_000, "are read"),
        (HEAD + "h1 ls", "Topology"),
        (HEAD[:-2] + ', "algorithms": 5}\n', "no script of a network"),
        pytest.param(HEAD + f"h1 {'[' * 99_999}  #: quoted", "quoted", id="deep"),
    ],
)
def test_what_is_no_script_is_refused(text, why):
    with pytest.raises(nl.SpecificationError, match=why):
        nl.replay(text)


@pytest.mark.parametrize(
    "line",
    [
        "h9 ls",
        "sh rm",
        "wait 1",
        "stop x",
        "sh sleep x",
        "keys h1 x",
    ],
)
def test_a_line_that_no_script_has_is_refused(line, net):
    head = net.history.to_text().partition("\n")[0]
    with pytest.raises(nl.SpecificationError, match="a line of a script is"):
        nl.replay(f"{head}\n{line}\n")


def test_a_large_file_is_no_script(tmp_path):
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(OSError, match="are read at most"):
        nl.replay(tmp_path / "large")


FORGED = r"printf '\e]133;A;aid={0};status=7;cwd=/forged\a# \e]133;B;aid={0}\a'; sleep 5; exit 3"


def test_a_prompt_that_a_program_forges_is_none(net):
    """Whoever does not know the number."""
    before = net.clock
    typed = net.type("h4", f"({FORGED.format('12345678')})")
    assert (typed.status, typed.output) == (3, "# ") and net.clock - before > 5
    assert net.console("h4").folder == "/root"


def test_a_forged_prompt_ends_a_wait_early_and_no_more(net):
    """... of whoever has read the number: nothing is lost, and the next line is as ever."""
    (shown,) = outputs(net, "h3", "echo ${PS1@Q}")
    (number,) = {*re.findall("aid=([0-9a-f]{8})", shown)}
    before = net.clock
    typed = net.type("h3", f"({FORGED.format(number)})")
    assert typed.status == 7 and net.console("h3").folder == "/forged" and net.clock - before < 1
    waits = net.type("h3", "echo on")
    assert waits.status == 3 and net.clock - before > 5, "it gets the prompt of the line before"
    net.sleep(1)
    typed = net.type("h3", "echo next")
    assert (typed.status, typed.output) == (0, "next\n") and "on\n" in waits.text + typed.text
    assert net.console("h3").folder == "/root"


PROCESSES = "ps -e -o ppid,args | awk '$1 == p' p=$(pgrep -f agent.p[y]) | grep -vc '^ *[0-9]* ps'"


def test_a_hundred_lines_leave_one_bash():
    with nl.Network(PATH) as net:
        count = lambda: int(net.run("s2", PROCESSES, echo=False).text)  # noqa: E731
        before = count()
        for number in range(100):
            assert net.type("h1", f"echo {number}", show=str).output == f"{number}\n"
        assert count() == before + 1
        bashes = net.run("h1", "pgrep -x bash | wc -l", echo=False).text
        assert bashes == "3\n", "that, the one that counts, and boot.sh's"


def test_ctrl_c_at_a_prompt_in_a_program_and_in_one_that_ignores_it(net):
    assert net.type("h2", "x=7").status == 0
    assert net.type("h2", "^C").status == 130
    net.type("h2", "sleep 1000", stays=True)
    assert net.type("h2", "^C").status == 130
    net.type("h2", "for i in 1 2; do")
    assert net.type("h2", "^C").status == 130
    assert outputs(net, "h2", "echo $x") == ["7\n"], "it is still the same bash"
    net.type("h2", "trap '' INT; sleep 1000; trap - INT", stays=True)
    with pytest.raises(nl.CommandError, match="killed with its terminal"):
        net.type("h2", "^C", limit_s=1)
    assert outputs(net, "h2", "echo $x") == ["\n"]


def test_two_terminals_at_once(net):
    """Each has what it printed, and its own prompt."""
    net.type("h1", "for i in 1 2 3; do sleep 0.2; echo a$i; done", stays=True)
    net.type("h2", "for i in 1 2 3; do sleep 0.3; echo b$i; done")
    assert net.history[-1].output == "b1\nb2\nb3\n"
    assert net.console("h1").busy is None, "it has ended meanwhile"
    assert outputs(net, "h1", "echo end")[0].endswith("end\n")
    assert "a1\na2\na3\n" in net.history[-2].text + net.history[-1].text


def test_who_ends_a_terminal_s_bash_does_not_end_the_network(net):
    net.type("h1", "x=1")
    net.run("h2", "pkill -KILL -x bash", echo=False)
    assert outputs(net, "h1", "echo $x.") == [".\n"]


def test_the_folder_may_have_any_name(net):
    name = "/tmp/a;b c'\\$(echo x)\u00e9"
    net.run("h1", f"mkdir -p {shlex.quote(name)}", echo=False)
    net.type("h1", f"cd {shlex.quote(name)}")
    assert net.console("h1").folder == name
    net.files["h1"]["x"] = "in it"
    assert net.files["h2"][f"{name}/x"].strip() == "in it"
    net.type("h1", r"mkdir -p $'/tmp/\a\n'; cd $'/tmp/\a\n'; false")
    assert net.history[-1].status == 1 and net.console("h1").folder == "/tmp/??"
    net.type("h1", "cd")


def test_a_script_is_carried_out_on_this_machine_only_where_that_is_said(net, monkeypatch):
    class Mininet(type(net.engine)):
        name = "mininet"

    monkeypatch.setattr(nl.engines, "pick", lambda engine: Mininet())
    with pytest.raises(nl.SpecificationError, match=r"as root on this machine unless"):
        nl.replay(net.history)


def test_a_cell_types_its_lines(capsys):
    shell = InteractiveShell.instance()
    shell.run_cell("%load_ext netlab")
    with nl.Network(PATH) as older, nl.Network(PATH) as newer:
        shell.user_ns["older"] = older
        shell.run_cell("%%on h1\nx=1\necho $x\n")
        shell.run_cell("%%on h2 older --stay\niperf3 -s")
    assert str(newer.history) == "h1 x=1\nh1 echo $x\n"
    assert str(older.history) == "h2 iperf3 -s  #: stays\n"
    assert "root@h1:~# echo $x\n1\n" in capsys.readouterr().out
    shell.run_cell("%%on h1 nothing\nls")
    assert "nothing is no netlab.Network" in capsys.readouterr().out
    InteractiveShell.clear_instance()


def test_a_second_terminal_is_there_at_once(network):
    network.type("h2", "iperf3 -s", stays=True, show=len)
    before = network.clock
    network.type("h1", "true", show=len)
    assert network.clock < before + 0.1


def test_a_long_output_takes_time_in_proportion_to_its_length():
    console, shown = Console(None, "h1"), []
    console._show = shown.append
    with cpu_limit():
        for piece in ["\x1b]133;", *["x" * 32_000] * 500]:
            console._hear(piece)
    assert len(console.fresh) == 6 + 500 * 32_000


@pytest.mark.parametrize(
    "text", ["a\nEND_OF_FILE\necho b\n", "^C\n", "it\u2019s\xa0\r\n\x0c", "x" * 5000]
)
def test_a_file_that_cannot_be_typed_is_written_all_the_same(text, net):
    net.files["h3"]["/tmp/odd"] = text
    assert net.files["h3"]["/tmp/odd"] == text
    assert outputs(net, "h3", "echo on") == ["on\n"]
