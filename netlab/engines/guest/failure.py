"""Notice that a guest has failed, and say why and what to do about it."""

import contextlib
import os
import signal
import time

from netlab.engines.guest import store
from netlab.engines.guest.watcher import children_of

MOST_BYTES, KEPT_BYTES = 16 << 20, 64 << 10  # of the console: allowed, and kept
FLOODED = f"it wrote more than {MOST_BYTES >> 20} MB to its console (/dev/console): print less"
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
# A program that ends, or begins, looks for a moment as if it had been killed.
LOOKS, BETWEEN_LOOKS_S = 20, 0.05


class KernelLog:
    """What a guest prints, read once, by its descriptor; `signs` are texts that are always kept."""

    def __init__(self, descriptor, signs):
        self.descriptor, self.signs = descriptor, [sign.encode() for sign in signs]
        self.bytes_read, self.end, self.seen = 0, b"", []

    @property
    def flooded(self):
        found = os.fstat(self.descriptor)
        return max(found.st_size, 512 * found.st_blocks) > MOST_BYTES

    def text(self):
        """The signs that have scrolled away, and the end of what was written so far."""
        while self.bytes_read <= MOST_BYTES:
            new = os.pread(self.descriptor, KEPT_BYTES, self.bytes_read)
            if not new:
                break
            self.bytes_read += len(new)
            both = self.end + new
            self.seen += [sign for sign in self.signs if sign in both and sign not in self.seen]
            self.end = both[-KEPT_BYTES:]
        gone = [sign for sign in self.seen if sign not in self.end]
        return b"\n".join([*gone, self.end]).decode(errors="replace")


def lost_a_process(pid, at_rest, console):
    """Was one of a guest's processes killed from outside? Its kernel may never notice.

    `at_rest`: `spare_sockets` when all was well, or None; `console` gives the console's text.
    """
    for _ in range(LOOKS):
        if LOST in console():
            return True
        now = spare_sockets(pid)
        if at_rest is None or now is None or now <= at_rest:
            return False
        time.sleep(BETWEEN_LOOKS_S)
    return True


def spare_sockets(pid):
    """How many more sockets than child processes a guest's kernel has; None while they change.

    The kernel has a socket to each child from before its start until after its end. The number is
    larger than at rest only where somebody else has killed a child.
    """
    with contextlib.suppress(OSError):
        children = children_of(pid)
        links = [os.readlink(entry.path) for entry in os.scandir(f"/proc/{pid}/fd")]
        if children == children_of(pid):
            return sum(link.startswith("socket:") for link in links) - len(children)
    return None


def why_it_died(status, console):
    """What the end of a guest's kernel and its console tell."""
    ending = signal.strsignal(-status) if status < 0 else f"status {status}"
    signs = {
        LOST: KILLED,
        "Out of memory": "it ran out of memory. Its programs, and the files they write (/tmp, /root"
        f", /var, /run and /dev/shm lie in memory), have {store.MEMORY_MB} MB together: let the"
        " commands keep and write less.",
        "Kernel panic": "its kernel panicked",
        "Power down": "it powered itself off",
    }
    for sign, text in signs.items():
        if sign in console:
            return text
    if status == -signal.SIGKILL:
        return "it was killed, perhaps because this machine ran out of memory"
    return (
        f"its kernel ended ({ending}). `netlab doctor` tells whether this machine can run it; if it"
        f" can, the engine is damaged: {store.HOW_TO_GET_ONE}"
    )
