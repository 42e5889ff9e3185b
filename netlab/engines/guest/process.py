"""Start a guest: one process tree that ends with its parent, and whose bytes depend on the seed and
the engine alone.

The kernel mixes its command line into its random numbers, so that line is the same text every time:
a private folder with two links, ``r`` (root file system) and ``j`` (job folder), hides every path
of the host.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from netlab.engines import evidence
from netlab.engines.agent_line import GuestLine, Interrupted, LineDown, OutOfTime
from netlab.engines.guest import store
from netlab.engines.guest.places import (
    fixed_layout,
    free_mb,
    memory_folder,
    one_cpu,
    remove_leftovers,
    run_folder,
    try_lock,
)
from netlab.engines.protocol import ignore
from netlab.errors import GuestError

CLOCKS = {
    # The clock jumps to the next event whenever nothing is left to compute, and computing takes no
    # time: what happens depends on the seed alone. Without it every run differs, and takes as long
    # as it lasts.
    "virtual": ["time-travel=inf-cpu"],
    # Waiting is skipped, computing takes the time it takes here: no two runs are alike.
    "cpu": ["time-travel"],
    # The wall's clock, for what has to keep pace with the world outside.
    "real": [],
}
# The shell that becomes the guest first tells its process group to the watcher, which could not
# end the guest otherwise. From then on, what the guest writes to standard error is on its console.
TELL_GROUP_AND_START = 'echo $$ >&2; exec "$@" 2>&1'
# The watcher reads that group, and a second line when the parent closes the guest itself. If the
# parent dies first, by whatever cause, there is no second line: it kills the group and deletes the
# folder $1.
CLEAN_UP_AFTER_PARENT = (
    'read -r group && read -r closed && exit 0; [ -n "$group" ] && kill -s KILL -- "-$group"; sleep'
    ' 0.2; rm -rf -- "$1"'
)
# A program that ends, or begins, in the guest looks for a moment as if it had been killed from
# outside: it was, if it looks so in all of this many looks.
LOOKS, BETWEEN_LOOKS_S = 20, 0.05
# What the kernel writes to the console when it goes on with a program whose process was killed.
LOST = "failed to wait for stub"
KILLED = (
    "one of its processes was killed from outside, perhaps because this machine ran out of memory."
    " Run it again, and fewer at once."
)


class Guest:
    """A running guest; a `netlab.engines.protocol.Connection`.

    Parameters
    ----------
    build : store.Build
    seed : int
        Every random number of the guest's kernel comes from it.
    clock : {"virtual", "cpu", "real"}
    wall_limit_s : float
        The guest is ended when its answers have taken so long in all; the time between two
        questions does not count. [s]
    """

    def __init__(self, build, seed, clock, wall_limit_s):
        remove_leftovers()
        self.process = self.sockets = None
        self.cleanup = contextlib.ExitStack()  # undone in reverse order, as far as it has got
        try:
            self.folder = Path(tempfile.mkdtemp(prefix="guest-", dir=run_folder()))
            self.cleanup.callback(shutil.rmtree, self.folder, ignore_errors=True)
            self.cleanup.callback(os.close, try_lock(self.folder / "lock"))
            self.watcher = self.cleanup.enter_context(cleaned_up_after_parent(self.folder))
            self.cpu = self.cleanup.enter_context(one_cpu())
            self.line = GuestLine(wall_limit_s)
            self.cleanup.callback(self.line.close)
            self._start(build, seed, clock)
        except BaseException:
            self.cleanup.close()
            raise

    def _start(self, build, seed, clock):
        job = self.folder / "j"
        job.mkdir()
        (self.folder / "r").symlink_to(build.rootfs)
        for source in store.BOOTED:
            shutil.copy(source, job)
        command = [
            # see TELL_GROUP_AND_START
            "sh",
            "-c",
            TELL_GROUP_AND_START,
            "netlab-guest",
            # on one CPU: handing over between CPUs makes a guest 4 to 10 times slower
            "taskset",
            "-c",
            str(self.cpu),
            # the same addresses every time, or its physical memory, and the size of its socket
            # buffers, would vary
            *fixed_layout(),
            str(build.linux),
            *CLOCKS[clock],
            *store.COMMAND_LINE,
            # the one folder that the root file system and the job are found in, as r and j. The
            # kernel takes this word out of its command line: the host's path is not mixed into the
            # random numbers
            f"hostfs={self.folder}",
        ]
        environment = {
            # without it the kernel takes random numbers from the host: no two runs are alike
            "LD_PRELOAD": str(build.shim),
            # what it draws them from instead
            "NETLAB_SEED": str(seed),
            # where the kernel keeps its memory file: by default a folder that may be too small,
            # or that no program may run from
            "TMPDIR": str(memory_folder()),
            # for taskset and setarch; nothing else of the host's environment reaches the guest
            "PATH": os.environ["PATH"],
            # /dev/netlab does not exist without these two: its socket is standard input
            "NETLAB_FD": "0",
            "NETLAB_INT_FD": str(self.line.guest_keys),
        }
        with open(self.folder / "console", "wb") as console:
            # a session of its own: Jupyter's interrupt goes to the whole process group
            self.process = subprocess.Popen(
                command,
                env=environment,
                cwd=self.folder,
                stdin=self.line.guest_socket,
                stdout=console,
                stderr=self.watcher,
                start_new_session=True,
                pass_fds=[self.line.guest_keys],
            )
        self.cleanup.callback(self._kill)
        self.line.guest_socket.close()

    def ask(self, on_event=ignore, **question):
        """One question to the agent; see `netlab.engines.protocol.Connection.ask`.

        Raises
        ------
        GuestError
            The guest died, or the wall-clock limit has passed.
        """
        if self.process is None:
            raise GuestError("this guest has been closed")
        try:
            answer = self.line.ask(question, on_event, self._look)
            if LOST in self._console():
                raise LineDown(KILLED)
            if self.sockets is None:
                self.sockets = spare_sockets(self.process.pid)
            return answer
        except Interrupted:
            self.close()
            raise KeyboardInterrupt from None
        except OutOfTime as error:
            failure = f"the guest {error}"
        except LineDown as error:
            failure = f"the guest died: {str(error) or self._why_it_died()}"
        self._fail(failure)

    def send_key(self, key):
        """Ctrl-C or SIGKILL for what is waited for; see `netlab.engines.protocol.Connection`."""
        self.line.send_key(key)

    def interrupt(self):
        """End the guest at once, from any thread; see `netlab.engines.protocol.Connection`."""
        self.line.interrupt()

    def _look(self):
        """Notice that one of the guest's processes was killed from outside. The program there ends
        when its kernel goes on with it, and others may wait for it for ever.
        """
        for _ in range(LOOKS):
            if LOST in self._console():
                break
            now = spare_sockets(self.process.pid)
            if self.sockets is None or now is None or now <= self.sockets:
                return
            time.sleep(BETWEEN_LOOKS_S)
        raise LineDown(KILLED)

    def _console(self):
        with contextlib.suppress(OSError):
            return (self.folder / "console").read_text(errors="replace")
        return ""

    def _why_it_died(self):
        try:
            return why_it_died(self.process.wait(5), self._console())
        except subprocess.TimeoutExpired:
            return "it closed its line"

    def _fail(self, message):
        """End the guest, keep everything it left, raise."""
        self._kill()
        files = {}
        for path in (self.folder / "console", self.folder / "j" / "agent.log"):
            with contextlib.suppress(OSError):
                files[path.name] = path.read_bytes()
        name = f"{time.strftime('%Y%m%d-%H%M%S')}-{self.folder.name}"
        kept, place = evidence.save(name, files), evidence.folder(name)
        self.close()
        console = "".join(file.decode(errors="replace")[-3000:] for file in files.values())
        shown = "" if "Out of memory" in console else f"{console.strip()}\n"
        raise GuestError(f"{message}\n{shown}{kept}", console, place if place.is_dir() else None)

    def _kill(self):
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def close(self):
        """End the guest at once and leave nothing behind."""
        self.cleanup.close()
        self.process = None


def why_it_died(status, console):
    """What the end of a guest's kernel and its console tell, and what to do about it."""
    folder = memory_folder()
    too_small = (
        f"its memory file did not fit into {folder}, which has {free_mb(folder)} MB free now; it"
        f" may take {store.MEMORY_MB}. Set TMPDIR to a folder with more room."
    )
    full = (
        "it ran out of memory. Its programs, and the files they write (/tmp, /root, /var, /run and"
        f" /dev/shm lie in memory), have {store.MEMORY_MB} MB together: let the commands keep and"
        " write less."
    )
    ending = signal.strsignal(-status) if status < 0 else f"status {status}"
    damaged = (
        f"its kernel ended ({ending}). `netlab doctor` tells whether this machine can run it; if it"
        f" can, the engine is damaged: {store.HOW_TO_GET_ONE}"
    )
    signs = [
        (LOST in console, KILLED),
        ("Out of memory" in console, full),
        ("ran out of space" in console, too_small),
        ("Kernel panic" in console, "its kernel panicked"),
        ("Power down" in console, "it powered itself off"),
        (
            status == -signal.SIGKILL,
            "it was killed, perhaps because this machine ran out of memory",
        ),
        (free_mb(folder) < store.MEMORY_MB, too_small),
    ]
    return next((text for seen, text in signs if seen), damaged)


