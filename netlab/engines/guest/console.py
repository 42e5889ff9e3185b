"""What a guest's kernel and its first program print: the end of it is kept, and too much ends the
guest.
"""

import os

MOST_BYTES = 16 << 20
KEPT_BYTES = 64 << 10
FLOODED = f"it wrote more than {MOST_BYTES >> 20} MB to its console (/dev/console): print less"


class Console:
    """Reads a growing file once, by its descriptor: a name might lead elsewhere by then.

    Parameters
    ----------
    descriptor : int
    signs : sequence of str
        Texts that are not forgotten once they were there.
    """

    def __init__(self, descriptor, signs):
        self.descriptor, self.signs = descriptor, [sign.encode() for sign in signs]
        self.bytes_read, self.end, self.seen = 0, b"", []

    @property
    def flooded(self):
        """Is there more than a guest may write?"""
        return os.fstat(self.descriptor).st_size > MOST_BYTES

    def text(self):
        """The signs that have scrolled away, and the end of what was written so far."""
        while self.bytes_read <= MOST_BYTES:
            new = os.pread(self.descriptor, KEPT_BYTES, self.bytes_read)
            if not new:
                break
            self.bytes_read += len(new)
            both = self.end + new
            self.seen += [sign for sign in self.signs if sign in both and sign not in self.seen]
            self.end = both[-KEPT_BYTES:]
        gone = [sign for sign in self.seen if sign not in self.end]
        return b"\n".join([*gone, self.end]).decode(errors="replace")
