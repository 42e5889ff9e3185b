"""A student's own numbers of a problem set, drawn from the id: neighbours have others, and who
grades can draw them again. The set's set-up cell says what they are drawn from, so that the numbers
travel with the notebook.
"""

import ast
import contextlib
import getpass
import hashlib
import json
import os
import re
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from netlab.course import ids
from netlab.course.texts import in_a_cell
from netlab.errors import SpecificationError
from netlab.readers._common import read_file

COURSE = "course.json"  # in the working folder: {"secret": "...", "roster": ["...", ...]}
CONTENTS = "secret", "roster"
SECRET = "netlab"  # of who has no course.json
NO_SUCH_ID = "this course has no such id; write yours, as your course knows you, in the first cell"
SETS = Path("notebooks/assignments/source")  # of this checkout
RANGE = re.compile(r"(\d+)([^\d\s]+)", re.ASCII)  # an end of one, as in "25ms"
MAGIC = re.compile(r"(?m)^%.*$")
LARGEST_BYTES = 20_000_000  # of a notebook that is looked into
LONGEST_CELL = 20_000  # characters of one that is looked into; strangers write them, too


class Parameters(SimpleNamespace):
    """A student's own numbers, each an attribute that cannot be changed; and `student`, the id as
    `netlab.course.ids.normalised` has it, and `assignment`, the set.

    Examples
    --------
    >>> mine("ps1", "ada", rate=("100mbit", "200mbit"), seed=(1, 99_999)).as_dict()
    {'rate': '126mbit', 'seed': 52805}
    """

    def as_dict(self):
        """The numbers by name, without student and assignment."""
        return {key: one for key, one in vars(self).items() if key not in ("assignment", "student")}

    def __setattr__(self, name, value=None):
        raise AttributeError(f"my.{name}: your numbers are given; use another name")

    __delattr__ = __setattr__

    def __getattr__(self, name):
        there_are = ", ".join(self.as_dict())
        raise AttributeError(f"my.{name}: there is no such number in this set; it has {there_are}")

    def __repr__(self):
        lines = [f"my.{key} = {one!r}" for key, one in self.as_dict().items()]
        return "\n".join([f"{self.assignment}: the numbers of {self.student}", *lines])

    def _repr_markdown_(self):
        rows = [f"| `my.{key}` | `{one!r}` |" for key, one in self.as_dict().items()]
        head = f"| {in_a_cell(self.assignment)} | the numbers of {in_a_cell(self.student)} |"
        return "\n".join([head, "| --- | --- |", *rows])


def mine(assignment: str, student: str | None = None, **numbers: Any) -> Parameters:
    """Your own numbers of a problem set; the same id has the same numbers everywhere.

    Parameters
    ----------
    assignment : str
        Its name, such as ``"ps1"``.
    student : str, optional
        Your id, as your course knows you, in capital or small letters. None takes the name that
        you are logged in with.
    **numbers : tuple or list
        What each number is drawn from: the first and the last whole number, also with a unit, as in
        ``(1, 99)`` or ``("25ms", "40ms")``; or a list, of which it is one. Without any, those that
        the set's notebook gives, which is looked for in the working folder and in
        ``notebooks/assignments/source``.

    Returns
    -------
    Parameters
        Each number is an attribute: ``my.rate``.

    Raises
    ------
    SpecificationError
        A number cannot be drawn from what is given, the id cannot be one, or ``course.json`` cannot
        be read, which may hold your course's secret and its roster.

    Warns
    -----
    UserWarning
        The course's roster does not have this id.

    Examples
    --------
    >>> my = mine("ps1", "ada", rate=("100mbit", "200mbit"), loss=["0.1%", "0.2%"])
    >>> my.rate, my.loss
    ('126mbit', '0.2%')
    """
    numbers = numbers or of_notebook(assignment)
    found = parameters(assignment, who(student), secret(), numbers)
    if stranger(found.student):
        text = f"student = {found.student!a}: {NO_SUCH_ID}. If that is a slip, these numbers are"
        warnings.warn(f"{text} not yours", stacklevel=2)
    return found


def parameters(assignment: str, student: str, secret: str, numbers: dict[str, Any]) -> Parameters:
    """The `Parameters` of a student, in the course with this secret."""
    student, values = ids.normalised(student), {}
    for name, rule in numbers.items():
        told = json.dumps([secret, assignment, student, name])
        number = int.from_bytes(hashlib.sha256(told.encode()).digest())
        values[name] = drawn(name, rule, number)
    return Parameters(**values, assignment=assignment, student=student)


