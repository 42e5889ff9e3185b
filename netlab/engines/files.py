"""Write, read and remove files: each is whole or absent, and what netlab did not make stays."""

import contextlib
import os
import re
import secrets
import shutil
import stat
import time
from pathlib import Path

from netlab.errors import NetlabError
from netlab.readers._common import read_file

NOT_OURS = "it is another file, or was changed since netlab wrote it"
HEAD_BYTES = 65_536  # of a file, which tell whose it is


@contextlib.contextmanager
def replacing(path, option="", ours=None, remedy="name another place"):
    """A binary file to write to, which replaces `path` when it is complete; else nothing changes.

    Its folder is made, if missing; its mode is that of the file it replaces, or the umask's.
    `ours` tells of the file that is there, open, whether it is netlab's and unchanged; None: any
    file is replaced. `option` (that named the path) and `remedy` are for messages. A NetlabError
    where it cannot be written, or a folder, a link, a device or a pipe has this name.
    """
    path = Path(path)
    with refusals(path, option, remedy):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise NotADirectoryError(0, f"{path.parent} is not a folder") from None
        mode = replaceable(path, ours)
        part = path.with_name(f".netlab-{secrets.token_hex(8)}.part")
        file = part.open("xb")
        try:
            with file:
                if mode is not None:
                    os.chmod(file.fileno() if os.chmod in os.supports_fd else part, mode)
                yield file
            os.replace(part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def check(path, option="", ours=None, remedy="name another place"):
    """Refuse what `replacing` would refuse, before anything is written."""
    with refusals(path, option, remedy):
        replaceable(Path(path), ours)


@contextlib.contextmanager
def refusals(path, option, remedy):
    """Around what is done to a file: an OSError becomes a NetlabError."""
    try:
        yield
    except OSError as error:
        place, why = f"{option} {path}".lstrip(), error.strerror or error
        if isinstance(error, FileExistsError):
            remedy = f"move it away, or {remedy}"
        raise NetlabError(f"{place} cannot be written: {why}; {remedy}") from error


def begins_as(is_ours):
    """As `ours` of `replacing`: a question to the first bytes of a file."""
    return lambda file: is_ours(file.read(HEAD_BYTES))


def replaceable(path, ours):
    """The mode of the file that is there, None where there is none; or an OSError."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    kinds = {stat.S_IFDIR: "it is a folder", stat.S_IFLNK: "it is a link"}
    if not stat.S_ISREG(found.st_mode):
        raise OSError(0, kinds.get(stat.S_IFMT(found.st_mode), "it is a pipe or a device"))
    if not os.access(path, os.W_OK):
        raise PermissionError(0, "it is write-protected")
    if ours and found.st_size:
        with path.open("rb") as file:
            if not ours(file):
                raise FileExistsError(0, NOT_OURS)
    return stat.S_IMODE(found.st_mode)


def write(path, data, *words, **options):
    """Write bytes, or a text in UTF-8, to a file: all of it, or nothing; see `replacing`."""
    with replacing(path, *words, **options) as file:
        # a surrogate, of a file name that is not UTF-8, is escaped
        file.write(data if isinstance(data, bytes) else data.encode(errors="backslashreplace"))


def read_below(path, folder, most_bytes=20_000_000):
    """Read a stranger's file in a folder; an OSError for a link, pipe, device or large one."""
    inside = path.relative_to(folder)
    if any(Path(folder, one).is_symlink() for one in (inside, *inside.parents[:-1])):
        raise OSError(0, "it is a link, or lies in one: hand in the file itself")
    return read_file(path, most_bytes, getattr(os, "O_NOFOLLOW", 0))


def remove_tree(folder):
    """Remove a folder that this process made, even where parts of it are read-only."""
    for path, _, _ in os.walk(folder):
        with contextlib.suppress(OSError):
            os.chmod(path, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def prune(folder, name, older_s=0.0, newest=0):
    """Remove from a folder what has such a name (a pattern) and age [s], but for the newest."""
    found = []
    for path in named(folder, name):
        with contextlib.suppress(OSError):  # another process may be at it
            found.append((path.lstat().st_mtime, path))
    for changed, path in sorted(found, reverse=True)[newest:]:
        if time.time() - changed >= older_s:
            if path.is_dir() and not path.is_symlink():
                remove_tree(path)
            else:
                with contextlib.suppress(OSError):
                    path.unlink()


def named(folder, name):
    """The paths in a folder whose whole names match a regular expression, sorted."""
    with contextlib.suppress(OSError):
        return [path for path in sorted(folder.iterdir()) if re.fullmatch(name, path.name)]
    return []
