"""The engine as a wheel, ``netlab_engine``: a package of data that pip installs beside netlab, on
machines that have no compiler, no apt and no network. Whoever has it needs no other engine: it is
unpacked into the cache when one is wanted and none is there.
"""

import base64
import gzip
import hashlib
import json
import lzma
import os
import re
import shutil
import tempfile
import zipfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from netlab.engines import files
from netlab.engines.cache import cache_folder
from netlab.engines.guest import store, transfer
from netlab.errors import EngineError

PACKAGE = "netlab_engine"
ABOUT, ARCHIVE = "engine.json", "engine.tar.xz"
# Of the xz levels: level 6 makes 30 MB of what is 35 MB here, in five times as long.
XZ_LEVEL = 1


def current():
    """The engine in use; where the cache has none, or none for this netlab, the one of the package
    netlab_engine is put in use.

    Raises
    ------
    EngineError
        There is neither, or that package's engine is damaged or another version's.
    """
    try:
        return store.current()
    except EngineError:
        package = find_spec(PACKAGE)
        if package is None or package.origin is None:  # None: a folder that pip left empty
            raise
    return unpack(Path(package.origin).parent)


def unpack(package):
    """Put the engine in a folder of this package in use: all its digests are computed anew."""
    try:
        about = store.read_record(package / ABOUT)
        build = store.Build(package, about)
        if (about["recipe"], about.get("digest")) != (store.recipe_digest(), build.digest):
            raise EngineError(
                f"it is {about.get('digest')}, made by another version of netlab. Install the wheel"
                " that came with this one, or remove it (`pip uninstall netlab_engine`)"
            )

        def accept(found):
            if found.digest != build.digest:
                raise EngineError(f"{ARCHIVE} holds the engine {found.digest}")

        print(f"The engine {build.digest} of {PACKAGE} goes to {cache_folder()}, once.", flush=True)
        with tempfile.TemporaryDirectory(prefix="netlab-") as folder:
            archive = Path(folder, "engine.tar")
            with lzma.open(package / ARCHIVE) as packed, archive.open("wb") as file:
                shutil.copyfileobj(packed, file)
            return transfer.import_file(archive, accept)
    except (EngineError, OSError, EOFError, ValueError, RecursionError, lzma.LZMAError) as error:
        raise EngineError(f"the engine in {package} cannot be used: {error}") from error


def write(folder):
    """Write the engine in use as a wheel to a folder; -> its path.

    The same engine gives the same bytes: there is no date in it.

    Raises
    ------
    EngineError
        There is none, or it is damaged.
    NetlabError
        The file cannot be written, or another file is there.
    """
    with tempfile.TemporaryDirectory(prefix="netlab-") as work:
        exported = Path(work, "engine.tar.gz")
        build = transfer.export(exported)
        archive = lzma.compress(gzip.decompress(exported.read_bytes()), preset=XZ_LEVEL)
    name = f"{PACKAGE}-{version('netlab')}+{build.digest}"
    tag = f"py3-none-manylinux_2_{glibc_minor(build)}_x86_64"
    about = {**build.record, "digest": build.digest}
    contents = {
        f"{PACKAGE}/__init__.py": b'"""The engine of netlab, which unpacks it into its cache."""\n',
        f"{PACKAGE}/{ABOUT}": json.dumps(about, indent=1, sort_keys=True).encode(),
        f"{PACKAGE}/{ARCHIVE}": archive,
        f"{name}.dist-info/METADATA": (
            f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {name.partition('-')[2]}\n"
            f"Summary: The engine of netlab: Linux {build.about['kernel']}, iperf3"
            f" {build.about['iperf3']}, Mininet {build.about['mininet']}\n"
        ).encode(),
        f"{name}.dist-info/WHEEL": (
            f"Wheel-Version: 1.0\nGenerator: netlab\nRoot-Is-Purelib: false\nTag: {tag}\n"
        ).encode(),
    }
    record = f"{name}.dist-info/RECORD"
    hashes = [f"{path},{recorded_hash(data)},{len(data)}\n" for path, data in contents.items()]
    contents[record] = "".join([*hashes, f"{record},,\n"]).encode()
    path = Path(folder, f"{name}-{tag}.whl")
    with files.replacing(path, "FOLDER", files.begins_as(is_wheel)) as file:
        with zipfile.ZipFile(file, "w") as wheel:
            for member, data in contents.items():
                wheel.writestr(zipfile.ZipInfo(member), data)  # of 1980, as no date is given
        os.fchmod(file.fileno(), 0o644)  # made to be handed on, whatever the umask says
    return path


def is_wheel(head):
    """Does a file begin as those of `write` do?"""
    return head.startswith(b"PK") and head[30:].startswith(PACKAGE.encode())


def glibc_minor(build):
    """The kernel is an ordinary program, for the C library 2.N or later: -> N."""
    binaries = build.linux.read_bytes() + build.shim.read_bytes()
    return max(map(int, re.findall(rb"GLIBC_2\.(\d+)", binaries)))


def recorded_hash(data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return f"sha256={digest.decode().rstrip('=')}"
