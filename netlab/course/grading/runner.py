"""The program in the jail: runs a notebook's cells, and sends the answers that check cells name as
plain data (`netlab.course.answers.forms`). Experiments are run outside.

It speaks with its parent over standard output in JSON (`netlab.engines.jail.process`): hears what
is to be run, and says ``{"student"}``, whose turn it is, also with ``begins``, a cell;
``{"run": experiment}``, answered by a record or an error; ``{"network", "question"}``, of a network
that is up; ``{"cell", "answers", "error"}``; and ``{"ended": true}``. All that untrusted messages
can do is give right answers.
"""

import gc
import importlib
import json
import os
import signal
import socket
import sys
import threading
import types
from functools import partial

from netlab.engines.base import Connection, Engine, Record

PIECE = 50_000
NO_SHELL = "the grader runs no commands of a shell, and installs nothing: `{}` did nothing"
CELL_S = 3  # a cell may take so long; what waits for experiments does not count [virtual s]


class Parent:
    """The line out of the jail."""

    def __init__(self):
        self.socket, self.unused = socket.socket(fileno=os.dup(1)), os.dup(0)
        self.lock = threading.RLock()  # a sweep asks from several threads
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1):
            os.dup2(nothing, number)

    def hear(self):
        data = b""
        while True:
            packet = self.socket.recv(1 << 18)
            if not packet:
                os._exit(0)
            data += packet[1:]
            if packet[:1] == b".":
                return json.loads(data)

    def say(self, **message):
        data = json.dumps(message).encode()
        while len(data) > PIECE:
            self.socket.send(b"+" + data[:PIECE])
            data = data[PIECE:]
        self.socket.send(b"." + data)

    def ask(self, **message):
        with self.lock:
            self.say(**message)
            return self.hear()


class OutsideEngine(Engine):
    """An engine whose experiments are run by the parent."""

    name = "guest"

    def __init__(self, parent, digest, about):
        self.parent, self.digest, self.about = parent, digest, about

    def connect(self, seed, clock, wall_limit_s):
        return OutsideConnection(self.parent, seed)

    def recall(self, experiment):
        answer = heard(self.parent.ask(run=experiment.to_json()))
        return Record(answer["raw"], answer["commands"], answer["provenance"])


class OutsideConnection(Connection):
    """A network that the parent has up."""

    def __init__(self, parent, seed):
        self.parent, self.number = parent, None
        self.number = self._asked(op="connect", seed=seed)["network"]

    def _asked(self, **question):
        return heard(self.parent.ask(network=self.number, question=question))

    def carry_out(self, on_event, question):
        answer = self._asked(**question)
        for event in answer["events"]:
            on_event(event)
        return answer["answer"]

    def close(self):
        if self.number is not None:
            self._asked(op="close")
        self.number = None


def heard(answer):
    """An answer of the parent; raises the error that it tells of."""
    from netlab import errors

    if "error" in answer:
        raise getattr(errors, answer["kind"])(answer["error"])
    return answer


class TooLong(BaseException):
    """A cell has computed for too long."""


def too_long(*_):
    raise TooLong(f"the cell had not ended after {CELL_S} s of computing")


def error_text(error):
    """What went wrong, in one line; the error may be hostile."""
    try:
        return f"{type(error).__name__}: {error}"[:500]
    except BaseException:
        return "an error whose text could not be made"


def new_shell():
    """A fresh shell."""
    from netlab.errors import needs_notebooks

    with needs_notebooks("course", "what makes and grades problem sets"):
        from IPython.core.interactiveshell import InteractiveShell
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(
        user_module=types.ModuleType("__main__"), colors="nocolor", ipython_dir="/tmp/ipython"
    )
    shell.history_manager.enabled = False
    shell.ask_exit = lambda: None  # `exit` ends a notebook's kernel when its cell has ended
    shell.passed_over = []
    shell.system = shell.getoutput = partial(pass_over, shell)
    for name in ("pip", "conda", "mamba", "micromamba", "uv"):
        shell.register_magic_function(partial(pass_over, shell), "line", name)
    sys.modules["__main__"] = shell.user_module
    return shell


def pass_over(shell, line="", *_, **__):
    """In the place of a command: as where it fails, the lines below it are carried out."""
    shell.passed_over.append(NO_SHELL.format(str(line)[:60]))
    shell.user_ns["_exit_code"] = 127
    return []


def run_cell(shell, source):
    """Run one cell; -> what went wrong, or None."""
    del shell.passed_over[:]
    signal.setitimer(signal.ITIMER_REAL, CELL_S)
    try:
        found = shell.run_cell(source, store_history=False, silent=True)
        error = found.error_before_exec or found.error_in_exec
    except BaseException as raised:
        error = raised
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    passed_over = shell.passed_over[0] if shell.passed_over else None
    return passed_over if error is None else error_text(error)


def answers_of(shell, specs):
    """The answers that a check cell names, as plain data, and those that are usual mistakes."""
    from netlab.course.answers.forms import form

    found = {}
    for name, spec in specs.items():
        signal.setitimer(signal.ITIMER_REAL, CELL_S)
        try:
            value = dict.get(shell.user_ns, name)
            found[name] = form(value, spec.get("cases")) if name in shell.user_ns else None
            if "state" in spec:
                found[f"{name}\n"] = form(eval(spec["state"], shell.user_ns))
            for hint, expression in spec.get("mistakes", {}).items():
                mistake = eval(expression, shell.user_ns)
                found[f"{name}\n{hint}"] = form(mistake, spec.get("cases"))
        except BaseException as error:
            found[name] = {"kind": "error", "text": error_text(error)}
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return found


def main():
    parent = Parent()
    order = parent.hear()
    gc.disable()  # nothing that is imported is garbage, and to look for it takes time
    for name in ("IPython.core.interactiveshell", "netlab.course.answers.forms"):
        importlib.import_module(name)
    gc.freeze()
    gc.enable()
    from plotly import graph_objects, graph_objs, io

    from netlab import engines

    io.renderers.default = ""  # nobody looks at what `fig.show()` shows
    graph_objects.FigureWidget = graph_objs.FigureWidget = graph_objects.Figure
    engine = OutsideEngine(parent, order["digest"], order["about"])
    engines.ENGINES.clear()
    engines.ENGINES["guest"] = lambda: engine
    signal.signal(signal.SIGALRM, too_long)
    parent.ask(ready=True)
    for student in order["students"]:
        parent.ask(student=student)
        os.environ["NETLAB_STUDENT"] = student
        shell = new_shell()
        for cell in order["cells"]:
            if cell["kind"] == "code":
                parent.ask(student=student, begins=cell["id"])
            error = run_cell(shell, cell["source"]) if cell["kind"] == "code" else None
            answers = answers_of(shell, cell["answers"]) if cell.get("answers") else {}
            if error or answers:
                parent.say(student=student, cell=cell["id"], answers=answers, error=error)
                parent.hear()
    parent.say(ended=True)


if __name__ == "__main__":
    main()
