"""Progress on a terminal and in notebooks, unless NETLAB_PROGRESS is off.

In a notebook it is a line under the cell, which is written again and again and leaves nothing.
"""

import contextlib
import itertools
import os
import sys
import threading
import time
from contextvars import ContextVar

from tqdm import tqdm

SECONDS = (
    "{desc} {n:.0f} of {total:.0f} virtual s |{bar:24}| {elapsed_s:.0f} s on the wall,"
    " {rate_noinv_fmt}"
)
COUNT = "{desc} of {total} |{bar:24}| {elapsed} so far, {remaining} left"

OURS = "netlab-line-"
SHOWN = {"stream", "display_data", "update_display_data", "execute_result", "error"}
_numbers = itertools.count(1)
_listener = ContextVar("listener", default=None)
_of_runs = [None, 0, 0.0]  # of a notebook, in which runs are drawn: how many, and since when


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
    if cell != _of_runs[0]:
        _of_runs[:] = cell, 0, time.monotonic()
    _of_runs[1] += 1
    ago_s = time.monotonic() - _of_runs[2]
    name = f"Experiment {_of_runs[1]} of this cell:" if _of_runs[1] > 1 else "Experiment:"
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


def kernel_shell():
    """IPython's shell, where this process is the kernel of a notebook; else None."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    return shell if getattr(shell := get_ipython(), "kernel", None) else None


class CellLine:
    """A file for `tqdm` that shows what was written last, as an output of the cell.

    Only all outputs of a cell can be removed: beside others, an empty one stays. Where outputs are
    kept (`%%capture`, a widget for outputs) nothing is shown.
    """

    def __init__(self):
        self.shell, self.text, self.name = kernel_shell(), "", f"{OURS}{next(_numbers)}"
        self.publisher = self.cell = None  # of the first text

    def write(self, text):
        text, publisher = text.strip("\r\n "), self.shell.display_pub
        cell = _cell(publisher)
        if not text or text == self.text or cell is None or (sent and sent.kept(cell)):
            return
        if not self.text:
            self.publisher, self.cell = publisher, cell
        self._publish({"text/plain": text}, update=bool(self.text))
        self.text = text

    def flush(self):
        pass

    def vanish(self):
        if self.text and self._alone():
            self.publisher.clear_output(wait=True)  # by what comes next, as the line of a next run
            self.shell.events.register("post_run_cell", self._at_end)
        elif self.text:
            self._publish({}, update=True)

    def _at_end(self, result):
        """Of the cell: nothing came."""
        self.shell.events.unregister("post_run_cell", self._at_end)
        if self._alone():
            self.publisher.clear_output()

    def _publish(self, data, update):
        own = dict(transient=dict(display_id=self.name), update=update)
        self.publisher.publish(data, **own)

    def _alone(self):
        """Whether clearing would remove this line and nothing else. In doubt it is not alone."""
        return (
            sent is not None
            and threading.current_thread() is threading.main_thread()
            and _cell(self.shell.display_pub) == self.cell
            # else the click on a widget, whose cell shows the widget
            and self.publisher.parent_header.get("msg_type") == "execute_request"
            and sent.only_ours(self.cell)
        )


class Sent:
    """What this kernel has sent since netlab was imported: all of it passes `Session.send`."""

    def __init__(self, shell):
        self.session, self.send = shell.kernel.session, shell.kernel.session.send
        self.others = {shell.get_parent()["header"]["msg_id"]}  # cells that show something else
        self.keepers = {}  # widgets for outputs -> the cell whose outputs each keeps now
        self.session.send = self._send

    def only_ours(self, cell):
        streams = sys.stdout, sys.stderr
        if any(getattr(stream, "session", None) is not self.session for stream in streams):
            return False  # redirected: what was printed earlier may not have been sent yet
        for stream in streams:
            stream.flush()
        return cell not in self.others and not self.kept(cell)

    def kept(self, cell):
        return cell in list(self.keepers.values())

    def _send(self, *arguments, **named):
        if message := self.send(*arguments, **named):
            self._see(message["msg_type"], message["content"], message["parent_header"])
        return message

    def _see(self, kind, content, parent):
        if kind in SHOWN:
            name = (content.get("transient") or {}).get("display_id") or ""
            if not str(name).startswith(OURS):
                self.others.add(parent.get("msg_id"))
        elif kind == "comm_msg":
            state = content["data"].get("state") or {}
            if "msg_id" in state:
                self.keepers[content["comm_id"]] = state["msg_id"]


def _cell(publisher):
    """The message that started the cell which shows what is published; None: it is captured."""
    return getattr(publisher, "parent_header", {}).get("msg_id")


def running_cell():
    """That of this kernel's cell that runs."""
    return _cell(kernel_shell().display_pub)


def watched():
    """What this kernel has `Sent`, where it is one that can be watched."""
    try:
        return Sent(kernel_shell()) if kernel_shell() else None
    except (AttributeError, KeyError):
        return None


sent = watched()
