"""Files into which several runs of a tool were written, one after another."""

import json
import re
import warnings
from itertools import pairwise

from netlab.errors import ReadError, ReadWarning
from netlab.readers import _iperf3_document as iperf3
from netlab.readers import _iperf3_lines as iperf3_lines
from netlab.readers import _iperf3_text as iperf3_text
from netlab.readers import _iperf_text as iperf
from netlab.readers._common import read_text

_PING = re.compile(r"^PING(?:6\(| ).*bytes", re.M)
_OWN = {"end", "error", "event"}  # of each report, or event, some
_EVENT = re.compile(r'^\{\s*"event"\s*:\s*"start"', re.M)


def split_outputs(source):
    """Split a file with several runs of iperf3 (text, JSON, a list of it, or ``--json-stream``),
    iperf or ping, one after another; ReadError where there is none.

    Returns
    -------
    list of str
        What `read_iperf3`, `read_iperf` or `read_ping` reads, in order; what stands between the
        runs is left out of iperf3's JSON, and so is, with a warning, a report that stands there
        twice.

    Examples
    --------
    >>> one = '''PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.
    ... 64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=40.0 ms
    ... '''
    >>> len(split_outputs(one + one))
    2
    """
    text = read_text(source)
    if iperf3.REPORT.search(text) and not iperf3_text.is_text(text):
        parts = _once_each(_at(text, _EVENT) or _documents(text))
    else:
        heads = [found.start() for head in (_PING, iperf.RUN) for found in head.finditer(text)]
        parts = _parts(text, sorted([*heads, *iperf3_lines.starts(text)]))
        parts = [
            run for part in parts for run in (_runs(part) if iperf.RUN.match(part) else [part])
        ]
        if failed := parts and iperf.FAILED.findall(text):
            warnings.warn(f"a run that failed is left out: {failed[0].strip()!r}", ReadWarning, 2)
            parts = [iperf.FAILED.sub("", run) for run in parts]
    if not parts and iperf3_lines.recognised(text):
        parts = [text]
    if not parts:
        raise ReadError(
            "There is no output of iperf3, iperf or ping in this text. Give all that they printed.",
            text,
        )
    return parts


def _once_each(reports):
    """Reports without those of a test that is there already."""
    parts, known = [], set()
    for report in reports:
        test = iperf3.identity(_start(report))
        parts += [report] if test is None or test not in known else []
        known.add(test)
    if len(parts) < len(reports):
        warnings.warn(
            f"{len(reports) - len(parts)} of {len(reports)} reports are of a test that another one"
            " is of (their cookies are the same), and are left out",
            ReadWarning,
            stacklevel=3,
        )
    return parts


def _start(report):
    """The first object of JSON in a text, with its ``start`` as all reports have it."""
    try:
        doc = json.JSONDecoder().raw_decode(report)[0]
    except (ValueError, RecursionError):
        return None
    return {"start": doc.get("data")} if doc.get("event") == "start" else doc


def _at(text, head):
    """The parts of a text that begin like this."""
    starts = [found.start() for found in head.finditer(text)]
    return _parts(text, starts)


def _parts(text, starts):
    return [text[a:b] for a, b in pairwise([*starts, len(text)])]


def _documents(text):
    """The reports of iperf3 in a text; each character of it is parsed once."""
    text, parts, at = iperf3.without_nan(text), [], 0
    values = iperf3.as_list(text.strip()) or []
    if parts := [json.dumps(one) for one in values if isinstance(one, dict) and _OWN & one.keys()]:
        return parts
    while found := iperf3.REPORT.search(text, at):
        try:
            _, at = json.JSONDecoder().raw_decode(text, found.start())
        except RecursionError:
            break
        except json.JSONDecodeError as error:
            at = max(error.pos, found.end())
        else:
            parts.append(text[found.start() : at])
    return parts


def _runs(text):
    """A server's runs, each under the server's first lines."""
    lines = text.splitlines(keepends=True)
    starts = iperf.runs(text) or [len(lines)]
    head = "".join(lines[: starts[0]])
    return [head + "".join(lines[a:b]) for a, b in pairwise([*starts, len(lines)])]
