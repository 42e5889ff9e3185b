"""Where built engines live: a cache outside the checkout, content-addressed, moved by NETLAB_CACHE
or XDG_CACHE_HOME.

::

    <cache>/kernel-<id>/     linux, shim.so                     <id>: source, configuration,
    patches, shim <cache>/rootfs-<id>/     the guest's root file system       <id>: every path, mode
    and content in it <cache>/engine.json      which of them is in use, and what is in them
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

from netlab.errors import EngineError

HERE = Path(__file__).parent
RECIPE = sorted([*HERE.glob("kernel/*"), HERE / "rootfs.txt", HERE / "shim.c"])
# What else decides a run's bytes: the scripts a guest boots with, and its kernel's command line.
BOOTED = [HERE.parent / "agent.py", HERE / "boot.sh"]
MEMORY_MB = 1024
COMMAND_LINE = [
    f"mem={MEMORY_MB}M",
    "time-travel-start=1700000000000000000",
    "norandmaps",
    "seccomp=on",
    "uml_dir=.",
    "umid=u",
    "rootfstype=hostfs",
    "rootflags=r",
    "ro",
    "init=/netlab-init",
    "con=null",
    "con0=null,fd:1",
    "quiet",
    "JOB=j",
    "PYTHONHASHSEED=0",
    "GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4,-POPCNT",
    "tt_syscall_ns=1000",
    "tt_byte_shift=4",
]
HOW_TO_GET_ONE = (
    "run `netlab engine build` (about five minutes, once), or `netlab engine import FILE` with one"
    " built elsewhere"
)


def cache_folder():
    """The folder that holds engines: $NETLAB_CACHE, $XDG_CACHE_HOME/netlab or ~/.cache/netlab."""
    if folder := os.environ.get("NETLAB_CACHE"):
        return Path(folder).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "netlab"


def digest_of(*parts):
    """Twelve hexadecimal digits that stand for these texts, bytes or files."""
    whole = hashlib.sha256()
    for part in parts:
        content = (
            part.read_bytes()
            if isinstance(part, Path)
            else part.encode()
            if isinstance(part, str)
            else part
        )
        whole.update(hashlib.sha256(content).digest())
    return whole.hexdigest()[:12]


def recipe_digest():
    """Stands for everything an engine is built from, except what the package registry hands out."""
    return digest_of(*RECIPE)


def tree_digest(root):
    """Stands for every path, mode, link and content below `root`; owners, times and inode numbers
    do not count.
    """
    whole = hashlib.sha256()
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted([*folders, *files]):
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if path.is_symlink():
                content = os.readlink(path).encode()
            else:
                content = path.read_bytes() if stat.S_ISREG(mode) else b""
            line = (
                f"{path.relative_to(root)} {0 if path.is_symlink() else mode:o}"
                f" {hashlib.sha256(content).hexdigest()}\n"
            )
            whole.update(line.encode())
    return whole.hexdigest()[:12]


class Build:
    """A built engine.

    Attributes
    ----------
    linux, shim, rootfs : pathlib.Path
        Kernel binary, preloaded library and root file system.
    digest : str
        Stands for everything that decides a run's bytes; every result carries it.
    about : dict
        ``kernel``, ``iperf3``, ``mininet`` (versions), ``congestion`` (the algorithms the kernel
        has), ``source``.
    """

    def __init__(self, cache, record):
        self.record = record
        self.about = record.get("about", {})
        self.linux = cache / f"kernel-{record['kernel']}" / "linux"
        self.shim = self.linux.with_name("shim.so")
        self.rootfs = cache / f"rootfs-{record['rootfs']}"
        self.digest = digest_of(record["kernel"], record["rootfs"], *BOOTED, " ".join(COMMAND_LINE))

    def __repr__(self):
        return (
            f"<Build {self.digest}: Linux {self.about.get('kernel')}, iperf3"
            f" {self.about.get('iperf3')}>"
        )


def current():
    """The engine in use.

    Raises
    ------
    EngineError
        None is built, or it was built from another recipe than this netlab's.
    """
    cache = cache_folder()
    try:
        record = json.loads((cache / "engine.json").read_text())
    except FileNotFoundError:
        raise EngineError(f"no engine in {cache}: {HOW_TO_GET_ONE}") from None
    if record["recipe"] != recipe_digest():
        raise EngineError(
            f"the engine in {cache} was built by another version of netlab: {HOW_TO_GET_ONE}"
        )
    build = Build(cache, record)
    missing = [str(path) for path in (build.linux, build.shim, build.rootfs) if not path.exists()]
    if missing:
        raise EngineError(f"the engine in {cache} lacks {', '.join(missing)}: {HOW_TO_GET_ONE}")
    return build


def use(record):
    """Make this the engine in use."""
    write(cache_folder() / "engine.json", json.dumps(record, indent=1, sort_keys=True) + "\n")
    return current()


def write(path, text):
    """Write a file whole or not at all."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=path.name, delete=False) as file:
        file.write(text)
    os.replace(file.name, path)


