"""An SSH server on loopback for tests, with keys of its own; and `ssh`, which knows of them.

`start(folder)` starts it as a process of its own, which runs `python ssh_server.py FOLDER`.
"""

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import asyncssh

CONFIG = """\
Host *
    IdentityFile "{folder}/user"
    IdentitiesOnly yes
    UserKnownHostsFile "{folder}/known_hosts"
    GlobalKnownHostsFile /dev/null
"""


@contextlib.contextmanager
def start(folder):
    """Yields the server's process, whose `address` is that of netlab there. Within it the `ssh` of
    this process reads the configuration in the folder, and none of the user's.
    """
    program = subprocess.Popen([sys.executable, __file__, folder], stdout=subprocess.PIPE)
    path = os.environ["PATH"]
    try:
        port = int(program.stdout.readline())
        netlab = Path(sys.executable).with_name("netlab")
        program.address = f"ssh://ada@127.0.0.1:{port}{netlab}"
        os.environ["PATH"] = f"{folder}/bin:{path}"
        yield program
    finally:
        os.environ["PATH"] = path
        program.kill()
        program.communicate()


async def run(process):
    """Carry out what a client asks for, as its shell does."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), asyncio.subprocess.PIPE)
    command = await asyncio.create_subprocess_shell(process.command, **pipes)
    await process.redirect(stdout=command.stdout)
    feeding = asyncio.create_task(feed(process.stdin, command.stdin))
    process.stderr.write(await command.stderr.read())  # whole before the line ends
    process.exit(await command.wait())
    feeding.cancel()


async def feed(source, target):
    """Copy what comes; a command that has ended takes nothing more."""
    with contextlib.suppress(OSError):
        while data := await source.read(1 << 16):
            target.write(data)
            await target.drain()
        target.close()


async def serve(folder):
    host, user = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    server = await asyncssh.listen(
        "127.0.0.1",
        0,
        server_host_keys=[host],
        authorized_client_keys=asyncssh.import_authorized_keys(user.export_public_key().decode()),
        process_factory=run,
        encoding=None,
    )
    port = server.get_port()
    user.write_private_key(folder / "user")
    (folder / "user").chmod(0o600)
    known = f"[127.0.0.1]:{port} {host.export_public_key().decode()}"
    (folder / "known_hosts").write_text(known)
    (folder / "config").write_text(CONFIG.format(folder=folder))
    (folder / "bin").mkdir()
    own = f'#!/bin/sh\nexec {shutil.which("ssh")} -F "{folder}/config" "$@"\n'
    (folder / "bin/ssh").write_text(own)
    (folder / "bin/ssh").chmod(0o755)
    print(port, flush=True)
    await server.wait_closed()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
