"""What a guest's kernel tells of windows and queues, thinned as it comes, and as text in the end.

The text is the raw output that `read_windows` and `read_queues` of `netlab.readers` read: a line of
names, then one line per record.
"""

import ipaddress
from functools import lru_cache

import numpy as np

from netlab.algorithms.base import INFINITE
from netlab.errors import LimitError
from netlab.readers.windows import STATES

MANY = 20_000  # records that are thinned at once: the kernel may tell of a few at a time
AT_ONCE = 20_000  # that are made tuples of, each of which takes 700 bytes
MOST_RECORDS = 2_000_000  # that are kept of a network; as text, 60 bytes each


class Thinned:
    """Records of one kind as they come; of each series, at most one in each piece of time.

    Parameters
    ----------
    every_ns : int
        Length of a piece of time; 0 keeps every record. [ns]
    series : sequence of str
        The fields that say whose a record is.
    """

    def __init__(self, every_ns, series):
        self.every_ns, self.series = every_ns, list(series)
        self.kept, self.fresh, self.waiting = [], [], 0

    def __len__(self):
        return sum(map(len, self.kept)) + self.waiting

    def add(self, records):
        """Take some more, in the order of time."""
        if len(records):
            self.fresh.append(records)
            self.waiting += len(records)
        if self.waiting > MANY:
            fresh = together(self.fresh)
            self.kept.append(self.thin(fresh) if self.every_ns else fresh)
            self.fresh, self.waiting = [], 0

    def whole(self):
        """All that is kept so far, in the order of time, as tuples."""
        if pieces := self.kept + self.fresh:
            found = together(pieces)
            found = self.thin(found) if self.every_ns else found
            for first in range(0, len(found), AT_ONCE):
                yield from found[first : first + AT_ONCE].tolist()

    def thin(self, records):
        whose = np.unique(records[self.series], return_inverse=True)[1].ravel()
        keep = self.chosen(records, whose, records["now_ns"] // self.every_ns)
        return records[np.unique(keep)]

    def chosen(self, records, whose, piece):
        """The numbers of the records to keep."""
        raise NotImplementedError


def together(pieces):
    """Arrays of records as one. As bytes, because numpy compares the fields of every two arrays."""
    kind = pieces[0].dtype
    return np.concatenate([one.view(f"V{kind.itemsize}") for one in pieces]).view(kind)


@lru_cache
def address(number):
    return str(ipaddress.IPv4Address(number))


def differing(*columns, order):
    """Where the next one in this order differs, for each column."""
    return [column[order][1:] != column[order][:-1] for column in columns]


class Windows(Thinned):
    """Windows: the last of each piece of time; besides, each where a connection's state has
    changed, or its timer has run out.

    Parameters
    ----------
    every_ns : int
    """

    columns = (
        "time_s,source,source_port,destination,destination_port,event,state,cwnd,ssthresh,"
        "in_flight,mss_bytes,srtt_s,retransmitted"
    )

    def __init__(self, every_ns):
        super().__init__(every_ns, ["source", "source_port", "destination", "destination_port"])

    def chosen(self, records, whose, piece):
        order = np.argsort(whose, kind="stable")
        other, later, changed = differing(whose, piece, records["state"], order=order)
        begins, ends = np.append(True, other), np.append(other | later, True)
        changes = np.append(True, changed)
        return np.append(order[begins | ends | changes], np.flatnonzero(records["event"]))

    def text(self, began_ns):
        """All records as text; times count from `began_ns`."""
        lines = [self.columns]
        for one in self.whole():
            (_, event, now_ns, source, destination, source_port, destination_port) = one[:7]
            (cwnd, ssthresh, in_flight, mss, srtt_us, _, state, _, retransmitted) = one[7:16]
            ends = f"{address(source)},{source_port},{address(destination)},{destination_port}"
            threshold = "" if ssthresh >= INFINITE else ssthresh
            lines.append(
                f"{(now_ns - began_ns) / 1e9:.9f},{ends},{('ack', 'timeout')[event]},"
                f"{STATES[state]},{cwnd},{threshold},{in_flight},{mss},{srtt_us / 1e6:.6f},"
                f"{retransmitted}"
            )
        return "\n".join(lines) + "\n"


class Queues(Thinned):
    """Queueing disciplines: of each piece of time the record that holds most, and the last of all.

    Parameters
    ----------
    every_ns : int
    """

    columns = "time_s,interface,handle,packets,bytes,drops,overlimits"

    def __init__(self, every_ns):
        super().__init__(every_ns, ["interface", "handle"])

    def chosen(self, records, whose, piece):
        order = np.lexsort((records["bytes"], piece, whose))
        other, later = differing(whose, piece, order=order)
        most = order[np.append(other | later, True)]
        last = np.unique(whose[::-1], return_index=True)[1]
        return np.append(most, len(records) - 1 - last)

    def text(self, began_ns):
        """All records as text; times count from `began_ns`."""
        lines = [self.columns]
        for one in self.whole():
            _, handle, now_ns, interface, packets, held, drops, overlimits = one[:8]
            lines.append(
                f"{(now_ns - began_ns) / 1e9:.9f},{interface.rstrip(bytes(1)).decode()},"
                f"{handle >> 16:x}:,{packets},{held},{drops},{overlimits}"
            )
        return "\n".join(lines) + "\n"


KINDS = {"windows": Windows, "queues": Queues}
WHOSE = {"windows": "source", "queues": "interface"}  # the field that says where it happened


class Watched:
    """All that a guest is asked to tell.

    Parameters
    ----------
    watches : dict of netlab.engines.protocol.Watch
        By the name of the output.
    most_records : int, optional
        None: `MOST_RECORDS`.
    """

    def __init__(self, watches, most_records=None):
        self.watches, self.most_records = watches, most_records or MOST_RECORDS
        self.collected = {
            name: KINDS[watch.kind](round(1e9 * watch.every_s)) for name, watch in watches.items()
        }
        self.whose = {kind: [] for kind in KINDS}
        for name, (kind, place, _) in watches.items():
            source = int(ipaddress.IPv4Address(place)) if kind == "windows" else place.encode()
            self.whose[kind].append((name, source))

    def places(self, kind):
        """All addresses, or interfaces, once each."""
        places = (watch.place for watch in self.watches.values() if watch.kind == kind)
        return list(dict.fromkeys(places))

    def tell(self, windows, queues):
        """Take what the kernel has told; see `netlab.engines.guest.hooks.Hooks.watch`.

        Raises
        ------
        LimitError
            It is more than is kept.
        """
        for kind, told in (("windows", windows), ("queues", queues)):
            for name, place in self.whose[kind] if len(told) else ():
                self.collected[name].add(told[told[WHOSE[kind]] == place])
        if sum(map(len, self.collected.values())) > self.most_records:
            raise LimitError(
                f"more than {self.most_records:,} windows and changes of queues were to be kept:"
                ' keep fewer, as Windows(every="10ms") and Queue(every="10ms") do,'
                " or let it run for less time"
            )

    def texts(self, began_ns):
        """By the name of the output: its text, with times from `began_ns`."""
        return {name: found.text(began_ns) for name, found in self.collected.items()}
