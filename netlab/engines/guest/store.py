"""Built engines, in the cache (`netlab.engines.cache`)::

kernel-<id>/     linux, shim.so, copyright          <id>: source, configuration, patches, shim
rootfs-<id>/     root.tar                           <id>: the root file system's every byte
engine.json      which of them is in use, and what is in them
engine.stamp     what its files looked like when they were last found sound (`integrity`)
"""

import contextlib
import fcntl
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, StringConstraints, ValidationError

from netlab.engines import files
from netlab.engines.cache import ENGINE, MAKING, cache_folder, own_cache
from netlab.engines.guest import integrity
from netlab.engines.guest.integrity import digest_of, hash_of, joined
from netlab.errors import EngineError

HERE = Path(__file__).parent
KERNEL_RECIPE = [*sorted(HERE.glob("kernel/*")), HERE / "shim.c"]
RECIPE = sorted([*KERNEL_RECIPE, HERE / "rootfs.txt", HERE / "engine.lock"])
# What else decides a run's bytes: the scripts a guest boots with, and its kernel's command line.
BOOTED = [HERE.parent / "agent.py", HERE / "boot.sh"]
ARCHIVE = "root.tar"
MEMORY_MB = 1024
# The kernel mixes this text into its random numbers: any change in it changes every result.
# docs/engine.md says of each word why it is there.
COMMAND_LINE = [
    *(f"mem={MEMORY_MB}M", "time-travel-start=1700000000000000000", "norandmaps", "seccomp=on"),
    *("uml_dir=.", "umid=u", "rootfstype=hostfs", "rootflags=r", "ro", "init=/netlab-init"),
    *("con=null", "con0=null,fd:1", "quiet", "JOB=j", "PYTHONHASHSEED=0"),
    *("GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4,-POPCNT", "tt_syscall_ns=1000"),
    "tt_byte_shift=4",
]
HOW_TO_GET_ONE = (
    "run `netlab engine build` (about five minutes, once), or `netlab engine import FILE` with one"
    " built elsewhere"
)
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{12}$")]
SHA256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class About(BaseModel):
    kernel: str
    iperf3: str
    mininet: str
    congestion: list[str]


class EngineRecord(BaseModel):
    """What an engine.json must have."""

    recipe: Digest
    kernel: Digest
    kernel_binary: Digest
    rootfs: Digest
    source_sha256: SHA256  # of the kernel's source tarball
    about: About


def recipe_digest():
    """Digest of everything that an engine is built from."""
    return digest_of(*RECIPE)


def ticks_per_s():
    """How often a second the kernel's timers advance: TCP's timeouts, and those of programs."""
    config = (HERE / "kernel/config").read_text(encoding="utf-8")
    return int(re.search(r"^CONFIG_HZ=(\d+)$", config, re.M)[1])


def kernel_id(source_sha256):
    """The name of a kernel built from the source tarball with this SHA-256."""
    return joined([source_sha256, *map(hash_of, KERNEL_RECIPE)])


class Build:
    """A built engine in a folder, with its ``engine.json``: `linux`, `shim`, `archive` are paths.

    `digest` is of everything that decides a run's bytes; `about` has the versions ``kernel``,
    ``iperf3`` and ``mininet``, the list ``congestion``, and ``source``.
    """

    def __init__(self, folder, record):
        self.folder, self.record = folder, record
        self.about = record.get("about", {})
        self.linux = folder / f"kernel-{record['kernel']}" / "linux"
        self.shim = self.linux.with_name("shim.so")
        self.rootfs = folder / f"rootfs-{record['rootfs']}"
        self.archive = self.rootfs / ARCHIVE
        self.digest = digest_of(record["kernel"], record["rootfs"], *BOOTED, " ".join(COMMAND_LINE))

    def __repr__(self):
        about = f"Linux {self.about.get('kernel')}, iperf3 {self.about.get('iperf3')}"
        return f"<Build {self.digest}: {about}>"


def current():
    """The engine in use; an EngineError where there is none, or a damaged or older one."""
    cache = cache_folder()
    path = cache / "engine.json"
    try:
        record = read_record(path)
    except FileNotFoundError:
        raise EngineError(f"no engine in {cache}: {HOW_TO_GET_ONE}") from None
    except (OSError, ValueError) as error:
        raise EngineError(
            f"{path} does not say which engine is in use ({error}): {HOW_TO_GET_ONE}"
        ) from None
    if record["recipe"] != recipe_digest():
        raise EngineError(
            f"the engine in {cache} was built by another version of netlab: {HOW_TO_GET_ONE}"
        )
    build = Build(cache, record)
    check(build)
    return build


def check(build):
    """Refuse an engine that is not what it was when it was built or imported."""
    try:
        damage = integrity.damage(build, cache_folder() / "engine.stamp")
    except (OSError, ValueError) as error:  # a file is missing, or its name is not text
        damage = [str(error)]
    if damage:
        raise EngineError(
            f"the engine in {build.folder} is damaged, so nothing is run on it"
            f" ({', '.join(damage)}): {HOW_TO_GET_ONE}"
        )


def read_record(path):
    """What an engine.json says; an OSError or ValueError where that is not whole."""
    text = path.read_text(encoding="utf-8")
    try:
        EngineRecord.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or path.name
        raise ValueError(f"{field}: {first['msg'].partition(chr(10))[0]}") from None
    return json.loads(text)


def use(record):
    """Make this the engine in use."""
    files.write(cache_folder() / "engine.json", json.dumps(record, indent=1, sort_keys=True) + "\n")
    return current()


def sound_kernel(name):
    """The folder of this name, where it has the kernel of the engine in use and is sound."""
    folder = cache_folder() / name
    with contextlib.suppress(OSError, ValueError):
        record = read_record(cache_folder() / "engine.json")
        if (name, integrity.kernel_digest(folder)) == (
            f"kernel-{record['kernel']}",
            record["kernel_binary"],
        ):
            return folder
    return None


@contextlib.contextmanager
def work_folder():
    """A temporary folder in the cache to make an engine in, for one process at a time."""
    cache = cache_folder()
    try:
        lock = open(own_cache() / "lock", "a")  # noqa: SIM115
    except OSError as error:
        raise EngineError(
            f"no engine can be kept in {cache}: {error.strerror}. NETLAB_CACHE names another"
            " folder, a new or an empty one"
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another build is under way: waiting for it.", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        # of a process that was killed: we hold its lock now
        files.prune(cache, MAKING)
        folder = Path(tempfile.mkdtemp(prefix="making-", dir=cache))
        try:
            yield folder
        finally:
            files.remove_tree(folder)


def install(folder, name, digest):
    """Move a finished part into the cache, unless `digest` of what is there is the same."""
    place = cache_folder() / name
    if place.exists():
        with contextlib.suppress(OSError):
            if digest(place) == digest(folder):
                return place
        os.rename(place, folder.with_name(f"replaced-{name}"))  # deleted with the work folder
    os.rename(folder, place)
    return place


def remove():
    """Delete the engines in the cache, and nothing else there."""
    cache = cache_folder()
    if not cache.exists():
        return
    with work_folder() as folder:
        for path in files.named(cache, rf"{ENGINE}|engine\.(json|stamp)"):
            os.rename(path, folder / path.name)
