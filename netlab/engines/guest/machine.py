"""What a guest takes of this machine: a folder, a CPU, and what its watcher counts."""

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

from netlab.engines.guest.store import MEMORY_MB
from netlab.errors import EngineError

MOST_PROCESSES = 2200  # the guest itself allows 2000 threads
MOST_MAPPINGS = 2_000_000  # each takes some 200 bytes of the host's kernel
MOST_DESCRIPTORS = 8000  # two for each process, and some
MOST_PRIVATE_MB = 256  # beside the guest's memory; a kernel takes 1 MB, its programs nothing
MEMORY_FILE_MB = MEMORY_MB + 64  # its memory, with what its kernel adds


def run_folder():
    """The folder of this user's running guests; an EngineError where it is not safe to use."""
    folder = Path(tempfile.gettempdir()) / f"netlab-{os.getuid()}"
    own = "Set TMPDIR to a folder of your own."
    remedy = f"Delete it (`rm -r {folder}`), or set TMPDIR to a folder of your own."
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()  # not what a link leads to: anybody may have put one there
    except OSError as error:
        why = f"cannot be made: {error.strerror}. {own}"
        raise EngineError(f"guests run in {folder}, which {why}") from None
    why = ""
    if not stat.S_ISDIR(found.st_mode):
        why = f"is a link or a file. {remedy}"
    elif found.st_uid != os.getuid():
        why = f"belongs to somebody else. {own}"
    elif mode := stat.S_IMODE(found.st_mode) & 0o077:
        why = f"others may use, too (its mode has {mode:03o} for them, not 000). {remedy}"
    if why:
        raise EngineError(f"guests run in {folder}, which {why}")
    return folder


def try_lock(path):
    """Lock a file while this process lives; -> descriptor, None where another has locked it."""
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
            old = time.time() - folder.stat().st_mtime > 60
            if old and (descriptor := try_lock(folder / "lock")) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(descriptor)


@contextlib.contextmanager
def one_cpu():
    """A CPU for a guest; guests that run at once get different ones, as long as there are some."""
    usable = sorted(os.sched_getaffinity(0))
    # at random: other containers on this machine choose one, too, and do not see our locks; not by
    # the numbers of the user's own random module, which a seed has fixed
    chance = random.SystemRandom()
    for number in chance.sample(usable, len(usable)):
        if (descriptor := try_lock(run_folder() / f"cpu-{number}")) is not None:
            try:
                yield number
            finally:
                os.close(descriptor)
            return
    yield chance.choice(usable)


@cache
def fixed_layout():
    """The words that switch address randomisation off; none where the host refuses (see shim.c)."""
    words = ["setarch", "-R"]
    return words if subprocess.run([*words, "true"], capture_output=True).returncode == 0 else []
