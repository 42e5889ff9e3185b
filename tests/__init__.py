import sys

import pytest


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
