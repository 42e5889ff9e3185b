"""A machine in QEMU that has the engine: its start, its line, its end.

It has a disk that it only reads, a console, and a line to this process; no network, and nothing of
this machine. It starts with what was in its memory after its first start here, and ends with its
line, and so with this process.
"""

import contextlib
import functools
import hashlib
import json
import lzma
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from netlab.engines.cache import cache_folder, own_cache
from netlab.engines.files import prune, remove_tree
from netlab.engines.remote import RemoteEngine
from netlab.engines.remote_line import ProgramLine
from netlab.errors import EngineError, installed

QEMU = "qemu-system-x86_64"
ELSEWHERE = r"C:\Program Files\qemu"  # where Windows has it, and does not look
INSTALL = {"darwin": "brew install qemu", "win32": "winget install SoftwareFreedomConservancy.QEMU"}
DEBIAN = "sudo apt-get install --no-install-recommends qemu-system-x86"
PACKAGE, ABOUT, DISK, PACKED = "netlab_vm", "about.json", "disk.img", "disk.img.xz"
FIRST_START_S = 900
MACHINE = [
    # numpy needs more than QEMU's simplest processor; a second one would bring nothing to a guest
    *("-nodefaults", "-no-user-config", "-machine", "q35", "-accel", "tcg", "-cpu", "Nehalem"),
    *("-m", "1024", "-display", "none", "-no-reboot", "-kernel", "vmlinuz", "-initrd", "initrd"),
    *("-append", "console=ttyS0 quiet panic=-1 mitigations=off nokaslr tsc=unstable nowatchdog"),
    *("-drive", f"file={DISK},format=raw,if=virtio,readonly=on"),
    *("-chardev", "stdio,id=console,mux=on,signal=off", "-serial", "chardev:console"),
    *("-mon", "console", "-device", "virtio-serial", "-device", "virtserialport,chardev=line"),
]
TO_MONITOR = "\x01c"  # on the console


def qemu():
    """The program, and the version that it says it has; an EngineError says how to get it."""
    found = shutil.which(QEMU), shutil.which(QEMU, path=ELSEWHERE)
    # one of the working directory, where Windows looks first, has no whole path
    program = next((one for one in found if one and os.path.isabs(one)), None)
    if not program:
        how = INSTALL.get(sys.platform, DEBIAN)
        raise EngineError(f'engine="vm" needs QEMU, and {QEMU} is not here: `{how}`')
    said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    return program, said.partition("\n")[0]


def disk():
    """The folder of the disk, in the cache, and what it says of itself. One of the package
    netlab_vm is unpacked to there.
    """
    place = cache_folder() / "vm"
    try:
        package = find_spec(PACKAGE)
        if package and package.origin:
            unpack(Path(package.origin).parent, place)
        about = json.loads((place / ABOUT).read_text(encoding="utf-8"))
        wrong = about["netlab"] != installed().version and f"it is of netlab {about['netlab']}"
    except (OSError, EOFError, ValueError, LookupError, lzma.LZMAError) as error:
        wrong = error
    if wrong:
        raise EngineError(
            f'engine="vm" needs a disk of this netlab in {place} ({wrong}). `make vm` makes it, on'
            f" x86-64 Linux, and a wheel of it in dist/, which pip installs everywhere: {PACKAGE}"
        )
    return place, about


def unpack(source, place):
    """Unpack the disk in the folder of a package, unless it is there."""
    about = place / ABOUT
    if about.exists() and about.read_bytes() == (source / ABOUT).read_bytes():
        return
    print(f"The disk of {PACKAGE} goes to {place}, once.", flush=True)
    with tempfile.TemporaryDirectory(prefix="making-", dir=own_cache()) as folder:
        made = Path(folder, "vm")
        shutil.copytree(source, made)
        with lzma.open(made / PACKED) as packed, open(made / DISK, "wb") as file:
            shutil.copyfileobj(packed, file, 1 << 20)
        (made / PACKED).unlink()
        remove_tree(place)  # of another disk
        os.rename(made, place)


class MachineLine(ProgramLine):
    """The line to a machine that is started here."""

    output = None  # with its errors: the console

    def __init__(self, engine, *words):
        # QEMU calls: that works on every system, and it hears when this process ends
        with socket.create_server(("127.0.0.1", 0)) as self.server:
            self.server.settimeout(0.1)
            port = self.server.getsockname()[1]
            line = ["-chardev", f"socket,id=line,host=127.0.0.1,port={port}"]
            super().__init__([engine.program, *line, *MACHINE, *words], cwd=engine.folder)

    def files(self):
        try:
            while self.program.poll() is None:
                try:
                    self.wire, _ = self.server.accept()
                    return self.wire.makefile("rb"), self.wire.makefile("wb")
                except TimeoutError:
                    """It has not called yet."""
            raise EngineError(f"QEMU does not start: {self.why()}")
        except BaseException:
            self.program.kill()
            self.program.wait()
            raise

    def keep(self, place):
        """Write what is in the machine's memory to a file, and end it; -> is it written?"""
        console, said = self.program.stdin, b""
        with contextlib.suppress(OSError):  # it has ended
            console.write(f"{TO_MONITOR}migrate {place}\n".encode())
            while not re.search(rb"Migration status: (completed|failed)", said):
                console.write(b"info migrate\n")
                console.flush()
                time.sleep(1)
                self.said.seek(0)
                said = self.said.read()
            console.write(b"quit\n")
            console.flush()
            self.program.wait(FIRST_START_S)
        return b"Migration status: completed" in said

    def end(self):
        self.program.kill()  # it writes nothing
        super().end()
        self.program.stdin.close()
        self.wire.close()


class VirtualMachine(RemoteEngine):
    """The engine in a machine of its own, as ``engine="vm"`` picks it; a network beside another has
    a machine of its own, too. See `netlab.engines.protocol.Engine`.

    Raises
    ------
    EngineError
        QEMU or the disk are missing here; the message says how to get them.
    """

    def __init__(self):
        self.program, self.said = qemu()
        self.folder, _ = disk()
        super().__init__("vm")

    def __reduce__(self):
        return vm, ()

    def open_line(self):
        name = f"memory-{hashlib.sha256(repr((self.said, MACHINE)).encode()).hexdigest()[:12]}"
        if not (self.folder / name).exists():
            self.start_first(name)
        return MachineLine(self, "-incoming", self.file(name, "<"))

    def start_first(self, name):
        """Start the machine from its disk, and keep what is in its memory once it has answered."""
        print("The machine starts for the first time: about a minute, once.", flush=True)
        prune(self.folder, r"memory-.*", older_s=3600)  # of another QEMU
        part = self.folder / f"{name}.{os.getpid()}"
        line = MachineLine(self)
        try:
            self.greet(line, FIRST_START_S)
            if not line.keep(self.file(part.name, ">")):
                raise EngineError(f"QEMU writes no {part}: {line.why()}")
            os.replace(part, self.folder / name)
        finally:
            line.close()
            part.unlink(missing_ok=True)

    def file(self, name, way):
        """What QEMU calls a file that it reads (way "<") or writes (">")."""
        version = [*map(int, re.findall(r"\d+", self.said)[:2])]
        return f"file:{name}" if version >= [8, 2] else f"exec:cat{way}{name}"


@functools.cache
def vm():
    """The engine in a machine, whose idle lines this process keeps."""
    return VirtualMachine()
