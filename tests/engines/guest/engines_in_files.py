"""Engines to damage: copies, whose files are their own."""

import json
import shutil

from netlab.engines.cache import TAG, TAG_TEXT
from netlab.engines.guest import store, transfer
from netlab.engines.guest.integrity import kernel_digest, tree_digest
from netlab.engines.guest.rootfs import same_modes


def copied(cache):
    """Copy the engine in use to another cache; a copy, for a hard link would damage both."""
    build = store.current()
    for part in (build.linux.parent, build.rootfs):
        shutil.copytree(part, cache / part.name, symlinks=True)
    shutil.copy(build.folder / "engine.json", cache)
    (cache / TAG).write_text(TAG_TEXT)
    return cache


def parts(folder):
    """What of a cache an engine is made of."""
    return [folder / "engine.json", *folder.glob("kernel-*"), *folder.glob("rootfs-*")]


def packed(folder, path, **changes):
    """Write an engine in a folder to a file, as `netlab engine export` does, with changes to what
    it says of itself.
    """
    file = folder / "engine.json"
    before = file.read_text()
    file.write_text(json.dumps(json.loads(before) | changes))
    try:
        names = [part.name for part in parts(folder)]
        transfer.tar("--create", "--file", path, "--directory", folder, *names)
    finally:
        file.write_text(before)
    return path


def small(cache):
    """Make an engine that cannot run, but is sound otherwise, the one in use of a cache."""
    source = {"source_sha256": "ab" * 32}
    name = store.kernel_id(source["source_sha256"])
    kernel, rootfs = cache / f"kernel-{name}", cache / "rootfs"
    for folder in (kernel, rootfs):
        folder.mkdir(parents=True)
    for file, content in (("linux", b"GLIBC_2.4 GLIBC_2.17"), ("shim.so", b"GLIBC_2.9")):
        (kernel / file).write_bytes(content)
        (kernel / file).chmod(0o755)
    (rootfs / store.ARCHIVE).write_text("the same\n")
    same_modes(rootfs)  # as a build does
    about = {"kernel": "7", "iperf3": "3", "mininet": "2", "congestion": ["reno"]}
    about["source"] = "linux.tar.xz"
    record = {
        **source,
        "recipe": store.recipe_digest(),
        "kernel": name,
        "kernel_binary": kernel_digest(kernel),
        "rootfs": tree_digest(rootfs),
        "about": about,
    }
    rootfs.rename(cache / f"rootfs-{record['rootfs']}")
    (cache / "engine.json").write_text(json.dumps(record))
    (cache / TAG).write_text(TAG_TEXT)
    return store.Build(cache, record)
