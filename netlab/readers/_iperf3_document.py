"""From the text that ``iperf3 -J`` wrote to its JSON document, or to an error that says why there
is none.
"""

import json
import re

from netlab.errors import ReadError
from netlab.readers._common import AGAIN, given, one_of, unique

# A part of iperf3's own error: what to do about it.
_BOTH = "Keep both sides running until the test is over, and run it again."
_REMEDIES = {
    "busy": "Wait until that test ends, or give each test its own server: iperf3 -s -1 -p 5202.",
    "unable to connect": "Start iperf3 -s on the other host first, and check its address and port.",
    "terminated": _BOTH,
    "stream socket": _BOTH,
    "socket buffer size": "Ask for a smaller window: a program gets at most the kernel's"
    " net.core.rmem_max and wmem_max (4 MiB in the guest).",
}
# printed by old versions
_NAN_TOKEN = re.compile(r'(?<!\\)(":\s*)-?(?:nan|inf)(?:\(\w*\))?(?=\s*[,}\]])', re.I)


def parse(text, named):
    """The report in `text`, which is a file's if it is `named`."""
    report = _json(text, named)
    check(report)
    return report


def _json(text, named):
    body = _NAN_TOKEN.sub(r"\1NaN", text.strip().removeprefix("\ufeff"))
    if not body:
        raise ReadError(
            "iperf3's output is empty. Run it with -J, and see what it writes to stderr."
        )
    if re.match(r'\{\s*"event"', body):
        raise ReadError("This is what iperf3 --json-stream writes. Run it with -J alone.")
    if not body.startswith("{"):
        if own := re.search(r"^iperf3: (.*)", body, re.M):
            raise _own_error(own[1])
        first = body.splitlines()[0][:80]
        if "{" in body and '"start"' in body:
            raise ReadError(
                f"There is text before iperf3's JSON: {first!r}. Keep only what iperf3 wrote."
            )
        what = "not iperf3's JSON" if named else "neither iperf3's JSON nor the name of a file"
        raise ReadError(
            f"This is {what}, it begins with {first!r}. Run iperf3 with -J, which writes it."
        )
    try:
        return json.loads(body, object_pairs_hook=unique)
    except ReadError:
        raise
    except (ValueError, RecursionError) as error:
        problem, where = str(error), getattr(error, "pos", 0)
        if problem.startswith("Extra data"):
            what = (
                f"There is text after iperf3's JSON: {body[where : where + 80]!r}. Keep one report"
                " per file."
            )
        elif problem.startswith("Unterminated") or where >= len(body) or not body.endswith("}"):
            what = (
                f"iperf3's JSON is cut off after {len(text)} characters. Let it finish, and run it"
                " again."
            )
        else:
            what = (
                f"iperf3's JSON is broken: {problem}. Something else was written into it; run it"
                " again."
            )
        raise ReadError(what) from error


def _own_error(message):
    remedy = next(
        (what for part, what in _REMEDIES.items() if part in message),
        "Mend that, and run it again.",
    )
    return ReadError(f"iperf3 says: {message.strip(' :.')}. {remedy}")


def check(doc):
    """Refuse what is not the report of a test that ended, or was interrupted on this side."""
    if not isinstance(doc, dict) or not (
        {"start", "intervals", "end"} <= doc.keys() or "error" in doc
    ):
        raise ReadError(
            "This JSON is no report of iperf3: no start, intervals, end. Give what iperf3 -J wrote."
        )
    if "error" in doc and not doc["error"].startswith("interrupt"):
        raise _own_error(doc["error"])
    if not doc["end"].get("streams"):
        raise ReadError(
            "iperf3 ended before it measured anything. See its stderr, and run it again."
        )
    if len(doc["end"]["streams"]) != len(doc["start"]["connected"]):
        raise ReadError("Not every stream that connected has an end in this report. Run it again.")
    if not {"connecting_to", "accepted_connection"} & doc["start"].keys():
        raise ReadError(f"This is neither a client's report nor a server's. {AGAIN}")
    asked = given(doc["start"]["test_start"], "num_streams") * (1 + both_ways(doc))
    streams = len({stream["socket"] for stream in doc["start"]["connected"]})
    if not streams == len(doc["start"]["connected"]) == asked:
        raise ReadError(f"num_streams is for {asked:g} streams, but {streams} connected. {AGAIN}")
    printed = [
        (s["socket"], s["start"], s["end"], one_of(s, "omitted", True, False))
        for i in doc["intervals"]
        for s in i["streams"]
    ]
    if all(omitted for *_, omitted in printed):
        raise ReadError("iperf3 ended before the first interval that counts. Run it for longer.")
    # stopped between two intervals, iperf3 prints the last one again
    if len(set(printed)) < len(printed):
        raise ReadError(
            f"The other side stopped in mid-interval, so the totals here are wrong. {_BOTH}"
        )


def both_ways(doc):
    """Did streams go in both directions (``--bidir``)?"""
    return len({(s.get("udp") or s["sender"]).get("sender") for s in doc["end"]["streams"]}) > 1
