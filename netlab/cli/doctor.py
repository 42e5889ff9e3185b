"""Do experiments run on this machine, and are their numbers the published ones?"""

import hashlib
import os

from netlab import engines
from netlab.engines.guest import GuestEngine, host_checks
from netlab.engines.guest.host_checks import Finding
from netlab.engines.mininet import MininetEngine
from netlab.engines.recorded import published
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
    """Check this machine, the engine and a short lossy run; yields a `Finding` per check."""
    yield from host_checks.findings()
    yield from engine()
    yield mininet()


def mininet():
    """Check whether Mininet runs on this machine itself, without `sudo`."""
    if os.geteuid() != 0:
        said = f"in the guest; on this machine itself {engines.NOT_ROOT}"
    else:
        try:
            version = MininetEngine().about["mininet"]
            said = (
                f'{version} on this machine itself too: engine="mininet" runs on it, in real time'
            )
        except EngineError:
            said = (
                "in the guest only, which is enough; `netlab run --engine mininet` says what this"
                " machine lacks"
            )
    return Finding("ok", "Mininet", said)


def engine():
    """Check the engine in the cache; runs the reference experiment."""
    name = "engine"
    try:
        chosen = GuestEngine()
        tools = "Linux {kernel}, iperf3 {iperf3}, Mininet {mininet}".format(**chosen.about)
        yield Finding("ok", name, f"{chosen.digest}: {tools}")
        name = "reference run"
        found = reference_run(chosen)
    except EngineError as error:
        yield Finding("FAIL", name, str(error))
        return
    known = published(chosen.digest)
    state, said = "note", f"runs, but its bytes ({found}) are not the published ones ({known}):"
    if known == found:
        state, said = "ok", f"runs, and its bytes are the published ones ({found})"
    elif known is None:
        said = f"runs ({found}); there are no published numbers of this engine to compare with"
    else:
        said += " results repeat here, not elsewhere"
    yield Finding(state, name, said)


def refuse_other_numbers(build):
    """Run the reference experiment on an engine that is not in use yet.

    Raises
    ------
    EngineError
        It does not run here, or it has the digest of a published engine and not its numbers.
    """
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
