"""Processes that do a job each, for work that must not take its caller down with it."""

import json
import os
import subprocess
import sys
import threading


class Workers:
    """Starts ``python -m MODULE`` for each job, and ends what has not ended.

    The process reads its job from standard input, a line of JSON. That stays open until the caller
    ends: a process that sees its end should end, too.

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
        self.processes = set()

    def work_on(self, job):
        """Have a process do a job, and wait; -> what went wrong, or "". From any thread."""
        if self.stopped:
            return "it was stopped"
        process = subprocess.Popen(
            [sys.executable, "-m", self.module],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is the caller's to answer
            env=os.environ | {"NETLAB_PROGRESS": "off"},
        )
        self.processes.add(process)
        said = []
        listener = threading.Thread(target=lambda: said.append(process.stderr.read()))
        listener.start()
        try:
            process.stdin.write(json.dumps(job).encode() + b"\n")
            process.stdin.flush()
            status = process.wait(self.wall_limit_s)
        except subprocess.TimeoutExpired:
            return f"it took more than {self.wall_limit_s:g} s"
        except BrokenPipeError:
            status = process.wait()
        finally:
            process.kill()
            process.wait()
            listener.join()
            process.stdin.close()
            process.stderr.close()
            self.processes.discard(process)
        text = b"".join(said).decode(errors="replace").strip()
        return f"status {status}: {text[-2000:]}" if status else ""

    def stop(self):
        """End all that is under way, and begin nothing more."""
        self.stopped = True
        for process in list(self.processes):
            process.kill()
