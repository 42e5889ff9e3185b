"""Progress while time passes. It is shown on a terminal and in notebooks; NETLAB_PROGRESS=off is
quiet.
"""

import contextlib
import os
import sys
from contextvars import ContextVar

from tqdm import tqdm

SECONDS = (
    "{desc} {n:.0f} of {total:.0f} virtual s |{bar:24}| {elapsed_s:.0f} s on the wall,"
    " {rate_noinv_fmt}"
)
COUNT = "{desc} {n} of {total} |{bar:24}| {elapsed} so far, {remaining} left"

_listener = ContextVar("listener", default=None)


def shown():
    return os.environ.get("NETLAB_PROGRESS") != "off" and (
        sys.stderr.isatty() or "ipykernel" in sys.modules
    )


@contextlib.contextmanager
def progress(total_s):
    """A function to be told how many virtual seconds have passed. [s]"""
    if total_s is not None and (listener := _listener.get()):
        listener(0, total_s)
        yield lambda seconds: listener(min(seconds, total_s), total_s)
        return
    if total_s is None or not shown():
        yield lambda seconds: None
        return
    with tqdm(
        total=total_s, desc="Experiment:", bar_format=SECONDS, unit=" virtual s", leave=False
    ) as bar:
        yield lambda seconds: bar.update(min(seconds, total_s) - bar.n)


@contextlib.contextmanager
def told(listener):
    """Within it, and in this thread, `progress` draws no bar: it calls ``listener(seconds,
    total_s)``. [virtual s]
    """
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


@contextlib.contextmanager
def counting(total, done=0):
    """A function to be called each time one of `total` experiments has ended, of which some were
    done before.
    """
    with tqdm(
        total=total,
        initial=done,
        desc="Experiments:",
        bar_format=COUNT,
        leave=False,
        disable=not shown(),
    ) as bar:
        yield bar.update
