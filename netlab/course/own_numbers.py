"""A student's own numbers of a problem set, drawn from the id: neighbours have others, and who
grades can draw them again.
"""

import contextlib
import getpass
import hashlib
import json
import os
import tomllib
import warnings
from pathlib import Path
from types import SimpleNamespace

from netlab.course import ids
from netlab.course.texts import in_a_cell
from netlab.errors import SpecificationError
from netlab.readers._common import read_file

PARAMETERS = Path(__file__).with_name("parameters.toml")
COURSE = "course.json"  # in the working folder: {"secret": "...", "roster": ["...", ...]}
CONTENTS = "secret", "roster"
SECRET = "netlab"  # of who has no course.json
NO_SUCH_ID = "this course has no such id; write yours, as your course knows you, in the first cell"
OTHER_NUMBERS = (
    "this notebook was handed out with other ranges of numbers than the netlab here has, so they"
    " are not yours: install the netlab that your course gave you, and run all cells"
)
LARGEST_BYTES = 20_000_000  # of a notebook that is looked into


class Parameters(SimpleNamespace):
    """A student's own numbers, each an attribute that cannot be changed; and `student`, the id as
    `netlab.course.ids.normalised` has it, and `assignment`, the set.

    Examples
    --------
    >>> mine("ps1", "ada").as_dict()
    {'rate': '126mbit', 'delay': '26ms', 'buffer': 104652, 'seed': 52805}
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


def mine(assignment, student=None):
    """Your own numbers of a problem set; the same id has the same numbers everywhere.

    Parameters
    ----------
    assignment : str
        Its name, such as ``"ps1"``.
    student : str, optional
        Your id, as your course knows you, in capital or small letters. None takes the name that
        you are logged in with.

    Returns
    -------
    Parameters
        Each number is an attribute: ``my.rate``.

    Raises
    ------
    SpecificationError
        There is no such set, the id cannot be one, or ``course.json`` cannot be read, which may
        hold your course's secret and its roster.

    Warns
    -----
    UserWarning
        The course's roster does not have this id, or the set's notebook, in the working folder, was
        handed out with other ranges of numbers than this netlab has.

    Examples
    --------
    >>> my = mine("ps1", "ada")
    >>> my.rate, my.delay
    ('126mbit', '26ms')
    """
    found = parameters(assignment, who(student), secret())
    if stranger(found.student):
        text = f"student = {found.student!a}: {NO_SUCH_ID}. If that is a slip, these numbers are"
        warnings.warn(f"{text} not yours", stacklevel=2)
    if handed_out(assignment) not in (None, numbers_mark(assignment)):
        warnings.warn(f"{assignment}: {OTHER_NUMBERS}", stacklevel=2)
    return found


def parameters(assignment, student, secret):
    """The `Parameters` of a student, in the course with this secret."""
    sets = tomllib.loads(PARAMETERS.read_text(encoding="utf-8"))
    if not isinstance(assignment, str) or assignment not in sets:
        known = ", ".join(sets)
        raise SpecificationError(f"assignment = {assignment!r}: no problem set; there are {known}")
    student = ids.normalised(student)
    values = {}
    for name, rule in sets[assignment].items():
        told = json.dumps([secret, assignment, student, name])
        number = int.from_bytes(hashlib.sha256(told.encode()).digest())
        values[name] = drawn(f"[{assignment}] {name}", rule, number)
    return Parameters(**values, assignment=assignment, student=student)


def drawn(place, rule, number):
    """The value that a rule of parameters.toml gives for a large number."""
    match rule:
        case {"choices": [_, *_] as choices, **rest} if not rest:
            return choices[number % len(choices)]
        case {"from": int(first), "to": int(last), **rest} if first <= last and rest.keys() <= {
            "unit"
        }:
            value = first + number % (last - first + 1)
            return f"{value}{rest['unit']}" if rest else value
    raise SpecificationError(
        f"{PARAMETERS.name}: {place} = {rule!r}: write {{from = 1, to = 9}}, with unit ="
        ' "ms" where it has one, or {choices = [1, 2]}'
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


def numbers_mark(assignment):
    """Fingerprint of what the numbers of a problem set are drawn from, for the notebooks that are
    handed out; "" for a set without numbers.
    """
    rules = tomllib.loads(PARAMETERS.read_text(encoding="utf-8")).get(assignment)
    told = json.dumps(["netlab numbers", assignment, rules], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:8] if rules else ""


def handed_out(assignment, folder="."):
    """The fingerprint in the notebook of a set, in a folder; None where there is none."""
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
        notebook = json.loads(read_file(Path(folder, f"{assignment}.ipynb"), LARGEST_BYTES))
        mark = notebook["metadata"]["netlab"]["numbers"]
        return mark if isinstance(mark, str) else None
    return None


def mark_of(secret):
    """Fingerprint of the course's secret, for the notebooks that are handed out; "" for none."""
    told = hashlib.sha256(f"netlab course {secret}".encode()).hexdigest()[:8]
    return "" if secret in (None, SECRET) else told
