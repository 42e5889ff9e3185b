"""What a network runs on; `netlab.engines.base` says what an engine is.

Modules that start processes are imported when they are used: Python in a browser has none.
"""

import contextlib
import os
import platform
import re
import sys

from netlab.engines import recorded
from netlab.engines.base import Engine
from netlab.engines.recorded import RecordedEngine
from netlab.errors import EngineError, SpecificationError


@contextlib.contextmanager
def needs_processes():
    """Within it, a module that this Python lacks makes an `EngineError`."""
    try:
        yield
    except ImportError as error:
        raise EngineError(f"it starts processes, which this Python cannot do ({error})") from None


def needs_linux():
    """An EngineError on another system."""
    if sys.platform != "linux":
        raise EngineError(
            f"the engine needs Linux on x86-64, and this is {platform.system()}. Recorded results"
            ' work here; for live ones name an engine elsewhere, such as engine="ssh://HOST", or'
            ' in a virtual machine here, by engine="exec:COMMAND" (docs/guide.md)'
        )


def new_guest():
    needs_linux()
    with needs_processes():
        from netlab.engines.guest import GuestEngine
    return GuestEngine()


def new_mininet():
    with needs_processes():
        from netlab.engines.mininet import MininetEngine
    return MininetEngine()


def new_remote(address):
    with needs_processes():
        from netlab.engines.remote import remote
    return remote(address)


ENGINES = {"guest": new_guest, "mininet": new_mininet, "recorded": RecordedEngine}
ADDRESS = re.compile(r"(?s)ssh://[^/\s]+(/\S*)?|exec:.*\S.*")
# of netlab 0.2; what is to be used instead
SSH = "an account that is reached by ssh://HOST serves a class, and networks there wait in order"
DROPPED = {
    "tcp://": f"was dropped: {SSH}",
    "vm": "was dropped: Lima (on a Mac) or WSL 2 has the engine, and exec:COMMAND reaches it there",
    "NETLAB_TOKEN": f"was dropped, with tcp://: {SSH}. Remove the variable",
    "NETLAB_SLOWER": "was dropped: wall_limit_s gives a run longer. Remove the variable",
}
NOT_ROOT = (
    "it runs as root, and netlab asks `sudo` for that only where you ask for it with"
    ' engine="mininet" (or NETLAB_ENGINE=mininet)'
)

AS_ROOT = (
    "it would run what is in this file as root, with all of this machine within reach. Read the"
    ' file, and then name it: --engine mininet, engine="mininet"'
)


def refuse_dropped(engine):
    """Refuse what an earlier netlab had, and say what to use."""
    kind = re.match("tcp://|vm$", engine) if isinstance(engine, str) else None
    variables = [name for name in DROPPED if name.startswith("NETLAB_") and name in os.environ]
    for name in [kind[0] if kind else None, *variables]:
        if name in DROPPED:
            raise SpecificationError(f"{name} {DROPPED[name]}; docs/guide.md says how")


def pick(engine=None, strange=False):
    """The engine of this name or address; None: $NETLAB_ENGINE, or the first that works. An
    `Engine` is taken as it is. `strange`: for what somebody else wrote, which Mininet would run as
    root, so it is taken only where it is named.

    Where the guest does not work, or this machine cannot run it, a line says so.
    A SpecificationError for an unknown name; an EngineError, which says how to get one, where it
    does not work here.
    """
    if isinstance(engine, Engine) and not isinstance(engine, type):
        return engine
    if engine in (None, ""):
        engine = os.environ.get("NETLAB_ENGINE") or None
    refuse_dropped(engine)
    if engine is not None:
        if isinstance(engine, str) and ADDRESS.fullmatch(engine):
            return new_remote(engine)
        if not isinstance(engine, str) or engine not in ENGINES:
            raise SpecificationError(
                f"engine = {engine!r}: one of {', '.join(ENGINES)}; an address, as ssh://HOST or"
                " exec:COMMAND; None for the first that works; or an object of a class that derives"
                " from netlab.engines.base.Engine"
            )
        # while records are made anew, they are run and not read
        if engine != "recorded" or not recorded.anew():
            return ENGINES[engine]()
    refused = []
    for name, new in ENGINES.items():
        try:
            if name == "mininet" and getattr(os, "geteuid", int)() != 0:
                raise EngineError(NOT_ROOT)
            if name == "mininet" and strange:
                raise EngineError(AS_ROOT)
            chosen = new()
            # an image may have been built on a machine that runs guests, and started on another
            if name == "guest" and (refusal := chosen.refusal()):
                raise EngineError(refusal)
        except EngineError as error:
            refused.append(f"{name}: {error}")
            continue
        if refused and name == "recorded":
            chosen.why = f", as {refused[0].splitlines()[0]}"
        elif refused:
            print(f"netlab takes {chosen!r}, as {refused[0].splitlines()[0]}")
        return chosen
    refused.insert(0, 'no engine works here; one elsewhere does, such as engine="ssh://HOST"')
    raise EngineError("\n".join(refused))


def pick_jailed(engine=None):
    """As `pick`, for what a stranger wrote: Python that it carries runs in a jail, with the same
    bytes. An engine that is given, and not named, is taken as it is.
    """
    chosen = pick(engine, strange=True)
    address = getattr(chosen, "address", "")
    if chosen is engine:
        return chosen
    if address:
        from netlab.engines.remote import remote

        return remote(address, jailed=True)
    if chosen.name == "guest":
        from netlab.engines.jail import JailedEngine  # starts processes

        return JailedEngine()
    return chosen
