"""Results of sweeps that are not complete yet: kept as they come, so that one which is interrupted
goes on where it was.
"""

import contextlib
import hashlib
import os
import time

from netlab.engines import recorded
from netlab.engines.guest.store import cache_folder
from netlab.running.result import Result

WEEK_S = 7 * 86_400


class Kept:
    """The results at hand for an engine, a file each, found again by their experiment; what is a
    week old is removed.

    Parameters
    ----------
    engine
        Another engine, or one of another digest, has other results.
    """

    def __init__(self, engine):
        self.engine, self.folder = engine, cache_folder() / "sweeps"
        for path in self.folder.glob("*"):
            with contextlib.suppress(FileNotFoundError):  # another sweep may be at it
                if time.time() - path.stat().st_mtime > WEEK_S:
                    path.unlink()

    def path(self, experiment):
        identity = f"{self.engine.name} {self.engine.digest}\n{experiment.to_json()}"
        return self.folder / f"{hashlib.sha256(identity.encode()).hexdigest()[:16]}.json.xz"

    def find(self, experiment):
        """The result of an experiment, or None."""
        path = self.path(experiment)
        if not path.exists():
            return None
        kept = recorded.read(path)
        return Result(experiment, kept["raw"], kept["commands"], kept["provenance"])

    def keep(self, result):
        recorded.write(result, self.path(result.experiment))

    def forget(self, experiments):
        """A complete sweep leaves nothing behind: run again, it measures again."""
        for experiment in experiments:
            self.path(experiment).unlink(missing_ok=True)

    def tell(self, found, total):
        """Say in one line that some of it was measured before."""
        if found and os.environ.get("NETLAB_PROGRESS") != "off":
            print(
                f"sweep: goes on where it was interrupted, {found} of {total} runs were kept in"
                f" {self.folder}"
            )
