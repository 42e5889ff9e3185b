"""Progress on a terminal and in notebooks, unless NETLAB_PROGRESS is off."""

import contextlib
import os
import sys
import threading
import time
from contextvars import ContextVar

from tqdm import tqdm

from netlab.running.cell_line import CellLine, kernel_shell, running_cell

SECONDS = (
    "{desc} {n:.0f} of {total:.0f} virtual s |{bar:24}| {elapsed_s:.0f} s on the wall,"
    " {rate_noinv_fmt}"
)
COUNT = "{desc} of {total} |{bar:24}| {elapsed} so far, {remaining} left"

_listener = ContextVar("listener", default=None)
_cell = [None, 0, 0.0]  # of a notebook, in which runs are drawn: how many, and since when


def shown():
    return os.environ.get("NETLAB_PROGRESS") != "off" and (
        sys.stderr.isatty() or kernel_shell() is not None
    )


@contextlib.contextmanager
def line(**what):
    """A bar of `tqdm` that vanishes at its end: on the terminal, or under a notebook's cell."""
    if not kernel_shell():
        with tqdm(leave=False, **what) as bar:
            yield bar
        return
    cell = CellLine()
    try:
        # not before a second has passed; a bar that is given `miniters` has no thread of its own,
        # and one that is given its `position` does not move below another one
        look = dict(delay=1, mininterval=0.5, miniters=0, position=0)
        with tqdm(leave=False, file=cell, **look | what) as bar:
            yield bar
    finally:
        cell.vanish()


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
    look = dict(total=total_s, bar_format=SECONDS, unit=" virtual s")
    with line(**look, **_of_cell()) as bar:
        yield lambda seconds: bar.update(min(seconds, total_s) - bar.n)


def _of_cell():
    """The name of a run's line, and when it begins: in a loop, after the first second, at once."""
    if not (cell := kernel_shell() and running_cell()):
        return dict(desc="Experiment:")
    if cell != _cell[0]:
        _cell[:] = cell, 0, time.monotonic()
    _cell[1] += 1
    ago_s = time.monotonic() - _cell[2]
    name = f"Experiment {_cell[1]} of this cell:" if _cell[1] > 1 else "Experiment:"
    return dict(desc=name, delay=max(0, 1 - ago_s))


@contextlib.contextmanager
def stepping():
    """A function for the steps of a long call: runs under ``step(text)`` have one line together."""
    with line(bar_format="{desc}, {elapsed} so far", disable=not shown()) as bar:

        def step(text):
            bar.set_description_str(text, refresh=not kernel_shell())
            return told(lambda seconds, total_s: bar.update(0))

        yield step


@contextlib.contextmanager
def having(variable, value):
    """Within it, and in this thread, a context variable has this value."""
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


def told(listener):
    """In this thread, `progress` calls ``listener(seconds, total_s)`` [virtual s]; no bar."""
    return having(_listener, listener)


@contextlib.contextmanager
def counting(total, done=0):
    """A `Count` of experiments, of which some were done before."""
    text = f"Experiments: {done}"
    look = dict(total=total, initial=done, desc=text, bar_format=COUNT, disable=not shown())
    with line(**look) as bar:
        yield Count(bar, done)


class Count:
    """How many experiments have ended. In a notebook the parts of those under way count, too."""

    def __init__(self, bar, done):
        self.bar, self.done, self.before, self.parts = bar, done, done, {}
        self.lock = threading.Lock()

    def ended(self, number):
        """To be told when an experiment, which has this number, has ended."""
        self.done += 1
        self._draw(number, 1)

    def covering(self, number):
        """In a notebook, a run within it draws no bar of its own."""
        if not kernel_shell():
            return contextlib.nullcontext()
        return told(lambda seconds, total_s: self._draw(number, 0.99 * seconds / total_s))

    def _draw(self, number, part):
        with self.lock:
            self.parts[number] = part
            self.bar.set_description_str(f"Experiments: {self.done}", refresh=False)
            self.bar.update(self.before + sum(self.parts.values()) - self.bar.n)
