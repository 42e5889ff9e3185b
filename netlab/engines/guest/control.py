"""Congestion control in Python: the process that answers the guest's kernel, from its start to its
end.
"""

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
from netlab.engines.guest.control_process import LONGEST_S, place
from netlab.errors import AlgorithmError


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

    Attributes
    ----------
    socket : socket.socket
        Where the process tells what it prints, and what has gone wrong.
    """

    def __init__(self, algorithms, seed, kernel):
        self.algorithms = algorithms
        self.socket, its_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.dumped = tempfile.TemporaryFile()  # noqa: SIM115 - what Python's watchdog writes
        command = [sys.executable, "-s", "-P", "-B", control_process.__file__]
        own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        self.process = subprocess.Popen(
            [*command, base.__file__, str(seed)],
            env=own | {"PYTHONHASHSEED": "0"},  # the order of a set of texts depends on it
            stdin=kernel,
            stdout=its_end,
            stderr=self.dumped,
            cwd="/",
            start_new_session=True,
        )
        its_end.close()
        self.socket.send(json.dumps([one.model_dump() for one in algorithms]).encode())
        try:
            while not self.hear():
                """Until it is ready."""
        except BaseException:
            self.close()
            raise

    def hear(self):
        """Take one message of the process; -> is it ready?

        Raises
        ------
        AlgorithmError
            It has failed, or ended.
        """
        ready, _, _ = select.select([self.socket], [], [], 2 * LONGEST_S)
        data = self.socket.recv(1 << 20) if ready else b""
        message = json.loads(data) if data else {"failed": self.why_it_ended()}
        if "out" in message:
            print(message["out"], end="", flush=True)
        if failed := message.get("failed"):
            names = ", ".join(dict.fromkeys(map(str, self.algorithms)))
            lines = failed["lines"]
            if len(lines) > 12:  # a recursion
                lines = [*lines[:5], f"... {len(lines) - 10} lines more ...", *lines[-5:]]
            where = "".join(f"\n  {line}" for line in lines)
            raise AlgorithmError(f"{names} failed, and ended the run:{where}\n{failed['what']}")
        return "ready" in message

    def why_it_ended(self):
        """What there is to say of a process that has ended without a word."""
        status = self.process.wait()
        self.dumped.seek(0)
        dumped = self.dumped.read().decode(errors="replace")
        found = re.findall(r'File "<algorithm ?(\d*)>", line (\d+)', dumped)
        lines = [
            place(self.algorithms[int(number or 1) - 1].source, int(line))
            for number, line in reversed(found)
        ]
        if dumped.startswith("Timeout"):
            return {"what": f"it did not answer within {LONGEST_S} seconds", "lines": lines}
        what = f"its process ended by itself, with status {status}"
        return {"what": f"{what}\n{dumped[-2000:]}".strip(), "lines": lines}

    def close(self):
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.socket.close()
        self.dumped.close()
