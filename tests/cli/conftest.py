import sys
from typing import NamedTuple

import pytest

from netlab.cli import main


class Done(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def call(capsys, monkeypatch):
    """Call `netlab`, which prints no traceback."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["netlab", *map(str, words)])
        capsys.readouterr()  # what was printed before
        with pytest.raises(SystemExit) as left:
            main()
        done = Done(left.value.code or 0, *capsys.readouterr())
        assert "Traceback" not in done.err, done.err
        return done

    return run
