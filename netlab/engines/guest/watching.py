"""Windows and queues as a guest's kernel tells them: thinned as they come, then written as text.

`read_windows` and `read_queues` of `netlab.readers` read this raw output: names, then records.
"""

import ipaddress
import threading

import numpy as np

from netlab.algorithms.base import INFINITE
from netlab.errors import GuestError, LimitError
from netlab.readers.kernel_traces import STATES

MANY = 20_000  # records that are thinned at once: the kernel may tell of a few at a time
AT_ONCE = 20_000  # that are written at once
MOST_NS = 1 << 62  # of a guest's clock
MOST_RECORDS = 2_000_000  # that are kept of a network; as text, 60 bytes each
# The texts of up to four digits: of a number's first ones, none for 0; then with leading zeros
DIGITS = np.array(
    [b"", *(b"%d" % n for n in range(1, 10**4)), *(b"%04d" % n for n in range(10**4))]
)
EVENTS, NAMES = np.array([b"ack", b"timeout"]), np.array([one.encode() for one in STATES])
OCTETS = np.array([b"%d" % n for n in range(256)])


class Thinned:
    """Records from one place; of each series, a few in each `every_ns` (0: all of them). [ns]"""

    def __init__(self, place, every_ns):
        self.place, self.every_ns = place.encode(), every_ns
        self.value = self.place  # of the field `whose`
        self.kept, self.fresh, self.waiting = [], [], 0

    def __len__(self):
        return sum(map(len, self.kept)) + self.waiting

    def add(self, records):
        """Take some more, in the order of time; those of other places are passed over."""
        own = records[self.whose] == self.value
        if own.any():
            self.fresh.append(records if own.all() else records[own])
            self.waiting += len(self.fresh[-1])
        if self.waiting > MANY:
            self.kept.append(self.thinned(self.fresh))
            self.fresh, self.waiting = [], 0

    def whole(self):
        """All that is kept so far, in the order of time."""
        pieces = self.kept + self.fresh
        return self.thinned(pieces) if pieces else []

    def thinned(self, pieces):
        kind = pieces[0].dtype  # joined as bytes: numpy compares the fields of every two arrays
        records = np.concatenate([one.view(f"V{kind.itemsize}") for one in pieces]).view(kind)
        if not self.every_ns:
            return records
        series, piece = records.view(self.series)["series"], records["now_ns"] // self.every_ns
        order, keep = np.argsort(series, kind="stable"), np.zeros(len(records), bool)
        other = differ(series[order])
        columns = {name: records[name][order] for name in self.looked_at}
        keep[order[self.chosen(columns, other, other | differ(piece[order]))]] = True
        return records[keep]

    def text(self, began_ns):
        """All records as text; times count from `began_ns`."""
        records, lines = self.whole(), [f"{self.columns}\n".encode()]
        if len(records) and not (records["now_ns"].max() < MOST_NS and self.possible(records)):
            raise GuestError("the guest's kernel told what no kernel of a guest tells")
        for first in range(0, len(records), AT_ONCE):
            some = records[first : first + AT_ONCE]
            time_ns = some["now_ns"].astype(np.int64) - began_ns
            cells = [np.where(time_ns < 0, b"-", b""), *decimal(abs(time_ns), 9)]
            cells = list(map(np.asarray, [*cells, *self.cells(some), b"\n"]))
            rows = np.empty(len(some), [(str(n), cell.dtype) for n, cell in enumerate(cells)])
            for n, cell in enumerate(cells):
                rows[str(n)] = cell
            lines.append(rows.tobytes().translate(None, b"\0"))
        return b"".join(lines).decode()


def differ(column):
    """Which values are not the one before them; the first is not."""
    return np.append(True, column[1:] != column[:-1])


def whole(numbers):
    """Columns of bytes that are the digits of whole numbers."""
    columns, rest = [], numbers
    while not columns or rest.any():
        above = rest // 10**4
        columns.insert(0, DIGITS[rest - 10**4 * above + 10**4 * (above > 0)])
        rest = above
    columns[-1][numbers == 0] = b"0"
    return columns


def decimal(numbers, places):
    """The same, of numbers that count units of the last of these decimal places."""
    ones = numbers // 10**places
    fraction = whole(numbers - (ones - 1) * 10**places)  # with a 1 before it, which goes
    fraction[0].view("u1")[:: fraction[0].itemsize] = 0
    return [*whole(ones), b".", *fraction]


