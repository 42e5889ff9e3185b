"""End runs from another thread: what a Stop button does, and a second Ctrl-C in a sweep."""

import threading
import weakref
from contextvars import ContextVar

from netlab.running.progress import having

_stop = ContextVar("stop", default=None)


class Stop:
    """Ends the networks opened under it; their runs raise KeyboardInterrupt in their threads."""

    def __init__(self):
        self._lock, self._networks, self.pressed = threading.Lock(), weakref.WeakSet(), False

    def now(self):
        """End every run under way, and every one that begins later. Any thread may call it."""
        with self._lock:
            self.pressed, networks = True, list(self._networks)
        for network in networks:
            network.interrupt()

    def covering(self):
        """Within it, networks that this thread opens are under this `Stop`."""
        return having(_stop, self)


def stoppable(network):
    """Put a network under this thread's `Stop`; KeyboardInterrupt where that was pressed."""
    if stop := _stop.get():
        with stop._lock:
            stop._networks.add(network)
        if stop.pressed:
            raise KeyboardInterrupt
