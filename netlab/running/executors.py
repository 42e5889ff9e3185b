"""Runs by the workers of somebody's executor: who they are, and one run there."""

import platform
from concurrent.futures import Executor
from importlib.metadata import version

from netlab import engines
from netlab.engines import recorded
from netlab.errors import EngineError
from netlab.running.run import run_on

PRESET = 1  # of xz: 14 times as fast as its default, for files that are a third larger


def identity(engine):
    """What a worker has: netlab and the engine of this name or address, and its machine's name."""
    digest = engines.pick(engine).digest
    return f"netlab {version('netlab')} and the engine {digest}", platform.node()


class Workers:
    """The workers of an executor, or of a Dask client, for runs on an engine.

    Raises
    ------
    EngineError
        They cannot be asked, or have another netlab or engine. All workers of a Dask client are
        asked, one of an executor's.
    """

    def __init__(self, executor, engine):
        self.executor = executor
        self.engine = getattr(engine, "address", engine.name)  # which a worker picks itself
        self.here = identity(engine)[0]
        try:
            if isinstance(executor, Executor):
                told = [executor.submit(identity, self.engine).result()]
            else:
                told = executor.run(identity, self.engine).values()
                self.executor = executor.get_executor()
        except Exception as error:
            raise EngineError(
                f"the workers cannot say what they have ({type(error).__name__}: {error}): where"
                f" they run, install {self.here}"
            ) from error
        for one in told:
            check(*one, self.here)

    def submit(self, experiment, tried):
        """-> the future of `measure`. An EngineError where the executor takes nothing more."""
        try:
            return self.executor.submit(measure, experiment, self.engine, self.here, tried)
        except RuntimeError as error:  # its pool is broken, or was shut down
            raise EngineError(
                f"the executor takes no more runs ({type(error).__name__}: {error}). Make a new one"
                " and run the sweep again: it goes on where it was"
            ) from error


def measure(experiment, engine, here, tried=0):
    """One run, at a worker: the packed result, or the run's error.

    What else is raised is thus the worker's end. `tried` makes each try another task for Dask.
    """
    try:
        check(*identity(engine), here)
        return recorded.packed(run_on(experiment, engines.pick(engine)), PRESET)
    except Exception as error:
        return error


def check(there, machine, here):
    """Refuse a worker that does not have what there is here."""
    if there != here:
        raise EngineError(
            f"the worker on {machine} has {there}, the sweep was asked for on {here}: install the"
            " same netlab there; `netlab engine export FILE` here and `netlab engine import FILE`"
            " there make the engines the same"
        )
