"""What an algorithm derives from, and how its fractions meet the kernel's whole numbers."""

import json
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import netlab as nl
from netlab.algorithms import AIMD, MulTCP, Reno, base
from netlab.algorithms.control_process import (
    ACK,
    FIELDS,
    LOSS,
    SAMPLE,
    START,
    TIMEOUT,
    Window,
    load,
)
from netlab.algorithms.source import algorithm
from netlab.readers.kernel_traces import STATES


class Halves(nl.CongestionControl):
    """Half of the window after a loss, and nothing else."""

    def on_loss(self, tcp):
        tcp.ssthresh = tcp.cwnd / 2


class Begins(Halves):
    def on_loss(self, tcp):
        super().on_loss(tcp)
        tcp.cwnd = 1

    def on_timeout(self, tcp):
        tcp.cwnd = 7


INFINITE = base.INFINITE


def asked(window, event, cwnd, ssthresh=INFINITE, **more):
    """What is answered to the kernel that has this window and this threshold."""
    fields = dict.fromkeys(FIELDS, 0) | {"event": event, "acked": 1, "limited": 1}
    fields |= {"rtt_us": 20_000, "sample_rtt_us": -1}
    return window.answer(fields | {"cwnd": cwnd, "ssthresh": ssthresh} | more)[:3]


def begun(cls=Halves, **parameters):
    window = Window(base, cls, parameters)
    assert asked(window, START, 10) == (10, 0, 0)
    return window


@pytest.mark.parametrize(
    ("cls", "steps", "cwnd", "ssthresh"),
    [
        # after the repair it goes on at the threshold, with its fraction; or where it set it
        (Halves, [(LOSS, 25, INFINITE, (0, 12, 0)), (ACK, 12, 12, (12, 0, 0))], 12.5, 12.5),
        (Begins, [(LOSS, 20, INFINITE, (0, 10, 0)), (ACK, 10, 10, (1, 0, 0))], 1, 10),
        # a reduction that the kernel takes back is taken back
        (Halves, [(LOSS, 20, INFINITE, (0, 10, 0)), (ACK, 20, INFINITE, (20, 0, 0))], 20, math.inf),
        (Begins, [(LOSS, 20, INFINITE, (0, 10, 0)), (ACK, 20, INFINITE, (20, 0, 0))], 20, math.inf),
        # a timeout within a repair, of which nobody is asked: the kernel's own window counts
        (Halves, [(LOSS, 20, INFINITE, (0, 10, 0)), (ACK, 2, 10, (2, 0, 0))], 2, 10),
        (Begins, [(LOSS, 20, INFINITE, (0, 10, 0)), (ACK, 2, 10, (2, 0, 0))], 2, 10),
        # a timeout: the kernel sets its window after that, and it goes on with this or its own
        (Halves, [(LOSS, 20, INFINITE, 0), (TIMEOUT, 20, 10, 20), (ACK, 1, 10, 1)], 1, 10),
        (Begins, [(LOSS, 20, INFINITE, 0), (TIMEOUT, 20, 10, 20), (ACK, 1, 10, 7)], 7, 10),
        (
            Begins,
            [(LOSS, 20, INFINITE, 0), (TIMEOUT, 20, 10, 20), (ACK, 20, INFINITE, 20)],
            *(20, math.inf),
        ),
        # what the kernel changes itself, as after an idle time, is taken over
        (Halves, [(ACK, 4, INFINITE, 4), (ACK, 4, 9, 4)], 4, 9),
    ],
)
def test_what_the_kernel_is_answered_and_which_window_is_kept(cls, steps, cwnd, ssthresh):
    window = begun(cls)
    for event, kernels, threshold, expected in steps:
        answer = asked(window, event, kernels, threshold)
        assert expected in (answer, answer[0])
    assert (window.tcp.cwnd, window.tcp.ssthresh) == (cwnd, ssthresh)


@given(st.floats(1e-6, 1e7, exclude_min=True))
def test_the_kernel_has_the_whole_part_and_the_fraction_stays(segments):
    class Sets(nl.CongestionControl):
        def on_ack(self, tcp, acked):
            tcp.cwnd = tcp.cwnd if tcp._asked["delivered"] else segments

    window = begun(Sets)
    whole = asked(window, ACK, 10)[0]
    assert whole == max(int(segments), 1)
    assert asked(window, ACK, whole, delivered=1)[0] == whole and window.tcp.cwnd == segments


@given(
    st.floats() | st.integers() | st.text() | st.none() | st.booleans() | st.lists(st.integers())
)
def test_nothing_but_a_number_that_can_be_is_taken(value):
    tcp = base.Connection()
    fits = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    for name, most in (("cwnd", base.MOST_SEGMENTS), ("ssthresh", base.INFINITE)):
        infinite = name == "ssthresh" and value == math.inf
        if fits and (value <= most or infinite):
            setattr(tcp, name, value)
            assert getattr(tcp, name) == value
        else:
            words = rf"^tcp.{name} = (?s:.*): (segments above 0|a number of segments)"
            with pytest.raises((TypeError, ValueError), match=words):
                setattr(tcp, name, value)


