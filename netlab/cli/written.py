"""Writing files, all or none: what somebody else has put there stays as it is."""

from netlab.engines.files import check, write
from netlab.errors import NetlabError


def write_all(folder, files, move="name another folder, or move that file away"):
    """Write files of a command's ``--output``.

    Parameters
    ----------
    folder : path
        The one that the user named.
    files : dict of bytes
        By path, in that folder.
    move : str
        What to do about a file that is in the way.

    Raises
    ------
    NetlabError
        One of the files is there already and says something else, and nothing was written; or the
        folder cannot be written.
    """
    missing, made = {}, []
    for path, data in files.items():
        check(path, "--output")
        if not path.exists():
            missing[path] = data
        elif path.read_bytes() != data:
            raise NetlabError(
                f"--output {folder}: {path} is there already and says something else; {move}"
            )
    try:
        for path, data in missing.items():
            write(path, data, "--output", remedy="name another folder")
            made.append(path)
    except BaseException:
        for path in made:
            path.unlink()
        raise
