"""What a network runs on.

An engine has ``name``, ``digest``, ``about``, ``clocks`` (the first is its own), ``at_once`` (how
many networks), and ``connect(seed, clock, wall_limit_s)``, which gives what a `Network` asks and
closes; or ``recall(experiment)``, for what it left when it was run.
"""

import os

from netlab.engines import recorded
from netlab.engines.guest import GuestEngine
from netlab.engines.mininet import MininetEngine
from netlab.engines.recorded import RecordedEngine
from netlab.errors import EngineError, SpecificationError

ENGINES = {"guest": GuestEngine, "mininet": MininetEngine, "recorded": RecordedEngine}


def pick(engine=None):
    """The engine of this name; None is $NETLAB_ENGINE, or the first that works here: where that is
    not the guest, a line says so.

    Raises
    ------
    SpecificationError
        There is no engine of this name.
    EngineError
        It does not work here; the message says how to get one.
    """
    if not isinstance(engine, str | None):
        return engine
    engine = engine or os.environ.get("NETLAB_ENGINE") or None
    if engine is not None:
        if engine not in ENGINES:
            raise SpecificationError(
                f"engine = {engine!r}: one of {', '.join(ENGINES)}, or None for the first that"
                " works"
            )
        # while records are made anew, they are run and not read
        if engine != "recorded" or not recorded.anew():
            return ENGINES[engine]()
    refused = []
    for name, kind in ENGINES.items():
        try:
            chosen = kind()
        except EngineError as error:
            refused.append(f"{name}: {error}")
            continue
        if refused and name == "recorded":
            chosen.why = f", as {refused[0].splitlines()[0]}"
        elif refused:
            print(f"netlab takes {chosen!r}, as {refused[0].splitlines()[0]}")
        return chosen
    raise EngineError("no engine works here\n" + "\n".join(refused))
