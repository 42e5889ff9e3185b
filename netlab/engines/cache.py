"""The folder outside the checkout where built engines, unfinished sweeps and evidence are kept."""

import contextlib
import os
import re
from pathlib import Path

from netlab.engines import files
from netlab.errors import NetlabError

ENGINE = r"(kernel|rootfs)-[0-9a-f]{12}"  # names of folders in the cache
JAIL = r"jail-(python|netlab)-[0-9a-f]{12}"
MAKING = r"making-[a-z0-9_]{8}"
# Whatever else netlab puts there; the last is that of binder/start.
OTHERS = r"engine\.(json|stamp)|sweeps|evidence|graded|does-not-run-here"
BEFORE_TAG = r"lock|\.netlab-.*"  # of netlab, where a full disk kept it from writing the next
TAG = "CACHEDIR.TAG"  # programs that make backups leave such a folder out
TAG_TEXT = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# The cache of netlab: it may be removed, and is made again.\n"
)


def cache_folder():
    """$NETLAB_CACHE, or $XDG_CACHE_HOME/netlab, or ~/.cache/netlab."""
    if folder := os.environ.get("NETLAB_CACHE"):
        return Path(folder).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "netlab"


def own_cache():
    """The same, made where it is missing: for all who write to it or remove something from it.

    Raises
    ------
    OSError
        It cannot be made, or it is not netlab's: it has other things in it and no engine, or only
        things with names that anybody may give, such as sweeps.
    """
    folder = cache_folder()
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
    names = [path.name for path in folder.iterdir() if not re.fullmatch(BEFORE_TAG, path.name)]
    if (folder / TAG).is_file():  # asked last: another process may be making the cache
        return folder
    others = [one for one in names if not re.fullmatch(f"{ENGINE}|{JAIL}|{MAKING}|{OTHERS}", one)]
    engine, jail = (any(re.fullmatch(kind, one) for one in names) for kind in (ENGINE, JAIL))
    if names and not engine and (others or not jail):
        raise FileExistsError(0, f"it has other things in it, such as {min(others or names)}")
    if not others:
        with contextlib.suppress(NetlabError):  # the disk is full, or it may only be read
            files.write(folder / TAG, TAG_TEXT)
    return folder
