"""The root script of a jail: start a program as nobody, carry packets between it and the parent.

docs/protocol.md has its two questions. Needs Python alone.
"""

import contextlib
import os
import resource
import select
import socket
import subprocess

from netlab.engines.agent import GuestLine  # the one file of netlab that boot.sh lets it see

NOBODY = 65534
LIMITS = {
    resource.RLIMIT_AS: 1 << 30,
    resource.RLIMIT_NPROC: 40,
    resource.RLIMIT_NOFILE: 256,
    resource.RLIMIT_FSIZE: 32 << 20,
    resource.RLIMIT_CORE: 0,
}
# The jail's own Python, with its own C library: the root file system's may be older or newer.
HOME = "/run/python"
PYTHON = [f"{HOME}/lib64/ld-linux-x86-64.so.2", "--library-path", f"{HOME}/lib64"]
PYTHON += [f"{HOME}/bin/python3", "-S", "-s", "-B", "-P"]
ENVIRONMENT = {
    "HOME": "/tmp",
    "PATH": "/usr/bin",
    "LANG": "C.UTF-8",
    "PYTHONHOME": HOME,
    "PYTHONPATH": f"{HOME}/site:/run/netlab",
    "PYTHONHASHSEED": "0",
    # one way of computing, as `netlab.engines.guest.hooks.COMPUTING`
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-POPCNT",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    "OPENBLAS_CORETYPE": "Nehalem",
}
OUTPUT = "/run/stderr"


def become_nobody():
    """In the new process, before the program: no rights, no way back to any, and limits."""
    for limit, most in LIMITS.items():
        resource.setrlimit(limit, (most, most))
    os.setsid()
    os.chdir("/tmp/work")


class Warden:
    """Carries out one question after another."""

    def __init__(self):
        self.line = GuestLine()  # nobody else opens it now
        self.program, self.sockets = None, []
        self.unsent = [], []  # packets for the program's sockets

    def serve(self):
        while True:
            question = self.line.receive()
            answer = getattr(self, "do_" + question.pop("op"))(**question)
            self.line.send(done=True, **answer)

    def do_start(self, program, arguments, files):
        """Start a program of the jail's Python, with these files (name: text) in its folder."""
        os.mkdir("/tmp/work")
        os.chown("/tmp/work", NOBODY, NOBODY)
        for name, text in files.items():
            with open(os.path.join("/tmp/work", name), "w") as file:
                file.write(text)
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(2)]
        self.sockets, theirs = map(list, zip(*pairs, strict=True))
        nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        nobody += ["--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"]
        self.program = subprocess.Popen(
            [*nobody, *PYTHON, program, *arguments],
            stdin=theirs[0],
            stdout=theirs[1],
            stderr=os.open(OUTPUT, os.O_WRONLY | os.O_CREAT),
            env=ENVIRONMENT,
            preexec_fn=become_nobody,
        )
        for end in theirs:
            end.close()
        return {}

    def do_talk(self, to, packets):
        """Hand over packets, then wait for one."""
        # what has come first goes out first; then these still wait, for the next call
        self.unsent[to].extend(packet.encode("latin-1") for packet in packets)
        while True:
            waiting = select.poll()
            for number, end in enumerate(self.sockets):
                wants = select.POLLOUT if self.unsent[number] else 0
                waiting.register(end, select.POLLIN | wants)
            events = dict(waiting.poll())
            for number, end in enumerate(self.sockets):
                if events.get(end.fileno(), 0) & select.POLLIN:
                    with contextlib.suppress(ConnectionResetError):
                        if packet := end.recv(1 << 18):
                            return {"from": number, "packet": packet.decode("latin-1")}
            if any(event != select.POLLOUT for event in events.values()):
                return self.ended()
            for number, end in enumerate(self.sockets):
                if events.get(end.fileno()):
                    try:
                        end.send(self.unsent[number].pop(0))
                    except OSError:
                        return self.ended()

    def ended(self):
        """The program has closed its end: it has ended, or will now."""
        self.program.kill()
        status = self.program.wait()
        with open(OUTPUT, "rb") as output:
            output.seek(max(0, os.path.getsize(OUTPUT) - 4000))
            said = output.read().decode(errors="replace")
        return {"ended": status, "said": said}


if __name__ == "__main__":
    Warden().serve()
