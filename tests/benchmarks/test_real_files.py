"""Other people's files: how many are read, read with a warning, and refused for which reason.

Put outputs of iperf3, iperf and ping into a folder (or folders in it), and name it::

    NETLAB_REAL_FILES=FOLDER pytest -s tests/benchmarks/test_real_files.py

Nothing of the folder is kept.
"""

import os
import re
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from netlab.errors import ReadError
from netlab.readers import read_iperf, read_iperf3, read_ping

FOLDER = os.environ.get("NETLAB_REAL_FILES")
READERS = {"iperf3": read_iperf3, "iperf 2": read_iperf, "ping": read_ping}
RIGHTLY = {  # what a refusal says of a text that has no figures of one run
    "empty": "is empty",
    "its own error": "(iperf3|iperf|ping) says",
    "nothing measured": "measured (nothing|anything)|ended before|has no results|sent nothing",
    "a part of other JSON": "no start, intervals, end",
    "several runs": "split_outputs",
    "another tool's": "Windows|a router's|not iperf3's JSON|not ping's|with -J",
    "both directions": "both ways|both directions|go both ways",
    "cut off": "cut off|beginning is missing",
    "stopped by the other side": "other side stopped",
}
KINDS = {
    "iperf3": r'\{\s*"(start|event|error|title)"|^iperf3: ',
    "iperf 2": r"^(Client connecting to|Server listening on) .{0,80}(TCP|UDP) port",
    "ping": r"^(PING|Pinging) |bytes from .{0,100}seq=|ICMP Echos",
}


def kind(text):
    """The tool that printed a text, and its version as far as it says."""
    tool = next((tool for tool, head in KINDS.items() if re.search(head, text, re.M)), None)
    if tool == "iperf3":
        found = re.search(r'"version"\s*:\s*"iperf ([^"]{1,20})"', text)
        return tool, found[1] if found else "?"
    if tool == "iperf 2":
        times = re.search(r"^\[ *[0-9]{1,3}\] +[0-9]+\.([0-9]+) ?-", text, re.M)
        return tool, {1: "to 2.0.14", 2: "2.1", 4: "2.1.4 on"}.get(times and len(times[1]), "?")
    if tool == "ping":
        heads = {
            "bytes of data": "iputils",
            "data bytes": "BSD, macOS, busybox",
            "PING6": "BSD ping6",
        }
        return tool, next((name for words, name in heads.items() if words in text), "others")
    return None, None


@pytest.mark.skipif(not FOLDER, reason="NETLAB_REAL_FILES names no folder of real files")
def test_real_files():
    counts, reasons, wrongly = defaultdict(Counter), Counter(), []
    for path in sorted(file for file in Path(FOLDER).rglob("*") if file.is_file()):
        tool, version = kind(path.read_text(errors="replace").replace("\0", ""))
        if tool is None:
            counts["none of them", ""]["left out"] += 1
            continue
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                READERS[tool](path)
                end = "read with a warning" if told else "read"
            except ReadError as error:
                said = str(error).removeprefix(str(path))
                why = next((why for why, words in RIGHTLY.items() if re.search(words, said)), None)
                end = "refused rightly" if why else "refused wrongly"
                reasons[tool, why] += 1
                if not why:
                    wrongly.append(f"{path}: {said[:200]}")
        assert len(told) <= 1, path
        counts[tool, version][end] += 1
    for (tool, version), ends in sorted(counts.items()):
        print(f"\n{tool} {version}: {sum(ends.values())} files: {dict(ends)}", end="")
    print("\nin all:", dict(sum(counts.values(), Counter())), "\nrefused:", dict(reasons))
    assert not wrongly, wrongly[:10]
