"""A whole class: each notebook in a process of its own, as many at once as there are cores. What is
graded stays graded: a batch that was interrupted goes on where it was.
"""

import contextlib
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from netlab.course import ids
from netlab.course.grading import cluster, marking, worker
from netlab.course.grading import work as folders
from netlab.course.grading.runs import Runs
from netlab.course.grading.work import CLASS, held
from netlab.course.handed_in import class_folder, found
from netlab.course.sets import source
from netlab.course.texts import printable
from netlab.engines import files
from netlab.engines.guest import host_checks
from netlab.engines.workers import at_limit
from netlab.errors import NetlabError
from netlab.running.progress import line, shown

CHUNK = 20  # students whose solutions are worked out in one jail
GUESTS = 3  # at most, of a notebook: its jail, an experiment, and a jail of its algorithm
SAME_ID = (
    "Something was handed in twice under your id, in folders whose names mean the same: your"
    " teacher decides which counts"
)
NOTHING_NEW = "nothing new handed in"  # of who has marks already, and no notebook in this folder
OLD = "graded before a change"
OTHER_NUMBERS = (
    "other numbers: {}: their notebooks were handed out with other ranges than the set has now, by"
    " which they were graded. To grade them as handed out, put the old ranges back into the set"
)
NOBODY = "nobody"  # an id, to see whether a solution that fails for students works for others
UNSOLVED = "the solution could not be worked out for any student"
MEND = "Mend the set, or see with `netlab doctor` whether engines work here"
NOT_SOLVED = "it was not worked out"
TRIES = 2  # of a process that failed: perhaps it was this machine's fault


