"""Results of earlier runs, found by their experiment in a `ResultStore`: data/records.

``NETLAB_RECORD=on`` makes every run leave one, and runs even what is asked for as recorded; with
``live`` that is read, and only what runs anyway leaves one.
"""

import json
import os
import warnings
from pathlib import Path

from netlab.engines.base import Engine, Record
from netlab.engines.result_store import ResultStore, as_dict, result_name
from netlab.errors import EngineError, NetlabError

HOW_TO_GET_ONE = (
    "`netlab engine build` or `netlab engine import FILE` gives you an engine that runs it; `netlab"
    " doctor` says if it will"
)
SECOND = "second-kernel"


def records(*parts):
    """What was recorded: in $NETLAB_RECORDS, or data/records of this checkout."""
    here = Path(__file__).parents[2] / "data" / "records"
    return ResultStore(Path(os.environ.get("NETLAB_RECORDS") or here, *parts))


def second_kernel():
    """An engine of another kernel, with records of its own: it reads them or, while records are
    made, it is the guest in the cache $NETLAB_SECOND_CACHE, of whatever recipe.
    """
    cache, kept = wanted() and os.environ.get("NETLAB_SECOND_CACHE"), records(SECOND)
    if not cache:
        return RecordedEngine(kept)
    from netlab.engines.guest import GuestEngine, store  # starts processes

    try:
        build = store.Build(Path(cache), store.read_record(Path(cache, "engine.json")))
    except (OSError, ValueError) as error:
        raise EngineError(
            f"NETLAB_SECOND_CACHE = {cache}: there is no engine in it ({error}); build one with"
            " NETLAB_CACHE set to this folder, or leave the variable out to read what was recorded"
        ) from None
    engine = GuestEngine(build)
    engine.records = kept
    return engine


def wanted():
    """Shall runs be recorded?"""
    return (os.environ.get("NETLAB_RECORD") or "off") != "off"


def anew():
    """Shall even those be run, and recorded, that are asked for as recorded?"""
    return wanted() and os.environ["NETLAB_RECORD"] != "live"


def record_if_wanted(result, engine):
    """Record a result where NETLAB_RECORD asks for it, in the engine's own store, if it has one;
    what cannot be written is a warning.
    """
    if wanted():
        kept = getattr(engine, "records", None) or records()
        try:
            kept.record(result)
        except NetlabError as error:
            text = f"this result is not recorded, as {kept.place} cannot be written to: {error}"
            warnings.warn(text, stacklevel=2)


def plural(number):
    return f"{number} result{'s' * (number != 1)}"


def tell(provenances, engine, asked):
    """Say which results are recorded, and why; not where NETLAB_PROGRESS is off and none asked."""
    recalled = [one for one in provenances if one.get("recorded")]
    why = engine.why if isinstance(engine, RecordedEngine) else ""
    if recalled and (asked or why or os.environ.get("NETLAB_PROGRESS") != "off"):
        virtual_s, wall_s = (sum(one[key] for one in recalled) for key in ("virtual_s", "wall_s"))
        engines = ", ".join(
            sorted({f"{one['engine']} {named(one) or ''}".strip() for one in recalled})
        )
        print(
            f"recorded: {plural(len(recalled))} of earlier runs on {engines} "
            f"({virtual_s:.0f} virtual s, which took {wall_s:.0f} s){why or not_of_here(recalled)}"
        )


def named(provenance):
    return result_name(provenance["engine_digest"])


def not_of_here(provenances):
    """A clause where results are of another engine than the guest here, if there is one."""
    try:
        from netlab.engines.guest import store  # starts processes

        here = result_name(store.current().digest)
    except (ImportError, EngineError):
        return ""
    if {named(one) for one in provenances} == {here}:
        return ""
    return f"; the guest here is {here}, which gives other numbers"


class RecordedEngine(Engine):
    """What was measured before, wherever it was run; an EngineError where there are no records."""

    name, clocks = "recorded", ("virtual", "cpu", "real")
    why = ""  # why it was taken, where nobody asked for it

    def __init__(self, kept=None):
        self.records, self.about = kept or records(), {}  # whatever was recorded could be run
        if not self.records.entries():
            raise EngineError(
                f"there are no recorded results in {self.records.place}: NETLAB_RECORDS names"
                f" another folder. {HOW_TO_GET_ONE}"
            )

    def __repr__(self):
        return f"<RecordedEngine: {plural(len(self.records.entries()))}>"

    def connect(self, seed, clock, wall_limit_s):
        raise EngineError(f"a live network cannot be recorded beforehand: {HOW_TO_GET_ONE}")

    def recall(self, experiment):
        """See `netlab.engines.base.Engine`; the error names those that come nearest."""
        kept = self.records.find(experiment) or self.nearest(leaves(as_dict(experiment)))
        return Record(kept["raw"], kept["commands"], kept["provenance"] | {"recorded": True})

    def nearest(self, wish):
        """The record whose experiment differs from these leaves in nothing but spelling."""
        others = [
            (differences(wish, leaves(json.loads(entry.experiment))), archive, entry)
            for archive, entry in self.records.entries()
        ]
        others.sort(key=lambda other: len(other[0]))
        nothing, archive, entry = others[0]
        if not nothing:
            return archive.record(entry)
        nearest = "\n".join(
            f"- {', '.join(other[:6])}{' ...' if len(other) > 6 else ''}"
            for other, *_ in others[:3]
        )
        raise EngineError(
            "this experiment is not among the recorded ones.\n"
            f"The nearest have\n{nearest}\n{HOW_TO_GET_ONE}"
        )


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
