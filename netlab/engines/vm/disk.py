"""The disk of a machine of its own: Python, netlab and its engine; a kernel of Debian's beside it.

What gives results their bytes is the engine, so the kernel is the newest that Debian has.
"""

import json
import lzma
import os
import re
import shutil
from pathlib import Path

from netlab.engines.cache import TAG, cache_folder
from netlab.engines.guest import packages, renewal, store, transfer
from netlab.engines.guest.integrity import hash_of
from netlab.engines.jail import contents
from netlab.engines.vm import qemu
from netlab.errors import DISTRIBUTION

HERE = Path(__file__).parent
KERNELS = "linux-image-cloud-amd64"  # depends on the newest
LEFT_OUT = "plotly", "narwhals"  # nothing is drawn in the machine


def build():
    """Make the disk of the engine in use, in the cache, where `netlab.engines.vm.qemu` finds it; ->
    what it is made of, as its ``about.json`` says it.
    """
    engine, python = transfer.current(), contents.needed([DISTRIBUTION])
    own = python.pop(DISTRIBUTION)
    with store.work_folder() as work:
        kernel, busybox = unpack_packages(work)
        disk, made, place = work / "disk", work / "vm", cache_folder() / "vm"
        for name in LEFT_OUT:
            del python[name]
        contents.copy_python(disk / "python", python)
        contents.copy_netlab(disk, disk / "python")
        known = disk / f"python/site/netlab_tcp-{own.version}.dist-info/METADATA"
        known.parent.mkdir()
        known.write_text(own.read_text("METADATA"), encoding="utf-8")
        for part in (engine.linux.parent, engine.rootfs):
            shutil.copytree(part, disk / "cache" / part.name)
        for name in ("engine.json", TAG):
            shutil.copy(cache_folder() / name, disk / "cache")
        packages.step("Disk", ["bash", HERE / "disk.sh", work, HERE / "boot.sh"])
        about = {"netlab": own.version, "engine": engine.digest, "packages": [kernel, busybox]}
        about["disk"] = hash_of(made / qemu.DISK)[:12]
        (made / qemu.ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        if place.exists():
            os.rename(place, work / "old")  # deleted with it
        os.rename(made, place)
    return about


def write_wheel(folder):
    """Write the disk in the cache as a wheel for every system to a folder; -> its path."""
    place, about = qemu.disk()
    files = {name: (place / name).read_bytes() for name in (qemu.ABOUT, "vmlinuz", "initrd")}
    files["__init__.py"] = b'"""A machine for the engine of netlab, which unpacks its disk."""\n'
    files[qemu.PACKED] = lzma.compress((place / qemu.DISK).read_bytes(), preset=transfer.XZ_LEVEL)
    summary = f"A machine for the engine {about['engine']} of netlab, on every system, in QEMU"
    return transfer.pack_wheel(folder, qemu.PACKAGE, about["disk"], "py3-none-any", summary, files)


def unpack_packages(work):
    """Fetch and unpack the newest kernel and busybox; -> what the mirror says of each."""
    apt = renewal.Apt(work)
    about = apt.ask("apt-cache", "show", "--no-all-versions", KERNELS)
    names = re.search(r"linux-image-[\d.]++\+?\w*+-cloud-amd64", about)[0], "busybox-static"
    chosen = apt.packages(["--no-all-versions", *names])
    for file in packages.fetch(chosen, work / "packages", apt.moment(), "Debian packages", ""):
        packages.step("... unpacked", ["dpkg-deb", "-x", file, work / "debian"])
    return chosen
