"""Who got what in iperf3's reports, and how fair that is: what `netlab fairness` prints."""

import os

import pandas as pd

from netlab.errors import NetlabError
from netlab.fairness import jain_index, shares
from netlab.fairness.evolution import TOGETHER, common_time_s
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
    """The text of `report_and_errors`, which says how many files are left out of it."""
    return report_and_errors(files)[0]


def report_and_errors(files):
    """A text about these reports of iperf3: one, or those of tests that ran together; and an error
    for each file that is left out of it.

    Raises
    ------
    NetlabError
        No file is the report of a whole test, or one is named twice; or no data went through.
    """
    twice = pd.Series([os.path.realpath(file) for file in files]).duplicated()
    if twice.any():
        raise NetlabError(f"{files[twice.idxmax()]}: named twice; name each test's file once")
    tests, left_out = [], []
    for file in files:
        try:
            tests.append(read(file))
        except NetlabError as error:
            left_out.append(error)
    if not tests:
        raise NetlabError("\n".join(map(str, left_out)))
    tests, same = each_once(tests)
    tests = pd.DataFrame(tests)
    streams = pd.concat(list(tests.streams), ignore_index=True)
    if not streams.bps.any():
        raise NetlabError(
            f"{', '.join(tests.file)}: no data went through, so there is nothing to share. Run the"
            " test again."
        )
    indices = {}
    if len(tests) > 1:
        indices[f"{len(tests)} files"] = jain_index(streams.groupby("file").bps.sum())
    if len(tests) == 1 or len(streams) > len(tests):
        indices[plural(len(streams), "stream")] = jain_index(streams.bps)
    width = max(map(len, indices)) + 1
    heads = [
        f"{one.file}: iperf3{f' {one.version}' if isinstance(one.version, str) else ''},"
        f" {one.protocol}, {plural(len(one.streams), 'stream')}"
        for one in tests.itertuples()
    ]
    fair = [f"Jain's index of {of + ':':<{width}} {index:.5f}" for of, index in indices.items()]
    notes = [ALONE if len(streams) == 1 else OF_N]
    received = streams.received_bps.notna()
    notes.append(COUNTED[int(received.any()) + int(received.all())])
    notes += [f"Note: {file} {BOTH_WAYS}" for file in tests.file[tests.bidirectional]]
    notes += [
        f"Note: {one.file} is text, in which iperf3 rounds: throughputs are within"
        f" {one.rounding:.2%} of these."
        for one in tests.itertuples()
        if one.rounding
    ]
    warnings = [*same, *apart(tests)]
    if left_out:
        warnings.append(
            f"Warning: these figures are without {len(left_out)} of {len(files)} files, which"
            " cannot be read."
        )
    text = "\n".join([*heads, "", *table(streams), "", *fair, *warnings, "", *notes])
    return text, left_out


def each_once(tests):
    """The tests, and a note on each file that is about the same test as one before it."""
    kept, notes = [], []
    for test in tests:
        if twin := next((one for one in kept if is_one_test(one, test)), None):
            notes.append(
                f"Note: {test['file']} and {twin['file']} are reports of one test (their cookies"
                f" are equal): it counts once, as {twin['file']} has it."
            )
        else:
            kept.append(test)
    return kept, notes


def is_one_test(one, other):
    """Are these reports, perhaps of its two sides, of one test? (Equal cookies may be blots.)"""
    names = "cookie", "client_ports"
    alike = one.get("cookie") and all(one[name] == other.get(name) for name in names)
    if not alike or not abs(one["started_unix_s"] - other["started_unix_s"]) <= one["runs_s"] + 1:
        return False
    got, also_got = one["received_bytes"], other["received_bytes"]
    return not abs(got - also_got) > 0.05 * got


def apart(tests):
    """A warning about tests that did not run together: they shared nothing, or not all the time."""
    if len(tests) < 2:
        return
    starts = tests.set_index("file").started_unix_s
    if silent := [str(file) for file in starts.index[starts.isna()]]:
        files = ", ".join(silent)
        yield f"Note: no time is in {files}: did all of these tests run together?"
        return
    # up to 3.18, iperf3 prints the second in which it started
    slack_s = float((starts % 1 == 0).any())
    starts = starts + tests.set_index("file").omit_s
    ends = starts + tests.set_index("file").runs_s
    together_s, whole_s = common_time_s(starts, ends)
    if together_s <= min(slack_s, (ends - starts).min() / 2):
        s = max(0, -together_s)
        after = f"{s:.0f} s" if s >= 1 else "less than a second"
        yield (
            "Warning: these tests did not run together: they did not compete."
            f" {starts.idxmax()} began {after} after {ends.idxmin()} had ended, so this index says"
            " how alike two tests were, and not how fairly a link was shared. Run them at the same"
            " time."
        )
    elif together_s + slack_s < TOGETHER * (whole_s - slack_s):
        yield (
            "Warning: these tests did not run together all the time, but for"
            f" {together_s:.3g} of {whole_s:.3g} s. Each throughput is the mean of a test's own"
            " time: their sum may be more than a link carries, and this index is not that of flows"
            " that share it. Run them at the same time."
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
    streams = out.streams.assign(file=str(file), bps=bps)
    return out.meta | {"file": str(file), "streams": streams, "runs_s": streams.end_s.max()}


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
