"""``%%on h1``: what is in a cell is typed on a node."""

from types import SimpleNamespace

import pytest
from IPython.core.error import UsageError

from netlab.cli.magic import on


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
