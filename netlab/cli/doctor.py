"""Do experiments run on this machine, and are their numbers the published ones? What `netlab
doctor` prints.
"""

import hashlib
import json

from netlab.engines.guest import GuestEngine, host_checks, store
from netlab.engines.guest.host_checks import Finding, judge
from netlab.engines.mininet import MininetEngine
from netlab.errors import EngineError
from netlab.experiment import Experiment
from netlab.running.run import run
from netlab.topology import wan
from netlab.traffic import Iperf3

PUBLISHED = (
    store.HERE / "reference.json"
)  # engine digest -> digest of the reference run's raw output
REFERENCE = Experiment(
    wan("100mbit", "20ms", "0.1%", burst=5_000_000, limit=15_000_000),
    Iperf3("h1", "h2", time=3, parallel=3),
    Iperf3("h3", "h4", time=3, congestion="reno"),
)


def findings():
    """Check this machine, the engine and a short lossy run; yields a `Finding` per check."""
    yield from host_checks.findings()
    yield from engine()
    try:
        version = MininetEngine().about["mininet"]
        yield Finding(
            "ok",
            "Mininet",
            f'{version} on this machine itself too: engine="mininet" runs on it, in real time',
        )
    except EngineError:
        yield Finding(
            "ok",
            "Mininet",
            "in the guest only, which is enough; `netlab run --engine mininet` says what this"
            " machine lacks",
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
    known = json.loads(PUBLISHED.read_text()).get(chosen.digest)
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


def reference_run(engine=None):
    """Digest of the reference experiment's raw output."""
    raw = run(REFERENCE, engine=engine).raw
    return hashlib.sha256(
        "".join(f"{name}\n{text}" for name, text in sorted(raw.items())).encode()
    ).hexdigest()[:16]
