"""Commands that a person types: kept as they are, refused where the kernel would."""

import pytest

import netlab as nl


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("printf 'a\0b'", "NUL"),
        ("echo " + 200_000 * "x", "at most 131071"),
        ("", "a line for bash"),
        (" ", "a line for bash"),
    ],
)
def test_a_line_that_no_kernel_takes_is_refused(line, words):
    with pytest.raises(nl.SpecificationError, match=words):
        nl.Shell("h1", line)


def test_the_longest_line_runs():
    line = "echo done #"
    line += (128 * 1024 - 1 - len(line)) * "x"
    result = nl.run(nl.wan("100mbit", "20ms", pairs=1), nl.Shell("h1", line))
    assert result.raw == {"1-shell-h1": "done\n"}


def test_a_sweep_of_commands_alone_is_refused_as_they_measure_nothing():
    def typed(word):
        return nl.Experiment(nl.wan("100mbit", "20ms"), nl.Shell("h1", f"echo {word}"))

    with pytest.raises(nl.SpecificationError, match=r"Shell alone measures nothing"):
        nl.sweep(typed, word=["a"])
