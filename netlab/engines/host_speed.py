"""How much longer than elsewhere netlab waits on this machine."""

import os

from netlab.errors import SpecificationError

SLOWEST = 1000


def wall_s(seconds, about=()):
    """A limit of netlab's own, times what `about`, an engine's, says of where that is; otherwise
    times the environment variable ``NETLAB_SLOWER`` (1 to 1000). [s]

    With 40, netlab waits 40 times as long, as for an engine in an emulated machine. A limit that a
    user gives is not multiplied.
    """
    if "slower" in about:
        return about["slower"] * seconds
    text = os.environ.get("NETLAB_SLOWER") or "1"
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not 1 <= factor <= SLOWEST:
        raise SpecificationError(
            f"NETLAB_SLOWER = {text!r}: how many times as long netlab's own limits of wall-clock"
            f" time are on this machine, a number from 1 to {SLOWEST}"
        )
    return factor * seconds
