"""Make the recorded results anew: run notebooks with every experiment recorded. What `netlab
record` does.
"""

import os
import shutil
import tempfile
from pathlib import Path
from unittest.mock import patch

from netlab.engines import recorded
from netlab.errors import needs_notebooks


def record(notebooks, every=False):
    """Run notebooks, and take over what their experiments left.

    A result whose output is what it was keeps its file, so that nothing changes where nothing
    changed.

    Parameters
    ----------
    notebooks : iterable of path
    every : bool
        These are all notebooks there are: records that none of them asked for are removed.

    Yields
    ------
    tuple
        Per notebook its path, how many experiments it ran, and how many of their records are new;
        then, with `every`, None, how many records there are, and how many were removed.
    """
    with needs_notebooks():
        import papermill

    home, used = recorded.folder(), set()
    for path in map(Path, notebooks):
        with (
            tempfile.TemporaryDirectory() as fresh,
            patch.dict(os.environ, NETLAB_RECORD="on", NETLAB_RECORDS=fresh),
        ):
            papermill.execute_notebook(
                path, Path(fresh, "ran.ipynb"), cwd=path.parent, progress_bar=False
            )
            made = sorted(Path(fresh).glob("*.json.xz"))
            new = [file for file in made if not is_kept(file, home / file.name)]
            home.mkdir(parents=True, exist_ok=True)
            for file in new:
                shutil.copy(file, home)
            used |= {file.name for file in made}
        yield path, len(made), len(new)
    if every:
        stale = [file for file in home.glob("*.json.xz") if file.name not in used]
        for file in stale:
            file.unlink()
        yield None, len(used), len(stale)


def is_kept(file, kept):
    """Is there a record with the same output already?"""
    return kept.exists() and recorded.alike(recorded.read(file), recorded.read(kept))
