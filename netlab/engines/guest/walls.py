"""Which walls stand around a guest on this machine; `launcher` puts them up."""

import contextlib
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
from functools import cache

from netlab.engines.guest import failure, launcher, machine, watcher
from netlab.engines.guest.machine import run_folder
from netlab.errors import EngineError

PYTHON = [sys.executable, "-I", "-S", "-B"]  # which runs a file that needs nothing else
LOADER, LOADER_CACHE = "/lib64/ld-linux-x86-64.so.2", "/etc/ld.so.cache"
# before 2.34 the C library had parts of its own
LIBRARIES = "libc.so.6", "libpthread.so.0", "librt.so.1", "libdl.so.2", "libutil.so.1"
LARGEST_FILE_BYTES = failure.MOST_BYTES + (1 << 20)  # the console; no file else is written to
WHAT = {
    "files": "Landlock: no file but the guest's own",
    "namespaces": "namespaces: nothing but the guest's files, processes and network",
    "calls": "seccomp: no system call but those that the guest's kernel needs",
    "user": "a user id of its own, as root starts it",
}


@cache
def here():
    """What stands in the way of each wall on this machine: by name, "" where it holds."""
    with tempfile.TemporaryDirectory(dir=run_folder()) as folder:
        command = [*PYTHON, launcher.__file__, "--try", folder]
        said = subprocess.run(command, capture_output=True, text=True)
    if said.returncode:
        raise EngineError(f"the walls around a guest cannot be tried: {said.stderr.strip()}")
    return json.loads(said.stdout)


def standing():
    """Names of the walls that hold on this machine, as in `launcher.NAMES`."""
    return [name for name, trouble in here().items() if not trouble]


def check_for_strangers():
    """Refuse to run a stranger's program behind one wall, unless NETLAB_ONE_WALL is 1."""
    if len(standing()) < 2 and os.environ.get("NETLAB_ONE_WALL") != "1":
        missing = "; ".join(f"{name}: {text}" for name, text in here().items() if text)
        raise EngineError(
            "a jail for programs of strangers needs two walls around it, and"
            f" {len(standing())} holds on this machine ({missing}). Take a machine with Linux 5.13"
            " or later (Landlock), or one that allows namespaces. `netlab course grade --one-wall`"
            " (or NETLAB_ONE_WALL=1) starts jails all the same: then one mistake in that wall gives"
            " a stranger your files"
        )


class Walls(contextlib.ExitStack):
    """The walls around one guest, which has this folder of its own."""

    def __init__(self, folder):
        super().__init__()
        self.folder, self.names, self.user = folder, standing(), None

    def launcher(self, build, command, environment, cpu):
        """The command that puts up the walls and then becomes `command`, the guest's kernel."""
        root = self.folder / "root"
        root.mkdir()
        seen = str(build.linux.parent)
        names = self.names
        if {"user", "namespaces"} <= {*names} and open_to_all(seen):
            self.user = self._own_user()
        if self.user is None:
            names = [name for name in names if name != "user"]
        fixed_layout = bool(machine.fixed_layout())
        # by which the preloaded library puts the layout right where the kernel does not
        layout = [] if fixed_layout else ["/proc/self/stat"]
        task = {
            "command": command,
            "environment": environment,
            "readable": [seen, *libraries(), "/proc/cpuinfo", *layout],
            "writable": ["/dev/null"],
            "walls": names,
            "root": str(root),
            "user": self.user,
            "fixed_layout": fixed_layout,
            "cpu": cpu,
            "memory_bytes": machine.MEMORY_FILE_MB << 20,
            "largest_file": LARGEST_FILE_BYTES,
            "most_processes": 2 * machine.MOST_PROCESSES,  # its watcher ends it before
        }
        return [*PYTHON, launcher.__file__, json.dumps(task)]

    def kernel(self, process):
        """Process number of the kernel that a launcher with this number has become."""
        if "namespaces" not in self.names:
            return process
        with contextlib.suppress(OSError, ValueError):
            (child,) = watcher.children_of(process)
            return int(child)
        return process  # it has ended

    def _own_user(self):
        """A user id that no other guest of ours has."""
        for user in launcher.OWN_USERS:
            if (descriptor := machine.try_lock(run_folder() / f"user-{user}")) is not None:
                self.callback(os.close, descriptor)
                return user
        return None


def open_to_all(folder):
    """May everybody read this folder and what lies in it? A umask may have closed it."""
    found = [folder, *(entry.path for entry in os.scandir(folder) if not entry.is_symlink())]
    return all(os.stat(path).st_mode & 0o005 >= stat.S_IROTH for path in found)


@cache
def libraries():
    """The C library of this machine, and what finds it: all that a guest's kernel needs.

    The loader is asked, and not the kernel, whose file may be anybody's: a static program would
    run, and a linked one can name a library that does.
    """
    try:
        command = [LOADER, "--list", sys.executable]  # it needs the C library, too
        told = subprocess.run(command, env={}, capture_output=True, text=True).stdout
    except OSError:
        return []  # the launcher says what it cannot start
    found = re.findall(r"^\s+(?:\S+ => )?(/\S+) \(", told, re.MULTILINE)
    folders = {os.path.dirname(path) for path in found if os.path.basename(path) == LIBRARIES[0]}
    found = [os.path.join(folder, name) for folder in folders for name in LIBRARIES]
    return [path for path in dict.fromkeys([*found, LOADER, LOADER_CACHE]) if os.path.exists(path)]
