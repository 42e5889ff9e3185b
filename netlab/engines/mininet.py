"""Mininet on this machine: real interfaces, real time, and root to make them with."""

import contextlib
import functools
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from netlab.engines import agent
from netlab.engines.agent_line import Interrupted, LineDown, OutOfTime, PipeLine
from netlab.engines.host_speed import wall_s
from netlab.engines.protocol import ignore
from netlab.errors import EngineError

ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "TERM": "dumb",
    "LANG": "C.UTF-8",
}
PROGRAMS = {
    "iperf3": "iperf3",
    "tc": "iproute2",
    "brctl": "bridge-utils",
    "ethtool": "ethtool",
    "mnexec": "mininet",
    "pkill": "procps",
}
PYTHONS = (
    "/usr/bin/python3",
    "/usr/local/bin/python3",
)  # the system's, which Mininet is installed for
# netem and tbf on the loopback of a network namespace that ends with the command: nothing of this
# machine is touched
TRY_NETEM = (
    "ip link set lo up && tc qdisc add dev lo root handle 1: netem delay 1ms loss 1% && "
    "tc qdisc add dev lo parent 1: handle 2: tbf rate 1gbit burst 15000 limit 15000"
)
CLOSING_S = 20  # what the agent may take to end everything


class MininetEngine:
    """Mininet as it is installed on this machine.

    Attributes
    ----------
    name : str
        ``"mininet"``.
    digest : None
        What comes out depends on this machine and on the moment: it does not repeat, and nothing
        stands for it.
    about : dict
        ``kernel``, ``iperf3``, ``mininet`` (versions) and ``congestion``, the algorithms its kernel
        has.

    Raises
    ------
    EngineError
        Root, Mininet, netem or a program is missing; the message names all that is, and how to get
        it.
    """

    # a second network would have the same interfaces
    name, digest, clocks, at_once = "mininet", None, ("real",), 1

    def __init__(self):
        self.python, self.about = survey()

    def __repr__(self):
        return (
            f"<MininetEngine: Linux {self.about['kernel']}, iperf3 {self.about['iperf3']}, Mininet"
            f" {self.about['mininet']}>"
        )

    def connect(self, seed, clock, wall_limit_s):
        """Start an agent; see `netlab.engines.protocol.Engine`. The seed decides when traffic
        starts, which is no question to the agent; the kernel's own random numbers do not follow it.
        """
        return MininetConnection(self.python, wall_limit_s)

    def recall(self, experiment):
        """Always None: this engine keeps no results."""


