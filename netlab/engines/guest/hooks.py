"""The parent's end of a guest's hooks: windows and queues are told, congestion control is asked.

The kernel and virtual time stand still meanwhile, so that watching changes no byte of a run.
"""

import contextlib
import fcntl
import json
import os
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np

from netlab.algorithms import base, control_process
from netlab.algorithms.control_process import ANSWER, ASK, CALLED, LONGEST_S, place
from netlab.engines.guest.machine import fixed_layout
from netlab.engines.transports import ChannelDown, ready
from netlab.errors import AlgorithmError, SpecificationError

PAGE_BYTES, MOST = 4096, 62  # the page that says whom to watch, and how many of either kind
SIZE_SEALED = fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
# One record of the window of a connection, at each ACK that it gets (event 0) and each
# retransmission timeout (1). Addresses are numbers.
WINDOW = np.dtype(
    [
        *(("kind", "<u4"), ("event", "<u4"), ("now_ns", "<u8")),
        *(("source", ">u4"), ("destination", ">u4")),
        *(("source_port", "<u2"), ("destination_port", "<u2")),
        *((name, "<u4") for name in ("cwnd", "ssthresh", "in_flight", "mss", "srtt_us")),
        *((name, "<u4") for name in ("min_rtt_us", "state", "lost", "retransmitted")),
        *(("acked_bytes", "<u8"), ("delivered", "<u8")),
    ]
)
# One record of a queueing discipline, after each change of what it holds.
QUEUE = np.dtype(
    [
        *(("kind", "<u4"), ("handle", "<u4"), ("now_ns", "<u8"), ("interface", "S16")),
        *((name, "<u4") for name in ("packets", "bytes", "drops", "overlimits", "parent")),
        ("spare", "V28"),
    ]
)
# The same bytes on every x86-64, in a notebook and in a jail (`netlab.engines.jail.warden` has the
# same): without fused multiply-add in the C library, and what numpy and OpenBLAS choose by CPU.
COMPUTING = {
    # a thread per CPU otherwise, and memory for each
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-POPCNT",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    "OPENBLAS_CORETYPE": "Nehalem",
}


