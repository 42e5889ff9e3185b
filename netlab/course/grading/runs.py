"""The experiments that graded notebooks ask for: each is run once, within limits, and kept."""

import contextlib
import json
import time

from netlab.engines import files
from netlab.engines.cache import cache_folder
from netlab.engines.jail.engine import MOST_OUTPUT_BYTES, JailedEngine
from netlab.engines.result_store import ResultStore, engine_key, packed_result
from netlab.errors import EngineError, GuestError, LimitError, NetlabError, SpecificationError
from netlab.experiment import Experiment
from netlab.running.run import run_on

MOST_RUNS = 40  # of one notebook
MOST_VIRTUAL_S = 300  # of one experiment
MOST_VIRTUAL_IN_ALL_S = 3000  # of all experiments of one notebook
MOST_CHARACTERS = 1_000_000  # of an experiment's JSON
MOST_RAW = MOST_OUTPUT_BYTES  # that its programs print, windows and queues included, as UTF-8
MOST_RAW_IN_ALL = 100_000_000
MOST_RUN_S = 120.0  # wall, of one experiment
MOST_WALL_S = 300.0  # wall, of all experiments of one notebook
REPLY = ("raw", "commands", "provenance")


class OverTime(LimitError):
    """Experiments took too long on this machine: elsewhere the marks may differ; look at them."""


class Runs:
    """Runs the experiments of strangers' notebooks and keeps the results in a folder, so that none
    is run twice. What a notebook is refused does not depend on whether others asked before it.
    """

    def __init__(self, folder=None):
        self.store = ResultStore(folder or cache_folder() / "graded")
        self.engine = JailedEngine()
        self.key = engine_key(self.engine.name, self.engine.digest)

    def answer(self, text, spent):
        """Run a requested experiment (unchecked JSON); return the reply: `REPLY`, or ``error`` and
        its ``kind``, a name of `netlab.errors`.

        `spent` grows by what this notebook's experiments take: ``runs``, ``virtual_s``, ``raw``
        [byte], ``wall_s``. Raises `EngineError` where no engine works, and `OverTime`.
        """
        began_s = time.monotonic()
        try:
            reply = self.result(text, spent)
        except NetlabError as error:
            guest = isinstance(error, GuestError)
            if isinstance(error, OverTime) or (isinstance(error, EngineError) and not guest):
                raise
            # a guest's console may tell of this machine
            text = str(error).partition("\n")[0] if guest else str(error)
            reply = {"error": text[:5000], "kind": type(error).__name__}
        finally:
            spent["wall_s"] = spent.get("wall_s", 0) + time.monotonic() - began_s
        if spent["wall_s"] >= MOST_WALL_S:
            raise over_time()
        return reply

    def result(self, text, spent):
        take(spent, "runs", 1, MOST_RUNS, "experiments")
        if not isinstance(text, str) or len(text) > MOST_CHARACTERS:
            raise SpecificationError("an experiment is a JSON text of at most a million characters")
        experiment = Experiment.from_json(text)
        if experiment.clock != "virtual":
            raise SpecificationError(f"clock = {experiment.clock!r}: only virtual is allowed here")
        longest_s = max(experiment.duration_s, experiment.virtual_limit_s or 0)
        if longest_s > MOST_VIRTUAL_S:
            raise SpecificationError(
                f"this experiment takes up to {longest_s:g} virtual seconds: {MOST_VIRTUAL_S} are"
                " allowed in a graded notebook"
            )
        take(spent, "virtual_s", longest_s, MOST_VIRTUAL_IN_ALL_S, "virtual seconds")
        found = self.kept_or_run(experiment, spent)
        printed = size(found)
        take(spent, "raw", printed, MOST_RAW_IN_ALL, "bytes of output")
        if printed > MOST_RAW:
            raise SpecificationError(
                f"its programs printed {printed} bytes: {MOST_RAW} are allowed; let them print less"
            )
        return found

    def kept_or_run(self, experiment, spent):
        """A kept result counts with the wall time that its run took."""
        limit_s = min(MOST_RUN_S, MOST_WALL_S - spent.get("wall_s", 0))
        if not (kept := self.store.find(experiment, self.key)):
            return self.run(experiment, limit_s)
        took_s = kept["provenance"]["wall_s"]
        if took_s >= limit_s:
            raise over_time()
        spent["wall_s"] = spent.get("wall_s", 0) + took_s
        return {key: kept[key] for key in REPLY}

    def run(self, experiment, limit_s):
        began_s = time.monotonic()
        try:
            result = run_on(experiment.but(wall_limit_s=limit_s), self.engine)
        except NetlabError:
            if time.monotonic() - began_s >= limit_s:
                raise over_time() from None
            raise
        if result.provenance["wall_s"] >= limit_s:
            raise over_time()
        result.experiment = experiment
        result.provenance["experiment"] = json.loads(experiment.to_json())
        found = {key: getattr(result, key) for key in REPLY}
        if size(found) <= MOST_RAW:
            with contextlib.suppress(NetlabError):  # a full disk is not the notebook's fault
                path = self.store.path(experiment, self.key)
                files.write(path, packed_result(result))
        return found


def take(spent, what, amount, most, words):
    """Count what a notebook takes; a `SpecificationError` where that is more than it may."""
    spent[what] = spent.get(what, 0) + amount
    if spent[what] > most:
        raise SpecificationError(
            f"a graded notebook's experiments may take {most} {words} in all: ask for fewer or less"
        )


def over_time():
    return OverTime(
        f"an experiment of the notebook took more than {MOST_RUN_S:g} s on this machine, or"
        f" all of them took more than {MOST_WALL_S:g} s"
    )


def size(found):
    return sum(len(text.encode(errors="surrogatepass")) for text in found["raw"].values())
