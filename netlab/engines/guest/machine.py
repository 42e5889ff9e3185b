"""What a guest takes of this machine: a folder, a CPU, and what its watcher counts.

A CPU is a file that is locked while a guest has it. Servers of netlab wait for one, in order.
"""

import contextlib
import fcntl
import math
import os
import random
import shutil
import stat
import struct
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
LOOK_S, LONGEST_LOOK_S = 0.1, 1.0  # between two looks of the first who waits; of the last
LOCK = struct.Struct("hhqqi4x")  # of fcntl(2): kind, from where, first byte, how many, process
MOST_WAITING = 1 << 20


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


# numbers at random: other containers on this machine choose a CPU, too, and do not see our locks;
# not by the user's own random module, whose numbers a seed has fixed
chance = random.SystemRandom()


def free_cpu(at_once=math.inf):
    """Lock a CPU that no guest has; -> its lock's descriptor, and its number. None where there is
    none, or `at_once` guests have one.
    """
    usable, locks = sorted(os.sched_getaffinity(0)), []
    enough = max(1, len(usable) - at_once + 1)  # that are free now, if one more may be taken
    try:
        for number in chance.sample(usable, len(usable)):
            if (descriptor := try_lock(run_folder() / f"cpu-{number}")) is not None:
                locks.append((descriptor, number))
            if len(locks) == enough:
                return locks.pop()
        return None
    finally:
        for descriptor, _ in locks:
            os.close(descriptor)


@contextlib.contextmanager
def one_cpu():
    """A CPU for a guest; guests that run at once get different ones, as long as there are some."""
    found = free_cpu()
    try:
        yield found[1] if found else chance.choice(sorted(os.sched_getaffinity(0)))
    finally:
        if found:
            os.close(found[0])


@contextlib.contextmanager
def next_cpu(at_once, on_wait):
    """A CPU for one of at most `at_once` guests, which waits for it: first come, first served.
    `on_wait` hears at each look how many are before; what it raises ends the wait.
    """
    with queue() as waiting:
        own = stand_in(waiting)
        while (before := len(taken(waiting, own))) or (found := free_cpu(at_once)) is None:
            on_wait(before)
            time.sleep(min(LONGEST_LOOK_S, LOOK_S * (before + 1)))
    try:
        yield found[1]
    finally:
        os.close(found[0])


def somebody_waits():
    """Does anybody wait in `next_cpu`?"""
    with queue() as waiting:
        return bool(taken(waiting, MOST_WAITING))


def queue():
    """The file in which who waits has locked a byte, open. The kernel lets a lock go with the
    process that has it, however that ends, and nothing of it is left.
    """
    return open(run_folder() / "queue", "ab")


def stand_in(waiting):
    """Lock the byte behind all that are locked; -> its number."""
    while True:
        own = max(taken(waiting, MOST_WAITING), default=-1) + 1
        with contextlib.suppress(BlockingIOError):  # another was faster
            fcntl.fcntl(waiting, fcntl.F_OFD_SETLK, LOCK.pack(fcntl.F_WRLCK, 0, own, 1, 0))
            return own


def taken(waiting, end):
    """The numbers below `end` of bytes that others have locked, in any order."""
    found, spans = [], [(0, end)]
    while spans:
        first, end = spans.pop()
        if first == end:
            continue
        asked = LOCK.pack(fcntl.F_WRLCK, 0, first, end - first, 0)
        kind, _, number, _, _ = LOCK.unpack(fcntl.fcntl(waiting, fcntl.F_OFD_GETLK, asked))
        if kind != fcntl.F_UNLCK:
            found.append(number)
            spans += [(first, number), (number + 1, end)]
    return found


@cache
def fixed_layout():
    """The words that switch address randomisation off; none where the host refuses (see shim.c)."""
    words = ["setarch", "-R"]
    return words if subprocess.run([*words, "true"], capture_output=True).returncode == 0 else []
