import sys

import pytest

OF_ANOTHER = "stored numbers are of engine "  # how the reason of a skip begins


def cases(values, group=None, quick=1):
    """Cases for `parametrize`, of which `make test` runs the first, or so many, and `make test-all`
    all. With `group`, a test's name, each runs on whichever worker is free.
    """
    params = []
    for value in values:
        name = str(value) if isinstance(value, str) else value.name.partition(".")[0]
        marks = [pytest.mark.long] if len(params) >= quick else []
        marks += [pytest.mark.xdist_group(f"{group} {name}")] if group else []
        params.append(pytest.param(value, id=name, marks=marks))
    return params


def first_quick(values):
    """Tuples for `parametrize`, of which `make test` runs the first and `make test-all` all."""
    return [
        pytest.param(*value, marks=[pytest.mark.long] * bool(n)) for n, value in enumerate(values)
    ]


def guest_here():
    """The `Build` of the guest that experiments run on; an EngineError where they run on another
    engine, by NETLAB_ENGINE or as no guest works here.
    """
    from netlab.engines import pick
    from netlab.engines.guest import GuestEngine
    from netlab.errors import EngineError

    if not isinstance(chosen := pick(), GuestEngine):
        raise EngineError(f"only the guest of this machine is measured, and not {chosen!r}")
    return chosen.build


def of_this_engine(digest):
    """Are numbers that an engine of this digest left those of the guest here?"""
    from netlab.engines import pick  # `tests.without_unix` is imported before netlab is
    from netlab.engines.result_store import result_name

    return result_name(digest) == result_name(pick("guest").digest)


def compare_with_stored(digest):
    """Skip what follows, a live run beside stored numbers, where these are another engine's."""
    from netlab.engines import pick

    if not of_this_engine(digest):
        pytest.skip(f"{OF_ANOTHER}{digest}, this one is {pick('guest').digest}")


def not_compared(reasons):
    """A line that says how many of these reasons of skips are `compare_with_stored`'s, or ""."""
    found = [one.partition(OF_ANOTHER)[2] for one in reasons if OF_ANOTHER in one]
    stored, here = zip(*(one.split(", ") for one in found), strict=True) if found else ((), ())
    told = ", ".join(sorted({*stored}))
    return f"{len(found)} tests skipped: {OF_ANOTHER}{told}, {here[0]}" if found else ""


def known(table, columns):
    """Is every value of these columns there?"""
    return bool(table[columns.split()].notna().all(axis=None))


def unknown(table, columns):
    return bool(table[columns.split()].isna().all(axis=None))


def lines_run(action):
    """How many lines and calls of Python an action takes, however fast the machine is."""
    counted = 0

    def count(frame, event, argument):
        nonlocal counted
        counted += event in ("line", "call")
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        action()
    finally:
        sys.settrace(before)
    return counted
