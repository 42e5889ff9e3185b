"""What tests of engines share."""

import contextlib
import io
import json
import sys
import tempfile

import pytest

import netlab as nl
from tests.engines.afar import EXPERIMENT


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Where the cache is to be: a folder that is not there yet."""
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "elsewhere"))
    return tmp_path / "elsewhere"


@pytest.fixture(scope="module")
def own_cpus(tmp_path_factory):
    """A queue for CPUs of their own for the tests of a module: nobody else's guests are in it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("cpus")))
        patch.setattr(tempfile, "tempdir", None)
        yield


@pytest.fixture
def says(tmp_path):
    """A function: the address of a server that says these messages, behind a banner."""

    def write(*messages, banner=""):
        lines = "".join(json.dumps(one) + "\n" for one in messages)
        code = f"import sys\nprint({banner + lines!r}, end='', flush=True)\nsys.stdin.read()"
        (tmp_path / "says.py").write_text(code)
        return f"exec:{sys.executable} {tmp_path}/says.py"

    return write


@pytest.fixture(scope="session")
def here():
    """What `EXPERIMENT` gives on the engine here; `printed` is what its algorithm has said."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        result = nl.run(EXPERIMENT, engine="guest")
    result.printed = printed.getvalue()
    assert "loss at" in result.printed
    return result
