"""Who got what in iperf3's reports, and how fair that is: what `netlab fairness` prints."""

import os

import pandas as pd

from netlab.errors import NetlabError
from netlab.fairness import jain_index, shares
from netlab.plots._words import plural, unit_prefix
from netlab.readers import read_iperf3

COLUMNS = ["stream", "from -> to", "congestion", "throughput", "share"]
LEFT = ["file", "from -> to", "congestion"]
COUNTED = (
    "Throughput is what the sender counted, lost data included: there is no receiver's figure.",
    "Throughput is what the receiver counted; where there is a *, the file has only what the sender"
    " counted.",
    "Throughput is what the receiver counted.",
)
ALONE = (
    "One stream alone always has 1: give a test with -P 8, or the files of tests that ran together."
)
OF_N = "Of n, it is 1 when all get the same, and 1/n when one gets everything."
BOTH_WAYS = "sent both ways (--bidir); the two directions do not compete for the same queue."


def report(files):
    """A text about these reports of iperf3: one, or those of tests that ran together.

    Raises
    ------
    NetlabError
        A file is not the report of a whole test, or is named twice; or no data went through.
    """
    twice = pd.Series([os.path.realpath(file) for file in files]).duplicated()
    if twice.any():
        raise NetlabError(f"{files[twice.idxmax()]}: named twice; name each test's file once")
    tests = pd.DataFrame([read(file) for file in files])
    streams = pd.concat(list(tests.streams), ignore_index=True)
    if not streams.bps.any():
        raise NetlabError(
            f"{', '.join(tests.file)}: no data went through, so there is nothing to share. Run the"
            " test again."
        )
    indices = {}
    if len(files) > 1:
        indices[f"{len(files)} files"] = jain_index(streams.groupby("file").bps.sum())
    if len(files) == 1 or len(streams) > len(files):
        indices[plural(len(streams), "stream")] = jain_index(streams.bps)
    width = max(map(len, indices)) + 1
    heads = [
        f"{one.file}: iperf3 {one.version}, {one.protocol}, {plural(len(one.streams), 'stream')}"
        for one in tests.itertuples()
    ]
    fair = [f"Jain's index of {of + ':':<{width}} {index:.5f}" for of, index in indices.items()]
    notes = [ALONE if len(streams) == 1 else OF_N]
    received = streams.received_bps.notna()
    notes.append(COUNTED[int(received.any()) + int(received.all())])
    notes += [f"Note: {file} {BOTH_WAYS}" for file in tests.file[tests.bidirectional]]
    return "\n".join([*heads, "", *table(streams), "", *fair, *apart(tests), "", *notes])


def apart(tests):
    """A warning about tests that were over before others began: they shared nothing."""
    starts = tests.set_index("file").started_unix_s
    ends = starts + [t.omit_s + t.streams.end_s.max() for t in tests.itertuples()]
    s = starts.max() - ends.min()
    if s >= 0:
        yield (
            f"Warning: these tests did not compete. {starts.idxmax()} began {s:.0f} s after"
            f" {ends.idxmin()} had ended, so this index says how alike two tests were, and not how"
            " fairly a link was shared. Run them at the same time."
        )


def read(file):
    """Read one report: its meta data, and its ``streams`` with their throughput ``bps``."""
    try:
        out = read_iperf3(file)
    except OSError as error:
        hint = "Give a file that iperf3 -J wrote, as in: iperf3 -c 10.0.0.2 -P 8 -J > out.json"
        raise NetlabError(f"{file}: {error.strerror}. {hint}") from error
    if out.meta["interrupted"]:
        raise NetlabError(
            f"{file}: this test was cut short ({out.meta['error']}). Run it again, to its end."
        )
    bps = out.streams.received_bps.fillna(out.streams.sent_bps)
    if bps.isna().any():
        raise NetlabError(
            f"{file}: not every stream has a throughput here. Give the client's report, and not the"
            " server's."
        )
    return out.meta | {"file": str(file), "streams": out.streams.assign(file=str(file), bps=bps)}


def table(streams):
    """A line per stream, and per file and in all where there are several."""
    several, received = streams.file.nunique() > 1, streams.received_bps.notna()
    scale, unit = unit_prefix("bit/s", streams.bps.max())
    mark = received.map({True: " ", False: "*"}) if received.any() and not received.all() else ""
    streams = streams.assign(share=100 * shares(streams.bps), mark=mark)
    streams["from -> to"] = streams.src + " -> " + streams.dst

    def total(part, **labels):
        return pd.DataFrame([dict(part[["bps", "share"]].sum()) | labels])

    rows = []
    for file, own in streams.groupby("file", sort=False):
        rows += [own, total(own, file=file, stream="all")] if several and len(own) > 1 else [own]
    if len(streams) > 1:
        rows.append(total(streams, file="all", stream="" if several else "all"))
    rows = pd.concat(rows)
    blank = " " if "*" in set(rows.mark) else ""
    rows["throughput"] = (rows.bps / scale).map(f"{{:.3f}} {unit}".format) + rows.mark.fillna(blank)
    rows["share"] = rows.share.map("{:.2f} %".format)
    # old versions do not tell the congestion control
    rows = rows[[*["file"] * several, *COLUMNS]].dropna(axis=1, how="all").fillna("").astype(str)
    cells = pd.concat([pd.DataFrame([[*rows]], columns=rows.columns), rows]).apply(
        lambda c: c.str.pad(c.str.len().max(), "right" if c.name in LEFT else "left")
    )
    return cells.agg("  ".join, axis=1).str.rstrip()
