"""A whole class: each notebook in a process of its own, as many at once as there are cores. What is
graded stays graded: a batch that was interrupted goes on where it was.
"""

import contextlib
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from netlab.course import ids
from netlab.course.grading import by_roster, changes, cluster, marks, worker
from netlab.course.grading import work as folders
from netlab.course.grading.by_hand import ByHand
from netlab.course.grading.marks import OLD, Marks
from netlab.course.grading.neighbours import flagged
from netlab.course.grading.runs import Runs
from netlab.course.grading.similar import similar
from netlab.course.grading.work import held
from netlab.course.handed_in import class_folder
from netlab.course.handed_in.collect import Collected, collect, digest_of, look
from netlab.course.roster import Roster
from netlab.course.sets import source
from netlab.engines import files
from netlab.engines.guest import host_checks
from netlab.engines.workers import at_limit
from netlab.errors import NetlabError
from netlab.running.progress import line, shown

CHUNK = 20  # students whose solutions are worked out in one jail
GUESTS = 3  # at most, of a notebook: its jail, an experiment, and a jail of its algorithm
NOTHING_NEW = "nothing new handed in"  # of who has marks already, and no notebook in this folder
OTHER_NUMBERS = (
    "other numbers: {}: their notebooks were handed out with other ranges than the set has now, by"
    " which they were graded. To grade them as handed out, put the old ranges back into the set"
)
NOBODY = "nobody"  # an id, to see whether a solution that fails for students works for others
LEFT_NONE = "the process left no marks"
UNREAD = (
    "{} students' marks are damaged, or of another version of netlab, and do not count: grade what"
    " they handed in again"
)
UNSOLVED = "the solution could not be worked out for any student"
MEND = "Mend the set, or see with `netlab doctor` whether engines work here"
ROSTER_AGAIN = "by the roster of last time, kept in {}: remove that file to grade without one"
NOT_SOLVED = "it was not worked out"
TRIES = 2  # of a process that failed: perhaps it was this machine's fault


