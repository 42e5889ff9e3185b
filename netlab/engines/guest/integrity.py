"""Are an engine's files those that it was made with?

Hashing all of them takes a second, so it is done only when one of them looks different (mode, size,
times) from when the hashes were last right: a stamp beside the engine keeps that.
"""

import contextlib
import hashlib
import json
import os
import stat
from pathlib import Path

from netlab.engines.files import write
from netlab.errors import NetlabError


def digest_of(*parts):
    """Twelve hexadecimal digits that stand for these texts, bytes or files."""
    return joined(map(hash_of, parts))


def hash_of(part):
    """The SHA-256 of a text, bytes or a file."""
    if isinstance(part, Path):
        part = part.read_bytes()
    return hashlib.sha256(part.encode() if isinstance(part, str) else part).hexdigest()


def joined(hashes):
    """`digest_of` the parts that have these hashes."""
    return hashlib.sha256(b"".join(map(bytes.fromhex, hashes))).hexdigest()[:12]


def kernel_digest(folder):
    """Stands for the kernel's binary and the library that is preloaded into it."""
    return kernel_digest_of(kernel_contents(folder))


def kernel_contents(folder):
    """The hashes of both, by name."""
    return {name: hash_of(folder / name) for name in ("linux", "shim.so")}


def kernel_digest_of(contents):
    return joined(contents.values())


def tree_digest(root):
    """Stands for every path, mode, link and content below `root`; owners, times and inode numbers
    do not count.
    """
    return tree_digest_of(tree_contents(root))


def tree_contents(root):
    """Mode and hash, as one text, of everything below `root`, by its path from there."""
    contents = {}
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted([*folders, *files]):
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if path.is_symlink():
                mode, content = 0, os.readlink(path)
            else:
                content = path if stat.S_ISREG(mode) else b""
            contents[str(path.relative_to(root))] = f"{mode:o} {hash_of(content)}"
    return contents


def tree_digest_of(contents):
    lines = "".join(f"{path} {content}\n" for path, content in contents.items())
    return hash_of(lines)[:12]


def damage(build, stamp):
    """What of an engine is not as it was made: descriptions, none where it is sound.

    Parameters
    ----------
    build : store.Build
    stamp : pathlib.Path
        It has two lines: what the files looked like when their hashes were last right, and these
        hashes, to name the file that has changed. Written anew when they are right again.
    """
    appearance, kept = appearance_of(build), ""
    with contextlib.suppress(OSError, ValueError):
        kept = stamp.read_text(encoding="utf-8")
    if kept.partition("\n")[0] == appearance:
        return []
    parts = [
        (build.linux.parent, kernel_contents, kernel_digest_of, build.record["kernel_binary"]),
        (build.rootfs, tree_contents, tree_digest_of, build.record["rootfs"]),
    ]
    wrong, contents = [], {}
    for folder, contents_of, digest_of_contents, was in parts:
        now = contents[folder.name] = contents_of(folder)
        if (digest := digest_of_contents(now)) != was:
            before = {}
            with contextlib.suppress(ValueError, KeyError, TypeError):
                before = dict(json.loads(kept.partition("\n")[2])[folder.name])
            wrong += (differences(folder, before, now) if before else []) or [
                f"{folder.name} has the digest {digest} and not {was}"
            ]
    if not wrong:
        with contextlib.suppress(OSError):  # an empty folder of that name
            stamp.rmdir()
        with contextlib.suppress(NetlabError):  # the cache is full, or somebody else's
            write(stamp, f"{appearance}\n{json.dumps(contents)}")
    return wrong


def appearance_of(build):
    """Stands for mode, size and times of every file of an engine, and for the digests that they
    are to have: another one when any of that changes.
    """
    found, folders = [build.record["kernel_binary"]], [str(build.rootfs)]

    def note(path, status):
        found.append(
            f"{path} {status.st_mode} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
        )

    for path in (build.linux, build.shim):
        note(path, path.stat())
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                note(entry.path, entry.stat(follow_symlinks=False))
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return hash_of("\n".join(sorted(found)).encode(errors="surrogateescape"))


def differences(folder, before, now):
    """Which files are missing, new or changed."""
    states = {
        "is missing": [path for path in before if path not in now],
        "is new": [path for path in now if path not in before],
        "has changed": [path for path in now if before.get(path, now[path]) != now[path]],
    }
    return [f"{folder.name}/{path} {state}" for state, paths in states.items() for path in paths]
