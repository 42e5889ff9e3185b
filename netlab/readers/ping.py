"""What ping printed: a row per probe, and its own statistics."""

import math
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from netlab.errors import ReadError
from netlab.readers._common import AGAIN, LIMIT, NAN, read, tidy

_N = r"([0-9]{1,20}(?:\.[0-9]{1,20})?)"
_IN_BRACKETS = re.compile(r"\(([^\s()]{1,200})\)(?! bytes)")
_ANSWER = re.compile(r"\b[0-9]{1,6} bytes from ")
_FIELD = re.compile(r"\b(?:(?:icmp_)?(s|r)eq|(ttl|hlim))=(\S{1,30})")
_TIME = re.compile(r"\btime[=<](\S{1,30}) ms\b")
_COUNT = re.compile(
    r"(?<![0-9])([0-9]{1,20}) packets transmitted, ([0-9]{1,20}) (?:packets )?received(.{0,200})"
)
_LOSS = re.compile(rf"\b{_N}% packet loss")
_TOOK = re.compile(r"\btime ([0-9]{1,20}) ?ms")
_TIMES = re.compile(rf"min/avg/max\S{{0,20}} = {_N}/{_N}/{_N}(?:/{_N})? ms")
# what a shell makes of the ends of lines: `echo $(ping ...)`
_ENDS = re.compile(
    r" (?=[0-9]{1,6} bytes from |From |--- |[0-9]{1,20} packets transmitted|(?:rtt|round-trip) min)"
)
_BSD = re.compile(r"\): [0-9]{1,6} data bytes|^PING6")
_ROUTERS = re.compile("ICMP Echos|Success rate is|PING Statistics")
# ping numbers its probes with 16 bits, and begins anew then.
_LAST = 65535


@dataclass(frozen=True, eq=False, repr=False)
class PingOutput:
    """What one ping says.

    Attributes
    ----------
    pings : DataFrame
        One row per probe: ``seq``, ``rtt_s`` [s], ``ttl``, ``dst`` (the address asked). A lost
        probe has NaN in ``rtt_s`` and ``ttl``; of duplicate answers the first counts. No rows if
        ping was quiet (``-q``). After 65535, where ping begins anew, ``seq`` goes on.
    meta : dict
        ``transmitted``, ``received``, ``duplicates``, ``loss`` (a fraction), ``rtt_min_s``,
        ``rtt_avg_s``, ``rtt_max_s``, ``rtt_mdev_s`` [s], ``dst``, ``duration_s`` [s]. ping's mean
        has the first answer in it, which ARP may have made twice as late as the others.

    Examples
    --------
    >>> out = read_ping("tests/data/ping/iputils-20221126-lossy.txt")
    >>> out
    PingOutput(10.0.0.2: 4 of 8, mean 0.264 ms)
    >>> out.meta["loss"], out.meta["rtt_min_s"]
    (0.5, 0.000204)
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
    """Read what ``ping`` printed: that of iputils, busybox, macOS or a BSD, with or without ``-D``.

    Notes
    -----
    A ping that was killed has no statistics, which is a warning: ``transmitted`` is then the number
    of the last answer, probes that were lost after it are not counted, and the mean and the other
    times are NaN.

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


