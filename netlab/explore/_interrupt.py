"""Kernel > Interrupt while a kernel is idle but measures in another thread: it ends the run."""

import asyncio
import contextlib
import signal

TURN_S = 0.2
_acts = {}  # thread that measures -> what ends its run


def on_interrupt(act, until):
    """Call `act` when the kernel is interrupted, until a thread ends.

    An idle kernel ignores interrupts, and restores that after each message that it handles.
    Therefore the handler is set between messages, again and again.
    """
    with contextlib.suppress(RuntimeError):  # no event loop runs here: there is no kernel
        loop = asyncio.get_running_loop()
        _acts[until] = act
        loop.call_later(TURN_S, _turn, loop)


def _turn(loop):
    for thread in [thread for thread in _acts if not thread.is_alive()]:
        del _acts[thread]
    now = signal.getsignal(signal.SIGINT)
    if _acts and now is signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupted)
    if _acts:
        loop.call_later(TURN_S, _turn, loop)
    elif now is _interrupted:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interrupted(number, frame):
    for act in list(_acts.values()):
        act()
