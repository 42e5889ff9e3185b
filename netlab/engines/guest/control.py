"""Congestion control in Python: the process that answers the guest's kernel, from its start to its
end.
"""

import contextlib
import json
import os
import re
import select
import socket
import subprocess
import sys
import tempfile

from netlab.algorithms import base
from netlab.engines.guest import control_process
from netlab.engines.guest.control_process import CALLED, LONGEST_S, PIECE, place
from netlab.engines.guest.places import fixed_layout
from netlab.engines.host_speed import wall_s
from netlab.errors import AlgorithmError

# The same bytes on every x86-64, in a notebook and in a jail (`netlab.engines.jail.warden` has the
# same): without fused multiply-add in the C library, and what numpy and OpenBLAS choose by CPU.
COMPUTING = {
    # a thread per CPU otherwise, and memory for each
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-POPCNT",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    "OPENBLAS_CORETYPE": "Nehalem",
}


class Control:
    """A process that answers for some algorithms.

    Parameters
    ----------
    algorithms : list of netlab.algorithms.source.Algorithm
        In the order of their names in the kernel, netlab0, netlab1 ...
    seed : int
        Of their random numbers.
    kernel : socket.socket
        Where the kernel asks.
    cpu : int, optional
        Where the guest runs. The two take turns, and handing over to another CPU takes longer.

    Attributes
    ----------
    socket : socket.socket
        Where the process tells what it prints, and what has gone wrong.
    """

    def __init__(self, algorithms, seed, kernel, cpu=None):
        self.algorithms, self.longest_s = algorithms, wall_s(LONGEST_S)
        self.socket, its_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.dumped = tempfile.TemporaryFile()  # noqa: SIM115 - what Python's watchdog writes
        command = [sys.executable, "-s", "-P", "-B", control_process.__file__]
        own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        own |= COMPUTING
        self.process = subprocess.Popen(
            # objects at the same addresses each time: the order of a set of objects depends on them
            [*fixed_layout(), *command, base.__file__, str(seed), str(self.longest_s)],
            env=own | {"PYTHONHASHSEED": "0"},  # the order of a set of texts depends on it
            stdin=kernel,
            stdout=its_end,
            stderr=self.dumped,
            cwd="/",
            start_new_session=True,
        )
        its_end.close()
        if cpu is not None:
            with contextlib.suppress(OSError):  # it has ended already; `hear` says why
                os.sched_setaffinity(self.process.pid, {cpu})
        try:
            self.send(json.dumps([one.model_dump() for one in algorithms]).encode())
            while not self.hear():
                """Until it is ready."""
        except BaseException:
            self.close()
            raise

    def send(self, text):
        """Hand over the algorithms; see `control_process.take`."""
        with contextlib.suppress(OSError):  # it has ended already; `hear` says why
            self.socket.send(str(len(text)).encode())
            for first in range(0, len(text), PIECE):
                self.socket.send(text[first : first + PIECE])

    def hear(self):
        """Take one message of the process; -> is it ready?

        Raises
        ------
        AlgorithmError
            It has failed, or ended.
        """
        data = b""
        if select.select([self.socket], [], [], 2 * self.longest_s)[0]:
            with contextlib.suppress(ConnectionResetError):
                data = self.socket.recv(1 << 20)
        message = json.loads(data) if data else {"failed": self.why_it_ended()}
        if "out" in message:
            print(message["out"], end="", flush=True)
        if failed := message.get("failed"):
            raise AlgorithmError(self.said(**failed))
        return "ready" in message

    def said(self, what, lines, algorithm=None, event=None):
        """What the error says."""
        concerned = self.algorithms if algorithm is None else [self.algorithms[algorithm]]
        names = ", ".join(dict.fromkeys(map(str, concerned)))
        if not lines and event is not None:
            lines = [f"{concerned[0].name}.{CALLED[event]}"]
        if len(lines) > 12:  # a recursion
            lines = [*lines[:5], f"... {len(lines) - 10} lines more ...", *lines[-5:]]
        where = "".join(f"\n  {line}" for line in lines)
        return f"{names} failed, and ended the run:{where}\n{what}"

    def why_it_ended(self):
        """What there is to say of a process that has ended without a word, or says none."""
        try:
            status = self.process.wait(1)
        except subprocess.TimeoutExpired:
            return {"what": f"it was not ready within {2 * self.longest_s:g} seconds", "lines": []}
        self.dumped.seek(0)
        dumped = self.dumped.read().decode(errors="replace")
        found = re.findall(r'File "<algorithm ?(\d*)>", line (\d+)', dumped)
        numbers = [int(number or 1) - 1 for number, _ in found]
        lines = [
            place(self.algorithms[number].source, int(line))
            for number, (_, line) in zip(numbers, found, strict=True)
        ][::-1]
        if dumped.startswith("Timeout"):
            what = f"it did not answer within {self.longest_s:g} seconds"
        else:
            what = f"its process ended by itself, with status {status}\n{dumped[:500]}".strip()
        return {"what": what, "lines": lines, "algorithm": numbers[0] if numbers else None}

    def close(self):
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.socket.close()
        self.dumped.close()
