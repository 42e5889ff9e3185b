"""Hand a built engine to others, in a file or as a wheel, and take one over once it is checked.

The wheel, ``netlab_engine``, is for machines without a compiler, apt or network: it is unpacked
into a cache that has no engine.
"""

import base64
import contextlib
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
import zlib
from importlib.util import find_spec
from pathlib import Path

from netlab.engines.cache import cache_folder
from netlab.engines.files import begins_as, replacing
from netlab.engines.guest import materials, store
from netlab.engines.guest.integrity import kernel_digest, tree_digest
from netlab.errors import EngineError, installed

# The same engine gives the same file, whenever and by whomever it was built.
REPRODUCIBLE = (
    *("--format=gnu", "--sort=name"),
    *("--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=a+rX"),
)
PACKAGE = "netlab_engine"
ABOUT, ARCHIVE = "engine.json", "engine.tar.xz"
XZ_LEVEL = 1  # level 6 makes 30 MB of what is 35 MB here, in five times as long


def export(path):
    """Write the engine in use, with its bill of materials, to one file; -> `store.Build`."""
    build = store.current()
    with (
        replacing(path, "FILE", begins_as(is_export)) as file,
        gzip.GzipFile("", "wb", 6, file, mtime=0) as packed,
    ):
        write_archive(build, packed)
    return build


def write_archive(build, file):
    with tempfile.TemporaryDirectory() as beside, tempfile.TemporaryFile() as archive:
        bill = json.dumps(materials.bill_of_materials(build), indent=1) + "\n"
        Path(beside, materials.BILL).write_text(bill, encoding="utf-8")
        parts = build.linux.parent.name, build.rootfs.name, "engine.json"
        words = ["--create", *REPRODUCIBLE, "--file", "-", "--directory", beside, materials.BILL]
        tar(*words, "--directory", cache_folder(), *parts, stdout=archive)
        archive.seek(0)
        shutil.copyfileobj(archive, file, 1 << 20)


def is_export(head):
    """Does a file begin as those of `export` do?"""
    with contextlib.suppress(zlib.error):
        name = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(head, len(materials.BILL))
        return name == materials.BILL.encode()
    return False


def import_file(path, accept):
    """Put an exported engine in use, unless `accept` (of a `store.Build`) raises an EngineError.

    An EngineError for a file that is cut, altered or another netlab's; the old engine then stays.
    """
    path = Path(path)
    with store.work_folder() as folder:
        words = ["--extract", "--no-same-owner", "--preserve-permissions"]
        try:
            tar(*words, "--file", path.absolute(), "--directory", folder)
            record = store.read_record(folder / "engine.json")
            build = store.Build(folder, record)
            refuse_links(folder, build)
            kernel, rootfs = build.linux.parent, build.rootfs
            made_of = store.kernel_id(record["source_sha256"])
            found = kernel_digest(kernel), tree_digest(rootfs), made_of
        except (OSError, ValueError) as error:
            raise EngineError(
                f"{path} is not an engine that `netlab engine export` wrote, or not all of it:"
                f" {error}. Ask for the file again; unpacked, it takes 150 MB in {cache_folder()}."
            ) from None
        if record["recipe"] != store.recipe_digest():
            raise EngineError(
                f"{path} was built by another version of netlab (recipe {record['recipe']}, this"
                f" one has {store.recipe_digest()}): use the same version as the one who exported"
                " it."
            )
        expected = record["kernel_binary"], record["rootfs"], record["kernel"]
        if found != expected:
            raise EngineError(
                f"{path} was altered or damaged: its engine.json has the digests"
                f" {', '.join(expected)}, its files have {', '.join(found)}. Ask for the file"
                " again."
            )
        try:
            accept(build)
        except EngineError as error:
            raise EngineError(f"{path} is not put in use: {error}") from error
        store.install(kernel, kernel.name, kernel_digest)
        store.install(rootfs, rootfs.name, tree_digest)
        return store.use(record)


def refuse_links(folder, build):
    """A part of an engine that is a link would be a file of this machine, or become one."""
    expected = {"engine.json", materials.BILL, build.linux.parent.name, build.rootfs.name}
    if others := {path.name for path in folder.iterdir()} - expected:
        raise ValueError(f"it holds {', '.join(sorted(others))}, too")
    for path in folder.rglob("*"):
        if path.is_symlink() or (path.is_file() and path.stat().st_nlink > 1):
            raise ValueError(f"{path.relative_to(folder)} is a link")


