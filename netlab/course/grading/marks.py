"""A student's marks: what grading leaves, and what pages, tables and other gradebooks are made of.

Marks are read from JSON and written as JSON in this module only. Damaged marks, and those of
another `VERSION`, are as none: whoever handed in is graded again.
"""

import contextlib
import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from netlab.course.answers.verdicts import Check
from netlab.course.handed_in.collect import Origin
from netlab.course.sets import regions
from netlab.course.texts import printable
from netlab.description import Description, unless_given
from netlab.engines import files
from netlab.errors import NetlabError

VERSION = 1
CLASS = "class.json"  # all marks of the last grading, in the folder that it leaves
OLD = "graded before a change"  # a flag
LONGEST_TEXT = 20_000  # characters of an answer in words
PENDING = (
    "Your marks are pending: the grader could not finish, which is no fault of yours. These are no"
    " zero points. Your teacher has been told, and will look at it"
)
AGAIN = "remove the file, and grade the class again"
Points = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]


class AnswerMarks(Description):
    """What one answer is worth."""

    name: str
    verdict: Literal["right", "close", "wrong", "nothing"]
    share: Annotated[Points, Field(le=1)]  # of the points
    hint: str
    max_points: Points
    given: str = ""  # fingerprints of the answer and of the right one: is it somebody else's?
    right: str = ""

    @classmethod
    def of(cls, check: Check, **about):
        """From what a comparison gave."""
        share = min(float(check.share), 1.0)  # a sum of parts may be a bit more
        return cls(verdict=check.verdict, share=share, hint=check.hint, **about)

    @property
    def points(self) -> float:
        return round(self.share * self.max_points, 6)


class ExerciseMarks(Description):
    """What an exercise is worth that the computer marks."""

    id: str  # of its check cell
    title: str
    max_points: Points
    answers: list[AnswerMarks]

    @property
    def points(self) -> float:
        return round(sum(one.points for one in self.answers), 6)


class TextMarks(Description):
    """An answer in words; its points are a person's, None until there are some."""

    id: str
    max_points: Points
    text: str
    points: Points | None = None


class Late(Description):
    """How late a student's work was, and what that costs."""

    handed_in: str  # a day and a time
    due: str
    days: Annotated[int, Field(ge=1)]  # that have begun
    lost: Annotated[Points, Field(le=1)]  # of the points


class Marks(Description):
    """A student's marks of a problem set."""

    version: Literal[1] = Field(VERSION, description="of this description")
    student: str = Field(description="the id: the name of the student's folder")
    assignment: str = Field(description="the problem set, such as ps1")
    exercises: list[ExerciseMarks] = Field(
        description="of each exercise `id`, `title`, `max_points` and `answers`: of each answer"
        " `name`, `verdict`, `share` of its `max_points`, and `hint`; `given` and `right` are"
        " fingerprints, by which a neighbour's numbers are found"
    )
    manual: list[TextMarks] = Field(
        description="the answers in words: `id`, `max_points`, `text`, and in `class.json`"
        " `points`, once a person has given some"
    )
    reason: str = Field(description="where points were lost, in a sentence")
    flags: list[str] = Field(
        [], description="what a teacher should look at; docs/course.md has each"
    )
    notices: list[str] = Field([], description="what the student reads first")
    findings: list[str] = Field([], description="what was wrong with the notebook, and put right")
    named: str = Field("", description="the id that the notebook names")
    pending: bool = Field(False, description="the grader failed: no zero points, but none yet")
    evidence: str = Field("", description="what ended the notebook, or failed; on nobody's page")
    file: Annotated[str, Field(pattern=r"^([^./\x00][^/\x00]*)?\z")] = Field(
        "", description="the name of the student's files, without its ending"
    )
    origin: Origin | None = Field(
        None, description="what was graded: while that stays the same, nothing is graded again"
    )
    late: Late | None = unless_given(
        description="of late work `handed_in`, `due`, `days`, and `lost`, the share of the points"
    )
    group: list[str] = unless_given(
        [], description="in `class.json`, of who works together the ids of all"
    )

    @property
    def points(self) -> float:
        """Of the exercises that the computer marks."""
        return round(sum(one.points for one in self.exercises), 6)

    @property
    def max_points(self) -> float:
        return sum(one.max_points for one in self.exercises)

    @property
    def max_by_hand(self) -> float:
        """The most that a person can give for the answers in words."""
        return sum(one.max_points for one in self.manual)

    @property
    def by_hand(self) -> float | None:
        """What a person has given for the answers in words; None where nothing is given yet."""
        given = [one.points for one in self.manual if one.points is not None]
        return round(sum(given), 6) if given else None

    @property
    def in_all(self) -> float:
        """What counts: all points, less what is lost by being late."""
        return round(self.earned * (1 - (self.late.lost if self.late else 0)), 6)

    @property
    def max_in_all(self) -> float:
        """All points of the set, whether or not a person has given those for answers in words."""
        return self.max_points + self.max_by_hand

    @property
    def earned(self) -> float:
        """All points, whenever the work came."""
        return round(self.points + (self.by_hand or 0), 6)

    @property
    def graded(self) -> bool:
        """Was some answer compared? Else there was nothing that could be."""
        return any(one.answers for one in self.exercises)

    def and_of_file(self, origin):
        """The same, with what is said of where the file was found."""
        flags, findings = [*origin.flags, *self.flags], [*origin.findings, *self.findings]
        return self.but(flags=flags, findings=findings)


