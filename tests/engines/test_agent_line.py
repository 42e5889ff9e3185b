"""The parent's end of a line to an agent."""

import time

import pytest

from netlab.engines import agent_line
from netlab.engines.agent_line import GuestLine, LineDown, TooMuch, message
from netlab.engines.guest.hooks import Hooks


def test_a_message_without_an_end_is_not_taken_for_ever(monkeypatch):
    monkeypatch.setattr(agent_line, "MOST_BYTES", 100_000)
    hooks = Hooks()
    line = GuestLine(10, hooks)
    try:
        for _ in range(4):
            line.guest_socket.send(b"+" + b"x" * 40_000)
        with pytest.raises(TooMuch):
            line.receive(time.monotonic() + 9)
    finally:
        line.guest_socket.close()
        line.close()
        hooks.close()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"a":' * 100_000])
def test_what_no_agent_sends_ends_the_line(data):
    with pytest.raises(LineDown, match="it sent what no agent sends"):
        message(data)
