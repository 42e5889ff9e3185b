"""Where a guest runs on this machine: its folder and its CPU."""

import contextlib
import fcntl
import os
import random
import shutil
import stat
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path

from netlab.errors import EngineError


def run_folder():
    """The folder of this user's running guests.

    Raises
    ------
    EngineError
        What is there under its name is no folder, or others may write to it.
    """
    folder = Path(tempfile.gettempdir()) / f"netlab-{os.getuid()}"
    remedy = f"Delete it (`rm -r {folder}`), or set TMPDIR to a folder of your own."
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()  # not what a link leads to: anybody may have put one there
    except OSError as error:
        raise EngineError(
            f"guests run in {folder}, which cannot be made: {error.strerror}. Set TMPDIR to a"
            " folder of your own."
        ) from None
    if not stat.S_ISDIR(found.st_mode):
        raise EngineError(f"guests run in {folder}, which is a link or a file. {remedy}")
    if found.st_uid != os.getuid():
        raise EngineError(
            f"guests run in {folder}, which belongs to somebody else. Set TMPDIR to a folder of"
            " your own."
        )
    if mode := stat.S_IMODE(found.st_mode) & 0o077:
        raise EngineError(
            f"guests run in {folder}, which others may use, too (its mode has {mode:03o} for them,"
            f" and must have 000). {remedy}"
        )
    return folder


def try_lock(path):
    """Lock a file for as long as this process lives; -> descriptor, or None where another process
    has locked it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def remove_leftovers():
    """Delete the folders of guests whose parent and watcher were both killed."""
    for folder in run_folder().glob("guest-*"):
        with contextlib.suppress(OSError):
            if (
                time.time() - folder.stat().st_mtime > 60
                and (descriptor := try_lock(folder / "lock")) is not None
            ):
                shutil.rmtree(folder, ignore_errors=True)
                os.close(descriptor)


@contextlib.contextmanager
def one_cpu():
    """One of the CPUs this process may use, locked so that guests running at once are pinned to
    different ones.
    """
    usable = sorted(os.sched_getaffinity(0))
    # at random: other containers on this machine choose one, too, and do not see our locks
    for number in random.sample(usable, len(usable)):
        descriptor = try_lock(run_folder() / f"cpu-{number}")
        if descriptor is not None:
            try:
                yield number
            finally:
                os.close(descriptor)
            return
    yield random.choice(usable)  # more guests than CPUs: share


@cache
def fixed_layout():
    """The words before a command that switch address randomisation off, where the host allows it
    (else the shim helps).
    """
    words = ["setarch", "-R"]
    return words if subprocess.run([*words, "true"], capture_output=True).returncode == 0 else []
