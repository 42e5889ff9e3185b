"""The experiments that graded notebooks ask for: each is run once, within limits, and kept."""

import hashlib
import json
import time

from netlab.engines import recorded
from netlab.engines.cache import cache_folder
from netlab.engines.jail import JailedEngine
from netlab.errors import EngineError, GuestError, NetlabError, SpecificationError
from netlab.experiment import Experiment
from netlab.running.run import run_on

MOST_RUNS = 40  # of one notebook
MOST_WALL_S = 300.0  # of all its runs together
MOST_RUN_S = 120.0  # of one
MOST_VIRTUAL_S = 300
MOST_CHARACTERS = 1_000_000  # of an experiment's JSON
MOST_RAW = 30_000_000  # of what its programs printed
MOST_RAW_IN_ALL = 100_000_000  # of all experiments of one notebook


class Runs:
    """Runs experiments for notebooks, whoever wrote them.

    Parameters
    ----------
    folder : path, optional
        Where results are kept: the same experiment on the same engine is not run again.

    Attributes
    ----------
    engine : netlab.engines.jail.JailedEngine
    """

    def __init__(self, folder=None):
        self.folder = folder or cache_folder() / "graded"
        self.engine = JailedEngine()

    def answer(self, text, spent):
        """What a jail is told of the experiment that it asks for.

        Parameters
        ----------
        text : str
            The experiment's JSON; nobody has looked at it yet.
        spent : dict
            ``runs`` and ``wall_s`` of this notebook so far; both grow.

        Returns
        -------
        dict
            ``raw, commands, provenance``; or ``error`` and its ``kind``, a name of
            `netlab.errors`.

        Raises
        ------
        EngineError
            No engine works here: that is not the notebook's fault.
        """
        try:
            return self.result(text, spent)
        except NetlabError as error:
            if isinstance(error, EngineError) and not isinstance(error, GuestError):
                raise
            text = str(error)
            if isinstance(error, GuestError):  # its console may tell of this machine
                text = text.partition("\n")[0]
            return {"error": text[:5000], "kind": type(error).__name__}

    def result(self, text, spent):
        spent["runs"] = spent.get("runs", 0) + 1
        if spent["runs"] > MOST_RUNS:
            raise SpecificationError(f"a graded notebook may run {MOST_RUNS} experiments, no more")
        if not isinstance(text, str) or len(text) > MOST_CHARACTERS:
            raise SpecificationError("an experiment is a JSON text of at most a million characters")
        experiment = Experiment.from_json(text)
        if experiment.clock != "virtual":
            raise SpecificationError(
                f'clock = {experiment.clock!r}: a graded notebook has clock="virtual", as only that'
                " repeats"
            )
        if experiment.duration_s > MOST_VIRTUAL_S:
            raise SpecificationError(
                f"this experiment takes {experiment.duration_s:g} virtual seconds: in a graded"
                f" notebook it may take {MOST_VIRTUAL_S}"
            )
        path = self.path(experiment)
        if path.is_file():
            kept = recorded.read(path)
            return {key: kept[key] for key in ("raw", "commands", "provenance")}
        left_s = MOST_WALL_S - spent.get("wall_s", 0)
        if left_s <= 0:
            raise SpecificationError(
                f"the experiments of a graded notebook may take {MOST_WALL_S:g} s together"
            )
        began_s = time.monotonic()
        try:
            result = run_on(experiment.but(wall_limit_s=min(MOST_RUN_S, left_s)), self.engine)
        finally:  # one that fails has taken its time, too
            spent["wall_s"] = spent.get("wall_s", 0) + time.monotonic() - began_s
        size = sum(map(len, result.raw.values()))
        spent["raw"] = spent.get("raw", 0) + size
        if size > MOST_RAW or spent["raw"] > MOST_RAW_IN_ALL:
            raise SpecificationError(
                f"its programs printed more than {MOST_RAW} characters, or those of all its"
                f" experiments more than {MOST_RAW_IN_ALL}: let them print less"
            )
        result.experiment = experiment
        result.provenance["experiment"] = json.loads(experiment.to_json())
        recorded.write(result, path)
        return {key: getattr(result, key) for key in ("raw", "commands", "provenance")}

    def path(self, experiment):
        """Where the result of an experiment on this engine is kept."""
        known = f"{self.engine.digest} {experiment.to_json()}"
        return self.folder / f"{hashlib.sha256(known.encode()).hexdigest()[:24]}.json.xz"
