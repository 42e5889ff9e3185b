"""Build the guest engine, as an ordinary user: a User-Mode Linux kernel and a root file system.

The Debian packages of `engine.lock` are fetched (`packages`) and unpacked (`rootfs`); one has the
kernel's source. The result goes to the cache (`store`); nothing is installed.
"""

import contextlib
import os
import shutil
from pathlib import Path

from netlab.engines.cache import cache_folder
from netlab.engines.guest import integrity, packages, store
from netlab.engines.guest.packages import step
from netlab.engines.guest.process import Guest
from netlab.engines.guest.rootfs import build_rootfs
from netlab.errors import EngineError

TOOLS = {  # and their packages
    **{name: name for name in ("gcc", "make", "flex", "bison", "bc", "patch")},
    **{"xz": "xz-utils", "dpkg-deb": "dpkg", packages.APT_HELPER: "apt"},
}
OLDER_LIBC = "__isoc23_strtoull=strtoull"
FREE_BYTES = 4 << 30  # the kernel's source and objects, deleted afterwards


def build(kernel_source=None, again=False):
    """Build an engine from the lock, or from a tarball of a kernel's source, and put it in use.

    Without `again`, one that another process has built meanwhile is taken; -> `store.Build`.
    """
    check_tools()
    with store.work_folder() as folder:
        if not (again or kernel_source):
            with contextlib.suppress(EngineError):
                return store.current()
        free = shutil.disk_usage(folder).free
        if free < FREE_BYTES:
            raise EngineError(
                f"{folder.parent} has {free >> 20} MB free; building needs {FREE_BYTES >> 20}. Make"
                " room, or move the cache with NETLAB_CACHE."
            )
        lock = packages.read_lock()
        if kernel_source:
            source_sha256 = integrity.hash_of(Path(kernel_source))
            source = Path(kernel_source).name
        else:
            source_sha256 = lock["kernel"]["tarball_sha256"]
            source = f"{lock['kernel']['name']} {lock['kernel']['version']}"
        name = f"kernel-{store.kernel_id(source_sha256)}"
        kernel = store.sound_kernel(name)
        wanted = lock["packages"] + ([] if kernel or kernel_source else [lock["kernel"]])
        files = packages.fetch(wanted, folder / "packages", lock["snapshot"], "Debian packages")
        rootfs = build_rootfs(folder, files[: len(lock["packages"])])
        if not kernel:
            tarball = kernel_source or tarball_in(files[-1], folder)
            kernel = store.install(build_kernel(folder, tarball), name, integrity.kernel_digest)
        record = {
            "recipe": store.recipe_digest(),
            "kernel": name.removeprefix("kernel-"),
            "about": {"source": source},
            "kernel_binary": integrity.kernel_digest(kernel),
            "source_sha256": source_sha256,
            "rootfs": rootfs.name.removeprefix("rootfs-"),
        }
        record["about"] |= versions(store.Build(cache_folder(), record))
        return store.use(record)


def check_tools():
    missing = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
    if missing:
        raise EngineError(
            f"building the engine needs {', '.join(missing)}: `sudo apt-get install"
            f" {' '.join(missing)}`, or `netlab engine import FILE` with an engine built elsewhere."
        )


def tarball_in(package, folder):
    """The kernel's source tarball, out of its Debian package."""
    step("Kernel unpacking", ["dpkg-deb", "-x", package, folder / "package"])
    (tarball,) = folder.glob("package/usr/src/linux-source-*.tar.xz")
    return tarball


def build_kernel(folder, tarball):
    """A User-Mode Linux kernel with our patches, the library preloaded into it, and its licence."""
    source, out = folder / "source", folder / "kernel"
    source.mkdir()
    out.mkdir()
    step("Kernel source", ["tar", "xf", tarball, "-C", source, "--strip-components=1"])
    for patch in sorted(store.HERE.glob("kernel/*.patch")):
        step(f"Patch {patch.stem}"[:28], ["patch", "-p1", "--forward", "-d", source, "-i", patch])
    jobs = len(os.sched_getaffinity(0))
    environment = os.environ | {"KBUILD_BUILD_TIMESTAMP": "2026-01-01", "KBUILD_BUILD_VERSION": "1"}
    environment |= {"KBUILD_BUILD_USER": "netlab", "KBUILD_BUILD_HOST": "netlab"}
    make = ["make", "-C", source, "ARCH=um", f"-j{jobs}"]
    # what the file names, what that needs, and nothing else
    chosen = f"KCONFIG_ALLCONFIG={store.HERE / 'kernel/config'}"
    step("Kernel configuration", [*make, chosen, "allnoconfig"], env=environment)
    step("Kernel", [*make, "linux"], 1300, env=environment)
    step("Kernel binary", ["strip", "-o", out / "linux", source / "linux"])
    shim = folder / "shim.o"
    step("Preloaded library", ["gcc", "-O2", "-fPIC", "-c", "-o", shim, store.HERE / "shim.c"])
    # as older-c-libraries.patch
    step("... for older C libraries", ["objcopy", "--redefine-sym", OLDER_LIBC, shim])
    step("... linked", ["gcc", "-shared", "-o", out / "shim.so", shim])
    licence = ("COPYING", "LICENSES/preferred/GPL-2.0", "LICENSES/exceptions/Linux-syscall-note")
    texts = [(source / name).read_text(encoding="utf-8") for name in licence]
    (out / "copyright").write_text("\n".join(texts), encoding="utf-8")
    return out


def versions(build):
    """Start an engine once and ask it what is in it."""
    commands = {
        "kernel": "uname -r",
        "iperf3": "iperf3 --version | head -n 1 | cut -d' ' -f2",
        "mininet": "mn --version",
        "congestion": "cat /proc/sys/net/ipv4/tcp_available_congestion_control",
    }
    about = {}
    guest = Guest(build, 1, "virtual", 60)
    try:
        guest.ask(op="up", hosts=[["h1", "10.0.0.1/8"]], switches=[], links=[], setup=[])
        for key, command in commands.items():
            events = []
            job = guest.ask(op="start", host="h1", command=command)["job"]
            guest.ask(events.append, op="wait", numbers=[job], limit_s="10")
            about[key] = "".join(event.get("out", "") for event in events).strip()
    finally:
        guest.close()
    return about | {"congestion": sorted(about["congestion"].split())}
