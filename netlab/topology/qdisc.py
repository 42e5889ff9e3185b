"""Queueing disciplines in tc's notation, such as ``"fq_codel limit 1000"``, checked before anything
starts.

`DISCIPLINES` is the table of what each one takes, from tc-fq(8), tc-fq_codel(8), tc-codel(8),
tc-red(8), tc-pie(8), tc-cake(8), tc-sfq(8) and tc-bfifo(8). The ranges are narrower than tc's: tc
and the kernel replace some values, such as a limit of 0, by others without a word.
"""

import itertools
import math
import re
from collections.abc import Callable
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator

from netlab import units
from netlab.topology.limits import FRAME_BYTES

MEMORY_BYTES = 3 * FRAME_BYTES  # the kernel counts up to 2816 bytes for a frame that waits
MOST_COUNT = 2**32 - 1  # tc's and the kernel's numbers have 32 bits


class Kind(NamedTuple):
    """The values that a parameter takes."""

    read: Callable
    least: str
    most: str
    form: str

    def allowed(self):
        return f"{self.form} from {self.least} to {self.most}"

    def value(self, text):
        """Read a value; ValueError where it is out of range."""
        found = self.read(text)
        if not self.read(self.least) <= found <= self.read(self.most):
            raise ValueError
        return found


def whole(text):
    """Digits alone: to tc, ``1k`` is a number for some parameters only, and ``010`` is 8."""
    if not re.fullmatch("0|[1-9][0-9]{0,9}", text):
        raise ValueError
    return int(text)


def decimal(text):
    if not re.fullmatch(r"0?\.[0-9]{1,9}", text):
        raise ValueError
    return float(text)


def count(least=1, most=MOST_COUNT):
    return Kind(whole, str(least), str(most), "a whole number")


def time(least="10us", most="4s"):
    return Kind(units.delay_s, least, most, "a time such as '5ms',")


def size(least=FRAME_BYTES, most=MOST_COUNT):
    return Kind(units.size_bytes, str(least), str(most), "bytes such as 30000 or '300kb',")


def rate(most="34gbit"):  # tc has 32 bits for its bytes per second
    return Kind(units.rate_bps, "8bit", most, "a rate such as '10mbit',")


FLAG = None  # a word without a value; of words joined by | at most one is given


def each(kind, words):
    return dict.fromkeys(words.split(), kind)


DISCIPLINES = {
    "pfifo": {"limit": count()},
    "bfifo": {"limit": size()},
    "pfifo_fast": {},
    "sfq": {"limit": count(2, 127), "quantum": count(256, 2**20), "perturb": count(1, 3600)},
    "fq": each(count(), "limit flow_limit orphan_mask")
    | each(count(256, 2**20), "quantum initial_quantum")
    | {"buckets": count(2, 2**18), "horizon": time(most="1000s")}
    | each(rate(), "maxrate low_rate_threshold")
    | each(time(), "refill_delay ce_threshold timer_slack")
    | each(FLAG, "horizon_cap|horizon_drop pacing|nopacing"),
    "codel": {"limit": count()}
    | each(time(), "target interval ce_threshold")
    | each(FLAG, "ecn|noecn"),
    "fq_codel": each(count(), "limit drop_batch")
    | each(time(), "target interval ce_threshold")
    | {"flows": count(1, 2**16), "quantum": count(256, 2**20), "memory_limit": size(MEMORY_BYTES)}
    | each(FLAG, "ecn|noecn"),
    "red": each(size(), "limit min max")
    | {"avpkt": size(64, FRAME_BYTES), "burst": count(), "bandwidth": rate()}
    | {"probability": Kind(decimal, "0.0001", "0.999", "a number such as 0.02,")}
    | each(FLAG, "adaptive ecn harddrop nodrop"),
    "pie": {"limit": count(), "target": time(), "tupdate": time("10ms")}
    | each(count(1, 32), "alpha beta")
    | each(FLAG, "ecn|noecn bytemode|nobytemode dq_rate_estimator|no_dq_rate_estimator"),
    "dualpi2": {},  # with the kernel's defaults: tc 6.15 knows none of its parameters
    "cake": {
        "bandwidth": rate("100tbit"),
        "rtt": time(most="1000s"),
        "memlimit": size(MEMORY_BYTES),
    }
    | {"overhead": count(0, 256), "mpu": count(1, 256)}
    | each(FLAG, "ptm|atm|noatm besteffort|diffserv3|diffserv4|diffserv8 wash|nowash")
    | each(
        FLAG,
        "flowblind|srchost|dsthost|hosts|flows|dual-srchost|dual-dsthost|triple-isolate"
        " ack-filter|ack-filter-aggressive|no-ack-filter split-gso|no-split-gso ingress|egress",
    ),
}
REQUIRED = {"bfifo": ("limit",), "pfifo": ("limit",), "red": ("limit", "min", "max", "avpkt")}


