"""Processes that do a job each, for work that must not take its caller down with it."""

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

from netlab.errors import LimitError

with contextlib.suppress(ImportError):  # Windows has none
    import resource

OWN = Path(__file__).parents[2]  # where this netlab is found
MOST_MEMORY_BYTES = 4 << 30  # address space of one process, and of each guest that it starts
KEPT_BYTES = 1 << 16  # the end of what it writes to standard error
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


@contextlib.contextmanager
def limited_memory():
    """Limit this process and its children to 4 GB of address space; a LimitError beyond it.
    Only Linux has such a limit.
    """
    if sys.platform != "linux":
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    most = [one for one in before if one != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([MOST_MEMORY_BYTES, *most]), before[1]))
    try:
        yield
    except MemoryError:
        raise LimitError(f"{TOO_LARGE} of memory to run this and to read what it left") from None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


class Workers:
    """Starts ``python -m MODULE`` for each job, and ends it after `wall_limit_s`. [s]

    The process reads its job, a line of JSON, from standard input, and should end when that does.
    Its memory, environment variables and import path are limited.
    """

    def __init__(self, module, wall_limit_s):
        self.module, self.wall_limit_s, self.stopped = module, wall_limit_s, False
        self.processes, self.lock = set(), threading.Lock()

    def work_on(self, job, times=1):
        """Have a process do a job in `times` the limit, and wait; -> what went wrong, or ""."""
        limit_s = times * self.wall_limit_s
        with self.lock:  # `stop` ends all that have begun, and none begins after it
            if self.stopped:
                return "it was stopped"
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", self.module],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is the caller's to answer
                env=environment(),
            )
            self.processes.add(process)
        with contextlib.suppress(ProcessLookupError):  # it has ended
            limits = MOST_MEMORY_BYTES, MOST_MEMORY_BYTES
            resource.prlimit(process.pid, resource.RLIMIT_AS, limits)
        said = bytearray()

        def listen():
            while piece := process.stderr.read1(KEPT_BYTES):
                said.extend(piece)
                del said[:-KEPT_BYTES]

        listener = threading.Thread(target=listen)
        listener.start()
        try:
            process.stdin.write(json.dumps(job).encode() + b"\n")
            process.stdin.flush()
            status = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return LATE.format(limit_s)
        except BrokenPipeError:
            status = process.wait()
        finally:
            process.kill()
            process.wait()
            listener.join()
            with contextlib.suppress(BrokenPipeError):  # it ended without reading all
                process.stdin.close()
            process.stderr.close()
            with self.lock:
                self.processes.discard(process)
        text = said.decode(errors="replace").strip()
        if status and MEMORY.match(text.rpartition("\n")[2]):
            return f"{text[-2000:]}\n{TOO_LARGE}"
        return f"status {status}: {text[-2000:]}" if status else ""

    def stop(self):
        """End all that is under way, and begin nothing more."""
        with self.lock:
            self.stopped = True
            for process in self.processes:
                process.kill()


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
