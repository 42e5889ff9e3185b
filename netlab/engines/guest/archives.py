"""A guest's files, as archives that its kernel maps into memory: ustar, sorted by path."""

import fcntl
import os
import stat
import tarfile
from io import BytesIO
from pathlib import Path

from netlab.errors import EngineError

FORMAT = {"format": tarfile.USTAR_FORMAT}
SEALED = fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL


def pack(folder, place):
    """Archive a folder; the same tree gives the same bytes. An EngineError for too long a path."""
    folder = Path(folder)
    found = [path.relative_to(folder) for path in folder.rglob("*")]
    with open(place, "wb") as file, tarfile.open(fileobj=file, mode="w:", **FORMAT) as archive:
        for path in sorted(found, key=lambda one: os.fsencode(one).split(b"/")):
            try:
                add(archive, path, folder / path)
            except ValueError as error:
                raise EngineError(f"{folder / path} fits into no archive: {error}") from error


def add(archive, path, source):
    info, status = tarfile.TarInfo(str(path)), source.lstat()
    info.mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        info.type, info.linkname = tarfile.SYMTYPE, os.readlink(source)
    elif stat.S_ISDIR(status.st_mode):
        info.type = tarfile.DIRTYPE
    else:
        info.size = status.st_size
        with source.open("rb") as content:
            return archive.addfile(info, content)
    return archive.addfile(info)


def open_(place):
    """Open an archive; -> its descriptor."""
    return os.open(place, os.O_RDONLY | os.O_CLOEXEC)


def in_memory(files):
    """An archive of these files, contents by name; -> its descriptor."""
    descriptor = os.memfd_create("netlab-archive", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with (
        open(descriptor, "wb", closefd=False) as file,
        tarfile.open(fileobj=file, mode="w:", **FORMAT) as archive,
    ):
        for name, data in sorted(files.items()):
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o644
            archive.addfile(info, BytesIO(data))
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, SEALED)
    return descriptor