class Batch:
    """Grades what a class handed in, laid out as by nbgrader: ``submitted/STUDENT/ps1/ps1.ipynb``.

    `path` is the assignment's source, `work` the folder that keeps what is graded
    (`netlab.course.grading.work`), `secret` the course's. `jobs` notebooks are graded at once: one
    for each core, as far as memory allows, if not given. `scheduler` is the address of a Dask
    cluster's, whose workers grade. `only` has the ids of those who are graded, everybody if it is
    empty. Who has marks in `work` and is not graded keeps them.

    Attributes
    ----------
    kept_for : sequence of str
        Who has marks, and was not in this run.
    notes : sequence of str
        Sentences for who grades.
    """

    kept_for = notes = ()

    def __init__(self, path, submitted, work, secret=None, jobs=None, scheduler=None, only=()):
        self.path, self.submitted, self.work = Path(path).absolute(), Path(submitted), Path(work)
        self.assignment, self.secret, self.only = source.read(self.path), secret, only
        self.files, self.told = {}, {}  # by student: the name of the files; flags of the notebook
        here = cluster.identity()  # it makes what jails have, once, and not in each process
        self.key = marking.identity(self.path.read_bytes(), secret, *here)
        if scheduler:
            self.workers = cluster.Cluster(scheduler, here)
            self.jobs = jobs or self.workers.at_once
        else:
            self.workers = worker.workers()
            guests = host_checks.memory_limit_bytes() // host_checks.GUEST_BYTES
            self.jobs = jobs or max(1, min(Runs().engine.at_once, guests // GUESTS))

    def grade(self):
        """Grade everybody who is not graded yet, once; -> the marks of all who have some, in the
        order of their names.

        A `NetlabError` where there is nothing to grade, the solution fails for everybody, or no
        engine works here. What a student handed in never raises.
        """
        name = self.assignment.name
        students, loose = class_folder.students(self.submitted, name, self.only)
        there = {one: found.look(self.submitted / one, self.assignment) for one in students}
        if not (self.only or any(one.path for one in there.values())):
            raise class_folder.no_notebook(self.submitted, name)
        if loose:
            text = f"in no student's folder, and not graded: {class_folder.several(loose)}"
            self.notes = [text]
        with held(self.work):
            earlier = self.earlier()
            self.files |= folders.file_names({*students} - earlier, self.files.values())
            (self.work / CLASS).unlink(missing_ok=True)  # until the end there is no export
            handed_in = {student: self.taken(student, there[student]) for student in students}
            todo = [one for one in students if not self.done(one, handed_in[one])]
            with ThreadPoolExecutor(self.jobs) as pool:
                try:
                    failures = self.references([one for one in todo if handed_in[one][0]], pool)
                    with line(total=len(todo), desc="Graded", disable=not shown()) as bar:
                        jobs = [(one, *handed_in[one], failures.get(one)) for one in todo]
                        for future in as_completed(pool.submit(self.one, *job) for job in jobs):
                            future.result()
                            bar.update()
                finally:
                    self.workers.stop()
                    pool.shutdown(cancel_futures=True)
            self.kept_for = sorted(earlier - {*students})
            marks = [self.all_marks(one, handed_in.get(one)) for one in sorted(self.files)]
            self.compare_neighbours(marks)
            if others := [one["student"] for one in marks if "other numbers" in one["flags"]]:
                self.notes = [*self.notes, OTHER_NUMBERS.format(class_folder.several(others))]
            files.write(self.work / CLASS, json.dumps(marks))
        return marks

    def earlier(self):
        """Who has marks in the folder; a `NetlabError` where they are of another set."""
        kept = folders.with_marks(self.work)
        others = [one["assignment"] for one in kept.values()]
        if others := sorted({*others} - {self.assignment.name}):
            of = class_folder.several(others)
            raise NetlabError(f"--work {self.work}: it has marks of {of}; name another folder")
        self.files |= {one["student"]: name for name, one in kept.items()}
        return {*self.files}

    def place(self, what, student):
        """Where something of a student's is kept."""
        return folders.place(self.work, what, self.file_of(student))

    def file_of(self, student):
        """The name of a student's files."""
        return self.files.get(student) or folders.filed(student)

    def taken(self, student, there):
        """Copy the notebook that is `there` (`Found`); -> its place and its key, or None and what
        is wrong."""
        name = self.assignment.name
        try:
            ids.normalised(student)
            if there.path is None:
                return None, there.why
            data = files.read_below(there.path, self.submitted)
        except OSError as error:
            return None, f"{name}.ipynb cannot be read: {error.strerror}"
        except NetlabError as error:
            return None, f"the name of the folder is no student id: {error}"
        kept = self.place("handed-in", student)
        files.write(kept, data)
        self.told[student] = {"flags": [*there.flags], "findings": [*there.findings]}
        return kept, marking.identity(self.key, student, data)

    def done(self, student, handed_in):
        """Whether this submission is graded already, or there is none and there are marks."""
        kept, (place, key) = self.kept("marks", student), handed_in
        if place is None:
            return kept.get("key") is not None or kept.get("pending", False)
        return kept.get("key") == key and kept.get("told") == self.told[student]

    def kept(self, what, student):
        """What is kept of a student's as JSON; {} for nothing, or a damaged file."""
        return folders.read(self.place(what, student))

    def all_marks(self, student, handed_in):
        """The marks of a student, with what is told of the file; `handed_in` is None for who was
        not in this run."""
        marks = self.kept("marks", student) | {"file": self.files[student]}
        for name, more in marks.get("told", {}).items():
            marks[name] = [*more, *marks[name]]
        if marks.get("key") is None:
            return marks
        if handed_in and handed_in[0] is None:
            marks["flags"].append(NOTHING_NEW)
        with contextlib.suppress(OSError):
            data = self.place("handed-in", student).read_bytes()
            if marking.identity(self.key, student, data) != marks["key"]:
                marks["flags"].append(OLD)
        return marks

    def references(self, students, pool):
        """Work out the solutions that are lacking; -> by student, why that failed twice."""
        lacking, failures = [one for one in students if self.lacks(one)], {}
        size = max(1, min(CHUNK, -(-len(lacking) // self.jobs)))
        chunks = [lacking[at : at + size] for at in range(0, len(lacking), size)]
        with line(total=len(lacking), desc="Solutions", disable=not shown()) as bar:
            for future in as_completed([pool.submit(self.solve, chunk) for chunk in chunks]):
                tried, failed = future.result()
                if len(failed) == len(tried) and all(map(self.lacks, students)):
                    for failure in self.solve([NOBODY])[1].values():
                        raise NetlabError(f"{UNSOLVED}: {failure}. {MEND}")
                failures |= failed
                bar.update(len(tried))
        again = pool.map(lambda one: self.solve([one])[1], failures)
        return {student: why for failed in again for student, why in failed.items()}

    def solve(self, students):
        """Have a process run the solution for some; -> them, and by student why it failed."""
        for one in students:
            self.place("reference", one).unlink(missing_ok=True)
        failure = last_line(self.work_on(len(students), students=students))
        return students, {one: why for one in students if (why := self.lacks(one, failure))}

    def lacks(self, student, why=""):
        """Why a student has no answers of the solution; "" for who has."""
        kept = self.kept("reference", student)
        return "" if kept.get("key") == self.key else kept.get("failure", why or NOT_SOLVED)

    def one(self, student, handed_in, key, failure=None):
        """Grade one student, unless the solution fails; whatever happens, there are marks."""
        to, told = self.place("marks", student), self.told.get(student, {})
        if handed_in is None:
            marks = marking.without_marks(student, self.assignment, "nothing to grade", key)
        else:
            failure = failure and f"the solution fails with this student's numbers: {failure}"
            for _ in range(0 if failure else TRIES):
                failure = self.work_on(student=student, key=key, told=told)
                if not failure:
                    return
                if at_limit(failure):
                    break
            marks = marking.pending(student, self.assignment, last_line(failure), failure)
        files.write(to, json.dumps(marks | {"key": None, "told": told}))

    def work_on(self, times=1, **job):
        """Have a process do a job, in so many times the time for one; -> what went wrong, or "" """
        where = {"work": str(self.work), "runs": str(self.work / "runs")}
        for_whom = job.get("students", [job.get("student")])
        names = {"files": {one: self.file_of(one) for one in for_whom}}
        job = (
            {"key": self.key, "source": str(self.path), "secret": self.secret} | names | where | job
        )
        said = self.workers.work_on(job, times)
        if self.workers.stopped:
            raise NetlabError("the batch was stopped")
        return said

    def compare_neighbours(self, marks):
        """Add the flags and notices about other students."""
        owners, twins, named_so, same = {}, {}, {}, {}
        for one in marks:
            student = one["student"]
            for place, answer in answers(one):
                owners.setdefault((place, answer["right"]), set()).add(student)
            named_so.setdefault(ids.compared(student), []).append(student)
            with contextlib.suppress(FileNotFoundError):
                if one.get("key") and one["points"]:
                    data = self.place("handed-in", student).read_bytes()
                    same[student] = twins.setdefault(hashlib.sha256(data).digest(), [])
                    same[student].append(student)
        for one in marks:
            student, flags = one["student"], one["flags"]
            own, named = ids.compared(student), ids.compared(one.get("named", ""))
            if named != own and named in named_so:
                flags.append(f"copied name: {printable(named_so[named][0])}")
            others = [other for other in named_so[own] if other != student]
            flags += [f"same id as {printable(other)}" for other in others]
            for place, answer in answers(one):
                whose = owners.get((place, answer["given"]), set()) - {student}
                if answer["given"] and answer["share"] < 1 and whose:
                    flags.append(f"number of {printable(min(whose))}: {answer['name']}")
            twin = [other for other in same.get(student, ()) if other != student]
            flags += [f"same file as {printable(other)}" for other in twin[:1]]
            one["notices"] += [SAME_ID] * len(others)


def answers(marks):
    return [
        ((one["id"], answer["name"]), answer)
        for one in marks["exercises"]
        for answer in one["answers"]
    ]


def last_line(text):
    """Of a traceback, the error."""
    return text.splitlines()[-1] if text else ""
