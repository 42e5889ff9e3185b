"""Keep what a failed run left, for whoever wants to know why it failed."""

import os
import time

from netlab.engines import files as in_files
from netlab.engines.cache import cache_folder, own_cache

NAME = r"\d{8}-\d{6}-.+"  # of a folder: when it was, and something unique
NEWEST = 50  # folders that are kept; older ones are removed
MOST_BYTES = 8 << 20  # of a folder; of longer files the end is kept


_kept = [True]


def keep_none():
    """Keep none from now on, in this process: for runs of strangers, who could fill the disk."""
    _kept[0] = False


def save(whose, files):
    """Write files (texts or bytes by name) to a new folder of the cache, 8 MB at most; keep the
    fifty newest folders. -> A sentence that says where they are, or why not, "" after `keep_none`;
    and the folder, or None.
    """
    if not _kept[0]:
        return "", None
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{whose}-{os.urandom(4).hex()}"
    place, made = cache_folder() / "evidence" / name, False
    try:
        own_cache()
        in_files.prune(place.parent, NAME, newest=NEWEST - 1)
        place.mkdir(parents=True)
        made = True
        for file, data in shortened(files).items():
            (place / file).write_bytes(data)
    except OSError as error:
        if made:
            in_files.remove_tree(place)
        return f"It could not be kept in {place}: {error.strerror}", None
    return f"Everything it left is in {place}", place


def shortened(files):
    """The files as bytes, together not much more than `MOST_BYTES`."""
    data = {
        name: content if isinstance(content, bytes) else content.encode(errors="backslashreplace")
        for name, content in files.items()
    }
    room, left = MOST_BYTES, len(data)
    for name in sorted(data, key=lambda name: len(data[name])):
        share = room // left  # what small files leave is for the large ones
        if (cut := len(data[name]) - share) > 0:
            data[name] = b"(%d bytes before this are left out)\n" % cut + data[name][cut:]
        room, left = max(0, room - len(data[name])), left - 1
    return data