def test_a_pacing_rate_is_answered_once_and_infinity_takes_it_back():
    class Paced(nl.CongestionControl):
        def on_ack(self, tcp, acked):
            if acked > 1:
                tcp.pacing_bps = 20e6 if acked == 2 else math.inf

    window = begun(Paced)
    answers = [asked(window, ACK, 10, acked=acked)[2] for acked in (1, 2, 1, 3)]
    assert answers == [0, 20_000_000, 0, 2**64 - 1]


def test_renos_growth_is_a_segment_per_round_trip_and_doubling_in_slow_start():
    window = begun(Reno)
    for cwnd in range(10, 20):
        assert asked(window, ACK, cwnd)[0] == cwnd + 1
    assert asked(window, ACK, 20, limited=0)[0] == 20
    window = begun(Reno)
    asked(window, LOSS, 20)
    cwnd = 10
    for _ in range(10):
        cwnd = asked(window, ACK, cwnd, 10)[0]
    assert window.tcp.cwnd == pytest.approx(11, abs=0.1)


def test_slow_start_that_passes_the_threshold_goes_on_by_addition():
    window = begun(Reno)
    asked(window, ACK, 10, 12, acked=6)
    assert window.tcp.cwnd == pytest.approx(12 + 4 / 12)


def test_names_are_as_they_are_written():
    assert repr(AIMD(0.06, 8)) == repr(AIMD(increase=8, decrease=0.06)) == "AIMD(0.06, 8)"
    assert repr(Reno()) == "Reno" and repr(MulTCP()) == "MulTCP(2)"
    assert (MulTCP(8).increase, MulTCP(8).decrease) == (8, 1 / 16)
    for one in (AIMD(0.5, 1), MulTCP(1)):
        assert (one.increase, one.decrease) == (Reno.increase, Reno.decrease)


def test_parameters_need_names():
    class Loose(nl.CongestionControl):
        def __init__(self, *steps):
            """Takes as many as come."""

    with pytest.raises(TypeError, match=re.escape("Loose.__init__: give each parameter a name")):
        Loose(1, 2)
    with pytest.raises(TypeError, match="Halves takes no parameters"):
        Halves(3)


class Scalable(Reno):
    scalable = True


class Sampled(nl.CongestionControl):
    def on_sample(self, tcp, sample):
        tcp.cwnd = 12.5

    def on_loss(self, tcp):
        tcp.cwnd = 3

    def on_timeout(self, tcp):
        tcp.cwnd = 2


def test_the_kind_is_told_as_a_connection_starts():
    for cls, kind in ((Reno, 0), (Sampled, 1), (Scalable, 2)):
        fields = dict.fromkeys(FIELDS, 0) | {"event": START, "cwnd": 10}
        assert Window(base, cls, {}).answer(fields)[3] == kind


def test_the_kernel_leaves_the_window_of_a_sampled_one_alone():
    window = begun(Sampled)
    assert asked(window, SAMPLE, 10)[0] == 12 and window.tcp.cwnd == 12.5
    assert asked(window, LOSS, 12) == (0, INFINITE, 0)
    assert window.tcp.cwnd == 12.5, "until the next sample"
    window.control.on_sample = lambda tcp, sample: None
    assert asked(window, SAMPLE, 12)[0] == 3
    asked(window, TIMEOUT, 9)
    assert asked(window, SAMPLE, 5)[0] == 2


def test_what_was_not_measured_is_nan():
    sample = base.Sample()
    sample._asked = dict.fromkeys(FIELDS, 0) | {"interval_us": -1, "sample_rtt_us": -1}
    assert math.isnan(sample.interval_s) and math.isnan(sample.rtt_s) and not sample.app_limited
    sample._asked |= {"interval_us": 10_000, "sample_delivered": 5, "flags": 5}
    assert sample.interval_s == 0.01 and sample.app_limited and sample.ack_delayed
    assert repr(sample) == "<sample: 5 segments in 10 ms, 0 acked, 0 lost, 0 marked>"


def test_one_name_for_each_state():
    assert base.STATES == STATES


@pytest.mark.parametrize("name", sorted({*nl.algorithms.__all__} - {"CongestionControl"}))
def test_netlabs_own_algorithms_need_nothing_but_their_source(name):
    text = json.dumps([algorithm(getattr(nl.algorithms, name)).model_dump()])
    alone, [(_, cls, parameters)] = load(base.__file__, text)
    window = Window(alone, cls, parameters)
    assert asked(window, START, 10, mss=1448)[0] == 10
    event, ssthresh = SAMPLE if window.kind else ACK, window.whole_threshold()
    assert asked(window, event, 10, ssthresh, mss=1448, in_flight=9, delivered=1)[0] >= 4
