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
OTHERS = r"lock|engine\.(json|stamp)|sweeps|evidence|graded|\.netlab-.*|does-not-run-here"
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
        It cannot be made, or it is not netlab's: it has other things in it, and no engine.
    """
    folder = cache_folder()
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
    if (folder / TAG).is_file():
        return folder
    names = [path.name for path in folder.iterdir()]
    others = [one for one in names if not re.fullmatch(f"{ENGINE}|{JAIL}|{MAKING}|{OTHERS}", one)]
    if not others:
        with contextlib.suppress(NetlabError):  # the disk is full, or it may only be read
            files.write(folder / TAG, TAG_TEXT)
    elif not any(re.fullmatch(ENGINE, name) for name in names):
        raise FileExistsError(0, f"it has other things in it, such as {min(others)}")
    return folder
