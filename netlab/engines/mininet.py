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
from netlab.engines.base import Engine
from netlab.engines.channel import Channel, ChannelConnection
from netlab.engines.program import Program
from netlab.engines.transports import MOST_BYTES, ChannelDown, JsonLines
from netlab.errors import EngineError

ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "TERM": "dumb",
    "LANG": "C.UTF-8",
}
PROGRAMS = {  # and their packages
    **{"iperf3": "iperf3", "tc": "iproute2", "brctl": "bridge-utils"},
    **{"ethtool": "ethtool", "mnexec": "mininet", "pkill": "procps"},
}
# the system's, which Mininet is installed for
PYTHONS = "/usr/bin/python3", "/usr/local/bin/python3"
# netem and tbf on the loopback of a network namespace that ends with the command: nothing of this
# machine is touched
TRY_NETEM = (
    "ip link set lo up && tc qdisc add dev lo root handle 1: netem delay 1ms loss 1% && "
    "tc qdisc add dev lo parent 1: handle 2: tbf rate 1gbit burst 15000 limit 15000"
)


class MininetEngine(Engine):
    """Mininet on this machine; an EngineError names what is missing."""

    name, clocks = "mininet", ("real",)  # one at once: a second would have the same interfaces

    def __init__(self):
        self.python, self.about = survey()

    def __repr__(self):
        about = "Linux {kernel}, iperf3 {iperf3}, Mininet {mininet}".format(**self.about)
        return f"<MininetEngine: {about}>"

    def connect(self, seed, clock, wall_limit_s):
        """Start an agent. The kernel's own random numbers do not follow the seed."""
        return MininetConnection(self.python, wall_limit_s)


class AgentProgram(Program):
    """An agent, as root, in the Python that has Mininet."""

    closing_s = 20  # that it may take to end everything

    def hang_up(self):
        """End the agent's input: it then ends the network and everything that runs in it."""
        self.to_send.put(None)

    def kill(self):
        command = as_root("kill", "-KILL", "--", f"-{self.process.pid}")
        subprocess.run(command, capture_output=True)


class MininetConnection(ChannelConnection):
    """A running agent."""

    who, gone = "the agent that runs Mininet", EngineError

    def __init__(self, python, wall_limit_s):
        self.switches, self.added = [], []  # names of switches, and of what lines add beside them
        with contextlib.ExitStack() as cleanup:
            folder = Path(tempfile.mkdtemp(prefix="netlab-mininet-"))
            cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
            # a copy: beside the original is a module mininet, which is not the one to import
            script = shutil.copy(agent.__file__, folder)
            command = python, "-B", script, "--pipe", str(folder)
            self.program = AgentProgram(as_root(*command))
            cleanup.callback(self._remove_left)
            cleanup.callback(self.program.close)
            self.channel = Channel(
                JsonLines(self.program, MOST_BYTES), wall_limit_s, cleanup.pop_all()
            )

    def carry_out(self, on_event, question):
        if question["op"] == "up":
            self._will_add(question["switches"], question["setup"])
        return super().carry_out(on_event, question)

    def diagnosed(self, error):
        if type(error) is not ChannelDown:
            return error
        return ChannelDown(f"{error}\n{self.program.last_words()}".strip())

    def _will_add(self, switches, setup):
        """Remember what is added on this machine, of which `close` removes what is left."""
        added = [
            command.split()[3]
            for node, command in setup
            if node in switches and command.startswith("ip link add ")
        ]
        if taken := [name for name in added if os.path.exists(f"/sys/class/net/{name}")]:
            self.close()
            raise EngineError(
                f"this machine has an interface {taken[0]} already, which this network would add:"
                " remove it (`sudo ip link del`), or give the switches other names"
            )
        self.switches, self.added = switches, added

    def _remove_left(self):
        """Remove from this machine what the agent has left there."""
        status = self.program.process.returncode
        gone = list(self.added)  # Mininet does not know of them
        # killed (or not even sudo could): the hosts went with it, the switches did not
        if status is None or status < 0 or status > 128:
            names = os.listdir("/sys/class/net")
            gone += [name for name in names if name.partition("-eth")[0] in self.switches]
        for name in dict.fromkeys(gone):
            subprocess.run(as_root("ip", "link", "del", name), capture_output=True)


def as_root(*command):
    """The command as root runs it, in an environment of its own."""
    words = ["env", "-i", *(f"{name}={value}" for name, value in ENVIRONMENT.items()), *command]
    return words if os.geteuid() == 0 else ["sudo", "-n", *words]


def output(*command):
    """What a command prints in the system's environment; None where it fails."""
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
    """Try what the engine needs; -> the Python that has Mininet, and `MininetEngine.about`."""
    missing, path = [], ENVIRONMENT["PATH"]
    packages = {package for one, package in PROGRAMS.items() if not shutil.which(one, path=path)}
    asked = "-c", "import mininet.net; print(mininet.net.VERSION)"
    found = {python: version for python in PYTHONS if (version := output(python, *asked))}
    if packages := sorted(packages if found else packages | {"mininet"}):
        missing.append(
            f"{', '.join(packages)}: `sudo apt-get install {' '.join(packages)}`, or your"
            " distribution's packages"
        )
    try_netem = as_root("unshare", "-n", "sh", "-c", TRY_NETEM)
    if output(*as_root("true")) is None:
        missing.append(
            "root: run as root, or as a user whose sudo asks no password (`sudo -v` just before"
            " will do)"
        )
    elif "iproute2" not in packages and output(*try_netem) is None:
        missing.append(
            "netem and tbf in this kernel: `sudo modprobe sch_netem sch_tbf`; where there are no"
            f" such modules, `sudo apt-get install linux-modules-extra-{platform.release()}` has"
            " them on Ubuntu; else it takes another kernel"
        )
    if missing:
        raise EngineError(
            "Mininet does not work on this machine; it lacks\n- " + "\n- ".join(missing)
        )
    python = next(iter(found))
    about = {
        "kernel": platform.release(),
        "iperf3": output("iperf3", "--version").split()[1],
        "mininet": found[python],
        "congestion": congestion_controls(),
    }
    return python, about


def congestion_controls():
    """The algorithms that this machine's kernel has, loaded or as modules, which iperf3 loads."""
    loaded = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    modules = Path("/lib/modules", platform.release(), "kernel/net/ipv4").glob("tcp_*.ko*")
    names = {path.name.removeprefix("tcp_").partition(".")[0] for path in modules}
    return sorted({*loaded, *names} - {"diag"})
