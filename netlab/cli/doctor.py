"""Do experiments run on this machine, and are their numbers the published ones? What `netlab
doctor` prints, and what `netlab engine import` tries before it puts an engine in use.
"""

import hashlib
import os

from netlab import engines
from netlab.engines.guest import GuestEngine, host_checks
from netlab.engines.guest.host_checks import Finding, judge
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
    """Check whether Mininet runs on this machine itself; asks `sudo` for nothing."""
    if os.geteuid() != 0:
        return Finding("ok", "Mininet", f"in the guest; on this machine itself {engines.NOT_ROOT}")
    try:
        version = MininetEngine().about["mininet"]
    except EngineError:
        return Finding(
            "ok",
            "Mininet",
            "in the guest only, which is enough; `netlab run --engine mininet` says what this"
            " machine lacks",
        )
    return Finding(
        "ok",
        "Mininet",
        f'{version} on this machine itself too: engine="mininet" runs on it, in real time',
    )


def engine():
    """Check the engine in the cache; runs the reference experiment."""
    try:
        chosen = GuestEngine()
    except EngineError as error:
        yield Finding("FAIL", "engine", str(error))
        return
    yield Finding(
        "ok",
        "engine",
        f"{chosen.digest}: Linux {chosen.about['kernel']}, iperf3 {chosen.about['iperf3']}, Mininet"
        f" {chosen.about['mininet']}",
    )
    try:
        found = reference_run(chosen)
    except EngineError as error:
        yield Finding("FAIL", "reference run", str(error))
        return
    known = published(chosen.digest)
    if known is None:
        yield Finding(
            "note",
            "reference run",
            f"runs ({found}); there are no published numbers of this engine to compare with",
        )
    else:
        yield judge(
            found == known,
            "reference run",
            f"runs, and its bytes are the published ones ({found})",
            f"runs, but its bytes ({found}) are not the published ones ({known}): results repeat"
            " here, not elsewhere",
            "note",
        )


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
    raw = run(REFERENCE, engine=engine).raw
    return hashlib.sha256(
        "".join(f"{name}\n{text}" for name, text in sorted(raw.items())).encode()
    ).hexdigest()[:16]
