"""Sweeps that are not complete yet: their results are kept as they come, to go on after an
interruption.
"""

import contextlib
import hashlib
import os
import time
import warnings

from netlab.engines import recorded
from netlab.engines.cache import cache_folder
from netlab.errors import EngineError, ReadError
from netlab.running.result import Result

WEEK_S = 7 * 86_400


class UnfinishedSweep:
    """The results of an engine's unfinished sweeps: a file for each, named after its experiment.

    Files older than a week are deleted.

    Parameters
    ----------
    engine : Engine
        The results of another engine, or of another version of it, are not found.
    """

    def __init__(self, engine):
        self.engine, self.folder, self.kept = engine, cache_folder() / "sweeps", True
        for path in self.folder.glob("*"):
            with contextlib.suppress(OSError):  # another sweep may be at it
                if time.time() - path.stat().st_mtime > WEEK_S:
                    path.unlink()

    def path(self, experiment):
        identity = f"{self.engine.name} {self.engine.digest}\n{experiment.to_json()}"
        return self.folder / f"{hashlib.sha256(identity.encode()).hexdigest()[:16]}.json.xz"

    def find(self, experiment):
        """The result of an experiment; None where there is none, or its file is damaged."""
        try:
            found = recorded.read(self.path(experiment))
            result = Result(experiment, found["raw"], found["commands"], found["provenance"])
        except (EngineError, ReadError, LookupError, TypeError, AttributeError):
            return None
        recorded.record_if_wanted(result)
        return result

    def add(self, result):
        """Keep a result; where that is not possible, one warning says so, and the sweep goes on."""
        try:
            recorded.write(result, self.path(result.experiment))
        except OSError as error:
            if self.kept:
                warnings.warn(
                    f"results cannot be kept in {self.folder} ({error.strerror}): interrupted, this"
                    " sweep will start anew. NETLAB_CACHE names another folder.",
                    stacklevel=3,
                )
            self.kept = False

    def remove(self, experiments):
        """Delete what was kept: a complete sweep that is run again measures again."""
        for experiment in experiments:
            with contextlib.suppress(OSError):
                self.path(experiment).unlink()

    def tell(self, found, total):
        """Say in one line that some of it was measured before."""
        if found and os.environ.get("NETLAB_PROGRESS") != "off":
            print(
                f"sweep: goes on where it was interrupted, {found} of {total} runs were kept in"
                f" {self.folder}"
            )
