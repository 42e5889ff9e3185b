"""The guest engine for strangers' experiments: their algorithms answer from a jail."""

import json

from netlab.algorithms.control_process import ANSWER, given
from netlab.engines.guest import GuestEngine
from netlab.engines.guest.hooks import failed_text
from netlab.engines.guest.process import Guest
from netlab.engines.jail.process import Jail
from netlab.errors import AlgorithmError, GuestError

PROGRAM = "/run/netlab/netlab/algorithms/control_process.py"
BASE = "/run/netlab/netlab/algorithms/base.py"
KERNEL, PARENT = 0, 1  # its two sockets
MOST_OUTPUT_BYTES = 30_000_000  # of all programs of a network


class JailedControl:
    """Runs `control_process` in a jail; an AlgorithmError where an algorithm fails."""

    def __init__(self, algorithms, seed, wall_limit_s):
        self.algorithms = algorithms
        self.jail = Jail(PROGRAM, BASE, str(seed), wall_limit_s=wall_limit_s)

    def begin(self):
        """Hand over the algorithms, and wait until they can answer."""
        self.hear(*given(self.algorithms), to=PARENT, until=PARENT)

    def answer(self, asked):
        """What the kernel is told (the bytes of `control_process.ANSWER`)."""
        return self.hear(asked, to=KERNEL, until=KERNEL)

    def hear(self, *packets, to, until):
        """Hand over packets; -> the first one back on the socket `until`, or an AlgorithmError."""
        try:
            number, packet = self.jail.talk(*packets, to=to)
            while number != until or (until == PARENT and b"ready" not in packet):
                self.check(number, packet)
                number, packet = self.jail.talk(to=to)
        except GuestError as error:
            raise self.failed(error) from None
        if until == KERNEL and len(packet) != ANSWER.size:
            raise self.failed("it sent no answer")
        return packet

    def check(self, number, packet):
        """Refuse to go on with an algorithm that has failed; what it prints is passed over."""
        try:
            failed = json.loads(packet).get("failed") if number == PARENT else "no answer"
        except (ValueError, AttributeError, RecursionError):
            failed = "it sent a message that cannot be read"
        if failed is not None:
            failed = failed if isinstance(failed, dict) else {"what": failed}
            lines = failed.get("lines")
            lines = [str(line)[:200] for line in lines[:12]] if isinstance(lines, list) else []
            raise self.failed(str(failed.get("what"))[:2000], lines)

    def failed(self, what, lines=()):
        return AlgorithmError(failed_text(self.algorithms, lines, what))


class JailedGuest(Guest):
    """A guest whose algorithms are in a jail, and which prints and tells less."""

    control = None
    most_output_bytes = MOST_OUTPUT_BYTES
    most_records = MOST_OUTPUT_BYTES // 60  # bytes of each, as text

    def answer_by(self, algorithms, seed):
        self.control = JailedControl(algorithms, seed, self.channel.wall_limit_s)
        self.cleanup.callback(self.control.jail.close)
        if self.channel.interrupted:  # while the jail was starting
            self.control.jail.interrupt()
        self.control.begin()
        self.hooks.answer = self.control.answer

    def interrupt(self):
        super().interrupt()
        if self.control:
            self.control.jail.interrupt()


class JailedEngine(GuestEngine):
    """`GuestEngine`, for experiments that carry Python of others; the same bytes."""

    connection = JailedGuest
