"""Ends a guest whose parent is gone, or that takes more of this machine than it may.

Run as a program, this file is a guest's watcher. It looks at the guest four times a second, also
while nobody asks it anything. It needs Python alone. Standard input: the guest's process group,
then ``closed`` as the parent ends the guest itself. Arguments: the parent, the guest's folder, and
what the guest may take (`LIMITS`).
"""

import os
import select
import sys
import time

LOOK_S = 0.25
REST = 4  # times what a look has taken
BEGINS_S = 5  # that a guest may take to begin
SIGKILL = 9  # the module signal takes longer to import than all of this
WHY = "why"  # the file in the guest's folder that says why it was ended
MAP_LIMIT = "/proc/sys/vm/max_map_count"  # of one process
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
LIMITS = "processes", "mappings", "descriptors", "private_mb"


def read(path):
    """What a file of /proc says; nothing where the process has ended, or may not be looked at."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def listed(path):
    try:
        return os.listdir(path)
    except OSError:
        return []


def children_of(pid):
    """The child processes of all threads of a process."""
    tasks = listed(f"/proc/{pid}/task")
    return {child for task in tasks for child in read(f"/proc/{pid}/task/{task}/children").split()}


def descendants(first, most):
    """Processes, `first` and below it, and how many threads they have; at most `most`, and one."""
    found, waiting, threads = set(), [first], 0
    while waiting and threads <= most:
        pid = int(waiting.pop())
        if pid not in found:
            found.add(pid)
            waiting += children_of(pid)
            threads += len(listed(f"/proc/{pid}/task"))
    return found, threads


def too_much(first, limits):
    """A sentence about the limit that a guest exceeds, or "". `first` is its first process."""
    found, threads = descendants(first, limits["processes"])
    if threads > limits["processes"]:
        return f"it had {threads} processes, and {limits['processes']} are allowed"
    descriptors, private = 0, 0
    for pid in found:
        _, resident, of_files, *_ = [*map(int, read(f"/proc/{pid}/statm").split()), 0, 0, 0][:3]
        private += resident - of_files
        descriptors += len(listed(f"/proc/{pid}/fd"))
    if descriptors > limits["descriptors"]:
        return f"it had {descriptors} open files, and {limits['descriptors']} are allowed"
    if (private_mb := private * PAGE_BYTES >> 20) > limits["private_mb"]:
        return f"its processes had {private_mb} MB, and {limits['private_mb']} are allowed"
    if len(found) * int(read(MAP_LIMIT) or 0) <= limits["mappings"]:
        return ""
    mappings = 0
    for pid in found:
        mappings += read(f"/proc/{pid}/maps").count(b"\n")
        if mappings > limits["mappings"]:
            return (
                f"its programs had more than {limits['mappings']:,} pieces of memory, which take"
                " the host's memory, too: let fewer of them use less"
            )
    return ""


def end(group, folder, why):
    """Kill a guest, and write down why."""
    try:
        with open(os.path.join(folder, WHY), "w") as file:
            file.write(why)
    except OSError:
        """The disk is full."""
    kill(group)


def kill(group):
    try:
        os.killpg(group, SIGKILL)
    except OSError:
        """It has ended."""


def remove(folder):
    for path, folders, files in os.walk(folder, topdown=False):
        for name in files:
            os.unlink(os.path.join(path, name))
        for name in folders:
            os.rmdir(os.path.join(path, name))
    os.rmdir(folder)


class Told:
    """What comes on standard input: the guest's `group`, and whether it is `closed`."""

    def __init__(self):
        self.text, self.group, self.closed, self.ended = b"", None, False, False
        self.waiting = select.poll()
        self.waiting.register(0, select.POLLIN)

    def more(self, within_s):
        """Read on; -> has anything come within this time, if only the end?"""
        if not self.waiting.poll(1000 * within_s):
            return False
        piece = os.read(0, 100)
        self.text, self.ended = self.text + piece, not piece
        lines = self.text.split(b"\n")[:-1]
        self.closed = b"closed" in lines
        if lines and not self.closed:
            self.group = int(lines[0])
        return True


def watch(parent, folder, limits):
    """Watch until the parent has closed the guest, or is gone though a fork holds the pipe open."""
    told, pause_s, ended = Told(), LOOK_S, False
    while os.getppid() == parent and not told.ended and not told.closed:
        if not told.more(pause_s) and told.group and not ended:
            began = time.monotonic()
            if why := too_much(told.group, limits):
                end(told.group, folder, why)
                ended = True
            pause_s = max(LOOK_S, REST * (time.monotonic() - began))
    # the parent may have gone before its guest has begun
    while not (told.group or told.ended or told.closed) and told.more(BEGINS_S):
        """The number of the group may come in pieces."""
    if told.closed:
        return
    if told.group and not ended:
        kill(told.group)
    time.sleep(0.2)
    remove(folder)


if __name__ == "__main__":
    own_limits = dict(zip(LIMITS, map(int, sys.argv[3:]), strict=True))
    watch(int(sys.argv[1]), sys.argv[2], own_limits)
