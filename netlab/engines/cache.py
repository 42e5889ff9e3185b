"""The folder outside the checkout where built engines, unfinished sweeps and evidence are kept."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path


def cache_folder():
    """$NETLAB_CACHE, or $XDG_CACHE_HOME/netlab, or ~/.cache/netlab."""
    if folder := os.environ.get("NETLAB_CACHE"):
        return Path(folder).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "netlab"


def replace_text(path, text):
    """Write a file in one step, in place of whatever is there: nobody reads half of it."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=path.name, delete=False) as file:
        file.write(text)
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    os.replace(file.name, path)


def remove_tree(folder):
    """Delete a folder even where packages left folders read-only."""
    for path, _, _ in os.walk(folder):
        with contextlib.suppress(OSError):
            os.chmod(path, 0o700)
    shutil.rmtree(folder, ignore_errors=True)