def _output(text, doubts):
    lines = _ENDS.sub("\n", text).splitlines()
    heads = [line for line in lines if line.startswith(("PING ", "PING6(")) and "bytes" in line]
    if len(heads) != 1 or _ROUTERS.search(text):
        raise _not_one(text, len(heads))
    counts = [found for line in lines if (found := _COUNT.search(line))]
    if len(counts) > 1:
        doubts.append(f"there are {len(counts)} lines of statistics: the last is taken")
    head, count = heads[0], counts[-1] if counts else None
    # busybox, macOS and the BSDs count from 0
    from_0 = "packets received" in count[0] if count else _BSD.search(head)
    if not count and not text.endswith("\n"):  # its last line may lack its end
        lines = lines[:-1] + [line for line in lines[-1:] if line.endswith((" ms", ")"))]
    answers, times, repeats = _answers(lines, doubts)
    first = 0 if from_0 else 1
    if not count:
        first = min([first, *answers])
    meta = _statistics(count, answers, repeats, first, doubts)
    printed = next((found for line in reversed(lines) if (found := _TIMES.search(line))), None)
    statistics = [NAN] * 4
    if count and printed:
        statistics = [float(f"{ms}e-3") if ms else NAN for ms in printed.groups()]
        if not _agree(times, *statistics):
            told = "/".join(f"{1e3 * seconds:.3f}" for seconds in statistics)
            doubts.append(
                f"ping's min/avg/max/mdev = {told} ms are not those of its answers: both are taken"
                " as printed"
            )
    elif count and meta["received"] and (times or not answers):
        doubts.append("the line of ping's mean and other times is missing: they are NaN")
    names = ("rtt_min_s", "rtt_avg_s", "rtt_max_s", "rtt_mdev_s")
    meta |= dict(zip(names, statistics, strict=True)) | {"dst": _dst(head), "duration_s": NAN}
    if count and (took := _TOOK.search(count[3])):
        meta["duration_s"] = float(f"{took[1]}e-3")
    elif count and first:
        doubts.append("the total time is missing: duration_s is NaN")
    return PingOutput(_rows(answers, first, meta, doubts), meta)


def _rows(answers, first, meta, doubts):
    """A row for each probe, from its answers."""
    last, ends = max(answers, default=0), first + meta["transmitted"]
    if not answers and meta["received"]:  # ping was quiet
        ends = first
    if answers and not first <= min(answers) <= last < ends:
        doubts.append(f"seq is {min(answers)} to {last} in {ends - first} probes: it stays so")
    if ends > last + _LAST + 2:
        ends = last + 1
        doubts.append(f"transmitted = {meta['transmitted']}: the rows end at the last answer")
    rows = pd.DataFrame.from_dict(answers, orient="index", columns=["rtt_s", "ttl"])
    rows = rows.reindex(sorted({*range(first, ends), *answers})).rename_axis("seq").reset_index()
    return tidy(rows.assign(dst=meta["dst"]), ["seq", "rtt_s", "ttl", "dst"])


def _not_one(text, number):
    """Why this is not the output of one ping."""
    if number > 1:
        return ReadError(
            f"There are {number} pings here. `split_outputs` gives the text of each, if each"
            " begins in a line of its own, with PING."
        )
    if own := re.search(r"^(?:\S{0,200}/)?ping6?: (.*)", text, re.M):
        return ReadError(f"ping says: {own[1].strip()[:200]}. Mend that, and run it again.")
    windows = "TTL=" in text or re.search(r"^Pinging |\(0% loss\)|Minimum = ", text, re.M)
    if windows or _ROUTERS.search(text):
        whose = "Windows' ping" if windows else "a router's ping"
        return ReadError(f"This is what {whose} prints. Run ping on Linux or macOS.")
    what = "This is not ping's output" if text.strip() else "ping's output is empty"
    if any(map(_COUNT.search, text.splitlines())):
        what = "ping's beginning is cut off"
    return ReadError(f"{what}. Give all that one ping printed, from PING to its statistics.")


def _dst(head):
    """The address asked; ping has it in brackets behind the name, and ping6 behind an arrow."""
    if head.startswith("PING6"):
        return head.rpartition("--> ")[2].split()[0]
    if found := _IN_BRACKETS.search(head):
        return found[1]
    return head.split()[1].rstrip(":")