class Batch:
    """Grades what a class handed in, laid out as by nbgrader: ``submitted/STUDENT/ps1/ps1.ipynb``.

    `path` is the assignment's source, `work` the folder that keeps what is graded
    (`netlab.course.grading.work`), `secret` the course's. `jobs` notebooks are graded at once: one
    for each core, as far as memory allows, if not given. `scheduler` is the address of a Dask
    cluster's, whose workers grade. `only` has the ids of those who are graded, everybody if it is
    empty. Who has marks in `work` and is not graded keeps them. `roster` is the class's
    (`netlab.course.roster`); that of the last grading in `work`, if not given. `manual` is a table
    with points by hand (`netlab.course.grading.by_hand`), beside those of earlier gradings.

    Attributes
    ----------
    kept_for : sequence of str
        Who has marks, and was not in this run.
    notes : sequence of str
        Sentences for who grades.
    """

    kept_for = notes = ()

    def __init__(
        self,
        path,
        submitted,
        work,
        secret=None,
        jobs=None,
        scheduler=None,
        only=(),
        roster=None,
        manual=None,
    ):
        self.roster, self.again = roster or Roster.kept(work), roster is None
        self.by_hand, self.manual = ByHand.kept(work), manual
        self.path, self.submitted, self.work = Path(path).absolute(), Path(submitted), Path(work)
        self.assignment, self.source = source.read(self.path), self.path.read_bytes()
        self.secret, self.only = secret, only
        # by this copy all are graded, whatever becomes of the set meanwhile
        self.copy = folders.place_of_set(self.work, self.assignment.name)
        self.files = {}  # by student, the name of the files
        here = cluster.identity()  # it makes what jails have, once, and not in each process
        self.key = identity(self.source, secret, *here)
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
        there, beside = look(self.submitted, self.assignment, self.only, self.roster)
        with held(self.work):
            kept, unread = self.kept()
            self.by_hand = self.points_by_hand([*there | kept])
            for one in (self.roster, self.by_hand):
                one.keep(self.work)
            files.write(self.copy, self.source)
            self.files |= folders.file_names({*there} - {*kept}, self.files.values())
            before = changes.put_aside(self.work, self.assignment)  # until the end, no export
            new = {student: self.collect(student, one) for student, one in there.items()}
            todo = [one for one in new if not is_done(kept.get(one), new[one])]
            found = kept | self.graded({student: new[student] for student in todo})
            found = by_roster.without_members(found, self.roster)
            self.kept_for = sorted((kept.keys() & found.keys()) - new.keys())
            unread -= {self.file_of(student) for student in new}
            everybody = [self.as_of_now(found[one], new.get(one)) for one in sorted(found)]
            everybody = flagged(everybody, similar(everybody, self.work, self.assignment))
            everybody, by_hand = self.by_hand.given_to(self.settled(everybody), self.work)
            others = [one.student for one in everybody if "other numbers" in one.flags]
            notes = [
                beside,
                UNREAD.format(len(unread)) * bool(unread),
                OTHER_NUMBERS.format(class_folder.several(others)) * bool(others),
                ROSTER_AGAIN.format(self.work / Roster.file)
                * bool(self.again and self.roster.members),
                *by_hand,
                *changes.told(self.work, before, everybody),
            ]
            self.notes = [*filter(None, notes)]
            marks.write_class(self.work, everybody)
            changes.forget(self.work)
        return everybody

    def points_by_hand(self, students):
        """The points by hand that are kept, with those of the table, if there is one."""
        there = {*map(ids.compared, students)}
        students += [one.id for one in self.roster.members if ids.compared(one.id) not in there]
        most = {one.id: one.points for one in self.assignment.exercises if one.manual}
        return self.by_hand.and_table(self.manual, most, students, self.roster.ids_of_group)

    def settled(self, everybody):
        """The marks of all in the roster, each with files of its own."""
        found = by_roster.settled(everybody, self.roster, self.assignment)
        new = {one.student for one in found} - self.files.keys()
        self.files |= folders.file_names(new, self.files.values())
        for one in found:
            to = self.place("handed-in", one.student)
            if one.origin and one.file != self.file_of(one.student):  # it is the group's
                files.write(to, folders.place(self.work, "handed-in", one.file).read_bytes())
        return [one.but(file=self.file_of(one.student)) for one in found]

    def kept(self):
        """By student, the marks that are in the folder; the names of files that are none. A
        `NetlabError` where they are of another set.
        """
        read = folders.marks_in(self.work)
        kept = {one.student: one for one in read.values() if one}
        if others := sorted({one.assignment for one in kept.values()} - {self.assignment.name}):
            of = class_folder.several(others)
            raise NetlabError(f"--work {self.work}: it has marks of {of}; name another folder")
        self.files = {one.student: name for name, one in read.items() if one}
        return kept, {name for name, one in read.items() if one is None}

    def collect(self, student, there):
        """Copy what a student handed in."""
        to = self.place("handed-in", student)
        return collect(there, student, self.assignment, self.submitted, to, self.key)

    def graded(self, todo):
        """Grade what was `Collected`, as many at once as there are jobs; -> marks by student."""
        found = {}
        with ThreadPoolExecutor(self.jobs) as pool:
            try:
                failures = self.references([one for one in todo if todo[one].origin], pool)
                with line(total=len(todo), desc="Graded", disable=not shown()) as bar:
                    jobs = [(one, new, failures.get(one)) for one, new in todo.items()]
                    for future in as_completed(pool.submit(self.one, *job) for job in jobs):
                        one = future.result()
                        found[one.student] = one
                        bar.update()
            finally:
                self.workers.stop()
                pool.shutdown(cancel_futures=True)
        return found

    def place(self, what, student):
        """Where something of a student's is kept."""
        return folders.place(self.work, what, self.file_of(student))

    def file_of(self, student):
        """The name of a student's files."""
        return self.files.get(student) or folders.filed(student)

    def as_of_now(self, one, new):
        """Marks, and whether they are of what is there now; `new` is None for who was not in this
        run.
        """
        flags = []
        if one.origin and not (new and new.origin):
            flags += [NOTHING_NEW] * bool(new)
            with contextlib.suppress(OSError):
                handed_in = digest_of(self.place("handed-in", one.student).read_bytes())
                flags += [OLD] * ((self.key, handed_in) != (one.origin.key, one.origin.digest))
        return one.but(flags=[*one.flags, *flags])

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
        kept = folders.read(self.place("reference", student))
        return "" if kept.get("key") == self.key else kept.get("failure", why or NOT_SOLVED)

    def one(self, student, new, failure=None) -> Marks:
        """Grade one student, unless the solution fails; whatever happens, there are marks."""
        to, origin = self.place("marks", student), new.origin
        if origin is None:
            found = marks.without_marks(student, self.assignment, "nothing to grade", new.why)
        else:
            failure = failure and f"the solution fails with this student's numbers: {failure}"
            for _ in range(0 if failure else TRIES):
                failure = self.work_on(student=student, origin=origin.model_dump())
                if not failure and (found := marks.read(to)):
                    return found
                failure = failure or LEFT_NONE
                if at_limit(failure):
                    break
            found = marks.pending(student, self.assignment, last_line(failure), failure)
            found = found.and_of_file(origin)
        found = found.but(file=self.file_of(student))
        marks.write(to, found)
        return found

    def work_on(self, times=1, **job):
        """Have a process do a job, in so many times the time for one; -> what went wrong, or "" """
        where = {"work": str(self.work), "runs": str(self.work / "runs")}
        for_whom = job.get("students", [job.get("student")])
        names = {"files": {one: self.file_of(one) for one in for_whom}}
        job = (
            {"key": self.key, "source": str(self.copy), "secret": self.secret} | names | where | job
        )
        said = self.workers.work_on(job, times)
        if self.workers.stopped:
            raise NetlabError("the batch was stopped")
        return said


def is_done(kept, new: Collected):
    """Is this submission graded already, or is there none, and marks of an earlier one?"""
    if kept is None or new.origin:
        return bool(kept) and kept.origin == new.origin
    return bool(kept.origin or kept.pending)


def last_line(text):
    """Of a traceback, the error."""
    return text.splitlines()[-1] if text else ""


def identity(*parts):
    """A short name of all that decides marks."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else json.dumps(part).encode()
        digest.update(hashlib.sha256(data).digest())
    return digest.hexdigest()[:24]
