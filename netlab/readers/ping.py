"""What ping printed: a row per probe, and its own statistics."""

import math
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from netlab.errors import ReadError
from netlab.readers._common import AGAIN, LIMIT, read, tidy

_NUMBER = r"([0-9]+(?:\.[0-9]+)?)"
_HEAD = re.compile(r"^PING (?:\S+? ?\()?([^\s()]+)\)?.*bytes", re.M)
_ANSWER = re.compile(
    r"^(?:\[[0-9.]+\] )?[0-9]+ bytes from .*?: (?:icmp_)?seq=(\S+) (?:.* )?ttl=(\S+)"
    r"(?: time[=<](\S+) ms)?"
)
# "packets received" is busybox's, which counts from 0 and says no total time.
_COUNT = re.compile(
    r"^([0-9]+) packets transmitted, ([0-9]+) (packets )?received(.*),"
    rf" {_NUMBER}% packet loss(?:, time ([0-9]+)ms)?",
    re.M,
)
_TIMES = re.compile(
    rf"^(?:rtt|round-trip) min/avg/max\S* = {_NUMBER}/{_NUMBER}/{_NUMBER}(?:/{_NUMBER})? ms", re.M
)
# ping numbers its probes with 16 bits.
_LAST = 65535


@dataclass(frozen=True, eq=False, repr=False)
class PingOutput:
    """What one ping says.

    Attributes
    ----------
    pings : DataFrame
        One row per probe: ``seq``, ``rtt_s`` [s], ``ttl``, ``dst`` (the address asked). A lost
        probe has NaN in ``rtt_s`` and ``ttl``; of duplicate answers the first counts. No rows if
        ping was quiet (``-q``).
    meta : dict
        ``transmitted``, ``received``, ``duplicates``, ``loss`` (a fraction), ``rtt_min_s``,
        ``rtt_avg_s``, ``rtt_max_s``, ``rtt_mdev_s`` [s], ``dst``, ``duration_s`` [s].
    """

    pings: pd.DataFrame
    meta: dict

    def __repr__(self):
        m = self.meta
        return (
            f"PingOutput({m['dst']}: {m['received']} of {m['transmitted']}, mean"
            f" {m['rtt_avg_s'] * 1e3:.3f} ms)"
        )


def read_ping(source):
    """What ``ping`` printed: that of iputils, or busybox's.

    Parameters
    ----------
    source : path or str
        A file, or its text.

    Returns
    -------
    PingOutput

    Raises
    ------
    ReadError
        If the text is not the output of one ping that ended, or its lines and its statistics
        disagree.

    Examples
    --------
    >>> ping = read_ping('''PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.
    ... 64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=40.0 ms
    ... 64 bytes from 10.0.0.2: icmp_seq=3 ttl=64 time=20.0 ms
    ...
    ... --- 10.0.0.2 ping statistics ---
    ... 3 packets transmitted, 2 received, 33.3333% packet loss, time 2003ms
    ... rtt min/avg/max/mdev = 20.000/30.000/40.000/10.000 ms
    ... ''')
    >>> ping.pings.rtt_s.tolist()
    [0.04, nan, 0.02]
    """
    return read(source, "ping", _output)


