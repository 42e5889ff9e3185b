"""Ten experiments again in ten environments: how many bytes differ. `make bench
ARGS="-k environments -s"` prints a table; ENVIRONMENTS, with commas between, chooses some by a word
of their names.
"""

import contextlib
import itertools
import json
import os
import resource
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import netlab as nl
from netlab.engines.guest import store
from tests.benchmarks.test_elsewhere import EXPERIMENTS
from tests.test_repeats import LOCALE, PYTHON, ROOT, limits, no_personality

CHOSEN = os.environ.get("ENVIRONMENTS", "").split(",")


def little_memory():
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


def other_python():
    """The system's, where it can use the packages of this one; else this one, optimised."""
    found = shutil.which("python3", path="/usr/bin:/bin")
    version = "import sys; print(*sys.version_info[:2])"
    if found and subprocess.check_output([found, "-c", version]).split() == [
        str(one).encode() for one in sys.version_info[:2]
    ]:
        return [found]
    return [sys.executable, "-OO"]


@contextlib.contextmanager
def busy():
    """Twice as many busy processes as there are CPUs, and one that allocates all the time."""
    programs = ["while True: pass"] * (2 * os.cpu_count())
    programs += ["while True: bytearray(200 << 20)"]
    started = [
        subprocess.Popen(["nice", "-n", "19", sys.executable, "-c", program])
        for program in programs
    ]
    try:
        yield
    finally:
        for one in started:
            one.kill()
            one.wait()


ENVIRONMENTS = {
    "60 kB of variables": {"env": {f"PADDING_{i}": "x" * 1000 for i in range(60)}},
    "another locale, time zone and hash seed": {"env": LOCALE | PYTHON, "umask": 0o077},
    "a stack of 1 MB, 256 open files": {"preexec_fn": limits},
    "4 GB of addresses": {"preexec_fn": little_memory},
    "one CPU, the lowest priority": {
        "prefix": ["taskset", "-c", str(max(os.sched_getaffinity(0))), "nice", "-n", "19"]
    },
    "a busy machine": {"beside": busy},
    "another Python": {"python": other_python()},
    "no personality(2), as in Docker": {"preexec_fn": no_personality},
}
AS_ROOT = {
    "namespaces of its own": {
        "prefix": ["unshare", "--fork", "--pid", "--mount-proc", "--net", "--uts", "--ipc"]
    },
    "another user, folder and cache": {
        "python": other_python(),
        **{"user": 65534, "group": 65534, "extra_groups": []},
    },
}


def for_nobody(folder):
    """Make a folder that of an ordinary user, with a copy of the engine; -> where it runs there."""
    cache = folder / "cache of another"
    others = shutil.ignore_patterns("jail-*", "sweeps", "evidence", "graded")
    shutil.copytree(store.current().folder, cache, symlinks=True, ignore=others)
    for parent, _, files in os.walk(folder):
        for path in (parent, *(os.path.join(parent, name) for name in files)):
            os.chown(path, 65534, 65534, follow_symlinks=False)
    for parent in (folder, *folder.parents[:-2]):
        os.chmod(parent, 0o755)
    own = {"HOME": str(folder), "TMPDIR": str(folder), "NETLAB_CACHE": str(cache)}
    return {"cwd": folder, "env": own}


def left_by_all():
    """What each experiment leaves, as bytes."""
    return {
        name: json.dumps([result.raw, result.commands]).encode()
        for seed, (name, (path, traffic)) in enumerate(EXPERIMENTS.items())
        for result in [nl.run(path, *traffic, seed=seed, engine="guest")]
    }


def left_in(folder, env=(), prefix=(), python=None, beside=contextlib.nullcontext, **options):
    """The same of another process."""
    packages = [str(ROOT), sysconfig.get_path("purelib"), os.environ.get("PYTHONPATH", "")]
    command = [*prefix, *(python or [sys.executable]), "-m", __name__, str(folder / "left")]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(packages)} | dict(env)
    with beside():
        subprocess.run(command, env=env, check=True, **{"cwd": ROOT} | options)
    texts = json.loads((folder / "left").read_text())
    return {name: text.encode() for name, text in texts.items()}


def differing(one, other):
    """How many bytes differ."""
    return sum(a != b for a, b in itertools.zip_longest(one, other)) if one != other else 0


def test_ten_experiments_in_ten_environments_leave_the_same_bytes(tmp_path):
    here = left_by_all()
    assert len(here) == 10 and differing(here["portfolio"], here["fq_codel"]) > 0
    print(f"\nengine {store.current().digest}")
    print("| environment | reruns | bytes | that differ |\n|---|---|---|---|")
    reruns, wrong = 0, {}
    tried = ENVIRONMENTS | (AS_ROOT if os.geteuid() == 0 else {})
    for name, options in tried.items():
        if not any(word in name for word in CHOSEN):
            continue
        if "user" in options:
            options |= for_nobody(tmp_path)
        there = left_in(tmp_path, **options)
        differ = {one: differing(here[one], there[one]) for one in here}
        wrong |= {(name, one): count for one, count in differ.items() if count}
        total, reruns = sum(map(len, here.values())), reruns + len(there)
        print(f"| {name} | {len(there)} | {total} | {sum(differ.values())} |", flush=True)
        (tmp_path / "left").unlink()
    print(f"{reruns} reruns, {len(wrong)} differ")
    assert wrong == {}


if __name__ == "__main__":
    texts = {name: data.decode() for name, data in left_by_all().items()}
    Path(sys.argv[1]).write_text(json.dumps(texts))