def _answers(lines, doubts):
    """Each probe's first (time, ttl); all times with their decimals; how many more answers."""
    answers, times, repeats, newer, last = {}, [], 0, 0, 0
    carried = any(re.search(r"\btime=[1-9]\.[0-9]{2} ms", line) for line in lines)
    for line in filter(_ANSWER.search, lines):
        fields = {found[2] or "seq": found[3] for found in _FIELD.finditer(line)}
        if "seq" not in fields:  # a router's message, of a probe that is lost
            continue
        seq, ttl = _whole(fields["seq"], _LAST), _whole(fields.get("ttl", fields.get("hlim")), 255)
        found = _TIME.search(line)
        rtt_s, decimals = _seconds(found[1], carried) if found else (NAN, 0)
        if seq is None or rtt_s is None or (not found and "time" in line):
            doubts.append(f"{line[:80]!r} is no answer: it is left out")
            continue
        if ttl is None:
            doubts.append(f"ttl in {line[:80]!r} is no number from 0 to 255: NaN")
            ttl = NAN
        if len(answers) > _LAST // 2 and seq + newer < last - _LAST // 2:
            newer += _LAST + 1
        seq += newer
        last = max(last, seq)
        repeats += seq in answers
        answers.setdefault(seq, (rtt_s, ttl))
        if found:
            times.append((rtt_s, decimals))
    if times and len(times) < len(answers) + repeats:
        doubts.append("an answer has no time: its rtt_s is NaN")
    return answers, times, repeats


def _statistics(count, answers, repeats, first, doubts):
    """What ping's line of counts says of all probes, or what its answers do."""
    names = ("transmitted", "received", "duplicates", "loss")
    if not count:
        if not answers:
            raise ReadError(
                "ping's output is cut off: no answers and no statistics. Give all that one ping"
                " printed, from PING to its statistics."
            )
        sent = max(answers) + 1 - first
        doubts.append(
            f"there are no statistics, as of a ping that was killed: transmitted = {sent}, the"
            " number of the last answer, is taken"
        )
        loss = 1 - len(answers) / sent if sent else NAN
        return dict(zip(names, (sent, len(answers), repeats, loss), strict=True))
    sent, received, notes = int(count[1]), int(count[2]), count[3]
    if not sent:
        raise ReadError("ping sent nothing, says its last line. Let it run for longer.")
    if max(sent, received) > LIMIT:
        raise ReadError(f"ping cannot count {max(sent, received)} packets. {AGAIN}")
    found = re.search(r"([0-9]{1,18}) duplicates", notes)
    duplicates = int(found[1]) if found else 0
    if answers and (len(answers) != received or repeats != duplicates):
        doubts.append(
            f"ping counts {received} answers to {sent} probes, and {duplicates} duplicates, but"
            f" {len(answers)} and {repeats} are here: its counts are taken"
        )
    if received > sent:
        doubts.append(f"received = {received} of {sent} transmitted: {sent} is taken")
        received = sent
    loss, stated = 1 - received / sent, _LOSS.search(notes)
    if not (stated and abs(100 * loss - float(stated[1])) < 1):
        what = f"{stated[1][:20]} %" if stated else "nothing"
        doubts.append(f"packet loss = {what}, but {received} of {sent} were received: these count")
    return dict(zip(names, (sent, received, duplicates, loss), strict=True))


def _agree(times, low, mean, high, spread):
    """Are these the statistics of the answers, if there are any?"""
    # ping cuts off what it does not print: of an answer all but three digits and microseconds, of
    # the mean of the squares all but whole microseconds
    margin = math.sqrt(2e-6 * mean) + 2e-6
    if not low <= mean <= high or spread > (high - low) / 2 + margin:
        return False
    if not times:
        return True
    rtts, digits = np.array(times).T
    cut = np.minimum(10.0 ** -(3 + digits), rtts / 100) + 2e-6
    printed = ((np.min, low), (np.mean, mean), (np.max, high))
    return not abs(rtts.std() - spread) > cut.max() + margin and all(
        of(rtts - cut) <= seconds <= of(rtts + cut) for of, seconds in printed
    )


def _whole(digits, most):
    if digits is None or not re.fullmatch("[0-9]{1,20}", digits) or int(digits) > most:
        return None
    return int(digits)


def _seconds(milliseconds, carried):
    """A time as ping prints it, and how many decimals it has."""
    if not re.fullmatch(_N, milliseconds):
        return None, 0
    whole, _, decimals = milliseconds.partition(".")
    # Debian 10's rounds 31.95 ms to "31.10", and 1.996 ms to "1.100"
    if (len(whole), decimals) == (2, "10") or (carried and (len(whole), decimals) == (1, "100")):
        return (float(whole) + 1) / 1e3, len(decimals) - 1
    return float(f"{milliseconds}e-3"), len(decimals)
