"""Results of earlier runs, found by their experiment.

One file each, ``data/records/<digest of the experiment>.json.xz``: the experiment, commands,
provenance and raw output. ``NETLAB_RECORD=on`` makes every run leave one, and runs even what is
asked for as recorded; with ``live`` that is read, and only what runs anyway leaves one.
"""

import contextlib
import functools
import hashlib
import json
import os
import warnings
from pathlib import Path

from netlab.engines import files
from netlab.engines.protocol import Engine, Record
from netlab.errors import EngineError, NetlabError

HOW_TO_GET_ONE = (
    "`netlab engine build` or `netlab engine import FILE` gives you an engine that runs it; `netlab"
    " doctor` says if it will"
)
PARTS = ("experiment", "commands", "provenance", "raw")
# Digest of the reference run's output on each published engine (`netlab doctor`)
PUBLISHED = Path(__file__).parent / "guest" / "reference.json"
SECOND = "second-kernel"
_parts = []  # of the folder, see `second_kernel`


def folder():
    """Where records lie: $NETLAB_RECORDS, or data/records of this checkout."""
    here = Path(__file__).parents[2] / "data" / "records"
    return Path(os.environ.get("NETLAB_RECORDS") or here, *_parts)


@contextlib.contextmanager
def second_kernel():
    """Within it, records are another kernel's, for all threads; -> its engine. While records are
    made, that is the guest in the cache $NETLAB_SECOND_CACHE, of whatever recipe.
    """
    cache = wanted() and os.environ.get("NETLAB_SECOND_CACHE")
    _parts.append(SECOND)
    try:
        yield guest_of(Path(cache)) if cache else RecordedEngine()
    finally:
        _parts.remove(SECOND)


def guest_of(cache):
    from netlab.engines.guest import GuestEngine, store  # starts processes

    try:
        return GuestEngine(store.Build(cache, store.read_record(cache / "engine.json")))
    except (OSError, ValueError) as error:
        raise EngineError(
            f"NETLAB_SECOND_CACHE = {cache}: there is no engine in it ({error}); build one with"
            " NETLAB_CACHE set to this folder, or leave the variable out to read what was recorded"
        ) from None


def path_of(experiment):
    """The file of an experiment's record."""
    return folder() / f"{hashlib.sha256(experiment.to_json().encode()).hexdigest()[:16]}.json.xz"


def read(path):
    """A record as a dict with the keys `PARTS`; an EngineError where the file is damaged."""
    try:
        kept = unpacked(path.read_bytes())
        if missing := [key for key in PARTS if not isinstance(kept, dict) or key not in kept]:
            raise ValueError(f"it has no {', '.join(missing)}")
    except (OSError, ValueError) as error:
        raise EngineError(
            f"{path} is not a record of a result, or no longer one: {error}. Put the file back as"
            " it was, or delete it and record the experiment again with NETLAB_RECORD=on"
        ) from error
    return kept


def wanted():
    """Shall runs be recorded?"""
    return (os.environ.get("NETLAB_RECORD") or "off") != "off"


def anew():
    """Shall even those be run, and recorded, that are asked for as recorded?"""
    return wanted() and os.environ["NETLAB_RECORD"] != "live"


def record(result):
    """Keep a result, in place of an earlier one of the same experiment that has another output."""
    path = path_of(result.experiment)
    with contextlib.suppress(EngineError):  # none yet, or a damaged one
        if alike(read(path), vars(result)):
            return
    write(result, path)


def record_if_wanted(result):
    """Record a result where NETLAB_RECORD asks for it; what cannot be written is a warning."""
    if wanted():
        try:
            record(result)
        except NetlabError as error:
            text = f"this result is not recorded, as {folder()} cannot be written to: {error}"
            warnings.warn(text, stacklevel=2)


def write(result, path, preset=None):
    """Write a result, in one step, to a file that `read` reads; `preset` is xz's."""
    files.write(path, packed(result, preset))


def packed(result, preset=None):
    """A result as the bytes of its file."""
    import lzma  # not part of Python in a browser, where only records need it

    content = {
        "experiment": json.loads(result.experiment.to_json()),
        "commands": result.commands,
        "provenance": result.provenance,
        "raw": result.raw,
    }
    return lzma.compress(json.dumps(content).encode(), preset=preset)


def unpacked(data):
    """What `packed` was given, as a dict with the keys `PARTS`; a ValueError for other bytes."""
    import lzma

    try:
        return json.loads(lzma.decompress(data))
    except lzma.LZMAError as error:
        raise ValueError(str(error)) from None