class MininetConnection:
    """A running agent, as root; a `netlab.engines.protocol.Connection`.

    Parameters
    ----------
    python : str
        The Python that has Mininet.
    wall_limit_s : float
        The agent is ended when its answers have taken so long in all. [s]
    """

    def __init__(self, python, wall_limit_s):
        self.switches = []
        self.folder = Path(tempfile.mkdtemp(prefix="netlab-mininet-"))
        # a copy: beside the original is a module mininet, which is not the one to import
        script = shutil.copy(agent.__file__, self.folder)
        self.log = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self.process = subprocess.Popen(
                as_root(python, "-B", script, "--pipe", str(self.folder)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.log,
                start_new_session=True,  # Jupyter's interrupt goes to the whole process group
                bufsize=0,
            )
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        self.line = PipeLine(
            wall_limit_s, os.dup(self.process.stdin.fileno()), os.dup(self.process.stdout.fileno())
        )
        self.process.stdin.close()
        self.process.stdout.close()

    def ask(self, on_event=ignore, **question):
        """One question to the agent; see `netlab.engines.protocol.Connection.ask`.

        Raises
        ------
        EngineError
            The agent died, or the wall-clock limit has passed.
        """
        if self.process is None and not self.line.interrupted:
            raise EngineError("this network has been closed")
        if question["op"] == "up":
            self.switches = question["switches"]
        try:
            return self.line.ask(question, on_event)
        except Interrupted:
            self.close()
            raise KeyboardInterrupt from None
        except OutOfTime as error:
            failure = f"the network {error}"
        except LineDown as error:
            failure = f"the agent that runs Mininet died{f': {error}' if str(error) else ''}"
        self.close()
        raise EngineError(f"{failure}\n{self._log_tail()}")

    def watch(self, watches):
        """False: this machine's kernel does not tell by itself."""
        return False

    def watched(self, began_ns):
        """Nothing; see `watch`."""
        return {}

    def answer_by(self, algorithms, seed):
        """Never asked: ``about`` has no netlab0."""
        raise EngineError("this machine's kernel does not ask Python")

    def send_key(self, key):
        """Ctrl-C or SIGKILL for what is waited for; see `netlab.engines.protocol.Connection`."""
        self.line.send_key(key)

    def interrupt(self):
        """End the network at once, from any thread; see `netlab.engines.protocol.Connection`."""
        self.line.interrupt()

    def _log_tail(self):
        """The end of what the agent, and Mininet in it, wrote to standard error."""
        self.log.seek(0)
        return self.log.read().decode(errors="replace")[-3000:].strip()

    def close(self):
        """Hang up: the agent then ends the network and everything that runs in it."""
        if self.process is None:
            return
        self.line.close()
        try:
            status = self.process.wait(wall_s(CLOSING_S))
        except subprocess.TimeoutExpired:
            subprocess.run(
                as_root("kill", "-KILL", "--", f"-{self.process.pid}"), capture_output=True
            )
            status = self.process.wait()
        if status < 0 or status > 128:  # killed: the hosts went with it, the switches did not
            for name in os.listdir("/sys/class/net"):
                if name.partition("-eth")[0] in self.switches:
                    subprocess.run(as_root("ip", "link", "del", name), capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.process = None


def as_root(*command):
    """The command as root runs it, in an environment of its own."""
    words = ["env", "-i", *(f"{name}={value}" for name, value in ENVIRONMENT.items()), *command]
    return words if os.geteuid() == 0 else ["sudo", "-n", *words]


def output(*command):
    """What a command prints, as the system has it and not this Python's environment; None where it
    fails.
    """
    with contextlib.suppress(OSError):
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env=ENVIRONMENT,
            cwd="/",  # `python -c` imports from it
        )
        return done.stdout.strip() if done.returncode == 0 else None


@functools.cache
def survey():
    """Try what the engine needs; -> the Python that has Mininet, and `MininetEngine.about`.

    Raises
    ------
    EngineError
        Something is missing; the message names it all.
    """
    missing = []
    path = ENVIRONMENT["PATH"]
    packages = sorted(
        {
            package
            for program, package in PROGRAMS.items()
            if shutil.which(program, path=path) is None
        }
    )
    found = {
        python: output(python, "-c", "import mininet.net; print(mininet.net.VERSION)")
        for python in PYTHONS
    }
    python, version = next((item for item in found.items() if item[1]), (None, None))
    if python is None:
        packages = sorted({*packages, "mininet"})
    if packages:
        missing.append(
            f"{', '.join(packages)}: `sudo apt-get install {' '.join(packages)}`, or your"
            " distribution's packages"
        )
    if output(*as_root("true")) is None:
        missing.append(
            "root: run as root, or as a user whose sudo asks no password (`sudo -v` just before"
            " will do)"
        )
    elif (
        "iproute2" not in packages
        and output(*as_root("unshare", "-n", "sh", "-c", TRY_NETEM)) is None
    ):
        missing.append(
            "netem and tbf in this kernel: `sudo modprobe sch_netem sch_tbf`; where there are no"
            f" such modules, `sudo apt-get install linux-modules-extra-{platform.release()}` has"
            " them on Ubuntu; else it takes another kernel"
        )
    if missing:
        raise EngineError(
            "Mininet does not work on this machine; it lacks\n- " + "\n- ".join(missing)
        )
    iperf3 = output("iperf3", "--version") or ""
    about = {
        "kernel": platform.release(),
        "iperf3": iperf3.split()[1],
        "mininet": version,
        "congestion": congestion_controls(),
    }
    return python, about


def congestion_controls():
    """The algorithms that this machine's kernel has, loaded or as modules: iperf3 loads one as it
    asks for it.
    """
    loaded = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    modules = Path("/lib/modules", platform.release(), "kernel/net/ipv4").glob("tcp_*.ko*")
    names = {path.name.removeprefix("tcp_").partition(".")[0] for path in modules}
    return sorted({*loaded, *names} - {"diag"})
