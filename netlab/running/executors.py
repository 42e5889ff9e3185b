"""Runs by the workers of somebody's executor: who they are, and one run there."""

import platform
from concurrent.futures import Executor

from netlab import engines
from netlab.engines.result_store import packed_result
from netlab.errors import EngineError, installed
from netlab.running.run import run_on


def identity(engine):
    """What a worker has: netlab and the engine of this name or address, and its machine's name."""
    digest = engines.pick(engine).digest
    return f"netlab {installed().version} and the engine {digest}", platform.node()


def workers_of(executor, engine):
    """-> a function that submits `measure` of an experiment and gives the future.

    An `EngineError` where workers cannot be asked, or have another netlab or engine: of a Dask
    client all are asked, of an executor one. The function's: where it takes nothing more.
    """
    asked = getattr(engine, "address", engine.name)  # a worker picks its own
    here, _ = identity(engine)
    try:
        if isinstance(executor, Executor):
            told = [executor.submit(identity, asked).result()]
        else:
            told, executor = executor.run(identity, asked).values(), executor.get_executor()
    except Exception as error:
        raise EngineError(
            f"the workers cannot say what they have ({type(error).__name__}: {error}): where they"
            f" run, install {here}"
        ) from error
    for one in told:
        check(*one, here)

    def submit(experiment, tried):
        try:
            return executor.submit(measure, experiment, asked, here, tried)
        except RuntimeError as error:  # its pool is broken, or was shut down
            raise EngineError(
                f"the executor takes no more runs ({type(error).__name__}: {error}). Make a new one"
                " and run the sweep again: it goes on where it was"
            ) from error

    return submit


def measure(experiment, engine, here, tried=0):
    """One run, at a worker: the packed result, or the run's error.

    What else is raised is thus the worker's end. `tried` makes each try another task for Dask.
    """
    try:
        check(*identity(engine), here)
        return packed_result(run_on(experiment, engines.pick(engine)))
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
