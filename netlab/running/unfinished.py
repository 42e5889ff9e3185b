"""Results of sweeps, kept as they come: until a sweep is complete, or a notebook's kernel ends."""

import contextlib
import functools
import os
import shutil
import tempfile
import threading
import warnings
from pathlib import Path

from netlab.engines import files, recorded
from netlab.engines.cache import cache_folder, own_cache
from netlab.engines.result_store import OWN, ResultStore, engine_key
from netlab.errors import EngineError, NetlabError
from netlab.running.progress import kernel_shell
from netlab.running.result import Result

WEEK_S = 7 * 86_400
NAMES = rf"{OWN}|[0-9a-f]{{16}}\.json\.xz"  # the latter of netlab 0.2


class UnfinishedSweep:
    """The results of an engine's unfinished sweeps; deleted after a week."""

    def __init__(self, engine):
        self.engine, self.key = engine, engine_key(engine.name, engine.digest)
        self.store, self.kept = ResultStore(cache_folder() / "sweeps"), True
        self.lock = threading.Lock()
        self.again = 0  # how many were found among those of the notebook's complete sweeps
        if self.store.place.is_dir():
            with contextlib.suppress(OSError):  # the folder is not netlab's
                own_cache()
                files.prune(self.store.place, NAMES, older_s=WEEK_S)

    def find(self, experiment):
        """The result of an experiment; None where there is none, or its file is damaged."""
        for store in (self.store, *sessions(experiment)):
            try:
                if record := store.find(experiment, self.key):
                    result = self.opened(experiment, record)
                    self.again += store is not self.store
                    return result
            except (EngineError, OSError, ValueError, LookupError, TypeError, AttributeError):
                continue
        return None

    def opened(self, experiment, record):
        """The `Result` in a record, which is recorded where NETLAB_RECORD asks for it."""
        result = Result(experiment, record["raw"], record["commands"], record["provenance"])
        recorded.record_if_wanted(result, self.engine)
        return result

    def add(self, experiment, data):
        """Keep a packed result, from any thread; where that is impossible, one warning says so."""
        try:
            own_cache()
            files.write(self.store.path(experiment, self.key), data)
        except (OSError, NetlabError) as error:
            with self.lock:
                first, self.kept = self.kept, False
            if first:
                why = getattr(error, "strerror", error)
                warnings.warn(
                    f"results cannot be kept in {self.store.place} ({why}): interrupted, this"
                    " sweep will start anew. NETLAB_CACHE names another folder.",
                    stacklevel=3,
                )

    def remove(self, experiments):
        """Delete what was kept of a complete sweep, or move it to what this notebook keeps."""
        for experiment in experiments:
            path = self.store.path(experiment, self.key)
            with contextlib.suppress(OSError):
                for session in sessions(experiment):
                    shutil.move(path, session.place)
                path.unlink(missing_ok=True)

    def tell(self, found, total):
        """Say in one line that some of it was measured before."""
        if not found or os.environ.get("NETLAB_PROGRESS") == "off":
            return
        own = (
            f"{self.again} of {total} runs are this notebook's own of before, as the same"
            " experiment gives the same numbers; a restarted kernel measures them again"
        )
        kept = f"goes on where it was interrupted, {found} of {total} runs were kept in"
        print("sweep:", own if self.again else f"{kept} {self.store.place}")


def sessions(experiment):
    """Where a notebook keeps an experiment that repeats: a list of one store, or none."""
    repeats = experiment.clock == "virtual"
    return [ResultStore(session_folder())] if kernel_shell() and repeats else []


@functools.cache
def session_folder():
    """A folder that is deleted when this process ends."""
    session_folder.keeper = tempfile.TemporaryDirectory(prefix="netlab-session-")
    return Path(session_folder.keeper.name)
