"""Another kernel: does a conclusion hold on that, too?

Its results lie in data/records/second-kernel. While records are made ($NETLAB_RECORD), the guest in
the cache that $NETLAB_SECOND_CACHE names makes them: the NETLAB_CACHE of another `netlab engine
build`.
"""

import contextlib
import os
from pathlib import Path

from netlab.engines import recorded
from netlab.errors import EngineError

FOLDER = "second-kernel"


@contextlib.contextmanager
def second_kernel():
    """Within it, records are those of another kernel; -> its engine. An EngineError where there are
    none, and no engine to make them.
    """
    cache = os.environ.get("NETLAB_SECOND_CACHE")
    with recorded.within(FOLDER):
        live = cache and recorded.wanted()
        yield guest_of(Path(cache)) if live else recorded.RecordedEngine()


def guest_of(cache):
    """The guest that lies in a cache, whatever recipe it was built from."""
    from netlab.engines.guest import GuestEngine, store  # starts processes

    try:
        return GuestEngine(store.Build(cache, store.read_record(cache / "engine.json")))
    except (OSError, ValueError) as error:
        raise EngineError(
            f"NETLAB_SECOND_CACHE = {cache}: there is no engine in it ({error}); build one with"
            " NETLAB_CACHE set to this folder, or leave the variable out to read what was recorded"
        ) from None
