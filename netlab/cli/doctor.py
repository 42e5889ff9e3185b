"""Do experiments run on this machine, and are their numbers the published ones?"""

import hashlib
import os
import sys

from netlab import engines
from netlab.engines.base import Finding
from netlab.engines.result_store import published
from netlab.errors import EngineError
from netlab.experiment import Experiment
from netlab.running.run import run
from netlab.topology import wan
from netlab.traffic import Iperf3

REFERENCE = Experiment(
    wan("100mbit", "20ms", "0.1%"),
    Iperf3("h1", "h2", time=3, parallel=3),
    Iperf3("h3", "h4", time=3, congestion="reno"),
)


def findings():
    """Check this machine, the engine and a short lossy run; yields a `Finding` per check. Where
    NETLAB_ENGINE names an engine elsewhere, only that.
    """
    chosen = os.environ.get("NETLAB_ENGINE", "")
    elsewhere = engines.ADDRESS.fullmatch(chosen)
    if elsewhere or sys.platform != "linux":
        yield from engine(chosen if elsewhere else "guest")
        return
    from netlab.engines.guest import host_checks  # starts processes

    yield from host_checks.findings()
    yield from engine()
    yield mininet()


def mininet():
    """Check whether Mininet runs on this machine itself, without `sudo`."""
    if os.geteuid() != 0:
        said = f"in the guest; on this machine itself {engines.NOT_ROOT}"
    else:
        try:
            version = engines.pick("mininet").about["mininet"]
            said = (
                f'{version} on this machine itself too: engine="mininet" runs on it, in real time'
            )
        except EngineError:
            said = (
                "in the guest only, which is enough; `netlab run --engine mininet` says what this"
                " machine lacks"
            )
    return Finding("ok", "Mininet", said)


def engine(name="guest"):
    """Check an engine, by default that in the cache; runs the reference experiment."""
    check = "engine"
    try:
        chosen = engines.pick(name)
        tools = "Linux {kernel}, iperf3 {iperf3}, Mininet {mininet}".format(**chosen.about)
        yield Finding("ok", check, f"{chosen.digest}: {tools}")
        check = "reference run"
        found = reference_run(chosen)
    except EngineError as error:
        yield Finding("FAIL", check, str(error))
        return
    known = published(chosen.digest)
    state, said = "note", f"runs, but its bytes ({found}) are not the published ones ({known}):"
    if known == found:
        state, said = "ok", f"runs, and its bytes are the published ones ({found})"
    elif known is None:
        said = f"runs ({found}); there are no published numbers of this engine to compare with"
    else:
        said += " results repeat here, not elsewhere"
    yield Finding(state, check, said)


def refuse_other_numbers(build):
    """Run the reference experiment on an engine that is not in use yet.

    Raises
    ------
    EngineError
        It does not run here, or it has the digest of a published engine and not its numbers.
    """
    from netlab.engines.guest import GuestEngine

    found, known = reference_run(GuestEngine(build)), published(build.digest)
    if known not in (None, found):
        raise EngineError(
            f"it calls itself the published engine {build.digest}, and its reference run gives"
            f" other bytes ({found}) than that ({known}). Either its files were altered: ask for"
            " the file again, from somebody whose `netlab doctor` finds the published bytes. Or it"
            " gives other numbers on this machine: `netlab engine build` makes one here."
        )


def reference_run(engine=None):
    """Digest of the reference experiment's raw output."""
    raw = sorted(run(REFERENCE, engine=engine).raw.items())
    text = "".join(f"{name}\n{text}" for name, text in raw)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
