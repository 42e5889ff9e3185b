"""Files into which several runs of a tool were written, one after another."""

import json
import re
from itertools import pairwise

from netlab.errors import ReadError
from netlab.readers import _iperf3_document as iperf3
from netlab.readers import _iperf_text as iperf
from netlab.readers._common import read_text

_PING = re.compile(r"^PING(?:6\(| ).*bytes", re.M)
_IPERF = re.compile(r"^(?:-{20,80}\r?\n)?(?:Client connecting to|Server listening on) ", re.M)
_OWN = {"end", "error", "event"}  # of each report, or event, some
_EVENT = re.compile(r'^\{\s*"event"\s*:\s*"start"', re.M)


def split_outputs(source):
    """Split a file with several runs of iperf3 (JSON, a list of it, or ``--json-stream``), iperf or
    ping, one after another; ReadError where there is none.

    Returns
    -------
    list of str
        What `read_iperf3`, `read_iperf` or `read_ping` reads, in order; what stands between the
        runs is left out of iperf3's.

    Examples
    --------
    >>> one = '''PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.
    ... 64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=40.0 ms
    ... '''
    >>> len(split_outputs(one + one))
    2
    """
    text = read_text(source)
    if iperf3.REPORT.search(text):
        parts = _at(text, _EVENT) or _documents(text)
    else:
        parts = _at(text, _PING) or [run for part in _at(text, _IPERF) for run in _runs(part)]
    if not parts:
        raise ReadError(
            "There is no output of iperf3, iperf or ping in this text. Give all that they printed.",
            text,
        )
    return parts


def _at(text, head):
    """The parts of a text that begin like this."""
    starts = [found.start() for found in head.finditer(text)]
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
