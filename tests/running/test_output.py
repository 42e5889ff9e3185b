"""What programs print: kept whole up to a limit, in linear time, and shown without colours."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab import CommandError
from netlab.running.job import plain
from tests.running import scripted

TEXT = st.lists(
    st.one_of(
        st.sampled_from([*"\x1b[]0;mKc?(B\x07\\P \n"]),
        st.sampled_from(["31", "word", "\x1b[0m", "\x1b]0;title\x07", "\x1b]8;;http://a\x1b\\"]),
        st.just("x" * 1990),
    ),
    max_size=40,
)


def cpu_seconds(pieces):
    started = time.process_time()
    text = scripted.network(["x" * 4096] * pieces).run("h1", "cat", echo=False).text
    assert len(text) == pieces * 4096
    return time.process_time() - started


def test_four_times_the_output_costs_about_four_times_the_work():
    """Sixteen times where each piece copies all that came before it."""
    small = min(cpu_seconds(2000) for _ in range(3))
    assert cpu_seconds(8000) < 9 * small + 0.1


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("\x1b[36mlo \x1b[0mup\n", "lo up\n"),
        ("\x1b[1;31;48;5;9mred\x1b[m\x1b[K\n", "red\n"),
        ("\x1b]0;a title\x07$ \x1b]8;;https://a.b\x1b\\link\x1b]8;;\x1b\\\n", "$ link\n"),
        ("\x1b(B\x1b7a\x1b8\x1bc\x1b=b\n", "ab\n"),
        ("\x1bPq#0\x1b\\a\x1b[?25lb\n", "ab\n"),
        ("\x1b]never closed\nnext\n", "\nnext\n"),
        ("ends in the middle\x1b[3", "ends in the middle[3"),
        ("tabs\tand\rreturns [0m é \x9c\n", "tabs\tand\rreturns [0m é \x9c\n"),
    ],
)
def test_escape_sequences_are_not_shown(printed, shown, capsys):
    job = scripted.network([printed]).run("h1", "ip -c link")
    assert (job.text, capsys.readouterr().out, job.raw) == (shown, shown, printed)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x1b")))
def test_plain_output_reaches_the_user_unchanged(printed):
    shown = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.print", lambda text, **_: shown.append(text))
        job = scripted.network([printed]).run("h1", "cat")
    assert job.text == job.raw == "".join(shown) == printed


@given(parts=TEXT, cuts=st.lists(st.integers(0, 200), max_size=20))
def test_a_sequence_that_messages_cut_in_two_is_not_shown_either(parts, cuts):
    whole = "".join(parts)
    edges = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    pieces = [whole[a:b] for a, b in itertools.pairwise(edges)]
    shown = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.print", lambda text, **_: shown.append(text))
        job = scripted.network(pieces).run("h1", "ip -c link")
    assert job.raw == whole
    assert "".join(shown) == job.text == plain(whole)
    assert "\x1b" not in job.text


@pytest.mark.parametrize(
    "command",
    ["yes", "trap '' INT; while :; do printf %05000d 1; done", "(trap '' INT; yes) & yes"],
)
def test_a_command_that_prints_too_much_is_ended(network, monkeypatch, command):
    monkeypatch.setattr("netlab.running.job.OUTPUT_LIMIT", 500_000)
    with pytest.raises(CommandError, match=r"printed more than 0\.5 MB") as ended:
        network.run("h1", command, echo=False)
    assert len(ended.value.output) == 500_000 and ended.value.status < 0
    assert network.run("h1", "pgrep -x yes | wc -l", echo=False).text == "0\n"


@given(st.lists(st.text(), max_size=20), st.integers(0, 60), st.integers(0, 60))
def test_output_is_kept_by_bytes_and_ends_with_a_whole_character(pieces, own, everybodys):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("netlab.running.job.OUTPUT_LIMIT", own)
        patch.setattr("netlab.running.session.ALL_OUTPUT_LIMIT", everybodys)
        network = scripted.network(pieces)
        job = network.start("h1", "cat")
        try:
            network.wait(job)
        except CommandError as error:
            assert "printed more than" in str(error)
    text, limit = "".join(pieces), min(own, everybodys)
    assert text.startswith(job.raw) and len(job.raw.encode()) <= limit
    assert len(text.encode()) <= limit or len(job.raw.encode()) > limit - 4


def test_many_commands_have_one_limit_together(monkeypatch):
    monkeypatch.setattr("netlab.running.session.ALL_OUTPUT_LIMIT", 10_000)
    network = scripted.network(["x" * 1000])
    jobs = [network.run("h1", "cat") for _ in range(10)]
    with pytest.raises(CommandError, match="or all programs of its network more than"):
        network.run("h1", "cat")
    assert [len(job.raw) for job in jobs] == [1000] * 10


def test_a_command_in_the_background_that_prints_too_much_is_ended(network, monkeypatch):
    monkeypatch.setattr("netlab.running.job.OUTPUT_LIMIT", 500_000)
    flood, other = network.start("h1", "sleep 0.5; yes"), network.start("h2", "sleep 1000")
    with pytest.raises(CommandError, match="yes` on h1 printed more than"):
        network.sleep(10)
    assert flood.status < 0 and set(flood.text) == {"y", "\n"} and other.status is None
    before = network.clock
    network.sleep(2)
    assert network.clock == pytest.approx(before + 2, abs=0.01), "no interrupt is left over"


def test_a_message_shows_the_last_lines_only(network):
    with pytest.raises(CommandError, match=r"within 3 virtual seconds.*limit_s=") as ended:
        network.run("h1", "seq 1000; sleep 1000", limit_s=3, echo=False)
    assert str(ended.value).splitlines()[1:] == [str(n) for n in range(991, 1001)]
    assert ended.value.output == "".join(f"{n}\n" for n in range(1, 1001))
    with pytest.raises(CommandError, match="It printed nothing") as ended:
        network.start("h1", "sleep 1000").wait(limit_s=1)
    with pytest.raises(CommandError) as ended:
        network.run("h1", "head -c 90000 /dev/zero | tr '\\0' x; sleep 9", limit_s=3, echo=False)
    assert len(str(ended.value)) < 3000
