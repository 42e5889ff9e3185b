"""What TCP does about losses, and about packets that are only late.

Two round trips of slow start, of 10 and 20 segments, make a window of 40. Then 40 segments or more
are sent at once: numbers 30 to 69 are the *flight*. The RTT is 20 ms.
"""

import functools

from tests.validation import answer
from tests.validation.segments import MSS, RTT_S, Line, late_s

FLIGHT = """
s = connected({})
send(s, 30)
time.sleep(0.15)
send(s, {})
time.sleep(1)
"""
RENO, MORE = FLIGHT.format("", 40), FLIGHT.format("", 90)
# one segment more, when the probe of the flight's tail has been acknowledged
PROBED = RENO.replace("time.sleep(1)", "time.sleep(0.3); send(s, 1); time.sleep(1)")
FIVE = "None if n in (40, 44, 48, 52, 56) and copy < 2 else 0"
FIRST = "None if n == 30 and copy < 2 else 0"
ALL = "None if 30 <= n < 70 and copy < 2 else 0"
SPACED = "None if n == 30 and copy < 2 else 0.002 * (n - 30) if n > 30 and copy < 2 else 0"
LATE = "{} if n == 30 and copy < 2 else 0"
MARK = "MARKED if n in (30, 40) else 0"
HELD = "max(0, 0.49 - t) if n >= 30 else 0"  # all, in order, for about 0.3 s


def copies_ms(talk, n):
    """When the copies of a segment were sent, since the flight was."""
    return 1000 * (talk.data(n).time_s - talk.data(30).time_s.iloc[0]).to_numpy()


def repair_ms(talk, n):
    """From the second copy of a segment to the ACK of all."""
    return 1000 * (talk.acks().time_s.iloc[-1] - talk.data(n).time_s.iloc[1])


def rounds_after(talk, n):
    """Segments in each round trip, from the second copy of a segment on."""
    data = talk.data()
    data = data[data.time_s >= talk.data(n).time_s.iloc[1]]
    return data.groupby((data.time_s.diff() > RTT_S / 4).cumsum()).size().tolist()


def new_before(talk, n):
    """How many segments that are not the flight's were sent before the second copy of this one."""
    data = talk.data()
    return int(((data.n >= 70) & (data.time_s < talk.data(n).time_s.iloc[1])).sum())


def undone(talk):
    """The window where the slow start threshold, which a retransmission set, is taken back."""
    rows = talk.windows
    rows = rows[rows.ssthresh.isna() & (rows.ssthresh.shift().notna())]
    return rows.cwnd.iloc[0]


@functools.cache
def lost(seed):
    found = {}
    with Line(seed) as net:
        net.set(comp_sack_nr=0)  # h2 sends an ACK for each segment that is out of order
        one = net.talk(MORE, FIRST)
        found["one"] = copies_ms(one, 30)
        second_s = one.data(30).time_s.iloc[1]
        acks = one.acks()[one.acks().ack == 30 * MSS + 1]
        acks = acks[acks.time_s > one.data(30).time_s.iloc[0]]
        found["duplicates"] = int((acks.time_s <= second_s).sum())
        found["limited"] = new_before(one, 30)
        found["limited, spaced"] = new_before(net.talk(MORE, SPACED), 30)
        found["prr"] = rounds_after(one, 30)[0]
        after = one.windows[one.windows.state.shift() == "recovery"]
        after = after[after.state == "open"].iloc[0]
        found["ssthresh"], found["after"] = after.ssthresh, after.cwnd
        cubic = net.talk(FLIGHT.format("'cubic'", 90), FIRST)
        found["cubic"] = cubic.windows.ssthresh.dropna().iloc[0]
        found["cubic's prr"] = rounds_after(cubic, 30)[0]
        found["five"] = repair_ms(net.talk(RENO, FIVE), 40)
        twice = copies_ms(net.talk(MORE, FIRST.replace("2", "3")), 30)
        found["twice"] = twice[2] - twice[1]
        tail = net.talk(RENO, "None if n >= 68 and copy < 2 else 0")
        found["tail"] = 1000 * (tail.acks().time_s.iloc[-1] - tail.data(68).time_s.iloc[0])
        probed = net.talk(PROBED, "None if n == 69 and copy < 2 else 0").windows
        cut = probed.ssthresh.notna().idxmax()
        found["probed"] = probed.ssthresh[cut] / probed.cwnd[cut - 1]
        net.set(sack=0)
        found["no sack"] = repair_ms(net.talk(RENO, FIVE), 40)
        net.set(sack=1, early_retrans=0)
        found["frto"] = new_before(net.talk(MORE, ALL), 31)
        net.set(frto=0)
        all_lost = net.talk(FLIGHT.format("", 150), ALL)
        found["rto"] = rounds_after(all_lost, 30)
        timeout = all_lost.windows[all_lost.windows.timeout].iloc[0]
        found["rto ssthresh"] = timeout.ssthresh
    return found


