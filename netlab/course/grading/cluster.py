"""Grades on a Dask cluster: a job and the files that it reads go to a worker, what it wrote comes
back.
"""

import contextlib
import tempfile
from pathlib import Path

from netlab.course.grading import worker
from netlab.course.grading.runs import Runs
from netlab.course.grading.work import PARTS, place
from netlab.engines import files
from netlab.engines.cache import cache_folder
from netlab.engines.jail.contents import contents
from netlab.errors import NetlabError, needs_notebooks

BEGIN_S = 30  # that a scheduler may take to answer
_workers = {}  # at a worker: who does the jobs of a client


def identity():
    """What decides marks at this machine: the engine, a jail's Python, and netlab."""
    return Runs().engine.digest, *(folder.name for folder in contents())


def carried(job, source, sent, times, client):
    """At a worker: do a job with the files sent; -> what went wrong, and the files it wrote.

    Results of experiments are kept in the worker's cache.
    """
    workers = _workers.setdefault(client, worker.workers())
    with tempfile.TemporaryDirectory(prefix="netlab-grading-") as folder:
        work, name = Path(folder, "work"), Path(folder, Path(job["source"]).name)
        for file, data in (sent | {name: source}).items():
            files.write(work / file, data)
        own = {"source": str(name), "work": str(work), "runs": str(cache_folder() / "graded")}
        said = workers.work_on(job | own, times)
        left = {str(one.relative_to(work)): one.read_bytes() for one in work.rglob("*.json")}
        return said, left


def stop(client):
    """At a worker: end the jobs of a client, now and later."""
    _workers.setdefault(client, worker.workers()).stop()


class Cluster:
    """Workers of the Dask scheduler at an address, in place of `netlab.engines.workers.Workers`.

    A `NetlabError` where it does not answer, or a worker's `identity` is not `here`.
    """

    def __init__(self, address, here):
        with needs_notebooks("cluster", "Dask's distributed"):
            import distributed
        self.stopped = False
        try:
            self.client = distributed.Client(address, timeout=BEGIN_S, set_as_default=False)
            self.client.wait_for_workers(1, BEGIN_S)
            told = self.client.run(identity)
        except Exception as error:
            raise NetlabError(
                f"--scheduler {address}: {type(error).__name__}: {error}. Start `dask scheduler`"
                " there and `dask worker` where this netlab with its engine is installed"
            ) from error
        if others := {who: there for who, there in told.items() if there != here}:
            self.client.close()
            who, there = others.popitem()
            raise NetlabError(
                f"--scheduler {address}: the worker {who} has {there}, and here is {here}"
                " (engine, Python and netlab of jails): marks could be others. Install the"
                " same Python and netlab there, and the engine by `netlab engine export` and"
                " `import`; then start the workers again"
            )
        self.at_once = sum(self.client.nthreads().values())

    def work_on(self, job, times=1):
        """Have a worker do a job; -> what went wrong, or ""."""
        work, sent = Path(job["work"]), {}
        for what in PARTS[1:] if "student" in job else ():
            path = place(work, what, job["files"][job["student"]])
            sent[str(path.relative_to(work))] = path.read_bytes()
        source, who = Path(job["source"]).read_bytes(), self.client.id
        future = self.client.submit(carried, job, source, sent, times, who, pure=False)
        try:
            said, left = future.result()
        except BaseException as error:  # a cancelled one is no Exception
            if future.status == "error":
                return f"{type(error).__name__}: {error}"
            raise NetlabError(
                "the cluster has gone. Grade again: what is graded stays graded"
            ) from error
        for name, data in left.items():
            files.write(work / name, data)
        return said

    def stop(self):
        """End all that is under way, at the workers, too."""
        self.stopped = True
        with contextlib.suppress(Exception):  # they have gone
            self.client.run(stop, self.client.id)
        self.client.close()
