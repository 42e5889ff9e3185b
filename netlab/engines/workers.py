"""Processes that do a job each, for work that must not take its caller down with it."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from netlab.engines.transports import MOST_BYTES, ChannelDown, Descriptors, JsonLines
from netlab.errors import LimitError

with contextlib.suppress(ImportError):  # Windows has none
    import resource

OWN = Path(__file__).parents[2]  # where this netlab is found
MOST_MEMORY_BYTES = 4 << 30  # address space of one process, and of each guest that it starts
KEPT_BYTES = 2000  # the end of what it writes to standard error
LATE, TOO_LARGE = "it took more than {:g} s", f"it took more than {MOST_MEMORY_BYTES >> 30} GB"
MEMORY = re.compile(r"(\S*\.)?_?(Array)?MemoryError\b")  # the last line of a traceback
PASSED_ON = {
    *("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "TZ", "LD_LIBRARY_PATH"),
    *("XDG_CACHE_HOME", "MEM_LIMIT"),
}


def at_limit(said):
    """Was a process ended at a limit, as it would be again? `said` is of `Workers.work_on`."""
    last = said.rpartition("\n")[2]
    return last == TOO_LARGE or last.startswith(LATE.partition("{")[0])


def limits_of(pair):
    """The limits that there are, of a soft and a hard one."""
    return [one for one in pair if one != resource.RLIM_INFINITY]


@contextlib.contextmanager
def limited_memory():
    """Limit this process and its children to 4 GB of address space; a LimitError beyond it.
    Only Linux has such a limit.
    """
    if sys.platform != "linux":
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    most = min([MOST_MEMORY_BYTES, *limits_of(before)])
    resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    try:
        yield
    except MemoryError:
        raise LimitError(f"{TOO_LARGE} of memory to run this and to read what it left") from None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


class Workers:
    """Has jobs done by ``python -m MODULE``, which calls `serve`, and ends what takes longer than
    `wall_limit_s`. [s]

    As many such processes are started as there are jobs at a time. Each forks for each of its jobs,
    so that what they import is imported once. Their memory, environment variables and import path
    are limited.
    """

    def __init__(self, module, wall_limit_s):
        self.module, self.wall_limit_s, self.stopped = module, wall_limit_s, False
        self.processes, self.waiting, self.lock = set(), [], threading.Lock()

    def work_on(self, job, times=1):
        """Have a process do a job in `times` the limit, and wait; -> what went wrong, or ""."""
        limit_s = times * self.wall_limit_s
        with self.lock:  # `stop` ends all that have begun, and none begins after it
            if self.stopped:
                return "it was stopped"
            process = self.waiting.pop() if self.waiting else self._start()
        waits, until = False, time.monotonic() + limit_s
        try:
            lines = JsonLines(
                Descriptors(process.stdout.fileno(), process.stdin.fileno()), MOST_BYTES
            )
            try:
                sent = lines.send(job, until)
                if not sent or (answer := lines.receive(until)) is None:
                    return LATE.format(limit_s)
            except (ChannelDown, BrokenPipeError):  # it has ended, and says why
                said = process.communicate()[1][-KEPT_BYTES:]
                return failure(process.returncode, said.decode(errors="replace"))
            with self.lock:
                if waits := not self.stopped:
                    self.waiting.append(process)
            return failure(**answer)
        finally:
            if not waits:
                self._end(process)

    def _start(self):
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", self.module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is the caller's to answer
            env=environment(),
        )
        os.set_blocking(process.stdin.fileno(), False)  # a write has a limit, too
        self.processes.add(process)
        with contextlib.suppress(ProcessLookupError):  # it has ended
            own = resource.prlimit(process.pid, resource.RLIMIT_AS)  # perhaps it has less already
            most = min([MOST_MEMORY_BYTES, *limits_of(own)])
            resource.prlimit(process.pid, resource.RLIMIT_AS, (most, most))
        return process

    def _end(self, process):
        with self.lock:
            self.processes.discard(process)
        kill(process)
        process.communicate()

    def stop(self):
        """End all that is under way or waits for a job, and begin nothing more."""
        with self.lock:
            self.stopped, waiting, self.waiting = True, self.waiting, []
            for process in self.processes:
                kill(process)
        for process in waiting:
            self._end(process)


def kill(process):
    """End a process, unless it has ended, and what it has forked."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def failure(status, said):
    """What went wrong, or "", by a process's status and what it wrote to standard error."""
    if status and MEMORY.match(said.strip().rpartition("\n")[2]):
        return f"{said.strip()}\n{TOO_LARGE}"
    return f"status {status}: {said.strip()}" if status else ""


def serve(do, prepare=lambda job: None):
    """In a process of `Workers`: fork for each job, and tell how that ended. `prepare` is called
    before that, for what all forks share.

    Its input ends with its caller, and then it and what it has forked do.
    """
    for line in sys.stdin:
        job = json.loads(line)
        prepare(job)
        with tempfile.TemporaryFile() as errors:
            if not (child := os.fork()):
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                os.dup2(errors.fileno(), 2)
                threading.Thread(target=end_with_caller, daemon=True).start()
                return do(job)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            errors.seek(-min(errors.seek(0, os.SEEK_END), KEPT_BYTES), os.SEEK_END)
            said = errors.read().decode(errors="replace")
            print(json.dumps({"status": status, "said": said}), flush=True)


def end_with_caller():
    os.read(0, 1)  # not sys.stdin.read, whose lock would be held at the end
    os._exit(1)  # guests have watchers, which end them


def environment():
    """A worker's environment variables: it imports this very netlab, and shows no progress."""
    names = [one for one in os.environ if one in PASSED_ON or one.startswith(("NETLAB_", "LC_"))]
    kept = {name: os.environ[name] for name in names}
    # an empty or relative entry would be the working directory, or in it
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    path = [*filter(os.path.isabs, given), str(OWN)]
    # a thread per core otherwise, with memory for each
    own = {"PYTHONPATH": os.pathsep.join(path), "OPENBLAS_NUM_THREADS": "1"}
    return kept | own | {"NETLAB_PROGRESS": "off"}