def published(digest):
    """Digest of the reference run's raw output on the published engine of this digest, or None."""
    return json.loads(PUBLISHED.read_text(encoding="utf-8")).get(digest)


def same_bytes(one, other):
    """Do engines with these digests give the same bytes, by their published reference runs?"""
    return one == other or (published(one) is not None and published(one) == published(other))


def alike(one, other):
    """Do two records hold the same output, of engines that give the same bytes?"""
    engines = (record["provenance"]["engine_digest"] for record in (one, other))
    return one["raw"] == other["raw"] and same_bytes(*engines)


def plural(number):
    return f"{number} result{'s' * (number != 1)}"


def tell(provenances, engine, asked):
    """Say which results are recorded, and why; not where NETLAB_PROGRESS is off and none asked."""
    recalled = [one for one in provenances if one.get("recorded")]
    why = engine.why if isinstance(engine, RecordedEngine) else ""
    if recalled and (asked or why or os.environ.get("NETLAB_PROGRESS") != "off"):
        virtual_s, wall_s = (sum(one[key] for one in recalled) for key in ("virtual_s", "wall_s"))
        engines = ", ".join(
            sorted({f"{one['engine']} {one['engine_digest'] or ''}".strip() for one in recalled})
        )
        print(
            f"recorded: {plural(len(recalled))} of earlier runs on {engines} "
            f"({virtual_s:.0f} virtual s, which took {wall_s:.0f} s){why or not_of_here(recalled)}"
        )


def not_of_here(provenances):
    """A clause where results are of another engine than the guest here, if there is one."""
    try:
        from netlab.engines.guest import store  # starts processes

        here = store.current().digest
    except (ImportError, EngineError):
        return ""
    if all(same_bytes(one["engine_digest"], here) for one in provenances):
        return ""
    return f"; the guest here is {here}, which gives other numbers"


class RecordedEngine(Engine):
    """What was measured before, wherever it was run; an EngineError where there are no records."""

    name, clocks = "recorded", ("virtual", "cpu", "real")
    why = ""  # why it was taken, where nobody asked for it

    def __init__(self):
        self.records = sorted(folder().glob("*.json.xz"))
        self.about = {}  # whatever was recorded could be run
        if not self.records:
            raise EngineError(
                f"there are no recorded results in {folder()}: NETLAB_RECORDS names another folder."
                f" {HOW_TO_GET_ONE}"
            )

    def __repr__(self):
        return f"<RecordedEngine: {plural(len(self.records))}>"

    def connect(self, seed, clock, wall_limit_s):
        raise EngineError(f"a live network cannot be recorded beforehand: {HOW_TO_GET_ONE}")

    def recall(self, experiment):
        """See `netlab.engines.protocol.Engine`; the error names those that come nearest."""
        wish, others, own = leaves(json.loads(experiment.to_json())), [], path_of(experiment)
        # The same sysctls in another order are the same experiment, in another file.
        for path in sorted(self.records, key=lambda path: path != own):
            if not (other := differences(wish, leaves_in(path))):
                kept = read(path)
                told = kept["provenance"] | {"recorded": True}
                return Record(kept["raw"], kept["commands"], told)
            others.append(other)
        others.sort(key=len)
        nearest = "\n".join(
            f"- {', '.join(other[:6])}{' ...' if len(other) > 6 else ''}" for other in others[:3]
        )
        raise EngineError(
            "this experiment is not among the recorded ones.\n"
            f"The nearest have\n{nearest}\n{HOW_TO_GET_ONE}"
        )


def leaves_in(path):
    """`leaves` of the experiment in a record; the file is read again when it has changed."""
    try:
        status = path.stat()
    except OSError as error:
        raise EngineError(f"{path} cannot be read: {error.strerror}. {HOW_TO_GET_ONE}") from None
    return _leaves_of(path, status.st_mtime_ns, status.st_size)


@functools.cache
def _leaves_of(path, mtime_ns, size):
    return leaves(read(path)["experiment"])


def leaves(value, place=""):
    """Every value of a nested JSON object by its place, such as ``traffic.0.time``."""
    if not isinstance(value, dict | list):
        return {place: value}
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    return {
        key: leaf
        for name, part in parts
        for key, leaf in leaves(part, f"{place}.{name}".lstrip(".")).items()
    }


def differences(wish, other):
    """Where a recorded experiment is not the one wished for, as ``place = value``."""
    return [
        f"{place} = {other.get(place, 'nothing')!r}"
        for place in sorted({*wish, *other})
        if wish.get(place) != other.get(place)
    ]
