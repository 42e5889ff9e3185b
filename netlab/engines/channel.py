"""Our end of a channel to an agent, a server or a jail. A question goes out over one of the
`netlab.engines.transports`; its events come back, and then its answer.

Between two questions the agent of a guest waits in one blocking read, which holds the guest's whole
kernel: virtual time stands still.
"""

import contextlib
import itertools
import signal
import threading
import time
from collections import deque

from netlab.engines.base import Connection, ignore
from netlab.engines.transports import ChannelDown, ChannelError, TooMuch
from netlab.errors import GuestError, LimitError

CLOSED = "this network has been closed; `net = nl.Network(...)` opens another"
LOOK_S = 0.1  # between two looks whether the other end is still whole
LET_GO_S = 30  # that a thread which asks may take to give back what a closed channel holds


class OutOfTime(ChannelError):
    """The wall-clock limit has passed."""


class Interrupted(ChannelError):
    """`Channel.interrupt` was called: nothing more can be asked."""


class Channel:
    """Asks over a transport, for `wall_limit_s` in all. [s]

    Messages are matched by the number of their question, where questions are `numbered`; one
    without a number is of the first question that is open. So several threads may ask at once, and
    an `on_event` may: whoever waits reads for all.

    What the channel holds is in `at_end`, an ExitStack. It is closed once, when nobody is in
    `used`.
    """

    def __init__(self, transport, wall_limit_s, at_end, numbered=False):
        self.transport, self.at_end, self.numbered = transport, at_end, numbered
        self.wall_limit_s, self.wall_s, self._busy_since = wall_limit_s, 0.0, 0.0
        self.interrupted = self.closed = self.ended = False
        self.in_step = True  # False: what comes next may answer a question of before
        self.hears_keys = True  # False: Ctrl-C can only interrupt
        self._changed = threading.Condition()  # the handler of Ctrl-C may run inside
        self._users, self._open, self._numbers = [], {}, itertools.count(1)
        self._reading = self._handles = self._ending = False

    def ask(self, question, on_event=ignore, look=lambda: None):
        """Send a question, hand every event to `on_event`, return the answer.

        The first Ctrl-C is passed on to what runs, the second as SIGKILL, the third is `interrupt`.
        If there was nothing to end, KeyboardInterrupt is raised, but only after the answer has
        come; so is an exception of `on_event`. Both ends stay in step. `look` is called ten times a
        second; it may raise `ChannelDown`.
        """
        failure = answer = None
        with self._opened() as number, self._ctrl_c() as pressed:
            try:
                self.transport.drop_keys()  # one that came after the last answer
                for message in self._messages(number, question, look):
                    if message.pop("done", False):
                        answer = message
                        break
                    try:
                        on_event(message)
                    except ChannelError:
                        raise
                    except BaseException as error:
                        failure = failure or error
                self.transport.drop_keys()
            except BaseException as error:
                self.in_step = False
                if self.interrupted and isinstance(error, ChannelDown):
                    raise Interrupted from None
                raise
        if failure:
            raise failure
        # nothing was running that it could have ended
        if pressed and answer.get("ended_by") != "interrupt":
            raise KeyboardInterrupt
        return answer

    def _messages(self, number, question, look):
        """Send a question; yields what comes for it."""
        question = {"id": number, **question} if self.numbered else question
        deadline, sent = self._busy_since + self.wall_limit_s - self.wall_s, False
        next_look = time.monotonic() + LOOK_S
        while True:
            if self.interrupted:
                raise Interrupted
            if (now := time.monotonic()) >= deadline:
                raise OutOfTime(
                    f"was ended: its limit of {self.wall_limit_s:g} wall-clock seconds has passed."
                    " Ask for less, or give it more with wall_limit_s."
                )
            if now >= next_look:
                look()
                next_look = time.monotonic() + LOOK_S
            until = min(deadline, next_look)
            if not sent:
                sent = self.transport.send(question, until)
            elif (message := self._next(number, until)) is not None:
                yield message

    def _next(self, number, until):
        """The next message for a question; None where none has come by then. One thread reads, and
        hands over what is for others.
        """
        mine = self._open[number]
        with self._changed:
            while not mine and self._reading and (left_s := until - time.monotonic()) > 0:
                self._changed.wait(left_s)
            if mine or self._reading:
                return mine.popleft() if mine else None
            self._reading = True
        message = None
        try:
            message = self.transport.receive(until)
        finally:
            with self._changed:
                self._reading = False
                self._changed.notify_all()
                if message is not None:  # filed before another thread reads on, or order is lost
                    self._file(message)
        with self._changed:
            return mine.popleft() if mine else None

    def _file(self, message):
        whose = message.pop("id", next(iter(self._open)))
        if not isinstance(whose, int) or whose not in self._open:
            raise ChannelDown("it answered what nobody has asked")
        self._open[whose].append(message)

    @contextlib.contextmanager
    def _opened(self):
        """A question that is open, within it; -> its number. The time counts while any is."""
        with self._changed:
            if not self._open:
                self._busy_since = time.monotonic()
            elif not self.numbered:
                raise RuntimeError("a question is open, and this channel has one at a time")
            number = next(self._numbers)
            self._open[number] = deque()
        try:
            yield number
        finally:
            with self._changed:
                del self._open[number]
                if not self._open:
                    self.wall_s += time.monotonic() - self._busy_since

    @contextlib.contextmanager
    def _ctrl_c(self):
        """Within it, Ctrl-C is passed on; -> a list that grows with each."""
        pressed = []

        def press(*_):
            pressed.append(True)
            if len(pressed) > 2 or not self.hears_keys:
                self.interrupt()
            else:
                self.key("IK"[len(pressed) - 1])

        if self._handles or threading.current_thread() is not threading.main_thread():
            yield pressed
            return
        before, self._handles = signal.signal(signal.SIGINT, press), True
        try:
            yield pressed
        finally:
            self._handles = False
            signal.signal(signal.SIGINT, before)

    def key(self, key):
        """Send a key, "I" (Ctrl-C) or "K" (SIGKILL), to what runs; from any thread."""
        with self._changed:
            if not self.closed:
                self.transport.key(key)

    def interrupt(self):
        """Hang up, from any thread: an `ask`, under way or the next, raises `Interrupted`."""
        with self._changed:
            if not self.closed:
                self.interrupted = True
                self.transport.hang_up()
                self._changed.notify_all()

    @contextlib.contextmanager
    def used(self):
        """Within it, the channel keeps what it holds. If it is closed meanwhile, the last user to
        leave gives that back.
        """
        own = threading.get_ident()
        with self._changed:
            self._users.append(own)
        try:
            yield
        finally:
            with self._changed:
                self._users.remove(own)
            if self.closed:
                self._end()

    @property
    def busy(self):
        """Does anybody use it?"""
        return bool(self._users)

    def close(self):
        """Give back all that the channel holds. A thread that is asking is interrupted and gives it
        back; `close` waits for that.
        """
        with self._changed:
            if self._open:
                self.interrupt()
            self.closed = True
            if threading.get_ident() in self._users:
                return
        self._end()
        with self._changed:
            self._changed.wait_for(lambda: self.ended, LET_GO_S)

    def _end(self):
        with self._changed:
            if self._users or self._ending:
                return
            self._ending = True
        try:
            self.at_end.close()
        finally:
            with self._changed:
                self.ended = True
                self._changed.notify_all()


