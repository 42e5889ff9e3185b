"""What tests of engines share."""

import contextlib
import io

import pytest

import netlab as nl
from tests.engines.afar import EXPERIMENT


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Where the cache is to be: a folder that is not there yet."""
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "elsewhere"))
    return tmp_path / "elsewhere"


@pytest.fixture(scope="session")
def here():
    """What `EXPERIMENT` gives on the engine here; `printed` is what its algorithm has said."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        result = nl.run(EXPERIMENT, engine="guest")
    result.printed = printed.getvalue()
    assert "loss at" in result.printed
    return result
