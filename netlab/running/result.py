"""What an experiment leaves: raw output first, then the tables read from it; saved to a folder and
loaded from one.
"""

import json
import time
from math import nan
from pathlib import Path

import pandas as pd

from netlab.engines.guest.store import cache_folder
from netlab.errors import NetlabError, ReadError
from netlab.experiment import Experiment
from netlab.fairness import jain_index
from netlab.readers import read_iperf3, read_nstat, read_ping
from netlab.traffic import Iperf3, Nstat, Ping


class Result:
    """What an experiment left.

    Attributes
    ----------
    flows : pandas.DataFrame
        One row per iperf3 test: ``flow, src, dst, congestion, streams, sent_bps, received_bps,
        retransmits, start_s, end_s ...`` and ``jain_index`` of its streams; ``halving_rate``,
        reductions of the sender's window per segment sent, where an `Nstat` counted on a host that
        sent this one TCP test only.
    streams : pandas.DataFrame
        One row per stream of each flow.
    intervals : pandas.DataFrame
        One row per stream and report; times count from the start of the traffic. [s]
    pings : pandas.DataFrame
        One row per echo request: ``flow, src, dst, seq, rtt_s``.
    counts : dict of dict of int
        By host: what an `Nstat` read there, by the kernel's own names.
    raw : dict of str
        Every program's untouched output.
    commands : list of str
        What a person would have typed at Mininet's prompt, in order.
    provenance : dict
        Seed, clock, engine and its digest, versions, virtual and wall seconds, and the experiment
        itself.
    """

    def __init__(self, experiment, raw, commands, provenance):
        self.experiment, self.raw, self.commands, self.provenance = (
            experiment,
            raw,
            commands,
            provenance,
        )
        try:
            self._read()
        except ReadError as error:
            raise ReadError(
                f"{error}\nEverything lies in {keep(experiment, raw)}", error.raw
            ) from None

    def _read(self):
        flows, streams, intervals, pings, counted = [], [], [], [], {}
        for number, (item, start) in enumerate(
            zip(self.experiment.traffic, self.experiment.starts_s, strict=True), 1
        ):
            text = self.raw[name_of(self.experiment, item)]
            if isinstance(item, Ping):
                pings.append(named(read_ping(text).pings, number, item.src, item.dst))
            elif isinstance(item, Iperf3):
                ends = (item.dst, item.src) if item.reverse else (item.src, item.dst)
                report = read_iperf3(text)
                if report.meta["interrupted"]:
                    raise ReadError(
                        f"iperf3 from {item.src} to {item.dst} was interrupted:"
                        f" {report.meta['error']}",
                        text,
                    )
                own, parts = (
                    named(report.streams, number, *ends),
                    named(report.intervals, number, *ends),
                )
                streams.append(own)
                shift = start + item.omit * ~parts.omitted.astype(
                    bool
                )  # iperf3's clock starts anew after what it omits
                intervals.append(
                    parts.assign(start_s=parts.start_s + shift, end_s=parts.end_s + shift)
                )
                flows.append(flow_row(own, start + item.omit, report.meta))
            elif isinstance(item, Nstat):
                counted[item.src] = read_nstat(text)
                if before := self.raw.get(name_of(self.experiment, item) + "-before"):
                    counted[item.src] = counted[item.src].since(read_nstat(before))
        for row in flows:
            alone = [other["src"] for other in flows].count(
                row["src"]
            ) == 1 and not self.experiment.traffic[row["flow"] - 1].udp
            row["halving_rate"] = (
                counted[row["src"]].halving_rate if alone and row["src"] in counted else nan
            )
        self.counts = {host: report.counts for host, report in counted.items()}
        self.flows, self.streams = pd.DataFrame(flows, columns=FLOW_COLUMNS), together(streams)
        self.intervals, self.pings = together(intervals), together(pings)

    def __repr__(self):
        p = self.provenance
        parts = [f"{len(self.flows)} flows, {len(self.streams)} streams"] if len(self.flows) else []
        parts += (
            [f"{self.flows.received_bps.sum() / 1e6:.2f} Mbit/s received"]
            if len(self.flows)
            else []
        )
        parts += [f"{len(self.pings)} pings"] if len(self.pings) else []
        return (
            f"<Result: {', '.join(parts) or 'raw output'}; seed {p['seed']}, {p['virtual_s']:.1f}"
            f" virtual s in {p['wall_s']:.1f} s, {p['engine']}"
            f" {p['engine_digest'] or 'on Linux ' + p['kernel']}>"
        )

    def save(self, directory):
        """Leave everything in a folder: raw output, commands, provenance, and the frames as CSV;
        `load` reads it.
        """
        folder = Path(directory)
        (folder / "raw").mkdir(parents=True, exist_ok=True)
        for name, text in self.raw.items():
            (folder / "raw" / f"{name}.txt").write_text(text)
        (folder / "experiment.json").write_text(self.experiment.to_json())
        (folder / "commands.txt").write_text("".join(f"{command}\n" for command in self.commands))
        (folder / "provenance.json").write_text(json.dumps(self.provenance, indent=1) + "\n")
        for name in ("flows", "streams", "intervals", "pings"):
            getattr(self, name).to_csv(folder / f"{name}.csv", index=False)


