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

from netlab.engines.guest import launcher, machine, store
from netlab.engines.guest.machine import run_folder
from netlab.errors import EngineError

PYTHON = [sys.executable, "-I", "-S", "-B", launcher.__file__]
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
        said = subprocess.run([*PYTHON, "--try", folder], capture_output=True, text=True)
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
        self.folder, self.names = folder, standing()

    def launcher(self, build, command, environment, cpu):
        """The command that puts up the walls and then becomes `command`, the guest's kernel."""
        root = self.folder / "root"
        root.mkdir()
        seen = str(build.linux.parent)
        names, user = self.names, None
        if {"user", "namespaces"} <= {*names} and open_to_all(seen):
            user = self._own_user()
        if user is None:
            names = [name for name in names if name != "user"]
        task = {
            "command": command,
            "environment": environment,
            "readable": [seen, *libraries(build.linux, build.shim), "/proc/cpuinfo"],
            "writable": ["/dev/null"],
            "walls": names,
            "root": str(root),
            "user": user,
            "fixed_layout": bool(machine.fixed_layout()),
            "cpu": cpu,
            "largest_file": store.MEMORY_MB + 64 << 20,
        }
        return [*PYTHON, json.dumps(task)]

    def kernel(self, process):
        """Process number of the kernel that a launcher with this number has become."""
        if "namespaces" not in self.names:
            return process
        with contextlib.suppress(OSError, ValueError):
            (child,) = machine.children_of(process)
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
def libraries(program, preloaded):
    """The shared libraries of this machine that a program needs, and what finds them."""
    # ld.so(8): it says what it would load, and starts nothing
    asked = {"LD_TRACE_LOADED_OBJECTS": "1", "LD_PRELOAD": str(preloaded)}
    try:
        told = subprocess.run([program], env=asked, capture_output=True, text=True).stdout
    except OSError:
        return []  # it is no program; the launcher says so
    found = dict.fromkeys(re.findall(r"^\s+(?:\S+ => )?(/\S+) \(", told, re.MULTILINE))
    found |= {path: None for path in ("/etc/ld.so.cache",) if os.path.exists(path)}
    return [path for path in found if path != str(preloaded)]
