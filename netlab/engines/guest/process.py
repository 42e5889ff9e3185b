"""Start a guest: processes that end with their parent, and repeat by seed and engine alone.

The kernel's command line enters its random numbers, so it has no path of this machine: archives
named ``r`` (root file system) and ``j`` (job folder) take their place.
"""

import contextlib
import errno
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from netlab.algorithms.source import Algorithm
from netlab.engines import evidence
from netlab.engines.base import Watch
from netlab.engines.channel import Channel, ChannelConnection
from netlab.engines.guest import archives, failure, machine, store, watcher
from netlab.engines.guest.hooks import Hooks
from netlab.engines.guest.walls import PYTHON, Walls
from netlab.engines.guest.watching import MOST_RECORDS, Watched
from netlab.engines.transports import ChannelDown, Packets, TooMuch
from netlab.errors import EngineError, GuestError

CLOCKS = {
    "virtual": ["time-travel=inf-cpu"],  # waiting is skipped, and computing takes no time
    "cpu": ["time-travel"],  # waiting is skipped, computing takes the time it takes here
    "real": [],  # the clock on the wall
}
COUNT_S = 1.0  # between two looks whether one of its processes was killed
LEAST_DESCRIPTORS = 256  # each process in a guest takes some
# The shell that becomes the guest first tells its process group to the watcher, which could not
# end the guest otherwise. From then on, what the guest writes to standard error is on its console.
TELL_GROUP_AND_START = 'echo $$ >&2; exec "$@" 2>&1'