def tar(*words, stdout=subprocess.DEVNULL):
    """Run tar, which keeps modes and times, and never writes outside the folder it unpacks into."""
    command = ["tar", *map(str, words)]
    done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, errors="replace")
    if done.returncode:
        raise OSError(done.stderr.strip().partition("\n")[0])


def current():
    """The engine in use; where there is none for this netlab, that of the package netlab_engine."""
    try:
        return store.current()
    except EngineError:
        package = find_spec(PACKAGE)
        if package is None or package.origin is None:  # None: a folder that pip left empty
            raise
    return unpack(Path(package.origin).parent)


def unpack(package):
    """Put the engine in a folder of this package in use."""
    try:
        about = store.read_record(package / ABOUT)
        build, digest = store.Build(package, about), about.get("digest")
        if (about["recipe"], digest) != (store.recipe_digest(), build.digest):
            raise EngineError(
                f"it is {digest}, made by another version of netlab. Install the wheel that came"
                " with this one, or remove it (`pip uninstall netlab_engine`)"
            )

        def accept(found):
            if found.digest != build.digest:
                raise EngineError(f"{ARCHIVE} holds the engine {found.digest}")

        print(f"The engine {build.digest} of {PACKAGE} goes to {cache_folder()}, once.", flush=True)
        with tempfile.TemporaryDirectory(prefix="netlab-") as folder:
            archive = Path(folder, "engine.tar")
            with lzma.open(package / ARCHIVE) as packed, archive.open("wb") as file:
                shutil.copyfileobj(packed, file)
            return import_file(archive, accept)
    except (EngineError, OSError, EOFError, ValueError, lzma.LZMAError) as error:
        raise EngineError(f"the engine in {package} cannot be used: {error}") from error


def write_wheel(folder):
    """Write the engine in use as a wheel to a folder, reproducibly; -> its path."""
    build = store.current()
    archive = io.BytesIO()
    with lzma.open(archive, "wb", preset=XZ_LEVEL) as packed:
        write_archive(build, packed)
    about = {**build.record, "digest": build.digest}
    contents = {
        "__init__.py": b'"""The engine of netlab, which unpacks it into its cache."""\n',
        ABOUT: json.dumps(about, indent=1, sort_keys=True).encode(),
        ARCHIVE: archive.getvalue(),
    }
    summary = (
        f"The engine of netlab: Linux {build.about['kernel']}, iperf3 {build.about['iperf3']},"
        f" Mininet {build.about['mininet']}"
    )
    tag = f"py3-none-manylinux_2_{glibc_minor(build)}_x86_64"
    return pack_wheel(folder, PACKAGE, build.digest, tag, summary, contents)


def pack_wheel(folder, package, digest, tag, summary, data):
    """Write a wheel of a package that is data, of netlab's version; -> its path."""
    name = f"{package}-{installed().version}+{digest}"
    contents = {f"{package}/{file}": one for file, one in data.items()} | {
        f"{name}.dist-info/METADATA": (
            f"Metadata-Version: 2.1\nName: {package}\nVersion: {name.partition('-')[2]}\n"
            f"Summary: {summary}\n"
        ).encode(),
        f"{name}.dist-info/WHEEL": (
            f"Wheel-Version: 1.0\nGenerator: netlab\nRoot-Is-Purelib: false\nTag: {tag}\n"
        ).encode(),
    }
    record = f"{name}.dist-info/RECORD"
    lines = [f"{record},,\n"]
    for path, one in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(one).digest()).decode().rstrip("=")
        lines.append(f"{path},sha256={digest},{len(one)}\n")
    contents[record] = "".join(lines).encode()
    path = Path(folder, f"{name}-{tag}.whl")
    ours = begins_as(lambda head: head[30:].startswith(package.encode()))
    with replacing(path, "FOLDER", ours) as file:
        with zipfile.ZipFile(file, "w") as wheel:
            for member, one in contents.items():
                wheel.writestr(zipfile.ZipInfo(member), one)  # of 1980, as no date is given
        os.fchmod(file.fileno(), 0o644)  # made to be handed on, whatever the umask says
    return path


def glibc_minor(build):
    """The kernel is an ordinary program, for the C library 2.N or later: -> N."""
    binaries = build.linux.read_bytes() + build.shim.read_bytes()
    return max(map(int, re.findall(rb"GLIBC_2\.(\d+)", binaries)))
