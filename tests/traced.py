"""A run with everything that could tell two apart: its bytes, each event of its windows and queues,
and the packets of an interface. ``python -m tests.traced FILE`` runs one, and keeps it.
"""

import sys

import numpy as np

import netlab as nl
from netlab.engines.guest import GuestEngine

INTERFACES = ["s1-eth2", "h2-eth0"]


def experiment(seconds=3):
    """Two algorithms, eight streams, random loss, noise, pings: all that draws random numbers."""
    return nl.Experiment(
        nl.wan("100mbit", "20ms", "0.1%", limit=100_000, noise="10us"),
        nl.Iperf3("h1", "h2", parallel=7, time=seconds),
        nl.Iperf3("h3", "h4", time=seconds, congestion="bbr"),
        nl.Ping("h1", "h4"),
        # the packets themselves, headers only
        nl.Shell("h2", f"timeout {seconds + 1} tcpdump -nn -S -tt -s 96 -i h2-eth0; true", time=9),
        seed=7,
    )


class Tracing(GuestEngine):
    """Keeps what the kernel tells of all windows, and of the queues of `INTERFACES`."""

    def connect(self, *arguments):
        guest = super().connect(*arguments)
        self.told = []
        addresses = [f"10.0.0.{host}" for host in range(1, 5)]
        guest.hooks.watch(lambda *both: self.told.append(both), addresses, INTERFACES)
        return guest


def trace(experiment):
    """Every event of a run, in the order of time, as arrays by name; text as arrays of lines."""
    engine = Tracing()
    result = nl.run(experiment, engine=engine)
    windows, queues = (np.concatenate(parts) for parts in zip(*engine.told, strict=True))
    events = {"windows": windows, "queues": queues}
    for name, text in result.raw.items():
        kind = "packets" if "shell" in name else "raw"
        events[f"{kind} {name}"] = np.array(text.splitlines())
    events["commands"] = np.array(result.commands)
    return events


def time_of(name, event):
    """When an event happened, in seconds of the guest's clock; infinite where it does not say."""
    if event is None:
        return np.inf
    if event.dtype.names:
        return float(event["now_ns"]) / 1e9
    return float(str(event).split()[0]) if name.startswith("packets") else np.inf


def first_difference(a, b):
    """The first event of two runs that is not the same in both, in words; None where all are.

    Both sides of each kind of event are compared up to where they part; the earliest parting is the
    cause, or next to it, and what differs later, the final report above all, follows from it.
    """
    partings = []
    for name in sorted({*a, *b}):
        ours, theirs = a.get(name, np.array([])), b.get(name, np.array([]))
        if ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes():
            continue
        length = min(len(ours), len(theirs))
        at = next((i for i in range(length) if ours[i] != theirs[i]), length)
        both = [events[at] if at < len(events) else None for events in (ours, theirs)]
        partings.append((min(time_of(name, event) for event in both), name, at, both))
    if not partings:
        return None
    when, name, at, (one, other) = min(partings, key=lambda parting: parting[:3])
    if one is not None and other is not None and one.dtype.names:
        fields = [field for field in one.dtype.names if one[field] != other[field]]
        one, other = ({field: event[field].item() for field in fields} for event in (one, other))
    return (
        f"they part at {when:.9f} s, in {name}, event {at}: {one} here, {other} there;"
        f" {len(partings)} of {len({*a, *b})} kinds of events differ"
    )


if __name__ == "__main__":
    np.savez(sys.argv[1], **trace(experiment()))
