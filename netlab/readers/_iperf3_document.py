"""The JSON document in a text of ``iperf3 -J``, or an error that says why there is none."""

import json
import re

from netlab.errors import ReadError
from netlab.readers._common import AGAIN, given, last_of, one_of

# By a part of iperf3's error message: what to do about it.
_BOTH = "Keep both sides running until the test is over, and run it again."
_REMEDIES = {
    "busy": "Wait until that test ends, or give each test its own server: iperf3 -s -1 -p 5202.",
    "unable to connect": "Start iperf3 -s on the other host first, give it a moment to begin"
    " (net.sleep(0.5)), and check its address and port. With -1 it ends after one test.",
    "reset by peer": "A server has not ended a test when its client has: wait a moment before the"
    " next one (net.sleep(0.5), or sleep 0.5), and run it again.",
    "terminated": _BOTH,
    "stream socket": _BOTH,
    "socket buffer size": "Ask for a smaller window: a program gets at most the kernel's"
    " net.core.rmem_max and wmem_max, which sysctl tells on each host.",
}
# printed by old versions
_NAN_TOKEN = re.compile(r'(?<!\\)(":\s*)-?(?:nan|inf)(?:\(\w*\))?(?=\s*[,}\]])', re.I)
# where a document, or an event, of iperf3 begins
REPORT = re.compile(r'\{\s*"(?:start"\s*:\s*\{|intervals"\s*:\s*\[|(?:title|error|event)"\s*:\s*")')
_OWN_WORDS = re.compile(  # of -V -J and -f -J; the warnings are stderr's
    r"^(?:Control connection MSS [0-9]{1,9}|Setting UDP block size to [0-9]{1,9}"
    r"|warning: .{1,60} JSON output \(-J\))$",
    re.M,
)
_DISORDER = "OUT OF ORDER"  # what old versions say of each datagram that came late: no error
_OWN_ERROR = re.compile(rf"^iperf3: (?!{_DISORDER})(?:error - )?(.*)", re.M)


def parse(text, doubts):
    """The report in `text`."""
    body = without_nan(text.strip().removeprefix("\ufeff"))
    if not body:
        raise ReadError("iperf3's output is empty. Run it again, and see what it writes to stderr.")
    if values := as_list(body):
        raise ReadError(
            f"This is a list of JSON, of {len(values)} values, and no report of iperf3, which is an"
            " object. `split_outputs` gives the text of each report in it."
        )
    begins = 0 if body[0] == "{" else getattr(REPORT.search(body), "start", int)()
    own = _OWN_ERROR.search(body)
    if body[begins] != "{":
        if own:
            raise own_error(own[1])
        no_file = "" if "\n" in text else ", and there is no file of this name"
        raise ReadError(
            f"This is not what iperf3 prints{no_file}. It begins with"
            f" {body.splitlines()[0][:80]!r}. Give its JSON (-J), or all of its text."
        )
    decoder = json.JSONDecoder(object_pairs_hook=last_of(doubts))
    try:
        doc, ends = decoder.raw_decode(body, begins)
    except (ValueError, RecursionError) as error:
        raise _broken(error, body, len(text)) from error
    after = body[ends:].strip()
    if isinstance(doc, dict) and "event" in doc:
        doc, after = _of_events(doc, after, doubts), ""
    elif REPORT.search(body, ends):
        doc, after = _once(doc, body, ends, decoder, doubts)
    elif own and not (isinstance(doc, dict) and (doc.get("end") or {}).get("streams")):
        raise own_error(own[1])
    before = _OWN_WORDS.sub("", body[:begins]).strip()
    for where, left_out in (("before", before), ("after", after)):
        if left_out:
            doubts.append(f"text {where} iperf3's JSON is left out: {left_out[:80]!r}")
    check(doc, doubts)
    return doc


def without_nan(text):
    """The text with what Python's JSON reads as NaN, in place of C's spellings."""
    return _NAN_TOKEN.sub(r"\1NaN", text)


