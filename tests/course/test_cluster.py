"""Grading on a Dask cluster, without one: what goes to a worker, what comes back, who is refused.
`test_batch.py` has a whole class on a real one.
"""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace

import distributed
import pytest

from netlab.course.grading import cluster, worker
from netlab.course.grading.batch import Batch
from netlab.course.grading.work import place
from netlab.errors import MissingPackageError, NetlabError
from tests.course import small

HERE = cluster.identity()


class Client:
    """Stands for Dask's, with two workers that do at once what is submitted."""

    id, status, others = "client 1", "finished", HERE

    def __init__(self, address, **_):
        if address == "tcp://nobody:1":
            raise OSError("nobody answers")
        self.ended = False

    def wait_for_workers(self, *_):
        pass

    def nthreads(self):
        return {"one": 1, "two": 3}

    def run(self, function, *arguments):
        return {"one": function(*arguments), "two": self.others}

    def submit(self, function, *arguments, pure):
        assert not pure, "what is done twice may not be taken for the same"
        if self.status == "finished":
            return SimpleNamespace(result=lambda: function(*arguments))
        return SimpleNamespace(result=self.fail, status=self.status)

    def fail(self):
        raise OSError("a disk is full") if self.status == "error" else asyncio.CancelledError

    def close(self):
        self.ended = True


@pytest.fixture
def batch(tmp_path, monkeypatch):
    """A batch whose cluster's workers have other folders, and a process that only copies."""

    class Copies:
        stopped = False

        def work_on(self, job, times):
            work = Path(job["work"])
            assert tmp_path not in work.parents and json.loads(Path(job["source"]).read_text())
            if "students" in job:
                for one in job["students"]:
                    to = place(work, "reference", one)
                    to.parent.mkdir(parents=True, exist_ok=True)
                    to.write_text(f"answers of {one}")
                return f"status 1 in {times} times the limit"
            right = place(work, "reference", job["student"]).read_text()
            handed_in = place(work, "handed-in", job["student"]).read_text()
            place(work, "marks", job["student"]).parent.mkdir()
            place(work, "marks", job["student"]).write_text(f"{right}, {handed_in}")
            return ""

        def stop(self):
            self.stopped = True

    monkeypatch.setattr(distributed, "Client", Client)
    monkeypatch.setattr(worker, "workers", Copies)
    path = small.write(tmp_path)
    batch = Batch(path, tmp_path / "submitted", tmp_path / "work", scheduler="tcp://there:8786")
    for name in ("handed-in", "reference", "marks"):
        (batch.work / name).mkdir(parents=True)
    batch.copy.write_bytes(batch.source)
    return batch


def test_files_travel_there_and_back(batch):
    assert batch.jobs == 4
    assert batch.work_on(2, students=["ada", "Bob"]) == "status 1 in 2 times the limit"
    assert batch.place("reference", "Bob").read_text() == "answers of Bob"
    batch.place("handed-in", "ada").write_text("a notebook")
    assert batch.work_on(student="ada", key="k") == ""
    assert batch.place("marks", "ada").read_text() == "answers of ada, a notebook"


def test_what_fails_at_a_worker_is_told_and_a_cluster_that_has_gone_ends_the_batch(
    batch, monkeypatch
):
    batch.workers.client.status = "error"
    assert batch.work_on(students=["ada"]) == "OSError: a disk is full"
    batch.workers.client.status = "cancelled"
    with pytest.raises(NetlabError, match=r"has gone. Grade again: .* stays graded"):
        batch.work_on(students=["ada"])
    one, other = worker.workers(), worker.workers()
    monkeypatch.setattr(cluster, "_workers", {"client 1": one, "client 2": other})
    batch.workers.stop()
    assert (one.stopped, other.stopped) == (True, False), "at workers, too, and nobody else's"
    assert batch.workers.client.ended


def test_workers_with_another_engine_or_netlab_are_refused_first(batch, monkeypatch):
    monkeypatch.setattr(Client, "others", ("0123", *HERE[1:]))
    with pytest.raises(NetlabError, match=r"worker two has \('0123', .*marks could be others"):
        cluster.Cluster("tcp://there:8786", HERE)
    with pytest.raises(NetlabError, match=r"tcp://nobody:1: OSError.*Start `dask scheduler`"):
        cluster.Cluster("tcp://nobody:1", HERE)
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(MissingPackageError, match="pip install 'distributed>="):
        cluster.Cluster("tcp://there:8786", HERE)