@functools.cache
def marked(seed):
    """Slow start thresholds after marks, Reno's and CUBIC's; and how much was sent twice."""
    with Line(seed) as net:
        net.set(ecn=1)
        talks = [net.talk(FLIGHT.format(one, 90), MARK) for one in ("", "'cubic'")]
    twice = [len(talk.data()) - talk.data().n.nunique() for talk in talks]
    return [talk.windows.ssthresh.dropna().iloc[-1] for talk in talks], max(twice)


@functools.cache
def late(seed):
    found = {}
    with Line(seed) as net:
        net.set(comp_sack_nr=0)
        three = FLIGHT.format("", 3)
        found["4 ms"] = len(net.talk(three, LATE.format(0.004)).data(30)) - 1
        found["12 ms"] = copies_ms(net.talk(three, LATE.format(0.012)), 30)[1]
        found["eifel"] = undone(net.talk(MORE, LATE.format(0.008)))
        net.set(timestamps=0)
        without = MORE.replace("()", f"(TCP_MAXSEG={MSS})")
        found["dsack"] = undone(net.talk(without, LATE.format(0.008)))
        net.set(timestamps=1, early_retrans=0)
        found["rto"] = undone(net.talk(RENO, HELD))
    return found


@answer(
    "ACKs that do not acknowledge anything new before a lost segment is sent again",
    "RFC 5681, 3.2: 3",
    3,
    0.5,
    "ACKs",
)
def duplicate_acks(seed):
    return lost(seed)["duplicates"]


@answer(
    "time from a lost segment to its second copy",
    "RFC 5681, 3.2: one RTT, as three more were sent at the same instant",
    20,
    0.2,
    "ms",
)
def fast_retransmit(seed):
    return lost(seed)["one"][1]


@answer(
    "new segments that the ACKs before the third one let out, when they come 2 ms apart",
    "RFC 3042: one each, 2",
    2,
    0.5,
    "segments",
)
def limited_transmit(seed):
    return lost(seed)["limited, spaced"]


@answer(
    "the same when they come at one instant",
    "RFC 3042: one each, 2",
    2,
    0.5,
    "segments",
    cause="Linux hands segments to the card in chunks, also where the card does not segment. Within"
    " 1 ms of the last one it waits until a whole chunk may go (`tcp_tso_should_defer` in"
    " net/ipv4/tcp_output.c): the second ACK, some 10 µs after the first, lets nothing out. The"
    " third one begins the recovery, where Linux does not wait.",
)
def limited_transmit_at_once(seed):
    return lost(seed)["limited"]


@answer(
    "Reno's slow start threshold after a loss, the window being 40",
    "RFC 5681, 3.1: half",
    20,
    0.5,
    "segments",
)
def reno_halves(seed):
    return lost(seed)["ssthresh"]


@answer(
    "CUBIC's slow start threshold after a loss, the window being 40",
    "RFC 9438, 4.6: 0.7 · 40",
    28,
    0.5,
    "segments",
)
def cubic_keeps(seed):
    return lost(seed)["cubic"]


@answer(
    "segments that are sent in the first round trip of a recovery, Reno",
    "RFC 6937 (now RFC 9937), proportional: 37 of the flight are delivered from the third ACK"
    " on, of 41 under way: ceil(37 · 20 / 41)",
    19,
    0.5,
    "segments",
)
def proportional_rate(seed):
    return lost(seed)["prr"]


@answer(
    "the same, CUBIC",
    "RFC 6937: in proportion, ceil(37 · 28 / 41) = 26, and then up to the threshold of 28, with one"
    " that limited transmit had let out",
    27,
    0.5,
    "segments",
)
def proportional_rate_of_cubic(seed):
    return lost(seed)["cubic's prr"]


@answer(
    "the window when a recovery ends, Reno",
    "RFC 6937 (and RFC 5681, 3.2): the slow start threshold",
    20,
    0.5,
    "segments",
)
def window_after_recovery(seed):
    return lost(seed)["after"]


@answer(
    "time from the second copy of the first of five lost segments to the ACK of all",
    "RFC 6675, SACK: all five within a round trip, 20 ms",
    20,
    0.3,
    "ms",
)
def five_losses(seed):
    return lost(seed)["five"]