def marks_of(student, assignment, rows, texts, **said) -> Marks:
    """Marks from the `AnswerMarks` by exercise and the source by cell."""
    return Marks(
        student=student,
        assignment=assignment.name,
        exercises=[
            ExerciseMarks(one.id, one.title, one.points, rows.get(one.id, []))
            for one in assignment.automatic
        ],
        manual=[
            TextMarks(one.id, one.points, in_words(texts.get(one.id, "")))
            for one in assignment.exercises
            if one.manual
        ],
        **said,
    )


def in_words(text):
    """An answer in words, as it is kept; "" where it is still what was handed out."""
    return "" if text.strip() in ("", *regions.STUB[False]) else text[:LONGEST_TEXT]


def without_marks(student, assignment, flag, why, evidence="", **said) -> Marks:
    """Zero points, and the reason. `evidence` is for teachers, and on nobody's page."""
    said |= {"flags": [flag], "reason": printable(why), "evidence": evidence}
    return marks_of(student, assignment, {}, {}, **said)


def pending(student, assignment, why, evidence="") -> Marks:
    """Zero points until somebody has looked, where the grader failed; why is a flag."""
    flag, more = f"look at this one: {printable(why)}", {"pending": True, "notices": [PENDING]}
    return without_marks(student, assignment, flag, "not graded yet", evidence, **more)


def of_data(data) -> Marks:
    """Marks of JSON's plain data; a `ValueError` where they are damaged or of another version."""
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise ValueError("not marks of this version")
    return Marks(**data)


def read(path) -> Marks | None:
    """The marks in a file; None where there is none, or they are damaged or of another version."""
    with contextlib.suppress(OSError, ValueError, TypeError, ArithmeticError, RecursionError):
        return of_data(json.loads(Path(path).read_text(encoding="utf-8")))


def write(path, marks):
    """Write one student's marks."""
    # with \u escapes: the name of a folder may have halves of surrogate pairs
    files.write(path, json.dumps(marks.model_dump(), indent=1))


def write_class(work, everybody):
    """Write the marks of a class, once all are graded."""
    files.write(Path(work, CLASS), json.dumps([one.model_dump() for one in everybody]))


def read_class(work, assignment=None, file=CLASS) -> list[Marks]:
    """The marks of the last grading of a problem set (any, without a name), in the order of the
    students' ids.
    """
    path = Path(work, file)
    try:
        found = [of_data(one) for one in json.loads(path.read_text(encoding="utf-8"))]
    except FileNotFoundError:
        command = f"netlab course grade {assignment or 'SET'}"
        why = f"no marks in it: give what `{command}` left when it ended"
        raise NetlabError(f"{work} has {why}") from None
    except (OSError, ValueError, TypeError, ArithmeticError, RecursionError):
        found = []
    if not found:
        raise NetlabError(f"{path} has no marks, or those of another version: {AGAIN}")
    assignment = assignment or found[0].assignment
    if others := [one.assignment for one in found if one.assignment != assignment]:
        other = printable(others[0])
        raise NetlabError(f"{path}: marks of {other}, not of {assignment}; give its folder")
    names = [one.file.casefold() for one in found]
    if len({*names} - {""}) < len(names):
        raise NetlabError(f"{path}: two students' files have one name, or one has none; {AGAIN}")
    return sorted(found, key=lambda one: one.student)


def reference():
    """The keys of ``marks/ID.json``, as a table in Markdown."""
    rows = [f"| `{name}` | {field.description} |" for name, field in Marks.model_fields.items()]
    return "\n".join(["| key | what it says |", "|---|---|", *rows])
