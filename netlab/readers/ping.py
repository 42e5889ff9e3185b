"""What ping printed: a row per probe, and its own statistics."""

import math
import re
from dataclasses import dataclass

import pandas as pd

from netlab.errors import ReadError
from netlab.readers._common import read_text, tidy

_HEAD = re.compile(r"^PING (?:\S+? ?\()?([^\s()]+)\)?.*bytes", re.M)
_ANSWER = re.compile(r"^(?:\[[\d.]+\] )?\d+ bytes from .*?: (?:icmp_)?seq=(\d+)(.*)")
# "packets received" is busybox's, which counts from 0 and says no total time.
_COUNT = re.compile(
    r"^(\d+) packets transmitted, (\d+) (packets )?received(.*), [\d.]+% packet loss(?:, time"
    r" (\d+)ms)?",
    re.M,
)
_TIMES = re.compile(
    r"^(?:rtt|round-trip) min/avg/max\S* = ([\d.]+)/([\d.]+)/([\d.]+)(?:/([\d.]+))? ms", re.M
)


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
    text = read_text(source)
    heads, counts, times = _HEAD.findall(text), _COUNT.findall(text), _TIMES.search(text)
    if len(heads) != 1 or len(counts) != 1:
        if own := re.search(r"^(?:\S*/)?ping6?: (.*)", text, re.M):
            raise ReadError(f"ping says: {own[1].strip()}. Mend that, and run it again.", text)
        what = (
            "This is not the output of one ping" if len(heads) != 1 else "ping's output is cut off"
        )
        raise ReadError(
            f"{what}. Give all that one ping printed, from PING to its statistics.", text
        )
    dst, (transmitted, received, busybox, notes, took) = heads[0], counts[0]
    transmitted, received = int(transmitted), int(received)

    answers, repeats = {}, 0
    for answer in filter(None, map(_ANSWER.match, text.splitlines())):
        seq, said = int(answer[1]), dict(re.findall(r"(ttl|time)[=<]([\d.]+)", answer[2]))
        repeats += seq in answers
        answers.setdefault(
            seq, {"ttl": float(said.get("ttl", math.nan)), "rtt_s": _seconds(said.get("time"))}
        )
    first = 0 if busybox else 1
    # none: ping was quiet
    probes = range(first, first + transmitted) if answers or not received else []
    # no room for a time in ping -s 8
    timed = not answers or any(answer["rtt_s"] >= 0 for answer in answers.values())
    if (received and timed and not times) or not (busybox or took):
        raise ReadError(
            "ping's output is cut off in its last lines. Give all that it printed.", text
        )
    if answers and (len(answers) != received or not answers.keys() <= set(probes)):
        what = (
            f"ping counts {received} answers to {transmitted} probes, but {len(answers)} are here."
        )
        raise ReadError(f"{what} Lines are missing, or from elsewhere: run it again.", text)

    low, mean, high, spread = map(_seconds, times.groups() if times else [None] * 4)
    counted = re.search(r"(\d+) duplicates", notes)
    meta = {
        "transmitted": transmitted,
        "received": received,
        "duplicates": int(counted[1]) if counted else repeats,
        "loss": 1 - received / transmitted if transmitted else math.nan,
        "rtt_min_s": low,
        "rtt_avg_s": mean,
        "rtt_max_s": high,
        "rtt_mdev_s": spread,
        "dst": dst,
        "duration_s": _seconds(took),
    }
    pings = pd.DataFrame([{"seq": seq, "dst": dst} | answers.get(seq, {}) for seq in probes])
    return PingOutput(tidy(pings, ["seq", "rtt_s", "ttl", "dst"]), meta)


def _seconds(milliseconds):
    return float(f"{milliseconds}e-3") if milliseconds else math.nan
