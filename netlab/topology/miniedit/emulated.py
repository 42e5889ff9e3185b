"""The options of MiniEdit's links as fields of `Link`."""

import re
from decimal import Decimal, InvalidOperation

from netlab.errors import SpecificationError
from netlab.topology.limits import FRAME_BYTES

HTB_BURST = "15kb"  # Mininet's: tc prints it as 15Kb
QUEUE_BYTES = 1000 * FRAME_BYTES  # Mininet's queues without max_queue_size: 1000 packets


_BARE = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+")


def without_unit(delay):
    """Is this a number alone, other than 0?"""
    return _BARE.fullmatch(delay) and delay.strip("0.")


def emulated(opts):
    """The fields of `Link` that a link's options ask for."""
    found = {}
    if opts.bw:
        found |= {"rate": f"{_number('bw', opts.bw)}mbit", "burst": HTB_BURST, "limit": QUEUE_BYTES}
    if opts.delay:
        if " " in opts.delay:  # Mininet hands it to tc as it is
            raise SpecificationError(
                f"Link.delay = {opts.delay!r}: without a space, as tc reads it, such as '20ms'"
            )
        found["delay"] = f"{opts.delay}us" if _BARE.fullmatch(opts.delay) else opts.delay
    if opts.loss:
        found["loss"] = f"{_number('loss', opts.loss)}%"
    if opts.max_queue_size:
        found.pop("limit", None)
        found["queue_packets"] = _number("max_queue_size", opts.max_queue_size)
    return found


def _number(name, text):
    try:
        value = Decimal(text)
        if not value.is_finite() or abs(value.adjusted()) > 400:
            raise InvalidOperation
    except InvalidOperation:
        raise SpecificationError(f"{name} = {text[:40]!r}: write a number, such as 5") from None
    return f"{value:f}"
