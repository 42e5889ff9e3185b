"""Results of sweeps, kept as they come: until a sweep is complete, or a notebook's kernel ends."""

import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
import threading
import warnings
from pathlib import Path

from netlab.engines import files, recorded
from netlab.engines.cache import cache_folder, own_cache
from netlab.errors import NetlabError
from netlab.running.progress import kernel_shell
from netlab.running.result import Result

WEEK_S = 7 * 86_400


class UnfinishedSweep:
    """The results of an engine's unfinished sweeps, a file each; deleted after a week."""

    def __init__(self, engine):
        self.engine, self.folder, self.kept = engine, cache_folder() / "sweeps", True
        self.lock = threading.Lock()
        self.again = 0  # how many were found among those of the notebook's complete sweeps
        if self.folder.is_dir():
            with contextlib.suppress(OSError):  # the folder is not netlab's
                own_cache()
                files.prune(self.folder, r"[0-9a-f]{16}\.json\.xz", older_s=WEEK_S)

    def path(self, experiment):
        identity = f"{self.engine.name} {self.engine.digest}\n{experiment.to_json()}"
        return self.folder / f"{hashlib.sha256(identity.encode()).hexdigest()[:16]}.json.xz"

    def find(self, experiment):
        """The result of an experiment; None where there is none, or its file is damaged."""
        path = self.path(experiment)
        for place in (path, *sessions(experiment, path.name)):
            try:
                result = opened(experiment, place.read_bytes())
            except (OSError, ValueError, LookupError, TypeError, AttributeError):
                continue
            self.again += place != path
            return result
        return None

    def add(self, experiment, data):
        """Keep a packed result, from any thread; where that is impossible, one warning says so."""
        try:
            own_cache()
            files.write(self.path(experiment), data)
        except (OSError, NetlabError) as error:
            with self.lock:
                first, self.kept = self.kept, False
            if first:
                why = getattr(error, "strerror", error)
                warnings.warn(
                    f"results cannot be kept in {self.folder} ({why}): interrupted, this"
                    " sweep will start anew. NETLAB_CACHE names another folder.",
                    stacklevel=3,
                )

    def remove(self, experiments):
        """Delete what was kept of a complete sweep, or move it to what this notebook keeps."""
        for experiment in experiments:
            path = self.path(experiment)
            with contextlib.suppress(OSError):
                for kept in sessions(experiment, path.name):
                    shutil.move(path, kept)
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
        print("sweep:", own if self.again else f"{kept} {self.folder}")


def opened(experiment, data):
    """The `Result` of an experiment that was packed by `recorded.packed`."""
    found = recorded.unpacked(data)
    result = Result(experiment, found["raw"], found["commands"], found["provenance"])
    recorded.record_if_wanted(result)
    return result


def sessions(experiment, name):
    """Where a notebook keeps the file of an experiment that repeats: a list of one, or none."""
    repeats = experiment.clock == "virtual"
    return [session_folder() / name] if kernel_shell() and repeats else []


@functools.cache
def session_folder():
    """A folder that is deleted when this process ends."""
    session_folder.keeper = tempfile.TemporaryDirectory(prefix="netlab-session-")
    return Path(session_folder.keeper.name)
