"""A process that grades one notebook, or works out the solution's answers for some students: what
goes wrong in it, and what it takes, ends with it.

It reads its job as a line of JSON, and ends when its input does: with the batch that started it.
"""

import json
import os
import sys
import threading
from pathlib import Path

from netlab.course.grading import marking
from netlab.course.grading.runs import Runs
from netlab.course.sets import source
from netlab.engines import evidence, files


def main():
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=end_with_parent, daemon=True).start()
    assignment, runs = source.read(job["source"]), Runs(Path(job["runs"]))
    if "students" in job:
        found = marking.reference(assignment, job["students"], runs, job["secret"])
        for student, answers, failure in found:
            kept = {"failure": failure} if failure else {"key": job["key"], "answers": answers}
            files.write(Path(job["to"][student]), json.dumps(kept))
    else:
        evidence.keep_none()
        right = json.loads(Path(job["reference"]).read_text(encoding="utf-8"))["answers"]
        data = Path(job["notebook"]).read_bytes()
        marks = marking.grade(data, job["student"], assignment, right, runs, job["secret"])
        files.write(Path(job["to"]), json.dumps(marks | {"key": job["key"]}, indent=1))


def end_with_parent():
    os.read(0, 1)  # not sys.stdin.read, whose lock would be held at the end
    os._exit(1)  # guests have watchers, which end them


if __name__ == "__main__":
    main()
