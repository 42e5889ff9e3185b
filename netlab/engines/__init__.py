"""What a network runs on; `netlab.engines.protocol` says what an engine is."""

import os

from netlab.engines import recorded
from netlab.engines.guest import GuestEngine
from netlab.engines.mininet import MininetEngine
from netlab.engines.protocol import Engine
from netlab.engines.recorded import RecordedEngine
from netlab.errors import EngineError, SpecificationError

ENGINES = {"guest": GuestEngine, "mininet": MininetEngine, "recorded": RecordedEngine}
NOT_ROOT = (
    "it runs as root, and netlab asks `sudo` for that only where you ask for it with"
    ' engine="mininet" (or NETLAB_ENGINE=mininet)'
)


def pick(engine=None):
    """The engine of this name; None is $NETLAB_ENGINE, or the first that works here: where that is
    not the guest, a line says so. An `Engine` is taken as it is.

    Raises
    ------
    SpecificationError
        There is no engine of this name, or this is none.
    EngineError
        It does not work here; the message says how to get one.
    """
    if not isinstance(engine, str | None):
        if isinstance(engine, Engine) and not isinstance(engine, type):
            return engine
        raise SpecificationError(
            f"engine = {engine!r}: one of {', '.join(ENGINES)}, None for the first that works, or"
            " an object that has all that netlab.engines.protocol.Engine names"
        )
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
            if name == "mininet" and os.geteuid() != 0:
                raise EngineError(NOT_ROOT)
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
