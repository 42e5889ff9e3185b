"""Notice that a guest has failed, and say why and what to do about it."""

import contextlib
import os
import signal
import time
from pathlib import Path

from netlab.engines.guest import store

# What the kernel writes to the console when it goes on with a program whose process was killed.
LOST = "failed to wait for stub"
KILLED = (
    "one of its processes was killed from outside, perhaps because this machine ran out of memory."
    " Run it again, and fewer at once."
)
# What the kernel writes when a program has computed for two seconds of this machine's processor
# without a system call. From then on it lets time pass for such a program, by this machine's clock.
ENDLESS = "netlab: a program computes without end"
UNREPEATABLE = (
    "A program computed for more than two seconds without a system call (reading, writing or"
    " waiting). Virtual time stands still meanwhile, so it was let pass as this machine's clock"
    " does, and what followed would differ another time. Let the program compute less at a time,"
    ' or choose clock="cpu", which counts what computing takes.'
)
# A program that ends, or begins, looks for a moment as if it had been killed: it was, if it looks
# so each of this many times.
LOOKS, BETWEEN_LOOKS_S = 20, 0.05


def lost_a_process(pid, sockets, console):
    """Was one of a guest's processes killed from outside? Its kernel notices when it goes on with
    the program there, which then ends; and others may wait for that program for ever.

    Parameters
    ----------
    pid : int
        The process of the guest's kernel.
    sockets : int or None
        Its `spare_sockets` when all was well; None while that is not known.
    console : callable
        Gives what the kernel has written to its console so far.
    """
    for _ in range(LOOKS):
        if LOST in console():
            return True
        now = spare_sockets(pid)
        if sockets is None or now is None or now <= sockets:
            return False
        time.sleep(BETWEEN_LOOKS_S)
    return True


def spare_sockets(pid):
    """How many more sockets than child processes a guest's kernel has; None where /proc does not
    tell, or the children come and go too fast to be counted.

    The kernel keeps a socket to each of its child processes, one for each program in the guest. It
    opens the socket before it starts the process and closes it after it has ended the process, so
    the number is never smaller than at rest, and for good larger once somebody else killed one of
    them. That holds for children and sockets of the same moment, hence the second look.
    """
    try:
        for _ in range(LOOKS):
            children, sockets = children_of(pid), 0
            for descriptor in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(FileNotFoundError):  # closed since
                    sockets += os.readlink(f"/proc/{pid}/fd/{descriptor}").startswith("socket:")
            if children == children_of(pid):
                return sockets - len(children)
    except OSError:
        pass
    return None


def children_of(pid):
    """The child processes of all threads of a process."""
    return {
        child
        for task in os.listdir(f"/proc/{pid}/task")
        for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split()
    }


def why_it_died(status, console):
    """What the end of a guest's kernel and its console tell."""
    full = (
        "it ran out of memory. Its programs, and the files they write (/tmp, /root, /var, /run and"
        f" /dev/shm lie in memory), have {store.MEMORY_MB} MB together: let the commands keep and"
        " write less."
    )
    killed = "it was killed, perhaps because this machine ran out of memory"
    ending = signal.strsignal(-status) if status < 0 else f"status {status}"
    damaged = (
        f"its kernel ended ({ending}). `netlab doctor` tells whether this machine can run it; if it"
        f" can, the engine is damaged: {store.HOW_TO_GET_ONE}"
    )
    signs = [
        (LOST in console, KILLED),
        ("Out of memory" in console, full),
        ("Kernel panic" in console, "its kernel panicked"),
        ("Power down" in console, "it powered itself off"),
        (status == -signal.SIGKILL, killed),
    ]
    return next((text for seen, text in signs if seen), damaged)
