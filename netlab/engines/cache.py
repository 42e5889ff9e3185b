"""The folder outside the checkout where built engines, unfinished sweeps and evidence are kept."""

import os
import re
from pathlib import Path

from netlab.engines import files
from netlab.errors import NetlabError

ENGINE = r"(kernel|rootfs)-[0-9a-f]{12}"  # names of folders in the cache
JAIL = r"jail-(python|netlab)-[0-9a-f]{12}"
MAKING = r"making-[a-z0-9_]{8}"
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
    """The cache, made where missing, to write to; an OSError where it is not netlab's (no tag)."""
    folder = cache_folder()
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
    # beside the tag that another process is writing just now
    names = [one.name for one in folder.iterdir() if not re.fullmatch(r"\.netlab-.*", one.name)]
    if not is_tagged(folder):  # asked last: another process may be making the cache
        if names:
            raise FileExistsError(
                0, f"it has other things in it, such as {min(names)}, but no {TAG} of netlab's"
            )
        try:
            files.write(folder / TAG, TAG_TEXT)
        except NetlabError as error:
            raise error.__cause__ from None
    return folder


def is_tagged(folder):
    """Has it the tag of netlab's cache? Other programs tag theirs by the same file."""
    try:
        return (folder / TAG).read_bytes()[: len(TAG_TEXT)] == TAG_TEXT.encode()
    except OSError:
        return False
