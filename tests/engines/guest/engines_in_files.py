"""Engines to damage: copies, whose files are their own."""

import json
import shutil

from netlab.engines.guest import store, transfer


def copied(cache):
    """Copy the engine in use to another cache; a copy, for a hard link would damage both."""
    build = store.current()
    for part in (build.linux.parent, build.rootfs):
        shutil.copytree(part, cache / part.name, symlinks=True)
    shutil.copy(build.folder / "engine.json", cache)
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
