"""What a guest takes of the host's memory beside its own: processes, and their mappings."""

import contextlib

from netlab.engines.agent_line import TooMuch
from netlab.engines.guest.failure import children_of

MOST_PROCESSES = 2200  # the guest itself allows 2000 threads
MOST_MAPPINGS = 2_000_000  # each takes some 200 bytes of the host's kernel
MOST_OF_ONE = 65_530  # vm.max_map_count of Linux
PIECE = 1 << 20


def check(kernel):
    """Raise `TooMuch` where a guest's processes, or their mappings, are too many."""
    try:
        processes = children_of(kernel)
    except OSError:  # it has ended
        return
    if len(processes) > MOST_PROCESSES:
        raise TooMuch(f"it had {len(processes)} processes, and {MOST_PROCESSES} are allowed")
    if len(processes) * MOST_OF_ONE <= MOST_MAPPINGS:
        return
    count = 0
    for process in processes:
        with contextlib.suppress(OSError), open(f"/proc/{process}/maps", "rb") as maps:
            while piece := maps.read(PIECE):
                count += piece.count(b"\n")
        if count > MOST_MAPPINGS:
            raise TooMuch(
                f"its programs had more than {MOST_MAPPINGS:,} pieces of memory, which take the"
                " host's memory, too: let fewer of them use less"
            )