FLOW_COLUMNS = [
    "flow",
    "src",
    "dst",
    "congestion",
    "streams",
    "sent_bps",
    "received_bps",
    "retransmits",
    "start_s",
    "end_s",
    "rtt_s",
    "rtt_min_s",
    "mss_bytes",
    "jain_index",
    "halving_rate",
]


def flow_row(streams, start, meta):
    """A flow's row: its streams added up."""
    total = streams[["sent_bps", "received_bps", "retransmits"]].sum(min_count=1)
    first = streams.iloc[0]
    return {
        **first[["flow", "src", "dst", "congestion"]],
        "streams": len(streams),
        **total,
        "start_s": start,
        "end_s": start + streams.end_s.max(),
        "rtt_s": streams.rtt_s.mean(),
        "rtt_min_s": streams.rtt_min_s.min(),
        "mss_bytes": meta["mss_bytes"],
        "jain_index": (
            jain_index(streams.received_bps)
            if streams.received_bps.sum(min_count=len(streams)) > 0
            else nan
        ),
    }


def named(frame, flow, src, dst):
    """Say whose a reader's frame is."""
    return pd.concat(
        [
            pd.DataFrame({"flow": flow, "src": src, "dst": dst}, index=frame.index),
            frame.drop(columns=["src", "dst"], errors="ignore"),
        ],
        axis=1,
    )


def together(frames):
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def name_of(experiment, item):
    """What a traffic's output is called: its number among the experiment's traffic, its kind and
    its hosts.
    """
    ends = [getattr(item, end) for end in ("src", "dst") if hasattr(item, end)]
    number = next(n for n, other in enumerate(experiment.traffic, 1) if other is item)
    return "-".join([str(number), item.kind, *ends])


def keep(experiment, raw):
    """Save the evidence of a run that failed; -> where."""
    folder = (
        cache_folder()
        / "evidence"
        / f"{time.strftime('%Y%m%d-%H%M%S')}-{time.monotonic_ns() % 10**6:06d}"
    )
    folder.mkdir(parents=True)
    (folder / "experiment.json").write_text(experiment.to_json())
    for name, text in raw.items():
        (folder / f"{name}.txt").write_text(text)
    return folder


def load(directory):
    """Read what `Result.save` left; the frames are read anew from the raw output.

    Raises
    ------
    NetlabError
        The folder is not one that `Result.save` left.
    """
    folder = Path(directory)
    try:
        experiment = Experiment.from_json((folder / "experiment.json").read_text())
        raw = {path.stem: path.read_text() for path in sorted((folder / "raw").glob("*.txt"))}
        commands = (folder / "commands.txt").read_text().splitlines()
        provenance = json.loads((folder / "provenance.json").read_text())
    except OSError as error:
        raise NetlabError(f"{folder} is not a folder that Result.save left: {error}") from None
    return Result(experiment, raw, commands, provenance)
