"""``%%on h1``: what is in a cell is typed on a node."""

from types import SimpleNamespace

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from netlab.cli.magic import on, register


def test_ctrl_c_comes_after_so_long_and_the_script_says_what_a_person_did(network, capsys):
    shell = SimpleNamespace(user_ns={"net": network})
    on(shell, "h1 net --for 3.5", "ping 10.0.0.2\n")
    shown = capsys.readouterr().out
    assert shown.startswith("root@h1:~# ping 10.0.0.2\nPING 10.0.0.2")
    assert "4 packets transmitted, 4 received, 0% packet loss" in shown
    assert str(network.history) == "h1 ping 10.0.0.2  #: stays\nsh sleep 3.5\nh1 ^C\n"
    on(shell, "h1 net --for 1", "true")  # has ended long before
    on(shell, "h1 net", "echo the prompt is back")
    assert capsys.readouterr().out.endswith("the prompt is back\n")


@pytest.mark.parametrize("line", ["", "h1 --for", "h1 --for ever", "h1 --stay --for 2", "h1 x y"])
def test_a_line_that_says_it_wrongly_is_refused(line):
    with pytest.raises(UsageError):
        on(SimpleNamespace(user_ns={}), line, "true")


@pytest.fixture(scope="module")
def shell():
    made = InteractiveShell()
    register(made)
    register(made)  # as where the extension is loaded twice
    return made


ON = "%%on h1\nping -c 1 h2\n# not a comment of Python's\n"


@pytest.mark.parametrize(
    "above", ["", "# YOUR CODE HERE\n", "\n\n# one\n\n  # two\n", "# %%on h2 was wrong\n"]
)
def test_comments_may_stand_above_the_magic(above, shell):
    cell = shell.transform_cell(above + ON)
    assert cell == InteractiveShell().transform_cell(ON) and "# not a comment" in cell


def test_what_stands_above_the_magic_is_named(shell):
    with pytest.raises(SyntaxError, match=r"%%on h1 must be the first line .*NotImplementedError"):
        shell.transform_cell(f"# YOUR CODE HERE\nraise NotImplementedError()\n{ON}")


@pytest.mark.parametrize(
    "cell",
    [
        'text = """\n%%on h1\n"""\n',
        '%load_ext netlab\ntext = """\n%%on h1\n"""\n',
        "%%time\n%%on h1\n",
        "x = 1\n",
        "# a comment\nx = 1\n",
    ],
)
def test_other_cells_stay_as_they_are(cell, shell):
    assert shell.transform_cell(cell) == InteractiveShell().transform_cell(cell)