def _output(text):
    heads, counts, times = _HEAD.findall(text), _COUNT.findall(text), _TIMES.search(text)
    if len(heads) != 1 or len(counts) != 1:
        if own := re.search(r"^(?:\S*/)?ping6?: (.*)", text, re.M):
            raise ReadError(f"ping says: {own[1].strip()}. Mend that, and run it again.")
        what = (
            "This is not the output of one ping" if len(heads) != 1 else "ping's output is cut off"
        )
        raise ReadError(f"{what}. Give all that one ping printed, from PING to its statistics.")
    dst, (transmitted, received, busybox, notes, percent, took) = heads[0], counts[0]
    transmitted = _whole("packets transmitted", transmitted)
    received = _whole("received", received)
    loss = 1 - received / transmitted if transmitted else math.nan
    if not (loss >= 0 and abs(100 * loss - float(percent)) < 1):
        raise ReadError(
            f"ping's counts contradict each other: {received} of {transmitted} received,"
            f" {percent[:20]} % lost. {AGAIN}"
        )

    answers, milliseconds, repeats = {}, [], 0
    for line in text.splitlines():
        if " bytes from " in line:
            seq, ttl, time = _answer(line)
            repeats += seq in answers
            answers.setdefault(seq, {"ttl": ttl, "rtt_s": _seconds(time)})
            milliseconds.append(time)
    # no room for a time in ping -s 8
    timed = received and (not answers or any(milliseconds))
    if (timed and not times) or not (busybox or took):
        raise ReadError("ping's output is cut off in its last lines. Give all that it printed.")
    first = 0 if busybox else 1
    # none: ping was quiet
    probes = range(first, first + transmitted) if answers or not received else range(0)
    if len(probes) > _LAST + 1 - first:
        raise ReadError(
            f"{transmitted} packets transmitted: ping numbers its probes to {_LAST} only, and"
            " begins anew then. Send fewer (ping -c)."
        )
    counted = re.search(r"([0-9]+) duplicates", notes)
    duplicates = _whole("duplicates", counted[1]) if counted else 0
    fits = (len(answers), repeats) == (received, duplicates) and answers.keys() <= set(probes)
    if answers and not fits:
        raise ReadError(
            f"ping counts {received} answers to {transmitted} probes, and {duplicates} duplicates,"
            f" but {len(answers)} and {repeats} are here. Lines are missing, or from elsewhere: run"
            " it again."
        )
    statistics = [_seconds(printed) for printed in (times.groups() if times else [None] * 4)]
    if times:
        _agree(milliseconds if timed else [None], *statistics)
    low, mean, high, spread = statistics
    meta = {
        "transmitted": transmitted,
        "received": received,
        "duplicates": duplicates,
        "loss": loss,
        "rtt_min_s": low,
        "rtt_avg_s": mean,
        "rtt_max_s": high,
        "rtt_mdev_s": spread,
        "dst": dst,
        "duration_s": _seconds(took or None),
    }
    pings = pd.DataFrame([{"seq": seq, "dst": dst} | answers.get(seq, {}) for seq in probes])
    return PingOutput(tidy(pings, ["seq", "rtt_s", "ttl", "dst"]), meta)


def _answer(line):
    """(seq, ttl, time) of the line of an answer; the time as it stands there, or None."""
    if not (said := _ANSWER.match(line)):
        raise ReadError(f"ping prints no such answer: {line[:100]!r}. {AGAIN}")
    return _whole("seq", said[1], _LAST), float(_whole("ttl", said[2], 255)), said[3]


def _agree(milliseconds, low, mean, high, spread):
    """Refuse statistics that are not those of the answers, if there are any."""
    # ping cuts off what it does not print: of an answer all but three digits and microseconds, of
    # the mean of the squares all but whole microseconds
    margin = math.sqrt(2e-6 * mean) + 2e-6
    wrong = not low <= mean <= high or spread > (high - low) / 2 + margin or None in milliseconds
    if milliseconds and not wrong:
        rtts = np.array([_seconds(time) for time in milliseconds])
        digits = np.array([len(time.partition(".")[2]) for time in milliseconds])
        cut = np.minimum(10.0 ** -(3 + digits), rtts / 100) + 2e-6
        wrong = abs(rtts.std() - spread) > cut.max() + margin
        for of, printed in ((np.min, low), (np.mean, mean), (np.max, high)):
            wrong |= not of(rtts - cut) <= printed <= of(rtts + cut)
    if wrong:
        raise ReadError(
            f"ping's statistics (min/avg/max/mdev = {1e3 * low:.3f}/{1e3 * mean:.3f}/"
            f"{1e3 * high:.3f}/{1e3 * spread:.3f} ms) are not those of its answers. {AGAIN}"
        )


def _whole(name, digits, most=LIMIT):
    if not re.fullmatch("[0-9]{1,20}", digits) or int(digits) > most:
        raise ReadError(
            f"{name} = {digits[:30]!r}: this must be a whole number from 0 to {most}. {AGAIN}"
        )
    return int(digits)


def _seconds(milliseconds):
    if milliseconds is None:
        return math.nan
    if not re.fullmatch(_NUMBER, milliseconds) or len(milliseconds) > 20:
        raise ReadError(f"time = {milliseconds[:30]!r}: this must be milliseconds. {AGAIN}")
    return float(f"{milliseconds}e-3")
