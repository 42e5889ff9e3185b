"""Warnings about a typed ``tc`` line that harms a link."""

import re

from netlab import units
from netlab.topology.limits import FRAME_BYTES, PACKET_BYTES
from netlab.topology.links import short_netem

_LINE = re.compile(
    r"\btc qdisc (add|change|replace|del|delete) (?:[^;&|]{0,90} )?dev (\S{1,40})([^;&|]*)"
)
_BURST = re.compile(r" (?:burst|buffer|maxburst) ([^ /]+)")


def doubts(line, before, offloading):
    """Warnings about a line that was typed after the lines `before`; a list of texts."""
    told = []
    for found in _LINE.finditer(line):
        verb, interface, words = found.groups()
        earlier, before = _state(before, interface), [*before, found[0]]
        now = _state(before, interface)
        if " tbf " in words:
            burst, was = _burst(now.get("tbf", "")), _burst(earlier.get("tbf", ""))
            may_wait = min(was or 0, PACKET_BYTES if offloading else FRAME_BYTES)
            if burst and burst < FRAME_BYTES:
                told.append(
                    f"a bucket (burst) of {burst} bytes never passes a frame of {FRAME_BYTES}"
                )
            elif burst and verb in ("change", "replace") and burst < may_wait:
                told.append(
                    f"packets of up to {may_wait} bytes may wait at {interface} already, and a"
                    f" bucket (burst) of {burst} bytes never passes them, nor what comes after"
                    f" them: give it burst {may_wait} or more"
                )
        if not offloading and (" tbf " in words or " netem " in words):
            told += _short_line(interface, **now)
    return told


def _state(lines, interface):
    """The words of the last netem and the last tbf that these lines give an interface."""
    state = {}
    for line in lines:
        for verb, name, words in _LINE.findall(line):
            if name == interface and verb.startswith("del"):
                state.clear()
            elif name == interface:
                state |= {kind: words for kind in ("netem", "tbf") if f" {kind} " in words}
    return state


def _burst(words):
    return _read(units.size_bytes, _BURST.search(words))


def _short_line(interface, netem="", tbf=""):
    """As `short_netem`, at tbf's rate."""
    bps = _read(units.rate_bps, re.search(r" rate (\S+)", tbf))
    delay_s = _read(units.delay_s, re.search(r" delay (\S+)", netem))
    limit = re.search(r" limit ([0-9]+)", netem)
    most = int(limit[1]) if limit else None
    # a tbf below netem has its queue in netem's limit
    return short_netem(interface, bps or 0, delay_s or 0, most, "limit ", room=2)


def _read(read, found):
    """A value in tc's notation; None where there is none that netlab reads."""
    try:
        return read(found[1]) if found else None
    except ValueError:
        return None
