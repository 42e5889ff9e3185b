"""How many networks a server runs at once, and who is next."""

import contextlib
import math
import threading
from collections import Counter


class Places:
    """Places for so many networks, and for so many of each client; others wait in a queue. A
    stranger's network has its place for at most `longest_s`, on the wall.
    """

    def __init__(self, at_once, each=math.inf, longest_s=math.inf):
        self.at_once, self.each, self.longest_s = at_once, each, longest_s
        self.waiting, self.taken = [], []
        self.changed = threading.Condition()

    @contextlib.contextmanager
    def one(self, client, tell, gives_up):
        """Within it, a network has its place. ``tell(n)`` hears the place in the queue;
        ``gives_up()`` raises an exception where nobody waits for it any more.
        """
        me, told = (object(), client), None
        with self.changed:
            self.waiting.append(me)
        try:
            while place := self._take(me):
                gives_up()
                if place != told:
                    tell(place)  # may take long: nobody else waits for it
                    told = place
                with self.changed:
                    self.changed.wait(1)
            yield
        finally:
            with self.changed:
                (self.waiting if me in self.waiting else self.taken).remove(me)
                self.changed.notify_all()

    def _take(self, me):
        """Take a place where it is this one's turn; else which in the queue it is, from 1."""
        with self.changed:
            free = self.at_once - len(self.taken)
            counts = Counter(client for _, client in self.taken)
            before = self.waiting.index(me)
            for _, client in self.waiting[: before + 1]:
                may = free > 0 and counts[client] < self.each
                free -= may
                counts[client] += may
            if not may:
                return before + 1
            self.waiting.remove(me)
            self.taken.append(me)
            self.changed.notify_all()
            return 0
