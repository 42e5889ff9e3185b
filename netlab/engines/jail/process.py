"""A jail, from its start to its end."""

from pathlib import Path

from netlab.engines.guest import archives, transfer, walls
from netlab.engines.guest.process import Guest
from netlab.engines.jail.contents import ARCHIVE, contents
from netlab.engines.transports import pieces
from netlab.errors import GuestError, LimitError

HERE = Path(__file__).parent
PIECE = 50_000  # bytes of one packet
MOST_BYTES = 64 << 20  # of what a program may send in all
MOST_TEXT = 16 << 20  # of one text
PER_PACKET = 1_000  # that each piece of a text counts for, besides its length


class Jail(Guest):
    """A guest for one program: a file of the jail, such as
    ``/run/netlab/netlab/course/grading/runner.py``, with arguments and files (texts by name) in its
    folder. An EngineError behind fewer than two walls.
    """

    booted = (HERE / "boot.sh", HERE / "fstab", HERE / "warden.py", HERE.parent / "agent.py")

    def __init__(self, program, *arguments, files=None, wall_limit_s=120.0, seed=1):
        walls.check_for_strangers()
        self.received = 0
        super().__init__(transfer.current(), seed, "virtual", wall_limit_s)
        try:
            self.ask(op="start", program=program, arguments=arguments, files=files or {})
        except BaseException:
            self.close()
            raise

    def archives(self, build):
        python, own = contents()
        opened = {"p": archives.open_(python / ARCHIVE), "n": archives.open_(own / ARCHIVE)}
        return super().archives(build) | opened

    def talk(self, *packets, to=1):
        """Hand packets to the program, wait for one; -> (socket's number, bytes).

        A GuestError where the program or the jail has ended, a LimitError where it sent too much.
        """
        answer = self.ask(op="talk", to=to, packets=[one.decode("latin-1") for one in packets])
        if "ended" in answer:
            said = str(answer.get("said", ""))[-1000:].strip()
            raise GuestError(f"the program in the jail ended by itself.\n{said}".strip())
        packet = str(answer["packet"]).encode("latin-1", "replace")
        self.received += len(packet)
        if self.received > MOST_BYTES:
            self.close()
            raise LimitError(f"the program in the jail sent more than {MOST_BYTES >> 20} MB")
        return answer["from"], packet

    def say(self, text):
        """Send a text, and wait for the text that answers it, both in `pieces`."""
        _, packet = self.talk(*pieces(text.encode(), PIECE))
        heard, taken = bytearray(packet[1:]), 0  # bytes would be copied with every piece
        while packet[:1] == b"+":
            _, packet = self.talk()
            heard += packet[1:]
            taken += len(packet) + PER_PACKET
            if taken > MOST_TEXT:
                self.close()
                raise LimitError(f"the program in the jail sent more than {MOST_TEXT >> 20} MB")
        return heard.decode(errors="replace")
