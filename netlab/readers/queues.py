"""Queues over time: what the guest's kernel told, or what ``tc -s -j qdisc`` printed."""

import io
import json
from typing import NamedTuple

import pandas as pd

from netlab.errors import ReadError
from netlab.readers._common import AGAIN, given, looks, read

COLUMNS = ["time_s", "interface", "handle", "packets", "backlog_bytes", "drops"]


class QueuesOutput(NamedTuple):
    """What `read_queues` and `read_tc` give.

    Attributes
    ----------
    queues : pandas.DataFrame
        ``time_s`` [s], ``interface``, ``handle`` (tc's, such as ``"2:"``), ``packets``,
        ``backlog_bytes`` [byte] and ``drops`` so far.
    """

    queues: pd.DataFrame


def read_queues(source):
    """Read what a guest's kernel told of queues, or what `read_tc` reads.

    Parameters
    ----------
    source : str or path
        A file or the text itself.

    Returns
    -------
    QueuesOutput

    Raises
    ------
    ReadError
        It is neither; the text is in the error's ``raw``.
    """
    return read(source, "trace of queues", _queues)


def read_tc(source):
    """Read what ``tc -s -j qdisc show`` printed, once, or several times after lines ``at SECONDS``.

    Parameters
    ----------
    source : str or path
        A file or the text itself.

    Returns
    -------
    QueuesOutput
        ``time_s`` counts from the first line ``at``, and is NaN without one.

    Raises
    ------
    ReadError
        It is not that; the text is in the error's ``raw``.
    """
    return read(source, "tc", _tc)


def _queues(text):
    if not text.startswith("time_s,"):
        return _tc(text)
    table = pd.read_csv(io.StringIO(text), dtype={"interface": str, "handle": str})
    table = table.rename(columns={"bytes": "backlog_bytes"})[COLUMNS]
    counts = table[["packets", "backlog_bytes", "drops"]]
    if len(table) and not all(counts.dtypes == "int64"):  # a part of a number, or of a line
        raise ReadError(f"A number of packets or bytes in it is not whole. {AGAIN}")
    if (counts < 0).any(axis=None) or not table.time_s.is_monotonic_increasing:
        raise ReadError(f"A number in it cannot be, or its times do not rise. {AGAIN}")
    return QueuesOutput(table)


def _tc(text):
    rows = []
    for time_s, line in looks(text):
        for one in json.loads(line):
            if "handle" in one:
                counts = [int(given(one, name)) for name in ("qlen", "backlog", "drops")]
                rows.append([time_s, one.get("dev"), one["handle"], *counts])
    if not rows:
        raise ReadError(f"There is no queueing discipline in it. {AGAIN}")
    return QueuesOutput(pd.DataFrame(rows, columns=COLUMNS))
