"""Keep what a failed run left, for whoever wants to know why it failed."""

import shutil

from netlab.engines.cache import cache_folder


def folder(name):
    """Where the evidence of this name is kept."""
    return cache_folder() / "evidence" / name


_kept = [True]


def keep_none():
    """Keep none from now on, in this process: for runs of strangers, who could fill the disk."""
    _kept[0] = False


def save(name, files):
    """Write files to a folder of the cache; -> a sentence that says where they are,
    or "" after `keep_none`.

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
        place.mkdir(parents=True)
        made = True
        for file, content in files.items():
            data = (
                content if isinstance(content, bytes) else content.encode(errors="backslashreplace")
            )
            (place / file).write_bytes(data)
    except OSError as error:
        if made:
            shutil.rmtree(place, ignore_errors=True)
        return f"It could not be kept in {place}: {error.strerror}"
    return f"Everything it left is in {place}"
