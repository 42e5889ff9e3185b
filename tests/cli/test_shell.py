"""``netlab shell`` in a pipe and on a terminal; ``netlab replay`` says whether it is the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import netlab as nl
from netlab.cli.shell import is_script
from netlab.engines.files import check
from netlab.running.history import Step

NETLAB = [sys.executable, "-m", "netlab"]
LINES = "# a comment\nh1 ping -c 1 h2\nh1 date +%N\nnonsense\n"


def typed(lines, *words):
    """`netlab shell` with these lines on standard input."""
    data = lines if isinstance(lines, bytes) else lines.encode()
    done = subprocess.run([*NETLAB, "shell", *words], input=data, capture_output=True, timeout=120)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """What `netlab shell --save` printed, and its file."""
    path = tmp_path_factory.mktemp("saved") / "it.txt"
    status, out, err = typed(LINES, "--rate", "100mbit", "--seed", "5", "--save", str(path))
    assert (status, err) == (0, "")
    return out, path


def test_a_pipe_is_echoed_behind_the_prompt(saved):
    out, path = saved
    head, *lines = out.split("mininet> ")
    assert "s1 to s2 with 100 Mbit/s, 20 ms" in head and "virtual" in head and "Ctrl-D" in head
    assert [line.partition("\n")[0] for line in lines] == [*LINES.splitlines(), ""]
    assert "1 packets transmitted, 1 received" in lines[1]
    assert lines[3] == "nonsense\n*** Unknown command: nonsense\n"
    assert out.endswith(f"`netlab replay {path}` does it again\n")


def test_a_script_replays_to_the_same_bytes_or_says_that_it_does_not(saved, tmp_path, call):
    _, path = saved
    done = call("replay", path)
    assert done.status == 0 and "root@h1:~# date +%N\n" in done.out
    count = path.read_text().splitlines()[-1].split()[2]
    assert done.out.endswith(f"*** The same {count} bytes as when it was saved\n")
    other = tmp_path / "other.txt"
    other.write_text(path.read_text().replace("ping -c 1", "ping -c 2"))
    done = call("replay", other, "--engine", "guest")
    assert done.status == 1 and "2 received" in done.out and "Not the same" in done.out
    other.write_text("no script")
    assert "other.txt: no script of a network" in call("replay", other).err
    assert "nowhere.txt: No such file" in call("replay", "nowhere.txt").err


def test_python_of_a_script_runs_in_a_jail(tmp_path, call):
    source = """import os
class Mine(CongestionControl):
    raise ValueError(f"user {os.getuid()}")"""
    mine = {"name": "Mine", "parameters": {}, "source": source}
    about = {"topology": nl.wan().model_dump(), "seed": 1, "clock": "virtual"}
    script = nl.History(about | {"algorithms": [mine]}, [Step("h1", "true")])
    script.save(tmp_path / "it.txt")
    assert "user 65534" in call("replay", tmp_path / "it.txt").err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["nothing"], "'nothing': wan, portfolio, or a file of MiniEdit"),
        (["portfolio", "--loss", "1%"], "--loss is of wan alone"),
        (["--rate", "fast"], "rate"),
        (["--rate", "100"], "rate = '100'"),
        (["--rate", "100Mbps"], "100MBps"),
        (["--delay", "20"], "delay = '20'"),
        (["--loss", "1"], "loss = '1'"),
        (["--clock", "sand"], "clock = 'sand': the guest engine has virtual, cpu, real"),
        (["nowhere.mn"], "nowhere.mn: No such file"),
        (["--save", "/"], "--save / cannot be written: it is a folder"),
        (["--save", __file__], "test_shell.py cannot be written: it is another file"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_up(call, words, why):
    done = call("shell", *words)
    assert done.status == 1 and why in done.err and done.out == ""


def test_save_replaces_only_what_it_has_written(saved, tmp_path, call):
    _, path = saved
    script = path.read_text()
    experiment = nl.Experiment(nl.wan(), nl.Ping("h1", "h2")).to_json()
    own = tmp_path / "own.txt"
    for text in (experiment, f"{script}# mine\n", script[:-30]):
        own.write_text(text)
        done = call("shell", "--save", str(own))
        assert done.status == 1 and "it is another file" in done.err
        assert own.read_text() == text
    own.write_text(script)
    check(own, "--save", is_script)


def test_it_goes_on_after_what_fails_and_keeps_off_the_terminal(tmp_path):
    lines = (
        b"h2 sh -c 'trap \"\" INT; while :; do sleep 1; done'\nh1 \xff\nh1 printf '\\033c\\a.'\n"
    )
    status, out, err = typed(lines, "--clock", "virtual")
    assert (status, err) == (0, "") and "\x1b" not in out and "\a" not in out
    assert "did not end at Ctrl-C, and was killed" in out and out.endswith(".mininet> \n")


def test_a_drawing_of_miniedit_is_opened():
    drawing = Path(__file__).parents[1] / "data/miniedit/version1.mn"
    status, out, err = typed("nodes\n", str(drawing))
    assert status == 0 and "available nodes are: \nh1" in out
    assert "version1.mn was read with changes" in err


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of Unix")
def test_on_a_terminal_lines_are_edited_and_ctrl_c_ends_the_command_alone():
    pexpect = pytest.importorskip("pexpect")
    environment = os.environ | {"TERM": "dumb"}
    seen = pexpect.spawn(NETLAB[0], [*NETLAB[1:], "shell"], env=environment, timeout=180)

    def ctrl_c():
        seen.sendintr()
        seen.expect_exact("Interrupt")
        seen.expect_exact("mininet> ")

    try:
        seen.expect_exact("mininet> ")
        seen.sendline("h1 ecoh h2\x02\x02\x02\x08\x08ho")  # to the left, and mended
        seen.expect_exact("\n10.0.0.2")
        seen.expect_exact("mininet> ")
        seen.send("pingal\t\r")
        seen.expect_exact("(12/12 received)")
        seen.expect_exact("mininet> ")
        for line in ("sh sleep 1000000", "h1 cat"):
            seen.sendline(line)
            seen.expect_exact(line)
            ctrl_c()
        ctrl_c()
        seen.send("\x1b[A\x1b[A\r")  # what was typed before
        seen.expect_exact("sh sleep 1000000")
        ctrl_c()
        seen.sendeof()
        seen.expect(pexpect.EOF)
        seen.close()
        assert seen.exitstatus == 0
    finally:
        seen.close(force=True)