def spare_sockets(pid):
    """How many more sockets than child processes a guest's kernel has; None where /proc does not
    tell.

    The number is always the same as long as nobody kills one of its processes: the kernel keeps a
    socket to each of them, one for each program in the guest, and closes it when it ends the
    process itself.
    """
    try:
        children = sockets = 0
        for task in os.listdir(f"/proc/{pid}/task"):
            children += len(Path(f"/proc/{pid}/task/{task}/children").read_text().split())
        for descriptor in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(FileNotFoundError):  # closed since
                sockets += os.readlink(f"/proc/{pid}/fd/{descriptor}").startswith("socket:")
        return sockets - children
    except OSError:
        return None


@contextlib.contextmanager
def cleaned_up_after_parent(folder):
    """Start a watcher, in a session of its own, that ends the guest and deletes its folder if this
    process is killed; -> the pipe on which the guest tells it its process group.
    """
    watcher_end, guest_end = os.pipe()
    watcher = subprocess.Popen(
        ["sh", "-c", CLEAN_UP_AFTER_PARENT, "netlab-watch", folder],
        stdin=watcher_end,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    )
    os.close(watcher_end)
    try:
        yield guest_end
    finally:
        with contextlib.suppress(BrokenPipeError):
            os.write(guest_end, b"closed\n")
        os.close(guest_end)
        watcher.wait()
