"""Processes that do a job each. What they import is in tests/test_working_directory.py."""

import subprocess
import threading

from netlab.engines.workers import Workers


def test_a_process_that_starts_during_a_stop_is_ended_too(monkeypatch):
    workers, start = Workers("netlab.course.grading.worker", 20), subprocess.Popen
    stops = []

    def stopped_meanwhile(*arguments, **named):
        stops.append(threading.Thread(target=workers.stop))
        stops[0].start()
        stops[0].join(0.2)  # it ends all that have begun, or waits for this one
        return start(["sleep", "100"], **named)

    monkeypatch.setattr(subprocess, "Popen", stopped_meanwhile)
    assert workers.work_on({}).startswith("status -9")
    stops[0].join()
    assert workers.work_on({}) == "it was stopped"


def test_a_process_that_ends_without_reading_its_job_says_why():
    found = Workers("netlab.there_is_none", 20).work_on({"text": "x" * 1_000_000})
    assert found.startswith("status 1") and "No module named" in found