@contextlib.contextmanager
def workshop():
    """A private folder in the cache for building in; one builder at a time, and nothing half-made
    is left behind.
    """
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another build is under way: waiting for it.", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        # of a builder that was killed: we hold its lock now
        for leftover in cache.glob("building-*"):
            remove_tree(leftover)
        folder = Path(tempfile.mkdtemp(prefix="building-", dir=cache))
        try:
            yield folder
        finally:
            remove_tree(folder)


def keep(folder, name):
    """Move a finished folder of the workshop to its place in the cache, unless the same is there
    already.
    """
    place = cache_folder() / name
    if not place.exists():
        os.rename(folder, place)
    return place


def remove_tree(folder):
    """Delete a folder even where packages left folders read-only."""
    for path, _, _ in os.walk(folder):
        with contextlib.suppress(OSError):
            os.chmod(path, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def export(path):
    """Write the engine in use to one file, to be handed to others."""
    build = current()
    path = Path(path)
    partial = path.with_name(path.name + ".part")
    parts = [build.linux.parent.name, build.rootfs.name, "engine.json"]
    try:
        tar(
            "--create",
            "--gzip",
            "--file",
            partial.absolute(),
            "--directory",
            cache_folder(),
            *parts,
        )
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    return build


def tar(*words):
    """Run tar, which keeps modes and times, and never writes outside the folder it unpacks into."""
    done = subprocess.run(["tar", *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise OSError(done.stderr.strip())


def import_file(path):
    """Take over an engine that was exported elsewhere; its digests are computed anew and must be
    what it says.

    Raises
    ------
    EngineError
        The file is not a whole engine, was altered, or belongs to another version of netlab.
    """
    with workshop() as folder:
        try:
            tar(
                "--extract",
                "--no-same-owner",
                "--preserve-permissions",
                "--file",
                Path(path).absolute(),
                "--directory",
                folder,
            )
            record = json.loads((folder / "engine.json").read_text())
            kernel, rootfs = (
                folder / f"kernel-{record['kernel']}",
                folder / f"rootfs-{record['rootfs']}",
            )
            found = digest_of(kernel / "linux", kernel / "shim.so"), tree_digest(rootfs)
        except (OSError, KeyError, ValueError) as error:
            raise EngineError(
                f"{path} is not an engine that `netlab engine export` wrote: {error}"
            ) from error
        if found != (record["kernel_binary"], record["rootfs"]):
            raise EngineError(
                f"{path} was altered or damaged: it says {record['kernel_binary']},"
                f" {record['rootfs']} and is {found[0]}, {found[1]}. Ask for the file again."
            )
        if record["recipe"] != recipe_digest():
            raise EngineError(
                f"{path} was built by another version of netlab (recipe {record['recipe']}, this"
                f" one has {recipe_digest()}): use the same version as the one who exported it."
            )
        keep(kernel, kernel.name)
        keep(rootfs, rootfs.name)
        return use(record)


def remove():
    """Delete every engine in the cache."""
    cache = cache_folder()
    if not cache.exists():
        return
    with workshop():
        (cache / "engine.json").unlink(missing_ok=True)
        for folder in [*cache.glob("kernel-*"), *cache.glob("rootfs-*")]:
            remove_tree(folder)
