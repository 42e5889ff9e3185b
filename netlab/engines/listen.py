"""A server for many clients, who are strangers: their algorithms in Python run in jails, a limited
number of networks run at once, and the others wait in a queue.
"""

import contextlib
import json
import os
import resource
import socket
import sys
import threading
import time

from netlab.engines import evidence
from netlab.engines.guest import walls
from netlab.engines.jail import JailedEngine
from netlab.engines.json_lines import JsonLines
from netlab.engines.places import Places
from netlab.engines.protocol import ignore
from netlab.engines.serve import Client, told
from netlab.errors import EngineError, SpecificationError

SEND_S = 30  # that a stranger may take to read a message
MOST_LINES, MOST_UNKNOWN = 1000, 20  # of strangers; of an address, before they have said hello
FULL = "this server has no line left for your address: try again in some minutes"
LOOPBACK = "127.0.0.1", "::1", "localhost"


def serve_socket(wire, engine, places, name, token, welcome=ignore):
    """Serve a stranger until the connection ends, and close it."""
    with wire:
        wire.setblocking(False)
        line = JsonLines(wire.fileno(), wire.fileno(), send_s=SEND_S)
        Client(line, engine, places, name, token, lambda: cut(wire), welcome).serve()


def cut(wire):
    """End a connection; who serves it closes it."""
    with contextlib.suppress(OSError):
        wire.shutdown(socket.SHUT_RDWR)


class Door:
    """Lets strangers in, a limited number, of an address half of it. Few that have not said hello:
    for a new one, which may be another client there, the oldest is cut off.
    """

    def __init__(self, engine, places, token):
        self.engine, self.places, self.token = engine, places, token
        self.inside = {}  # of each line: its address, and has it said hello?
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self.most = min(MOST_LINES, files // 4 if files > 0 else MOST_LINES)

    def enter(self, wire, address):
        """Serve a connection in a thread of its own, or close it."""
        lines = [*self.inside.items()]
        same = [(one, known) for one, (there, known) in lines if there == address]
        if len(lines) >= self.most or len(same) >= max(self.most // 2, self.places.each):
            full = {"done": True, "raise": told(EngineError(FULL))}
            with wire, contextlib.suppress(OSError):
                wire.send(json.dumps(full).encode() + b"\n")
            return
        unknown = [one for one, known in same if not known]
        if len(unknown) >= MOST_UNKNOWN:
            cut(unknown[0])
        self.inside[wire] = address, False
        try:
            threading.Thread(target=self.serve, args=(wire, address), daemon=True).start()
        except RuntimeError:  # no more threads
            wire.close()
            del self.inside[wire]

    def serve(self, wire, address):
        def welcome():
            self.inside[wire] = address, True

        try:
            serve_socket(wire, self.engine, self.places, address, self.token, welcome)
        finally:
            del self.inside[wire]


def listen(host, port, at_once=None, each=2, longest_s=3600):
    """Serve everybody who has the token, until this process ends. An EngineError where fewer than
    two walls stand around guests.
    """
    token = os.environ.get("NETLAB_TOKEN", "")
    if not token and host not in LOOPBACK:
        raise SpecificationError(
            "NETLAB_TOKEN is not set: whoever reaches this server could use it. Give it a long"
            " random text, and the same to everybody who may"
        )
    walls.check_for_strangers()
    evidence.keep_none()
    engine = JailedEngine()
    places = Places(at_once or engine.at_once, each, longest_s)
    door = Door(engine, places, token)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        server = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise SpecificationError(f"--listen: {host} port {port}: {error}") from None
    with server:
        # what it lets in has these, too
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        print(f"{engine!r} for {places.at_once} at once, on {host} port {server.getsockname()[1]}")
        sys.stdout.flush()
        while True:
            try:
                wire, address = server.accept()
            except OSError:  # no more descriptors, for now
                time.sleep(0.1)
                continue
            door.enter(wire, address[0])