class ChannelConnection(Connection):
    """A `Connection` over a `channel`; the one place where what has happened to a channel becomes
    an error of netlab's.
    """

    who, died, gone = "the network", "died", GuestError

    @contextlib.contextmanager
    def open(self):
        """Within it, the network keeps what it holds; an error where it is closed."""
        with self.channel.used():
            if self.channel.closed:
                raise KeyboardInterrupt if self.channel.interrupted else self.gone(CLOSED)
            yield

    def carry_out(self, on_event, question):
        with self.open():
            try:
                return self.exchange(on_event, question)
            except ChannelError as error:
                self.channel.in_step = False
                raise self.ours(error) from None
            finally:
                if not self.channel.in_step:
                    self.close()

    def exchange(self, on_event, question):
        """Ask, and look whether the answer counts; a `ChannelError` where it does not."""
        return self.channel.ask(question, on_event)

    def ours(self, error):
        """What a `ChannelError` is to whoever has asked."""
        match error := self.diagnosed(error):
            case Interrupted():
                return KeyboardInterrupt()
            case OutOfTime():
                return self.failed(LimitError, f"{self.who} {error}")
            case TooMuch():
                return self.failed(LimitError, f"{self.who} was ended: {error}")
            case _:
                return self.failed(self.gone, f"{self.who} {self.died}: {error}")

    def diagnosed(self, error):
        """The same error, or one that says more."""
        return error

    def failed(self, kind, text):
        """The error, and what was kept of it."""
        return kind(text)

    def do_key(self, key):
        self.channel.key(key)
        return {}

    def interrupt(self):
        self.channel.interrupt()

    def close(self):
        self.channel.close()
