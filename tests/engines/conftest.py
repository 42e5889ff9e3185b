"""What tests of engines share."""

import pytest


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Where the cache is to be: a folder that is not there yet."""
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "elsewhere"))
    return tmp_path / "elsewhere"
