"""Programs that this process, or one that it has started, has started; some end within a moment."""

import contextlib

import psutil


def named(processes=None):
    """Each program, with its name without a version."""
    found = psutil.Process().children(recursive=True) if processes is None else processes
    for one in found:
        with contextlib.suppress(psutil.NoSuchProcess):
            yield one, one.name().rstrip("0123456789.")


def names(processes=None):
    return {name for _, name in named(processes)}
