"""A process that grades one notebook, or works out the solution's answers for some students: what
goes wrong in it, and what it takes, ends with it.

Its files are in a folder as `netlab.course.grading.work` has it.
"""

import functools
import json
from pathlib import Path

from netlab.course.grading import marks, recipe
from netlab.course.grading.runs import Runs
from netlab.course.grading.solution import reference
from netlab.course.grading.work import place
from netlab.course.handed_in.collect import Origin
from netlab.course.sets import source
from netlab.engines import evidence, files
from netlab.engines.guest import walls
from netlab.engines.jail.contents import identities
from netlab.engines.workers import Workers, serve

LONGEST_S = 1200.0  # a process that takes longer for a student is ended [wall s]


def workers():
    """Who starts such processes."""
    return Workers("netlab.course.grading.worker", LONGEST_S)


@functools.lru_cache(maxsize=1)
def set_of(path):
    """The problem set, which a process reads once for all of its jobs."""
    return source.read(path)


def do(job):
    assignment, runs, work = set_of(job["source"]), Runs(Path(job["runs"])), job["work"]
    if "students" in job:
        found = reference(assignment, job["students"], runs, job["secret"])
        for student, answers, failure in found:
            kept = {"failure": failure} if failure else {"key": job["key"], "answers": answers}
            files.write(place(work, "reference", job["files"][student]), json.dumps(kept))
    else:
        evidence.keep_none()
        student, file = job["student"], job["files"][job["student"]]
        right = json.loads(place(work, "reference", file).read_text(encoding="utf-8"))["answers"]
        data, origin = place(work, "handed-in", file).read_bytes(), Origin(**job["origin"])
        found = recipe.grade(data, student, assignment, right, runs, job["secret"])
        found = found.and_of_file(origin).but(file=file, origin=origin)
        marks.write(place(work, "marks", file), found)


if __name__ == "__main__":
    identities()  # these two are kept, for all jobs
    walls.here()
    serve(do, lambda job: set_of(job["source"]))
