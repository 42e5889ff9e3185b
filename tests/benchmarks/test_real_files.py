"""Other people's files: how many are read, read with a warning, and refused, and why.

Put outputs of iperf3, iperf and ping into a folder (or folders in it), and name it::

    NETLAB_REAL_FILES=FOLDER pytest -s tests/benchmarks/test_real_files.py

Nothing of the folder is kept.
"""

import os
import re
import warnings
from collections import Counter
from pathlib import Path

import pytest

from netlab.errors import ReadError
from netlab.readers import read_iperf, read_iperf3, read_ping

FOLDER = os.environ.get("NETLAB_REAL_FILES")
KINDS = {
    read_iperf3: r'\{\s*"(start|event|error|title)"|^iperf3: ',
    read_iperf: r"^(Client connecting to|Server listening on) .{0,80}(TCP|UDP) port",
    read_ping: r"^(PING|Pinging) |bytes from .{0,100}seq=|ICMP Echos",
}


@pytest.mark.skipif(not FOLDER, reason="NETLAB_REAL_FILES names no folder of real files")
def test_every_file_is_read_or_refused_by_a_read_error():
    ends, refusals = Counter(), []
    for path in sorted(file for file in Path(FOLDER).rglob("*") if file.is_file()):
        text = path.read_text(errors="replace").replace("\0", "")
        read = next((read for read, head in KINDS.items() if re.search(head, text, re.M)), None)
        if read is None:
            ends["of no such tool"] += 1
            continue
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                read(path)
                ends[read.__name__, "read with a warning" if told else "read"] += 1
            except ReadError as error:
                ends[read.__name__, "refused"] += 1
                refusals.append(str(error)[:200])
        assert len(told) <= 1, path
    print("", *ends.items(), *refusals, sep="\n")
