"""Processes that do a job each, for work that must not take its caller down with it."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

OWN = Path(__file__).parents[2]  # where this netlab is found
PASSED_ON = {
    *("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "TZ", "LD_LIBRARY_PATH"),
    *("XDG_CACHE_HOME", "MEM_LIMIT"),
}


class Workers:
    """Starts ``python -m MODULE`` for each job, and ends what has not ended.

    The process reads its job from standard input, a line of JSON. That stays open until the caller
    ends: a process that sees its end should end, too. It imports nothing from the working
    directory, and has few of the caller's environment variables.

    Parameters
    ----------
    module : str
    wall_limit_s : float
        A process that takes longer is ended. [s]

    Attributes
    ----------
    stopped : bool
        No further job is begun.
    """

    def __init__(self, module, wall_limit_s):
        self.module, self.wall_limit_s, self.stopped = module, wall_limit_s, False
        self.processes, self.lock = set(), threading.Lock()

    def work_on(self, job, times=1):
        """Have a process do a job, and wait; -> what went wrong, or "". From any thread.

        `times` the limit is how long it may take.
        """
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
        said = []
        listener = threading.Thread(target=lambda: said.append(process.stderr.read()))
        listener.start()
        try:
            process.stdin.write(json.dumps(job).encode() + b"\n")
            process.stdin.flush()
            status = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return f"it took more than {limit_s:g} s"
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
        text = b"".join(said).decode(errors="replace").strip()
        return f"status {status}: {text[-2000:]}" if status else ""

    def stop(self):
        """End all that is under way, and begin nothing more."""
        with self.lock:
            self.stopped = True
            for process in self.processes:
                process.kill()


def environment():
    """A worker's environment variables: it imports this very netlab, and shows no progress."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in PASSED_ON or name.startswith(("NETLAB_", "LC_"))
    }
    # an empty or relative entry would be the working directory, or in it
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    path = [*filter(os.path.isabs, given), str(OWN)]
    return kept | {"PYTHONPATH": os.pathsep.join(path), "NETLAB_PROGRESS": "off"}
