"""What a network runs on: an engine has ``name``, ``digest``, ``about``, ``clocks`` ``connect(seed, clock, wall_limit_s)``."""

from netlab.engines.guest import GuestEngine
from netlab.errors import SpecificationError

ENGINES = {"guest": GuestEngine}


def pick(engine=None):
    """The engine of this name; None is the first that works here.

    Raises
    ------
    SpecificationError
        There is no engine of this name.
    EngineError
        It does not work here; the message says how to get one.
    """
    if not isinstance(engine, str | None):
        return engine
    if engine is not None and engine not in ENGINES:
        raise SpecificationError(f"engine = {engine!r}: one of {', '.join(ENGINES)}, or None for the first that works")
    return ENGINES[engine or "guest"]()
