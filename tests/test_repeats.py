"""What surrounds a run changes no event in it: not the machine's load, not who runs it, nor where,
nor with what environment, locale or limits. Where something does, the test names the first event
that differs.
"""

import ctypes
import os
import resource
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from netlab.engines.guest import store
from tests import cases, traced

ROOT = Path(__file__).parent.parent
PERSONALITY, NO_NEW_RIGHTS, SET_SECCOMP = 135, 38, 22  # a system call, and two of prctl's options
# asks for the call's number; refuses this one with EPERM, allows all others
REFUSING = [(0x20, 0, 0, 0), (0x15, 0, 1, PERSONALITY), (6, 0, 0, 0x50001), (6, 0, 0, 0x7FFF0000)]


def in_another_process(tmp_path, name, prefix=(), environment=(), **options):
    """The same experiment, traced by another process."""
    kept = tmp_path / f"{name}.npz"
    modules = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    subprocess.run(
        [*prefix, sys.executable, "-m", "tests.traced", str(kept)],
        check=True,
        cwd=options.pop("cwd", ROOT),
        env=os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": modules} | dict(environment),
        **options,
    )
    with np.load(kept) as events:
        return dict(events)


@pytest.fixture(scope="module")
def before():
    return traced.trace(traced.experiment())


def limits():
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))


def no_personality():
    """As in a container with Docker's profile: nobody switches address randomisation off."""
    libc = ctypes.CDLL(None, use_errno=True)
    filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in REFUSING))
    program = struct.pack("HxxxxxxP", len(REFUSING), ctypes.addressof(filters))
    assert libc.prctl(NO_NEW_RIGHTS, 1, 0, 0, 0) == libc.prctl(SET_SECCOMP, 2, program) == 0


LOCALE = {"LC_ALL": "C", "LANG": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu"}
PYTHON = {"PYTHONHASHSEED": "77", "PYTHONDONTWRITEBYTECODE": "1"}
SURROUNDINGS = {
    "a large environment, a stack of 1 MB, 256 files, an umask of 077": {
        "environment": {f"PADDING_{i}": "x" * 1000 for i in range(60)},
        "preexec_fn": limits,
        "umask": 0o077,
    },
    "as before": {},
    "another locale, time zone and hash seed, no byte code, a low priority, an umask of 0": {
        "environment": LOCALE | PYTHON,
        "prefix": ("nice", "-n", "5"),
        "umask": 0,
    },
    "no personality(2), as in a container": {"preexec_fn": no_personality},
}


@pytest.mark.parametrize("surroundings", cases(SURROUNDINGS))
def test_what_surrounds_a_run_changes_no_event(surroundings, before, tmp_path):
    again = in_another_process(tmp_path, "again", **SURROUNDINGS[surroundings])
    assert traced.first_difference(before, again) is None


def test_a_cache_whose_name_the_loader_would_split_changes_no_event(before, tmp_path):
    """LD_PRELOAD ends at a space or a colon: without its library each run is another one."""
    cache = tmp_path / "a cache: of somebody"
    cache.mkdir()
    for path in store.current().folder.iterdir():
        if path.is_dir() and path.name.startswith(("kernel-", "rootfs-")):
            shutil.copytree(path, cache / path.name, symlinks=True)
        elif path.is_file():
            shutil.copy2(path, cache)
    again = in_another_process(tmp_path, "again", environment={"NETLAB_CACHE": str(cache)})
    assert traced.first_difference(before, again) is None


@pytest.mark.long
def test_load_changes_no_event(before, tmp_path):
    """Twice as many busy processes as there are CPUs, and one that allocates all the time. All have
    a lower priority than the tests beside them, which find a machine that is not busy.
    """
    programs = ["while True: pass"] * (2 * os.cpu_count())
    programs += ["while True: bytearray(200 << 20)"]
    last = ("nice", "-n", "19")
    busy = [subprocess.Popen([*last, sys.executable, "-c", program]) for program in programs]
    try:
        again = in_another_process(tmp_path, "again", ("nice", "-n", "10"))
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert traced.first_difference(before, again) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.long
def test_who_runs_it_changes_no_event(before, tmp_path):
    """An ordinary user who has never run anything: they build nothing, and read the same engine."""
    try:
        subprocess.run([sys.executable, "-c", ""], user=65534, check=True)
    except PermissionError:
        pytest.skip(f"{sys.executable} is root's own")
    cache = tmp_path / "cache"
    shutil.copytree(store.current().folder, cache, symlinks=True)
    for folder, _, files in os.walk(tmp_path):
        for path in (folder, *(os.path.join(folder, name) for name in files)):
            os.chown(path, 65534, 65534, follow_symlinks=False)
    for parent in (tmp_path, *tmp_path.parents[:-2]):
        os.chmod(parent, 0o755)
    again = in_another_process(
        tmp_path,
        "again",
        environment={"HOME": str(tmp_path), "NETLAB_CACHE": str(cache)},
        user=65534,
        group=65534,
        extra_groups=[],
    )
    assert traced.first_difference(before, again) is None


def test_another_seed_parts_and_the_first_event_is_named(before):
    """The comparison can fail: it finds the start of another run, and a single byte in one."""
    other = traced.trace(traced.experiment().but(seed=8))
    assert traced.first_difference(before, other).startswith("they part at")
    damaged = before | {"windows": before["windows"].copy()}
    damaged["windows"]["cwnd"][1000] += 1
    found = traced.first_difference(before, damaged)
    cwnd = before["windows"]["cwnd"][1000].item()
    assert f"in windows, event 1000: {{'cwnd': {cwnd}}}" in found and "1 of" in found


def test_a_trace_has_every_kind_of_event(before):
    assert len(before["windows"]) > 5000 and len(before["queues"]) > 20_000
    (packets,) = (events for name, events in before.items() if name.startswith("packets"))
    assert len(packets) > 5000
    assert sum(name.startswith("raw") for name in before) == 5
