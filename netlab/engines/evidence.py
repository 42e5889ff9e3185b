"""Keep what a failed run left, for whoever wants to know why it failed."""

from netlab.engines import files as in_files
from netlab.engines.cache import cache_folder, own_cache

NAME = r"\d{8}-\d{6}-.+"  # of a folder: when it was, and something unique
NEWEST = 50  # folders that are kept; older ones are removed


def folder(name):
    """Where the evidence of this name is kept."""
    return cache_folder() / "evidence" / name


_kept = [True]


def keep_none():
    """Keep none from now on, in this process: for runs of strangers, who could fill the disk."""
    _kept[0] = False


def save(name, files):
    """Write files to a folder of the cache; -> a sentence that says where they are,
    or "" after `keep_none`. The fifty newest of such folders are kept.

    A cache that is full or may not be written to changes the sentence and raises nothing: the
    error that the evidence belongs to is the one to be seen.

    Parameters
    ----------
    name : str
        Of the folder; the time and something unique, so that no two runs share one.
    files : dict of str or bytes
        Contents by file name.
    """
    if not _kept[0]:
        return ""
    place, made = folder(name), False
    try:
        own_cache()
        in_files.prune(place.parent, NAME, newest=NEWEST - 1)
        place.mkdir(parents=True)
        made = True
        for file, content in files.items():
            data = (
                content if isinstance(content, bytes) else content.encode(errors="backslashreplace")
            )
            (place / file).write_bytes(data)
    except OSError as error:
        if made:
            in_files.remove_tree(place)
        return f"It could not be kept in {place}: {error.strerror}"
    return f"Everything it left is in {place}"
