"""Hand a built engine to others in one file, and take over such a file: every digest in it that can
be computed anew is.
"""

import contextlib
import json
import os
import subprocess
import tempfile
import zlib
from pathlib import Path

from netlab.engines.cache import cache_folder
from netlab.engines.files import begins_as, replacing
from netlab.engines.guest import materials, store
from netlab.engines.guest.integrity import kernel_digest, tree_digest
from netlab.errors import EngineError

# The same engine gives the same file, whenever and by whomever it was built.
REPRODUCIBLE = (
    *("--format=gnu", "--sort=name", "--hard-dereference"),
    *("--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=a+rX"),
)


def export(path):
    """Write the engine in use to one file, with a list of what it is made of (`materials`).

    Raises
    ------
    EngineError
        There is none, or it is damaged.
    NetlabError
        The file cannot be written, or another file is there.
    """
    build = store.current()
    bill = json.dumps(materials.bill_of_materials(build), indent=1) + "\n"
    with (
        replacing(path, "FILE", begins_as(is_export)) as file,
        tempfile.TemporaryDirectory() as beside,
    ):
        Path(beside, materials.BILL).write_text(bill, encoding="utf-8")
        parts = build.linux.parent.name, build.rootfs.name, "engine.json"
        words = ["--create", *REPRODUCIBLE, "--gzip", "--file", "-"]
        words += ["--directory", beside, materials.BILL, "--directory", cache_folder()]
        tar(*words, *parts, stdout=file)
    return build


def is_export(head):
    """Does a file begin as those of `export` do?"""
    with contextlib.suppress(zlib.error):
        name = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(head, len(materials.BILL))
        return name == materials.BILL.encode()
    return False


def import_file(path, accept):
    """Take over an engine that was exported elsewhere.

    Parameters
    ----------
    path : path
    accept : callable
        Tries the engine, before it is put in use: takes a `store.Build`, and raises `EngineError`
        where it must not be used.

    Raises
    ------
    EngineError
        The file is not a whole engine, was altered, belongs to another version of netlab, or was
        not accepted. The engine that is in use stays in use.
    """
    path = Path(path)
    with store.work_folder() as folder:
        try:
            tar(
                "--extract",
                "--no-same-owner",
                "--preserve-permissions",
                "--file",
                path.absolute(),
                "--directory",
                folder,
            )
            record = store.read_record(folder / "engine.json")
            build = store.Build(folder, record)
            refuse_links_that_lead_out(folder, build)
            found = (
                kernel_digest(build.linux.parent),
                tree_digest(build.rootfs),
                kernel_id(record),
            )
        except (OSError, ValueError, RecursionError) as error:
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
        for part, digest in (build.linux.parent, kernel_digest), (build.rootfs, tree_digest):
            store.install(part, part.name, digest)
        return store.use(record)


def kernel_id(record):
    """What a kernel is called that is built from the source that a record names, by this netlab's
    recipe.
    """
    if "source_sha256" not in record:
        raise ValueError("it does not name the kernel's source")
    return store.kernel_id(str(record["source_sha256"]))


def refuse_links_that_lead_out(folder, build):
    """A part of an engine that is a link would be a file of this machine, or become one."""
    expected = {"engine.json", materials.BILL, build.linux.parent.name, build.rootfs.name}
    if others := {path.name for path in folder.iterdir()} - expected:
        raise ValueError(f"it holds {', '.join(sorted(others))}, too")
    for path in folder / "engine.json", build.linux.parent, build.linux, build.shim, build.rootfs:
        if path.is_symlink() or (path.is_file() and path.stat().st_nlink > 1):
            raise ValueError(f"{path.relative_to(folder)} is a link")
    if [path.name for path in build.linux.parent.iterdir() if path.is_symlink()]:
        raise ValueError(f"{build.linux.parent.name} has a link in it")
    for place, folders, files in os.walk(build.rootfs):
        for link in filter(Path.is_symlink, (Path(place, name) for name in (*folders, *files))):
            target = os.path.normpath(Path(place).relative_to(build.rootfs) / os.readlink(link))
            # a path from "/" starts at the guest's root
            if target.split("/")[0] == "..":
                raise ValueError(f"{link.relative_to(folder)} leads out of the engine")


def tar(*words, stdout=subprocess.DEVNULL):
    """Run tar, which keeps modes and times, and never writes outside the folder it unpacks into."""
    command = ["tar", *map(str, words)]
    done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, errors="replace")
    if done.returncode:
        raise OSError(done.stderr.strip().partition("\n")[0])