def listed(*fields):
    """Fields of a line, each with a comma before it."""
    return [column for field in fields for column in (b",", *field)]


class WindowRows(Thinned):
    """Windows: the last of each piece of time, each change of state, and each timeout."""

    columns = (
        "time_s,source,source_port,destination,destination_port,event,state,cwnd,ssthresh,"
        "in_flight,mss_bytes,srtt_s,retransmitted"
    )
    whose, looked_at = "source", ("state", "event")
    # a connection of the one place: its other end, and both ports
    series = np.dtype({"names": ["series"], "formats": ["u8"], "offsets": [20], "itemsize": 80})

    def __init__(self, place, every_ns):
        super().__init__(place, every_ns)
        self.value = int(ipaddress.IPv4Address(place))

    def possible(self, records):
        return (records["event"] < len(EVENTS)).all() and (records["state"] < len(NAMES)).all()

    def chosen(self, records, other, begins):
        ends = np.append(begins[1:], True)
        return other | ends | differ(records["state"]) | (records["event"] > 0)

    def cells(self, records):
        octets = records["destination"].astype(">u4").view("u1").reshape(-1, 4).T
        address = [column for one in octets for column in (b".", OCTETS[one])][1:]
        threshold = whole(np.minimum(records["ssthresh"], INFINITE))
        for column in threshold:
            column[records["ssthresh"] >= INFINITE] = b""
        return listed(
            [self.place],
            whole(records["source_port"]),
            address,
            whole(records["destination_port"]),
            [EVENTS[records["event"]]],
            [NAMES[records["state"]]],
            whole(records["cwnd"]),
            threshold,
            whole(records["in_flight"]),
            whole(records["mss"]),
            decimal(records["srtt_us"], 6),
            whole(records["retransmitted"]),
        )


class QueueRows(Thinned):
    """Queueing disciplines: of each piece of time what holds most, and the last of all."""

    columns = "time_s,interface,handle,packets,bytes,drops,overlimits"
    whose, looked_at = "interface", ("bytes",)
    series = np.dtype({"names": ["series"], "formats": ["u4"], "offsets": [4], "itemsize": 80})

    def possible(self, records):
        return True

    def chosen(self, records, other, begins):
        group = np.cumsum(begins) - 1
        most = np.maximum.reduceat(records["bytes"], np.flatnonzero(begins))[group]
        at = np.flatnonzero(records["bytes"] == most)
        keep = np.append(other[1:], True)
        keep[at[np.append(differ(group[at])[1:], True)]] = True  # of several, the last
        return keep

    def cells(self, records):
        handles, which = np.unique(records["handle"], return_inverse=True)
        return listed(
            [self.place],
            [np.array([b"%x:" % (handle >> 16) for handle in handles.tolist()])[which]],
            *(whole(records[name]) for name in ("packets", "bytes", "drops", "overlimits")),
        )


KINDS = {"windows": WindowRows, "queues": QueueRows}


class Watched:
    """All that a guest is asked to tell: `watches` by the name of the output."""

    def __init__(self, watches, most_records=MOST_RECORDS):
        self.watches, self.most_records, self.lock = watches, most_records, threading.Lock()
        self.collected = {
            name: KINDS[kind](place, round(1e9 * every_s))
            for name, (kind, place, every_s) in watches.items()
        }

    def places(self, kind):
        """All addresses, or interfaces, once each."""
        found = (watch.place for watch in self.watches.values() if watch.kind == kind)
        return list(dict.fromkeys(found))

    def tell(self, windows, queues):
        """Take what the kernel tells (`hooks.Hooks.watch`); a LimitError where it is too much."""
        told = {"windows": windows, "queues": queues}
        with self.lock:
            for name, watch in self.watches.items():
                if len(told[watch.kind]):
                    self.collected[name].add(told[watch.kind])
        if sum(map(len, self.collected.values())) > self.most_records:
            raise LimitError(
                f"more than {self.most_records:,} windows and changes of queues were to be kept:"
                ' keep fewer, as Windows(every="10ms") and Queue(every="10ms") do,'
                " or let it run for less time"
            )

    def texts(self, began_ns):
        """By the name of the output: its text, with times from `began_ns`. Any thread may ask."""
        with self.lock:
            return {name: found.text(began_ns) for name, found in self.collected.items()}