def drawn(name: str, rule: Any, number: int) -> Any:
    """The value that a large number draws from a range or a list."""
    match rule:
        case [_, *_] if isinstance(rule, list):
            return rule[number % len(rule)]
        case (int(first), int(last)) if first <= last:
            return first + number % (last - first + 1)
        case (str(first), str(last)):
            ends = RANGE.fullmatch(first), RANGE.fullmatch(last)
            if all(ends) and ends[0][2] == ends[1][2] and int(ends[0][1]) <= int(ends[1][1]):
                return f"{drawn(name, tuple(int(one[1]) for one in ends), number)}{ends[0][2]}"
    raise SpecificationError(
        f"nl.course.mine: {name} = {rule!r}: give the first and the last whole number, as in"
        ' (1, 99) or ("25ms", "40ms"), or a list, as in [0.25, 0.5, 1]'
    )


def written(code: str) -> tuple[dict[str, Any] | None, str]:
    """What the numbers are drawn from in a cell that calls `mine`, and the cell without that.

    None where it has no such call, or not with plain values; the cell may be a stranger's.

    Examples
    --------
    >>> written('my = nl.course.mine("ps1", student, seed=(1, 9))')
    ({'seed': (1, 9)}, "my = nl.course.mine('ps1', student)")
    """
    tree, call = call_of_mine(code)
    if call:
        own = [one for one in call.keywords if one.arg not in (None, "student")]
        with contextlib.suppress(ValueError, TypeError, RecursionError, MemoryError):
            found = {one.arg: ast.literal_eval(one.value) for one in own}
            call.keywords = [one for one in call.keywords if one not in own]
            return found, ast.unparse(tree)
    return None, code


def set_named(code: str) -> str | None:
    """The set that a cell's call of `mine` names; None where it has no such call, or no plain name.

    Examples
    --------
    >>> set_named('my = nl.course.mine("ps1", student, seed=(1, 9))')
    'ps1'
    """
    call = call_of_mine(code)[1]
    first = call.args[0] if call and call.args else None
    return first.value if isinstance(first, ast.Constant) else None


def call_of_mine(code: str) -> tuple[ast.AST | None, ast.Call | None]:
    """The tree of a cell, which may be a stranger's, and its call of `mine`; None where there is
    none.
    """
    with contextlib.suppress(SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        tree = ast.parse(MAGIC.sub("", code) if len(code) <= LONGEST_CELL else "")
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("course.mine"):
                return tree, node
    return None, None


def of_notebook(assignment: str) -> dict[str, Any]:
    """What the numbers of a set are drawn from, as its notebook says it, which lies in the working
    folder or is one of the checkout's sources.
    """
    for path in Path(f"{assignment}.ipynb"), SETS / f"{assignment}" / f"{assignment}.ipynb":
        try:
            cells = json.loads(read_file(path, LARGEST_BYTES))["cells"]
            found = [written("".join(cell["source"]))[0] for cell in cells]
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            continue
        if numbers := next(filter(None, found), None):
            return numbers
    raise SpecificationError(
        f"nl.course.mine({assignment!r}, ...) does not say what the numbers are drawn from, as in"
        " seed=(1, 99): take the notebook that your course hands out now; older ones had this in"
        " netlab itself"
    )


def who(student=None):
    """The id of the student who asks: the grader's, else the argument, else the login name."""
    if told := os.environ.get("NETLAB_STUDENT"):
        return told
    if student is not None:
        return student
    try:
        return os.environ.get("JUPYTERHUB_USER") or getpass.getuser()
    except (OSError, KeyError, ImportError):  # no such user, or no users at all
        why = "nobody is logged in here; write your student id in the first cell"
        raise SpecificationError(f"student: {why}") from None


def secret(folder="."):
    """The course's secret, from course.json in a folder; "netlab" where there is none."""
    return course(folder)[0] or SECRET


def stranger(student, folder="."):
    """Whether course.json in a folder has a roster without this id."""
    secret, roster = course(folder)
    return roster is not None and ids.digest(student, secret) not in roster


def course(folder):
    """The secret and the roster of a folder's course.json; None for what is not there."""
    file = Path(folder, COURSE)
    try:
        file = file.absolute()  # no such folder where it has been removed
        told = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None, None
    except (OSError, ValueError, RecursionError) as error:
        raise SpecificationError(f"{file} cannot be read: {error}") from None
    secret, roster = (told.get(one) if isinstance(told, dict) else None for one in CONTENTS)
    if not isinstance(secret, str) or not secret.strip():
        why = 'no secret: it must be {"secret": "..."}'
    elif roster is None or (isinstance(roster, list) and all(isinstance(x, str) for x in roster)):
        return secret, roster
    else:
        why = "a damaged roster"
    raise SpecificationError(f"{file} has {why}; ask your course for its course.json")


def mark_of(secret):
    """Fingerprint of the course's secret, for the notebooks that are handed out; "" for none."""
    told = hashlib.sha256(f"netlab course {secret}".encode()).hexdigest()[:8]
    return "" if secret in (None, SECRET) else told