def check_qdisc(text):
    """A queueing discipline and its parameters, with single spaces between the words."""
    name, *words = text.split() if isinstance(text, str) and text.strip() else [""]
    if name not in DISCIPLINES:
        raise ValueError(
            f"a queueing discipline as tc writes it, such as 'fq_codel' or 'fq_codel limit 1000':"
            f" one of {', '.join(DISCIPLINES)}, and its parameters"
        )
    groups = {word: group for group in DISCIPLINES[name] for word in group.split("|")}
    found, typed, left = {}, [name], list(words)
    while left:
        word = left.pop(0)
        if word not in groups:
            known = f"it has {', '.join(DISCIPLINES[name])}" if groups else "it has none"
            raise ValueError(f"{name} has no parameter {word!r}: {known}")
        kind = DISCIPLINES[name][groups[word]]
        if groups[word] in found:
            raise ValueError(f"{groups[word]} was given twice: write it once")
        typed.append(word)
        try:
            found[groups[word]] = word if kind is FLAG else kind.value(left[0])
        except (ValueError, IndexError) as error:
            why = f"; {error}" if isinstance(error, ValueError) and str(error) else ""
            raise ValueError(f"{name}'s {word} needs {kind.allowed()}{why}") from None
        typed += [] if kind is FLAG else [units.tc_text(left.pop(0))]
    if missing := [word for word in REQUIRED.get(name, ()) if word not in found]:
        raise ValueError(f"{name} needs {' and '.join(missing)}, too")
    if name == "red":
        check_red(**{word: value for word, value in found.items() if isinstance(value, int)})
    return " ".join(typed)


Qdisc = Annotated[str, BeforeValidator(check_qdisc)]


def rate_limits_bps(text):
    """What a discipline lets through, in all and of each connection; or infinity. [bit/s]"""
    name, *words = text.split() if text else [""]
    given = dict(itertools.pairwise(words))
    in_all = given.get("bandwidth") if name == "cake" else None
    paces = name == "fq" and "nopacing" not in words  # else maxrate has no effect
    each = given.get("maxrate") if paces else None
    return tuple(units.rate_bps(rate) if rate else math.inf for rate in (in_all, each))


def check_red(limit, min, max, avpkt, burst=None, **_):
    """Refuse thresholds from which tc cannot compute the weight of RED's moving average."""
    # tc_red_eval_ewma() of iproute2: the weight is 2**-n with the smallest n for which the average
    # reaches `min` no sooner than after `burst` packets; the kernel leaves 31 - n bits for `max`
    if not avpkt <= min < max < limit:
        raise ValueError("red needs avpkt <= min < max < limit")
    burst = burst or (2 * min + max) // (3 * avpkt)  # as tc does
    excess = burst + 1 - min / avpkt
    weights = (n for n in range(1, 32) if excess <= (1 - (1 - 2**-n) ** burst) * 2**n)
    if excess < 1 or next(weights, math.inf) + max.bit_length() >= 32:
        raise ValueError(
            f"red with min {min}, max {max} and avpkt {avpkt} bytes cannot take bursts of {burst}"
            f" packets: give a burst from {math.ceil(min / avpkt)} on and little above, or smaller"
            " thresholds"
        )
