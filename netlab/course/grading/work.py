"""The folder that grading leaves: marks/, reference/, handed-in/, feedback/, runs/, class.html, and
class.json, which lists whose marks are of the last grading.
"""

import contextlib
import fcntl
import hashlib
import json
import os
from pathlib import Path
from urllib.parse import quote

from netlab.engines import files
from netlab.errors import NetlabError

CLASS = "class.json"
PARTS = ("marks", "reference", "handed-in")  # every such folder has them
OTHERS = ("feedback", "runs", "class.html", CLASS)
LONGEST_NAME = 150  # characters of a file's, where it is that of a student


@contextlib.contextmanager
def held(work):
    """The folder, made where it is missing, for one grader at a time.

    Raises
    ------
    NetlabError
        Another grader is at work there, it cannot be made, or it is somebody else's: it has some
        of the names above, and is not such a folder.
    """
    work = Path(work)
    try:
        there = [name for name in (*PARTS, *OTHERS) if not is_free(work / name)]
        if there and not all((work / name).is_dir() for name in PARTS):
            raise FileExistsError(0, f"it has {there[0]} in it, which netlab did not make")
        for name in PARTS:
            (work / name).mkdir(parents=True, exist_ok=True)
        lock = os.open(work / PARTS[0], os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise NetlabError(
            f"--work {work}: {error.strerror}; name a new or an empty folder"
        ) from error
    try:
        with contextlib.suppress(OSError):  # of a file system without locks
            if is_locked(lock):
                raise NetlabError(
                    f"--work {work}: another `netlab course grade` is at work there; wait for it,"
                    " or name another folder"
                )
        yield work
    finally:
        os.close(lock)


def is_free(path):
    """Is there nothing, or an empty folder?"""
    return not os.path.lexists(path) or (path.is_dir() and not any(path.iterdir()))


def is_locked(descriptor):
    """Does another process hold this lock? Otherwise this one does now."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def filed(student):
    """A student's name as the name of a file, whatever it is; another one for each name, even where
    capitals are the same as small letters.
    """
    data = student.encode(errors="surrogateescape")  # as in the file system, in any locale
    name = quote(data, safe=" @+,=")
    if name.startswith("."):
        name = f"%2E{name[1:]}"
    if student != student.lower() or len(name) > LONGEST_NAME or not name:
        digest = hashlib.sha256(data).hexdigest()
        name = f"{name[:LONGEST_NAME]} {digest[:16]}"
    return name


def keep_class(work, flags):
    """Write the list of a class: the file of each student's marks, with the flags about others."""
    files.write(Path(work, CLASS), json.dumps({"marks": flags}, indent=1))


def read_class(work):
    """What `keep_class` wrote; None in a folder of an earlier netlab.

    Raises
    ------
    NetlabError
        The list is damaged.
    """
    path = Path(work, CLASS)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["marks"]
        if not all(Path(name).name == name and isinstance(found[name], list) for name in found):
            raise ValueError
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        raise NetlabError(f"{path} is damaged: remove it, and grade the class again") from None
    return found
