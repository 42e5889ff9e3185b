"""What a guest's kernel tells and asks this process in the middle of a run: congestion windows and
queues, and what congestion control is to do.

The kernel stands still, and virtual time with it, until it has been heard. So a run that is
watched leaves the bytes of one that is not.
"""

import os
import socket
import struct

import numpy as np

from netlab.engines.guest.control import Control
from netlab.engines.guest.control_process import ANSWER
from netlab.errors import SpecificationError

PAGE_BYTES, MOST = 4096, 62  # the page that says whom to watch, and how many of either kind
# One record of the window of a connection, at each ACK that it gets (event 0) and each
# retransmission timeout (1). Addresses are numbers.
WINDOW = np.dtype(
    [
        ("kind", "<u4"),
        ("event", "<u4"),
        ("now_ns", "<u8"),
        ("source", ">u4"),
        ("destination", ">u4"),
        ("source_port", "<u2"),
        ("destination_port", "<u2"),
        *((name, "<u4") for name in ("cwnd", "ssthresh", "in_flight", "mss", "srtt_us")),
        *((name, "<u4") for name in ("min_rtt_us", "state", "lost", "retransmitted")),
        ("acked_bytes", "<u8"),
        ("delivered", "<u8"),
    ]
)
# One record of a queueing discipline, after each change of what it holds.
QUEUE = np.dtype(
    [
        ("kind", "<u4"),
        ("handle", "<u4"),
        ("now_ns", "<u8"),
        ("interface", "S16"),
        *((name, "<u4") for name in ("packets", "bytes", "drops", "overlimits", "parent")),
        ("spare", "V28"),
    ]
)


class HookFailed(Exception):
    """What a hook has called raised an exception, the cause of this one."""


class Hooks:
    """This process's end of a guest's hooks.

    Attributes
    ----------
    sockets : list of socket.socket
        Where the guest is heard; whoever waits for the guest waits for them, too, and calls
        `serve` with each that can be read.
    """

    def __init__(self):
        self.page = os.memfd_create("netlab-filter")
        os.ftruncate(self.page, PAGE_BYTES)
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(2)]
        self.sockets, self.guest_sockets = map(list, zip(*pairs, strict=True))
        self.control_socket = self.sockets[1]
        self.tell = self.control = None
        # of bytes that the kernel asks, while nobody else answers: netlab0 without an algorithm
        self.answer = lambda asked: ANSWER.pack(0, 0, 0, 0)

    @property
    def environment(self):
        """What the guest's kernel finds its ends by, and the descriptors it must be given."""
        watch, control = (end.fileno() for end in self.guest_sockets)
        descriptors = {
            "NETLAB_FILTER_FD": self.page,
            "NETLAB_WATCH_FD": watch,
            "NETLAB_CONTROL_FD": control,
        }
        return {name: str(number) for name, number in descriptors.items()}, [*descriptors.values()]

    def watch(self, tell, addresses=(), interfaces=()):
        """Be told of windows and queues from now on.

        Parameters
        ----------
        tell : callable
            It is called as ``tell(windows, queues)`` with arrays of `WINDOW` and `QUEUE`, in the
            order of time, many at once.
        addresses : sequence of str
            Connections that send from these IPv4 addresses.
        interfaces : sequence of str
            Names such as ``"s1-eth2"``; every queueing discipline on them.
        """
        for what, names in (("addresses", addresses), ("interfaces", interfaces)):
            if len(names) > MOST:
                raise SpecificationError(f"{what}: {len(names)} of them, and at most {MOST}")
        page = struct.pack("<II", len(addresses), len(interfaces))
        page += b"".join(map(socket.inet_aton, addresses)).ljust(4 * MOST, b"\0")
        page += b"".join(name.encode().ljust(16, b"\0") for name in interfaces)
        os.pwrite(self.page, page, 0)
        self.tell = tell

    def answer_by(self, algorithms, seed, cpu=None):
        """Have these algorithms answer what the kernel's netlab0, netlab1 ... ask; on the CPU of
        the kernel, which waits meanwhile, that takes a fraction of the time.

        Raises
        ------
        AlgorithmError
            One of them cannot even be begun.
        """
        self.control = Control(algorithms, seed, self.control_socket, cpu)
        self.sockets[1] = self.control.socket
        self.control_socket.close()

    def serve(self, ready):
        """Hear what has come on one of `sockets`.

        Raises
        ------
        HookFailed
            What was called with it has raised an exception, which is the cause. The guest waits for
            an answer that does not come: it can only be ended.
        """
        try:
            if self.control and ready is self.control.socket:
                self.control.hear()
            else:
                self._serve(ready, ready.recv(1 << 16))
        except Exception as error:
            raise HookFailed from error

    def _serve(self, ready, data):
        if not data:  # the guest has gone; its line tells, too
            self.sockets.remove(ready)
            ready.close()
        elif ready is self.control_socket:
            ready.send(self.answer(data))
        elif self.tell:
            records = np.frombuffer(data, np.dtype(("V", WINDOW.itemsize)))
            kinds = np.frombuffer(data, "<u4")[:: WINDOW.itemsize // 4]
            self.tell(records[kinds == 1].view(WINDOW), records[kinds == 2].view(QUEUE))

    def started(self):
        """The guest has its ends: give ours of them back."""
        for end in self.guest_sockets:
            end.close()

    def close(self):
        """Give everything back."""
        if self.control:
            self.control.close()
        for end in (*self.sockets, *self.guest_sockets):
            end.close()
        os.close(self.page)
