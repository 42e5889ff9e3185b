"""Start a guest: one process tree that ends with its parent, and whose bytes depend on the seed and
the engine alone.

The kernel mixes its command line into its random numbers, so that line is the same text every time:
a private folder with two links, ``r`` (root file system) and ``j`` (job folder), hides every path
of the host.
"""

import contextlib
import fcntl
import mmap
import os
import random
import shutil
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path

from netlab.engines.agent_line import GuestLine, LineDown, OutOfTime
from netlab.engines.guest import store
from netlab.errors import EngineError, GuestError

CLOCKS = {"virtual": ["time-travel=inf-cpu"], "cpu": ["time-travel"], "real": []}
# The guest tells its process group to a watcher, and only then becomes the guest.
TELL = 'echo $$ >&2; exec "$@" 2>&1'
# The watcher waits for that, and for a word of farewell. If the parent dies first, by whatever
# cause, it cleans up.
WATCH = (
    'read -r group && read -r word && exit 0; [ -n "$group" ] && kill -s KILL -- "-$group"; sleep'
    ' 0.2; rm -rf -- "$1"'
)


class Guest:
    """A running guest.

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
        sweep()
        self.process = None
        self.exits = contextlib.ExitStack()  # undone in reverse order, as far as it has got
        try:
            self.folder = Path(tempfile.mkdtemp(prefix="guest-", dir=run_folder()))
            self.exits.callback(shutil.rmtree, self.folder, ignore_errors=True)
            self.exits.callback(os.close, hold(self.folder / "lock"))
            self.rope = self.exits.enter_context(watched(self.folder))
            self.cpu = self.exits.enter_context(one_cpu())
            self.line = GuestLine(wall_limit_s)
            self.exits.callback(self.line.close)
            self._start(build, seed, clock)
        except BaseException:
            self.exits.close()
            raise

    def _start(self, build, seed, clock):
        job = self.folder / "j"
        job.mkdir()
        (self.folder / "r").symlink_to(build.rootfs)
        for source in store.BOOTED:
            shutil.copy(source, job)
        command = [
            "sh",
            "-c",
            TELL,
            "netlab-guest",
            "taskset",
            "-c",
            str(self.cpu),
            *fixed_layout(),
            str(build.linux),
            *CLOCKS[clock],
            *store.COMMAND_LINE,
            f"hostfs={self.folder}",
        ]
        environment = {
            "LD_PRELOAD": str(build.shim),
            "NETLAB_SEED": str(seed),
            "TMPDIR": str(memory_folder()),
            "PATH": os.environ["PATH"],
            "NETLAB_FD": "0",
            "NETLAB_INT_FD": str(self.line.bell),
        }
        with open(self.folder / "console", "wb") as console:
            # a session of its own: Jupyter's interrupt goes to the whole process group
            self.process = subprocess.Popen(
                command,
                env=environment,
                cwd=self.folder,
                stdin=self.line.theirs,
                stdout=console,
                stderr=self.rope,
                start_new_session=True,
                pass_fds=[self.line.bell],
            )
        self.exits.callback(self._kill)
        self.line.theirs.close()

    def ask(self, on_event=lambda event: None, **question):
        """One question to the agent; see `netlab.engines.agent_line.Line.ask`.

        Raises
        ------
        GuestError
            The guest died, or the wall-clock limit has passed.
        """
        if self.process is None:
            raise GuestError("this guest has been closed")
        try:
            return self.line.ask(on_event, **question)
        except OutOfTime as error:
            failure = f"the guest {error}"
        except LineDown:
            failure = f"the guest died ({self._cause()})"
        self._fail(failure)

    def _cause(self):
        try:
            status = self.process.wait(5)
        except subprocess.TimeoutExpired:
            return "it was interrupted"
        known = {
            134: "its memory file did not fit: set TMPDIR to a folder with more room",
            -6: "its kernel panicked",
            -7: "its memory file did not fit: set TMPDIR to a folder with more room",
            -9: "it was killed, perhaps because this machine ran out of memory",
        }
        return known.get(status, f"status {status}")

    def _fail(self, message):
        """End the guest, keep everything it left, raise."""
        self._kill()
        evidence = (
            store.cache_folder()
            / "evidence"
            / f"{time.strftime('%Y%m%d-%H%M%S')}-{self.folder.name}"
        )
        evidence.mkdir(parents=True)
        console = ""
        for name in ("console", "j/agent.log"):
            with contextlib.suppress(OSError):
                shutil.copy(self.folder / name, evidence)
                console += (self.folder / name).read_text(errors="replace")[-3000:]
        self.close()
        raise GuestError(
            f"{message}\n{console.strip()}\nEverything it left is in {evidence}", console, evidence
        )

    def _kill(self):
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, 9)
            self.process.wait()

    def close(self):
        """End the guest at once and leave nothing behind."""
        self.exits.close()
        self.process = None


@contextlib.contextmanager
def watched(folder):
    """A watcher in a session of its own cleans up if this process is killed; -> the end of its pipe
    that the guest is told on.
    """
    theirs, ours = os.pipe()
    watcher = subprocess.Popen(
        ["sh", "-c", WATCH, "netlab-watch", folder],
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    )
    os.close(theirs)
    try:
        yield ours
    finally:
        with contextlib.suppress(BrokenPipeError):
            os.write(ours, b"bye\n")
        os.close(ours)
        watcher.wait()


def run_folder():
    """The folder of this user's running guests."""
    folder = Path(tempfile.gettempdir()) / f"netlab-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise EngineError(f"{folder} belongs to somebody else: set TMPDIR to a folder of your own")
    return folder


def hold(path):
    """Lock a file for as long as this process lives; -> descriptor, or None where another process
    holds it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def sweep():
    """Delete the folders of guests whose parent and watcher were both killed."""
    for folder in run_folder().glob("guest-*"):
        with contextlib.suppress(OSError):
            if (
                time.time() - folder.stat().st_mtime > 60
                and (descriptor := hold(folder / "lock")) is not None
            ):
                shutil.rmtree(folder, ignore_errors=True)
                os.close(descriptor)


@contextlib.contextmanager
def one_cpu():
    """One of the CPUs this process may use, held by a lock so that guests running at once are
    pinned to different ones.
    """
    usable = sorted(os.sched_getaffinity(0))
    # other containers on this machine take one, too
    for number in random.sample(usable, len(usable)):
        descriptor = hold(run_folder() / f"cpu-{number}")
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


@cache
def memory_folder():
    """A folder for the guest's memory file: it must allow executable mappings and have room.

    Raises
    ------
    EngineError
        None of the usual folders will do; the message says why for each.
    """
    refused = []
    for folder in filter(
        None, [os.environ.get("TMPDIR"), "/dev/shm", "/tmp", "/var/tmp", str(Path.home())]
    ):
        reason = unfit(folder)
        if reason is None:
            return Path(folder)
        refused.append(f"{folder}: {reason}")
    raise EngineError(
        f"no folder can hold the guest's memory of {store.MEMORY_MB} MB ({'; '.join(refused)}): set"
        " TMPDIR to one that can"
    )


def unfit(folder):
    """Why a folder cannot hold the guest's memory file, or None."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.truncate(4096)
            mmap.mmap(
                file.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_SHARED
            ).close()
        free_mb = shutil.disk_usage(folder).free >> 20
        return None if free_mb >= store.MEMORY_MB else f"only {free_mb} MB free"
    except PermissionError:
        return "programs may not run from it (noexec), or it is not yours"
    except OSError as error:
        return error.strerror