class Guest(ChannelConnection):
    """A running guest; a `netlab.engines.base.Connection`.

    It runs a `store.Build` with the random numbers of `seed`, a clock of `CLOCKS`, and a CPU by
    `cpu`, of `machine`.
    """

    who = "the guest"
    booted = None  # the scripts that it boots with; None: an engine's own
    most_records = MOST_RECORDS  # of windows and queues that are kept
    answered = False  # it has its algorithms

    def __init__(self, build, seed, clock, wall_limit_s, cpu=machine.one_cpu):
        check_descriptors()
        machine.remove_leftovers()
        self.process = self.sockets = self.watching = None
        self.parent = os.getpid()
        self.next_count = 0.0
        self.cleanup = contextlib.ExitStack()  # undone in reverse order, as far as it has got
        self.cleanup.callback(setattr, self, "process", None)
        try:
            self.cpu = self.cleanup.enter_context(cpu())  # may wait; nothing is begun yet
            self.folder = Path(tempfile.mkdtemp(prefix="guest-", dir=machine.run_folder()))
            self.cleanup.callback(shutil.rmtree, self.folder, ignore_errors=True)
            self.cleanup.callback(os.close, machine.try_lock(self.folder / "lock"))
            self.walls = self.cleanup.enter_context(Walls(self.folder))
            self.watcher = self.cleanup.enter_context(watched_over(self.folder))
            console = os.open(self._console, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self.cleanup.callback(os.close, console)
            self.console = failure.KernelLog(console, [failure.LOST, failure.ENDLESS])
            self.hooks = Hooks()
            self.cleanup.callback(self.hooks.close)
            self.line = Packets(self.hooks)
            self.cleanup.callback(self.line.close)
            self.channel = Channel(self.line, wall_limit_s, self.cleanup)
            self._start(build, seed, clock)
        except BaseException as error:
            self.cleanup.close()
            if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
                raise GuestError(
                    f"no guest can be started: {error.strerror}. Close networks that are no longer"
                    " needed, or allow more open files (`ulimit -n`)"
                ) from error
            raise

    def archives(self, build):
        """Descriptors of the archives that the guest can mount, by name."""
        return {"r": archives.open_(build.archive), "j": archives.in_memory(self.scripts())}

    def scripts(self):
        """What it boots with, by name."""
        return {one.name: one.read_bytes() for one in self.booted or store.BOOTED}

    @property
    def _console(self):
        return self.folder / "console"

    @property
    def kernel(self):
        """Process number of the guest's kernel."""
        return self.walls.kernel(self.process.pid)

    def _start(self, build, seed, clock):
        mounted = self.archives(build)
        hooks, descriptors = self.hooks.environment
        environment = hooks | {  # docs/engine.md says of each why it is there
            # a path of its own would end at a space or a colon
            "LD_PRELOAD": f"$ORIGIN/{build.shim.name}",
            "LD_ORIGIN_PATH": str(build.linux.parent),
            "NETLAB_SEED": str(seed),
            "NETLAB_FD": "0",  # standard input
            "NETLAB_INT_FD": str(self.line.guest_keys.fileno()),
            "NETLAB_ARCHIVES": ":".join(f"{name}={number}" for name, number in mounted.items()),
        }
        kernel = [str(build.linux), *CLOCKS[clock], *store.COMMAND_LINE]
        tell = ["sh", "-c", TELL_GROUP_AND_START, "netlab-guest"]
        # opened once more: what a guest changes of its own descriptor must not change ours
        console = os.open(self._console, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        try:
            self.process = subprocess.Popen(
                [*tell, *self.walls.launcher(build, kernel, environment, self.cpu)],
                cwd="/",
                stdin=self.line.guest_socket,
                stdout=console,
                stderr=self.watcher,
                start_new_session=True,  # Jupyter's interrupt goes to the whole process group
                pass_fds=[self.line.guest_keys.fileno(), *descriptors, *mounted.values()],
            )
        finally:
            for descriptor in (*mounted.values(), console):
                os.close(descriptor)
        self.cleanup.callback(self._kill)
        self.line.started()
        self.hooks.started()

    def carry_out(self, on_event, question):
        """A GuestError where it died, a LimitError where it took too much."""
        if os.getpid() != self.parent:
            raise GuestError("this network is of the process that has forked: open one in the fork")
        return super().carry_out(on_event, question)

    def exchange(self, on_event, question):
        answer = self.channel.ask(question, on_event, self._look)
        if self.console.flooded:  # which may happen between two looks
            raise TooMuch(failure.FLOODED)
        console = self.console.text()
        if failure.LOST in console:
            raise ChannelDown(failure.KILLED)
        if failure.ENDLESS in console:
            answer["unrepeatable"] = failure.UNREPEATABLE
        if self.sockets is None:
            self.sockets = failure.spare_sockets(self.kernel)
        return answer

    def do_watch(self, watches):
        watches = {name: Watch(*one) for name, one in watches.items()}
        with self.open():
            self.watching = Watched(watches, self.most_records)
            places = [self.watching.places(kind) for kind in ("windows", "queues")]
            self.hooks.watch(self.watching.tell, *places)
        return {"kept": True}

    def do_watched(self, began_ns):
        return {"texts": self.watching.texts(began_ns) if self.watching else {}}

    def do_algorithms(self, algorithms, seed):
        if self.answered:
            raise EngineError("this network has its algorithms already")
        with self.open():
            self.answered = True
            self.answer_by([Algorithm(**one) for one in algorithms], seed)
        return {}

    def answer_by(self, algorithms, seed):
        self.hooks.answer_by(algorithms, seed, self.cpu)

    def _look(self):
        if self.console.flooded:
            raise TooMuch(failure.FLOODED)
        if time.monotonic() > self.next_count:
            self.next_count = time.monotonic() + COUNT_S
            if failure.lost_a_process(self.kernel, self.sockets, self.console.text):
                raise ChannelDown(failure.KILLED)

    def diagnosed(self, error):
        if type(error) is not ChannelDown:
            return error
        if why := self._took_too_much():
            return TooMuch(why)
        return ChannelDown(str(error) or self._why_it_died())

    def _took_too_much(self):
        """What its watcher has ended it for, or the limit of its files; "" for another end."""
        with contextlib.suppress(FileNotFoundError):
            return (self.folder / watcher.WHY).read_text()
        return failure.FLOODED if self.console.flooded else ""

    def _why_it_died(self):
        try:
            return failure.why_it_died(self.process.wait(5), self.console.text())
        except subprocess.TimeoutExpired:
            return "it closed its line"

    def failed(self, kind, text):
        """The error, with what the guest has left; it is killed."""
        self._kill()
        console = self.console.text()
        kept, place = evidence.save("guest", {"console": console})
        console = console[-3000:]
        shown = "" if "Out of memory" in console else f"{console.strip()}\n"
        return kind(f"{text}\n{shown}{kept}", console, place)

    def _kill(self):
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def do_key(self, key):
        return super().do_key(key) if os.getpid() == self.parent else {}

    def interrupt(self):
        if os.getpid() == self.parent:
            super().interrupt()

    def close(self):
        if os.getpid() == self.parent:
            super().close()


def check_descriptors():
    """Refuse a limit of open files with which a guest's kernel panics."""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if 0 <= allowed < LEAST_DESCRIPTORS:
        raise GuestError(
            f"`ulimit -n` allows {allowed} open files, and a guest needs {LEAST_DESCRIPTORS}: allow"
            " more, as in `ulimit -n 1024`"
        )


@contextlib.contextmanager
def watched_over(folder):
    """Start a guest's watcher (`watcher.py`); -> the pipe that tells it the guest's group."""
    limits = {
        "processes": machine.MOST_PROCESSES,
        "mappings": machine.MOST_MAPPINGS,
        "descriptors": machine.MOST_DESCRIPTORS,
        "private_mb": machine.MOST_PRIVATE_MB,
    }
    words = [os.getpid(), folder, *(limits[name] for name in watcher.LIMITS)]
    watcher_end, guest_end = os.pipe()
    process = subprocess.Popen(
        [*PYTHON, watcher.__file__, *map(str, words)],
        stdin=watcher_end,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    )
    os.close(watcher_end)
    try:
        yield guest_end
    finally:
        with contextlib.suppress(BrokenPipeError):
            os.write(guest_end, b"closed\n")
        os.close(guest_end)
        process.wait()