def as_list(text):
    """The values of a list of JSON; None, if it is none."""
    if not text.startswith("["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _broken(error, body, characters):
    problem, where = str(error), getattr(error, "pos", 0)
    if problem.startswith("Unterminated") or where >= len(body) or not body.endswith("}"):
        return ReadError(
            f"iperf3's JSON is cut off after {characters} characters. Let it finish, and run it"
            " again."
        )
    return ReadError(
        f"iperf3's JSON is broken: {problem}. Something else was written into it; run it again."
    )


def identity(doc):
    """What only the reports of one side of one test have in common; None where it is not known."""
    start = doc.get("start") if isinstance(doc, dict) else None
    if not isinstance(start, dict) or not start.get("cookie"):
        return None
    who = [start.get(name) for name in ("cookie", "connected", "timestamp", "connecting_to")]
    return json.dumps(who, sort_keys=True)


def _once(doc, body, ends, decoder, doubts):
    """The last report of a test whose first one `ends` here, and the other text behind that; an
    error where the reports are of several tests.
    """
    docs, left = [doc], []
    while found := REPORT.search(body, ends):
        left.append(body[ends : found.start()])
        try:
            doc, ends = decoder.raw_decode(body, found.start())
        except (ValueError, RecursionError):
            doc, ends = None, len(body)
        docs.append(doc)
    return _of_one_test(docs, doubts), "".join([*left, body[ends:]]).strip()


def _of_one_test(docs, doubts):
    """The last of these reports, if all are of one test."""
    count = len(docs)
    if count > 1 and not (identity(docs[0]) and len(set(map(identity, docs))) == 1):
        raise _several(f"{count} reports")
    if count > 1:
        times = "twice" if count == 2 else f"{count} times"
        doubts.append(
            f"the report of this test (equal cookies) stands here {times}: it counts once"
        )
    return docs[-1]


def _several(what):
    return ReadError(
        f"There are {what} of iperf3 here, one after another. `split_outputs` gives the text of"
        " each."
    )


def _of_events(event, rest, doubts):
    """The report in the lines of ``--json-stream``: each is an event with its data."""
    docs, hook = [{"intervals": []}], last_of(doubts)
    later = [json.loads(line, object_pairs_hook=hook) for line in rest.splitlines()]
    for name, data in ((one["event"], one["data"]) for one in [event, *later]):
        if name == "interval":
            docs[-1]["intervals"].append(data)
            continue
        if name in docs[-1]:
            docs.append({"intervals": []})
        docs[-1][name] = data
    doc = _of_one_test(docs, doubts)
    if "end" not in doc and "error" not in doc:
        raise ReadError(
            "What iperf3 --json-stream wrote is cut off: its last line is no end. Let it finish,"
            " and run it again."
        )
    return doc


def own_error(message):
    remedies = [what for part, what in _REMEDIES.items() if part in message]
    remedy = (remedies or ["Mend that, and run it again."])[0]
    return ReadError(f"iperf3 says: {message.strip(' :.')}. {remedy}")


def check(doc, doubts):
    """Refuse what is not the report of a test that ended, or was interrupted on this side."""
    if not isinstance(doc, dict) or not (
        {"start", "intervals", "end"} <= doc.keys() or "error" in doc
    ):
        raise ReadError(
            "This JSON is no report of iperf3: no start, intervals, end. Give what iperf3 -J wrote;"
            " `split_outputs` gives the text of each report that is a part of something else."
        )
    if str(doc.get("error", "")).startswith(_DISORDER):
        del doc["error"]
    if "error" in doc and not doc["error"].startswith("interrupt"):
        raise own_error(doc["error"])
    if not doc["end"].get("streams"):
        raise ReadError(
            "iperf3 ended before it measured anything. See its stderr, and run it again."
        )
    connected = doc["start"]["connected"]
    if len(doc["end"]["streams"]) != len(connected):
        raise ReadError("Not every stream that connected has an end in this report. Run it again.")
    if not {"connecting_to", "accepted_connection"} & doc["start"].keys():
        raise ReadError(f"This is neither a client's report nor a server's. {AGAIN}")
    if len({stream["socket"] for stream in connected}) < len(connected):
        raise ReadError(f"Two streams have one socket in this report. {AGAIN}")
    asked = given(doc["start"]["test_start"], "num_streams") * (1 + both_ways(doc))
    if asked != len(connected):
        doubts.append(
            f"num_streams is for {asked:g} streams: the {len(connected)} that connected are taken"
        )
    printed = [
        (s["socket"], s["start"], s["end"], one_of(s, "omitted", True, False))
        for i in doc["intervals"]
        for s in i["streams"]
    ]
    refuse_unfinished(printed)


def refuse_unfinished(printed):
    """Refuse these intervals (stream, start, end, omitted) of a test that the other side ended, or
    that ended before any counts.
    """
    if all(omitted for *_, omitted in printed):
        raise ReadError("iperf3 ended before the first interval that counts. Run it for longer.")
    # stopped between two intervals, iperf3 prints the last one again
    if len(set(printed)) < len(printed):
        raise ReadError(
            "An interval stands here twice: the other side stopped in mid-interval, so the totals"
            f" are wrong. {_BOTH}"
        )


def total(doc, way, back):
    """iperf3's own sum of what was "sent", or "received", in one direction; None without one."""
    end, reverse = doc["end"], f"sum_{way}_bidir_reverse"
    # before 3.10, both directions have one name
    both = both_ways(doc) and (back or reverse not in end)
    return end.get(reverse if both else f"sum_{way}")


def both_ways(doc):
    """Did streams go in both directions (``--bidir``)?"""
    return len({(s.get("udp") or s["sender"]).get("sender") for s in doc["end"]["streams"]}) > 1
