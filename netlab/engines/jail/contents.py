"""What a jail has to run: this Python with the packages that netlab needs, and netlab.

They are copied to two folders of the cache, down to the C library, and a jail sees their archives.
"""

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from functools import cache
from importlib import metadata
from pathlib import Path

from netlab.engines.cache import JAIL, cache_folder
from netlab.engines.files import named
from netlab.engines.guest import archives
from netlab.engines.guest.store import work_folder
from netlab.errors import DISTRIBUTION, EngineError, installed, needs_notebooks

PACKAGES = (DISTRIBUTION, "ipython")  # and what they need, but for extras
LEFT_OUT = shutil.ignore_patterns(
    *("__pycache__", "site-packages", "dist-packages", "test", "tests", "idlelib", "ensurepip"),
    *("tkinter", "_tkinter*", "turtledemo", "config-*", "lib2to3", "*.a"),
)
NOT_IN_JAILS = {"idlelib", "ensurepip", "tkinter", "turtledemo", "turtle", "lib2to3"}
ARCHIVE = "jail.tar"
LOADER = "ld-linux-x86-64.so.2"
UNUSED_S = 7 * 86_400
OWN = Path(__file__).parents[2]  # netlab


def contents():
    """The folders of Python and of netlab, made where missing; those unused for a week go."""
    python, own, packages = identities()
    return (
        made(f"jail-python-{python}", lambda to: copy_python(to, packages)),
        made(f"jail-netlab-{own}", lambda to: copy_netlab(to, f"jail-python-{python}")),
    )


@cache
def identities():
    """Digests of all that is in the two folders, and the packages in the first."""
    packages = needed()
    versions = sorted((name, package.version) for name, package in packages.items())
    python = hashlib.sha256(f"{sys.version} {versions}".encode())
    own = hashlib.sha256(python.digest())
    for path in sorted(OWN.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:  # as `copy_netlab`
            own.update(f"{path.relative_to(OWN)}\0".encode() + path.read_bytes())
    return python.hexdigest()[:12], own.hexdigest()[:12], packages


def made(name, make):
    """The folder of this name in the cache, which `make` fills where it is missing."""
    place = cache_folder() / name
    with contextlib.suppress(OSError):  # in use, as of now; perhaps the cache is read-only
        os.utime(place)
    if place.is_dir():
        return place
    with work_folder() as work:
        if not place.is_dir():  # by now, another process may have made it
            try:
                make(work / name)
                open_to_all(work / name)
                archives.pack(work / name, work / name / ARCHIVE)
                for old in named(cache_folder(), JAIL):
                    if time.time() - old.stat().st_mtime > UNUSED_S:
                        os.rename(old, work / f"old-{old.name}")  # deleted with it
                os.rename(work / name, place)
            except OSError as error:
                raise EngineError(f"no jail can be made in {place}: {error}") from error
    return place


def needed(packages=None):
    """The installed packages that a jail has, by name; or these, and what they need."""
    with needs_notebooks("course", "what makes and grades problem sets"):
        from packaging.requirements import Requirement
    found, names = {}, list(PACKAGES if packages is None else packages)
    while names:
        name = re.sub(r"[-_.]+", "-", names.pop()).lower()
        if name in found:
            continue
        try:
            found[name] = installed() if name == DISTRIBUTION else metadata.distribution(name)
        except metadata.PackageNotFoundError:
            raise EngineError(
                f"a jail needs the Python package {name}, which is not installed here: `pip install"
                f" {name}`"
            ) from None
        for text in found[name].requires or ():
            requirement = Requirement(text)
            if not requirement.marker or requirement.marker.evaluate({"extra": ""}):
                names.append(requirement.name)
    return found


def modules():
    """Names of the modules that can be imported in a jail: Python's own and those of `needed`."""
    names = {*sys.stdlib_module_names, OWN.name} - NOT_IN_JAILS
    for package in needed().values():
        files = (line.partition(",")[0] for line in (package.read_text("RECORD") or "").split("\n"))
        tops = {file.partition("/")[0].partition(".")[0] for file in files if ".py" in file}
        names |= set(filter(str.isidentifier, tops))
    return frozenset(names)


def copy_netlab(folder, python):
    shutil.copytree(OWN, folder / "netlab", ignore=shutil.ignore_patterns("__pycache__"))
    compile_all(cache_folder() / python, folder)


def copy_python(folder, packages):
    """The interpreter, its library, the packages but for netlab, and shared libraries."""
    print("Python is copied: half a minute.", flush=True)
    for name, package in packages.items():
        for file in (package.files or ()) if name != DISTRIBUTION else ():
            if file.parts[0] != ".." and not {"tests", "__pycache__"} & {*file.parts}:
                copy(file.locate(), folder / "site" / file)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    stdlib = Path(sysconfig.get_path("stdlib"))
    shutil.copytree(stdlib, folder / sys.platlibdir / version, ignore=LEFT_OUT)
    copy(os.path.realpath(sys.executable), folder / "bin/python3")
    libraries = {}
    for program in [folder / "bin/python3", *sorted(folder.rglob("*.so*"))]:
        libraries |= linked(program, folder)
    for name, path in libraries.items():
        copy(path, folder / "lib64" / name)
    if not (folder / "lib64" / LOADER).is_file():
        raise EngineError(f"{sys.executable} does not use {LOADER}: a jail needs x86-64 Linux")
    compile_all(folder, folder)


def open_to_all(folder):
    """Let nobody, who runs in the jail, read it, whatever the umask of its maker."""
    for path, _, names in os.walk(folder):
        os.chmod(path, 0o755)
        for name in names:
            os.chmod(os.path.join(path, name), 0o755)


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o700)  # it is run before `open_to_all`


def linked(program, folder):
    """The shared libraries of this machine that a program or library needs, by name."""
    told = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    found = dict(re.findall(r"(\S+) => (/\S+)", told))
    if loader := re.search(rf"^\s*(/\S*{LOADER}) ", told, re.MULTILINE):
        found[LOADER] = loader[1]
    return {os.path.basename(name): path for name, path in found.items() if str(folder) not in path}


def compile_all(python, folder):
    """Byte code for all of a folder, by the jail's own Python: nothing in a jail can write it."""
    start = [python / "lib64" / LOADER, "--library-path", python / "lib64", python / "bin/python3"]
    environment = {"PYTHONHOME": str(python), "PYTHONHASHSEED": "0"}
    if subprocess.run([*start, "-S", "-P", "-c", ""], env=environment).returncode:
        raise EngineError(f"the copy of {sys.executable} in {python} does not start")
    start += ["-S", "-P", "-m", "compileall"]  # -P: not one of the working directory
    subprocess.run(
        [*start, "-q", "--invalidation-mode", "unchecked-hash", folder],
        env=environment,
        stdout=subprocess.DEVNULL,  # some packages have files for other versions of Python
    )