class Hooks:
    """The parent's end of a guest's hooks: wait for `sockets`, call `serve` with those ready."""

    def __init__(self):
        self.page = os.memfd_create("netlab-filter", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.page, PAGE_BYTES)
        # the guest has it, too, and could fill this machine's memory by it
        fcntl.fcntl(self.page, fcntl.F_ADD_SEALS, SIZE_SEALED)
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(2)]
        self.sockets, self.guest_sockets = map(list, zip(*pairs, strict=True))
        self.control_socket = self.sockets[1]
        self.tell = self.control = None
        # of bytes that the kernel asks, while nobody else answers: netlab0 without an algorithm
        self.answer = lambda asked: ANSWER.pack(0, 0, 0, 0)

    @property
    def environment(self):
        """What the guest's kernel finds its ends by, and the descriptors it must be given."""
        names = "NETLAB_FILTER_FD", "NETLAB_WATCH_FD", "NETLAB_CONTROL_FD"
        numbers = [self.page, *(end.fileno() for end in self.guest_sockets)]
        return dict(zip(names, map(str, numbers), strict=True)), numbers

    def watch(self, tell, addresses=(), interfaces=()):
        """From now on, call ``tell(windows, queues)`` with arrays of `WINDOW` and `QUEUE`: of what
        sends from these IPv4 addresses, and of each discipline on these interfaces.
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
        """Have these algorithms answer what the kernel's netlab0, netlab1 ... ask."""
        self.control = Control(algorithms, seed, self.control_socket, cpu)
        self.sockets[1] = self.control.socket
        self.control_socket.close()

    def serve(self, source):
        """Take a message of one of `sockets`, without waiting for the guest. After an exception,
        whatever has raised it, the guest can only be ended.
        """
        if self.control and source is self.control.socket:
            self.control.hear()
            return
        data = received(source)
        if not data:  # the guest has gone; its line tells, too
            self.sockets.remove(source)
            source.close()
        elif source is self.control_socket:
            if len(data) != ASK.size:
                raise ChannelDown("it asked what no kernel of a guest asks")
            answer = self.answer(data)
            try:
                source.send(answer, socket.MSG_DONTWAIT)
            except BlockingIOError:
                raise ChannelDown("it asked on, and took no answer") from None
            except OSError as error:
                raise ChannelDown from error
        elif len(data) % WINDOW.itemsize:
            raise ChannelDown("it told what no kernel of a guest tells")
        elif self.tell:
            records = np.frombuffer(data, np.dtype(("V", WINDOW.itemsize)))
            kinds = np.frombuffer(data, "<u4")[:: WINDOW.itemsize // 4]
            self.tell(records[kinds == 1].view(WINDOW), records[kinds == 2].view(QUEUE))

    def started(self):
        """The guest has its ends: close ours of them."""
        for end in self.guest_sockets:
            end.close()

    def close(self):
        if self.control:
            self.control.close()
        for end in (*self.sockets, *self.guest_sockets):
            end.close()
        os.close(self.page)


def received(source):
    """A message that has come from a guest."""
    try:
        return source.recv(1 << 16, socket.MSG_DONTWAIT)
    except OSError as error:
        raise ChannelDown from error


class Control:
    """A process that answers for some algorithms; an AlgorithmError where one cannot be begun.

    The kernel asks it directly, on the socket `kernel`; its own `socket` tells what it prints and
    what has gone wrong. It shares the guest's CPU, as another would be slower.
    """

    def __init__(self, algorithms, seed, kernel, cpu=None):
        self.algorithms, self.longest_s = algorithms, LONGEST_S
        self.socket, its_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.dumped = tempfile.TemporaryFile()  # noqa: SIM115 - what Python's watchdog writes
        command = [sys.executable, "-s", "-P", "-B", control_process.__file__]
        own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        self.process = subprocess.Popen(
            # objects at the same addresses each time: the order of a set of objects depends on them
            [*fixed_layout(), *command, base.__file__, str(seed), str(self.longest_s)],
            # the order of a set of texts depends on PYTHONHASHSEED
            env=own | COMPUTING | {"PYTHONHASHSEED": "0"},
            stdin=kernel,
            stdout=its_end,
            stderr=self.dumped,
            cwd="/",
            start_new_session=True,
        )
        its_end.close()
        try:
            until = time.monotonic() + self.longest_s
            # it has ended already, or does not take them; `hear` says why
            with contextlib.suppress(OSError, ChannelDown):
                if cpu is not None:
                    os.sched_setaffinity(self.process.pid, {cpu})
                for message in control_process.given(algorithms):
                    if not ready([self.socket], select.POLLOUT, until):
                        break
                    self.socket.send(message)
            while not self.hear():
                """Until it is ready."""
        except BaseException:
            self.close()
            raise

    def hear(self):
        """Take one message of the process; -> is it ready? An AlgorithmError where it failed."""
        data = b""
        if ready([self.socket], select.POLLIN, time.monotonic() + 2 * self.longest_s):
            with contextlib.suppress(ConnectionResetError):
                data = self.socket.recv(1 << 20)
        message = json.loads(data) if data else {"failed": self.why_it_ended()}
        if "out" in message:
            print(message["out"], end="", flush=True)
        if failed := message.get("failed"):
            raise AlgorithmError(self.said(**failed))
        return "ready" in message

    def said(self, what, lines, algorithm=None, event=None):
        concerned = self.algorithms if algorithm is None else [self.algorithms[algorithm]]
        if not lines and event is not None:
            lines = [f"{concerned[0].name}.{CALLED[event]}"]
        if len(lines) > 12:  # a recursion
            lines = [*lines[:5], f"... {len(lines) - 10} lines more ...", *lines[-5:]]
        return failed_text(concerned, lines, what)

    def why_it_ended(self):
        """As a message ``{"failed"}`` of a process that has ended without a word, or says none."""
        try:
            status = self.process.wait(1)
        except subprocess.TimeoutExpired:
            return {"what": f"it was not ready within {2 * self.longest_s:g} seconds", "lines": []}
        self.dumped.seek(0)
        dumped = self.dumped.read().decode(errors="replace")
        frames = [
            (int(number or 1) - 1, int(line))
            for number, line in re.findall(r'File "<algorithm ?(\d*)>", line (\d+)', dumped)
        ]
        lines = [place(self.algorithms[number].source, line) for number, line in frames[::-1]]
        if dumped.startswith("Timeout"):
            what = f"it did not answer within {self.longest_s:g} seconds"
        else:
            what = f"its process ended by itself, with status {status}\n{dumped[:500]}".strip()
        return {"what": what, "lines": lines, "algorithm": frames[0][0] if frames else None}

    def close(self):
        self.process.kill()
        self.process.wait()
        self.socket.close()
        self.dumped.close()


def failed_text(algorithms, lines, what):
    """The message of an AlgorithmError."""
    names = ", ".join(dict.fromkeys(map(str, algorithms)))
    where = "".join(f"\n  {line}" for line in lines)
    return f"{names} failed, and ended the run:{where}\n{what}"
