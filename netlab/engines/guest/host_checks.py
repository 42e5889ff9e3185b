"""Can the guest run on this machine? Tried, not guessed."""

import contextlib
import ctypes
import os
import platform
import resource
import signal
from functools import cache
from pathlib import Path

from netlab.engines.base import Finding
from netlab.engines.guest import launcher, machine, store, walls
from netlab.errors import EngineError

MEMORY_BYTES = store.MEMORY_MB << 20
CGROUPS, OWN_CGROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
MEMORY_LIMITS = ("memory.max", "memory.limit_in_bytes")  # of cgroups 2 and 1
CPU_QUOTAS = (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us"))
GUEST_BYTES, JUPYTER_BYTES = 256 << 20, 384 << 20  # what they take at most
TRAP = 0x00030000  # what a filter of seccomp(2) returns for it


def findings():
    """Check this machine; yields a `Finding` per check, without needing an engine."""
    kind, release = platform.machine(), os.uname().release
    yield judge(kind == "x86_64", "processor", kind, "the guest needs x86-64")
    version = tuple(int(part) for part in release.split("-")[0].split(".")[:2])
    older = "the guest needs Linux 5.11 or later"
    if version == (4, 4):
        older = "this is gVisor, which the guest does not run on"
    yield judge(version >= (5, 11), "kernel", f"Linux {release}", older)
    refused = "refused here: the guest cannot catch its programs' system calls"
    yield judge(in_child(seccomp_trap) == -signal.SIGSYS, "seccomp filters", "allowed", refused)
    layout, fixed = "randomisation cannot be switched off", machine.fixed_layout()
    undone = "randomisation can be switched off" if fixed else f"{layout}; its one effect is undone"
    differ = f"{layout}: results may differ from run to run"
    yield judge(fixed or can_set_break(), "address layout", undone, differ, "note")
    limit = memory_limit_bytes()
    text = f"{limit >> 20} MB may be used"
    yield judge(limit >= 512 << 20, "memory", text, f"only {text}; 512 are needed")
    space, needed = resource.getrlimit(resource.RLIMIT_AS)[0], MEMORY_BYTES + (256 << 20)
    unlimited = space == resource.RLIM_INFINITY
    text = "unlimited" if unlimited else f"{space >> 20} MB"
    less = f"`ulimit -v` allows {text}; {needed >> 20} are needed"
    yield judge(unlimited or space > needed, "address space", text, less)
    yield around_guests()
    cpus = len(os.sched_getaffinity(0))
    yield Finding("ok", "CPUs", f"{cpus}; guests at once: {guests_at_once()}")


@cache
def refusal():
    """The first check that fails on this machine, "" where none does."""
    failed = (f"{name}: {text}" for state, name, text in findings() if state == "FAIL")
    return next(failed, "")


def around_guests():
    """Which walls hold around guests and jails here."""
    try:
        found = walls.here()
    except EngineError as error:
        return Finding("FAIL", "walls", str(error))
    holding = [name for name, trouble in found.items() if not trouble]
    text = "; ".join(walls.WHAT[name] for name in holding) or "none"
    if missing := [f"{name} ({trouble})" for name, trouble in found.items() if trouble]:
        text += f"; not here: {', '.join(missing)}"
    if len(holding) < 2:
        text += ". A jail for programs of strangers needs two"
    return Finding("ok" if len(holding) > 1 else "note", "walls", text)


def judge(good, name, text, otherwise, state="FAIL"):
    return Finding("ok", name, text) if good else Finding(state, name, otherwise)


def in_child(function):
    """Run in a forked child what cannot be undone; -> its exit status, negative for a signal."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(function() or 0)
        finally:
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def seccomp_trap():
    """Trap a system call by a filter, then make it: this ends by SIGSYS where filters work."""
    call = (launcher.EQUAL, 0, 1, launcher.NR_PIVOT_ROOT)
    trap, allow = (launcher.RETURN, 0, 0, TRAP), (launcher.RETURN, 0, 0, launcher.ALLOW)
    with contextlib.suppress(OSError):
        launcher.confine_calls([(launcher.LOAD, 0, 0, 0), call, trap, allow])
        launcher.system_call(launcher.NR_PIVOT_ROOT, None, None)
    return 1


def can_set_break():
    """Does the kernel have PR_SET_MM_MAP? (PR_SET_MM_MAP_SIZE asks.)"""
    size = ctypes.c_uint32()
    return ctypes.CDLL(None).prctl(35, 15, ctypes.byref(size), 0, 0) == 0


def guests_at_once():
    """How many guests there are CPUs and memory for, in this container or job."""
    limits = [len(os.sched_getaffinity(0)), (memory_limit_bytes() - JUPYTER_BYTES) // GUEST_BYTES]
    for folder in cgroups("cpu"):
        for names in CPU_QUOTAS:
            # the other version of cgroups; no quota ("max")
            with contextlib.suppress(OSError, ValueError):
                quota, period = map(int, " ".join((folder / n).read_text() for n in names).split())
                limits += [quota // period] if quota > 0 else []
    return max(1, min(limits))


def memory_limit_bytes():
    """Memory of this machine, or of the container or job that this process is in. [byte]"""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for folder in cgroups("memory"):
        for name in MEMORY_LIMITS:
            with contextlib.suppress(OSError, ValueError):
                limits.append(int((folder / name).read_text()))
    if os.environ.get("MEM_LIMIT", "").isdigit():
        limits.append(int(os.environ["MEM_LIMIT"]))
    return min(limits)


def cgroups(controller):
    """The folders of the control groups that this process is in, each of which may have a limit."""
    found = [CGROUPS, CGROUPS / controller]
    with contextlib.suppress(OSError):
        for line in OWN_CGROUPS.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers or controller in controllers.split(","):
                root = CGROUPS / controller if controllers else CGROUPS
                own = root / path.lstrip("/")
                found += [own, *(one for one in own.parents if one.is_relative_to(root))]
    return dict.fromkeys(found)
