"""Writing files, all or none: what somebody else has put there stays as it is."""

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
    try:
        for path, data in files.items():
            if path.exists() and path.read_bytes() != data:
                raise NetlabError(
                    f"--output {folder}: {path} is there already and says something else; {move}"
                )
        for path, data in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except OSError as error:
        raise NetlabError(
            f"--output {folder}: {error.filename}: {error.strerror}; name another folder"
        ) from error
