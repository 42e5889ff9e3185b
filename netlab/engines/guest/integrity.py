"""Check that an engine's files are those that it was made with.

They are hashed, which takes a second, only when mode, size or time of one has changed.
"""

import contextlib
import hashlib
import os
import stat
from pathlib import Path

from netlab.engines.files import write
from netlab.errors import NetlabError


def digest_of(*parts):
    """Twelve hexadecimal digits of the hash of these texts, bytes or files."""
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
    """Digest of the kernel's binary and the library that is preloaded into it."""
    return digest_of(folder / "linux", folder / "shim.so")


def tree_digest(root):
    """Digest of every path, mode, link and content below a folder."""
    lines = []
    for folder, folders, files in os.walk(root):
        folders.sort()
        for path in (Path(folder, name) for name in sorted([*folders, *files])):
            mode = path.lstat().st_mode
            if path.is_symlink():
                mode, content = 0, os.readlink(path)
            else:
                content = path if stat.S_ISREG(mode) else b""
            lines.append(f"{path.relative_to(root)} {mode:o} {hash_of(content)}\n")
    return hash_of("".join(lines))[:12]


def damage(build, stamp):
    """What is wrong with an engine (`store.Build`), as texts; the file `stamp` keeps its look."""
    appearance = appearance_of(build)
    with contextlib.suppress(OSError, ValueError):
        if stamp.read_text(encoding="utf-8").partition("\n")[0] == appearance:
            return []
    kernel, root = build.linux.parent, build.rootfs
    parts = [
        (f"{kernel.name} (linux, shim.so)", kernel_digest(kernel), build.record["kernel_binary"]),
        (f"{root.name} (root.tar)", tree_digest(root), build.record["rootfs"]),
    ]
    wrong = [f"{name} has the digest {now} and not {was}" for name, now, was in parts if now != was]
    if not wrong:
        with contextlib.suppress(NetlabError):  # the cache is full, or somebody else's
            write(stamp, f"{appearance}\n")
    return wrong


def appearance_of(build):
    """Digest of mode, size and times of an engine's files, and of the digests they should have."""
    looks = [(path, path.stat()) for path in (build.linux, build.shim)]
    looks += [(path, path.lstat()) for path in build.rootfs.rglob("*")]
    found = [
        f"{path} {look.st_mode} {look.st_size} {look.st_mtime_ns} {look.st_ctime_ns}"
        for path, look in looks
    ]
    lines = sorted([build.record["kernel_binary"], *found])
    return hash_of("\n".join(lines).encode(errors="surrogateescape"))