@answer(
    "the same without SACK", "RFC 6582, NewReno: one for each round trip, 5 · 20 ms", 100, 0.3, "ms"
)
def five_losses_without_sack(seed):
    return lost(seed)["no sack"]


@answer(
    "time from the second copy of a segment, lost again, to the third",
    "RFC 8985 (RACK): one RTT, when what was sent after it arrives (before: an RTO, 220 ms)",
    20,
    0.3,
    "ms",
)
def lost_again(seed):
    return lost(seed)["twice"]


@answer(
    "time from the last two segments of a flight, both lost, to the ACK of all",
    "RFC 8985: one RTT to the last ACK, 2 · SRTT and Linux's 2 ms to the probe, one RTT to its"
    " ACK and one to repair the other: 20 + 42 + 20 + 20",
    102 + 500 * late_s(0.042),
    500 * late_s(0.042) + 0.3,
    "ms",
    cause="The second kernel took 308.6 ms with one seed of three, as if an RTO had come, and not"
    " the probe. Why is open.",
)
def lost_tail(seed):
    return lost(seed)["tail"]


@answer(
    "what Reno keeps of its window, when a probe has repaired the loss of the last segment",
    "RFC 8985, 7.4.2, and RFC 5681: half",
    0.5,
    0.01,
)
def probe_reduces(seed):
    return lost(seed)["probed"]


@answer(
    "retransmissions of a segment that comes 4 ms late, behind two others",
    "RFC 8985, 6.2: none within a quarter of the RTT, 5 ms",
    0,
    0.5,
    "segments",
)
def a_little_late(seed):
    return late(seed)["4 ms"]


@answer(
    "time from such a segment, 12 ms late, to its second copy",
    "RFC 8985, 6.2: 20 + 20/4 ms; Linux adds 2 ms",
    27 + 500 * late_s(0.007),
    500 * late_s(0.007),
    "ms",
)
def too_late(seed):
    return late(seed)["12 ms"]


@answer(
    "the window of 40, when a segment that was sent again comes 8 ms late",
    "RFC 3522 (Eifel) detects it; Linux then takes window and threshold of before; the ACK may"
    " add 1",
    40,
    1,
    "segments",
)
def undone_by_timestamps(seed):
    return late(seed)["eifel"]


@answer(
    "the same without time stamps",
    "RFC 3708 (DSACK): as before; the ACK itself may add 1",
    40,
    1,
    "segments",
)
def undone_by_dsack(seed):
    return late(seed)["dsack"]


@answer(
    "the window of 40 after an RTO, when nothing was lost but all is 0.3 s late",
    "RFC 4015 and RFC 5682: as before; the ACK itself may add 1",
    40,
    1,
    "segments",
)
def undone_after_rto(seed):
    return late(seed)["rto"]


@answer(
    "segments that an RTO sends, when the whole flight is lost",
    "RFC 5681, 3.1: a window of 1",
    1,
    0.5,
    "segments",
)
def window_after_rto(seed):
    return lost(seed)["rto"][0]


@answer(
    "slow start threshold after an RTO, with 40 under way",
    "RFC 5681, 3.1, equation 4: half",
    20,
    0.5,
    "segments",
)
def threshold_after_rto(seed):
    return lost(seed)["rto ssthresh"]


@answer(
    "segments in the sixth round trip after an RTO",
    "RFC 5681, 3.1: 1, 2, 4, 8, 16, and no more than the threshold of 20",
    20,
    0.5,
    "segments",
)
def slow_start_after_rto(seed):
    return lost(seed)["rto"][5]


@answer(
    "new segments that are sent when the first ACK comes after an RTO",
    "RFC 5682, 3.1 (F-RTO with SACK): up to 2",
    2,
    0.5,
    "segments",
)
def forward_rto(seed):
    return lost(seed)["frto"]


@answer(
    "Reno's slow start threshold after two segments of one flight were marked, the window being 40",
    "RFC 3168, 6.1.2: as after one loss, half, and once per round trip",
    20,
    0.5,
    "segments",
)
def reno_answers_a_mark(seed):
    return marked(seed)[0][0]


@answer(
    "the same, CUBIC's",
    "RFC 9438, 4.6: 0.7 · 40 (RFC 8511 would allow 0.85 · 40)",
    28,
    0.5,
    "segments",
)
def cubic_answers_a_mark(seed):
    return marked(seed)[0][1]


@answer(
    "segments that these two flows send twice",
    "RFC 3168, 6.1.2: none was lost",
    0,
    0.5,
    "segments",
)
def sent_again_after_a_mark(seed):
    return marked(seed)[1]
