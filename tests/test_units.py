"""tc's notation: what tc(8) says, nothing else, and back again."""

import contextlib
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab import units
from netlab.course.answers.unit_names import known

# Units and meanings: tc(8), iproute2, sections RATES, TIMES and SIZES.
READ = {
    units.rate_bps: {
        "10gbit": 10**10, "10Gbit": 10**10, "1tbit": 10**12, "0.1mbit": 100_000, "56kbit": 56_000,
        "1mibit": 2**20, "1Bps": 8, "1MBps": 8 * 10**6, "1 GB/s": 8 * 10**9, "1 kB/s": 8000,
        "1kiBps": 8 * 1024, "1.5bit": 1.5, "10 Gbit/s": 10**10, "10gbit/s": 10**10,
        "2.5\u00a0Mbit/s": 2_500_000, "100 mbit": 10**8, "10Gb/s": 10**10, "10gb/s": 10**10,
        "9.5 Mbits/sec": 9_500_000, "10gbits": 10**10, "1e3kbit": 10**6,
    },
    units.delay_s: {
        "20ms": 0.02, "20msec": 0.02, "20MSECS": 0.02, "2s": 2, "1.5sec": 1.5, "3secs": 3, "0ms": 0,
        "250us": 250e-6, "1usec": 1e-6, ".5usecs": 5e-7, "4294967295us": 4294.967295,
        "20 ms": 0.02, "20 msec": 0.02, "10 µs": 1e-5, "10 μs": 1e-5, "1\u202fs": 1.0,
    },
    units.fraction: {
        "0%": 0, "1%": 0.01, "0.01%": 1e-4, "1e-3%": 1e-5, "100%": 1, "0.1 %": 1e-3,
    },
    units.size_bytes: {
        "5mb": 5 * 2**20, "5m": 5 * 2**20, "1kb": 1024, "1K": 1024, "1gb": 2**30, "2g": 2**31,
        "7b": 7, "5 mb": 5 * 2**20, "5 MiB": 5 * 2**20, "1500B": 1500, "1kbit": 128,
        "1mbit": 2**17, "1gbit": 2**27, "1.5kb": 1536,
        "5000000": 5_000_000, 5_000_000: 5_000_000, 2e6: 2_000_000, np.int64(1500): 1500, 0: 0,
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [(read, text, value) for read, table in READ.items() for text, value in table.items()],
)
def test_what_tc_means(read, text, value):
    assert read(text) == value
    whole = read is units.size_bytes or (read is units.rate_bps and value % 1 == 0)
    assert type(read(text)) is (int if whole else float)


NONSENSE = ["", "fast", "nan", "inf", "infs", "nan%", "-5ms", "-5mbit", "-1%", "-1", "1,5ms"]
NONSENSE += ["10  gbit", "10 gbit/ s", " 1s", "1s\n", "0x10ms", "1_000", "1/2s", "٣ms", "1e99bit"]
NONSENSE += ["1e99b", "1e99%", "1e99s", "1e999s", "9" * 300, "9" * 5000 + "s", None, True, [1]]
# letters that are others' upper or lower case: the Kelvin sign, and the long s
NONSENSE += ["900\u212abit", "9 \u212abit", "9\u212ab", "10 Mbit/\u017f", "20m\u017f", "20 m\u017f"]
REFUSED = [
    (units.rate_bps, "'10gbit'", ["10gb", "10G", "20ms", "20 ms", "0", 10, "100"]),
    (units.rate_bps, "'10gbit'", [1e10, "1e6", "1mbps", "1 Mbps", "1MBPS", "1kibps", "1bps"]),
    (units.rate_bps, "'10gbit'", ["0 bit/s"]),
    (units.delay_s, "'20ms'", ["20", "0", "20m", "10gbit", "5000s", "1ns", 20, 0.02]),
    (units.fraction, "'0.01%'", ["1", "0.01", "150%", "100.1%", "1%%", "1 %/s", "101 %", 1, 0.01]),
    (units.size_bytes, "'5mb'", ["5tb", "5mib", "5 MB", "5MB", "5Mb", "64KB", "0.3kb"]),
    (units.size_bytes, "'5mb'", ["4gb", -1, 1.5, 2**32]),
    (units.size_bytes, "'5mb'", [float("nan"), np.inf]),
]


@pytest.mark.parametrize(("read", "example", "refused"), REFUSED)
def test_refuses_what_it_cannot_mean(read, example, refused):
    for value in [*refused, *NONSENSE]:
        with pytest.raises(ValueError) as error:
            read(value)
        assert units.short(value) in str(error.value) and example in str(error.value)


@given(st.floats(0, 1e17) | st.integers(0, 10**20) | st.floats(1e-12, 1))
def test_what_is_typed_has_every_digit_and_no_exponent(number):
    text = units.digits(number)
    assert type(number)(text) == number and re.fullmatch(r"[0-9]+(\.[0-9]+)?", text)
    if number == float(f"{number:g}") and "e" not in f"{number:g}":
        assert text == f"{number:g}", "six digits are typed as ever"


def offered(read, value):
    """What the message about a refused value offers in its place."""
    with pytest.raises(ValueError) as error:
        read(value)
    of_value, _, offers = str(error.value).partition(": write ")
    assert of_value.startswith(units.short(value))
    return (
        re.findall("'([^']*)'", offers.partition("that is, ")[0]) if "that is, " in offers else []
    )


@pytest.mark.parametrize(
    ("read", "value", "both"),
    [
        (units.rate_bps, "100Mbps", ["100mbit", "100MBps"]),
        (units.rate_bps, "100 mbps", ["100mbit", "100MBps"]),
        (units.rate_bps, "10Gbps", ["10gbit", "10GBps"]),
        (units.rate_bps, "10KBPS", ["10kbit", "10KBps"]),
        (units.rate_bps, "10kibps", ["10kibit", "10KiBps"]),
        (units.rate_bps, "10GB", ["10gbit", "10GBps"]),
        (units.rate_bps, "10Gb", ["10gbit"]),
        (units.rate_bps, "20M", ["20mbit", "20mibit"]),  # iperf3's, iperf 2's
        (units.rate_bps, "100", ["100mbit", "100bit"]),  # Mininet's bw, tc's
        (units.rate_bps, 100, ["100mbit", "100bit"]),
        (units.rate_bps, 1e9, ["1gbit"]),
        (units.delay_s, "20", ["20ms", "20us", "20s"]),
        (units.delay_s, 5000, ["5000ms", "5000us"]),
        (units.fraction, 0.01, ["0.01%", "1%"]),
        (units.fraction, "50", ["50%"]),
        (units.size_bytes, "5 MB", ["5mb", "5000000"]),
        (units.size_bytes, "64KB", ["64kb", "64000"]),
        (units.delay_s, "1,5ms", ["1.5ms"]),
        (units.delay_s, "1,500us", ["1.500us", "1500us"]),
        (units.size_bytes, "1,500,000", ["1500000"]),
        (units.rate_bps, "\uff11\uff10 Mbit/s", ["10Mbit/s"]),
        (units.rate_bps, "fast", []),
        (units.rate_bps, 30 * "9", []),
    ],
)  # fmt: skip
def test_says_which_readings_there_are(read, value, both):
    assert offered(read, value) == both


# what people write for a number of these, and the number [bit/s, s, 1, byte] times `count`
NUMBERS = {"{}": 1, "{:.3f}": 1, "{:,}": 1}
SPACES = "", " ", "\u00a0", "\u202f", "\u2009", "  "
SPELLED = {
    units.rate_bps: {
        **dict.fromkeys(["mbit", "Mbit/s", "Mb/s", "mbits/sec", "MBit", "Mbps", "mbps", ""], 10**6),
        **dict.fromkeys(["kbit", "kb/s", "Kbps", "K"], 10**3),
        **dict.fromkeys(["MB/s", "MBps", "MByte/s"], 8 * 10**6),
    },
    units.delay_s: {
        **dict.fromkeys(["ms", "msec", "MS", "msecs", ""], Fraction(1, 1000)),
        **dict.fromkeys(["us", "µs", "μs", "usec"], Fraction(1, 10**6)),
    },
    units.fraction: {"%": Fraction(1, 100), "": Fraction(1, 100)},
    units.size_bytes: {
        **dict.fromkeys(["kb", "KiB", "k", "K"], 1024),
        **dict.fromkeys(["kB", "KB"], 1000),
        **dict.fromkeys(["b", "B", ""], 1),
    },
}
SPELLINGS = [(read, unit) for read, table in SPELLED.items() for unit in table]


@given(
    st.sampled_from(SPELLINGS), st.integers(1, 3_999), st.sampled_from([*NUMBERS]),
    st.sampled_from(SPACES), st.booleans(), st.booleans(),
)  # fmt: skip
def test_a_spelling_is_read_as_meant_or_refused_with_what_was_meant(
    spelling, count, form, space, comma, full_width
):
    """Never as something else: neither the text, nor what the message offers for it."""
    read, unit = spelling
    count = count % 100 + 1 if read is units.fraction else count
    number = form.format(count)
    number = number.replace(".", ",") if comma else number
    if full_width:
        number = number.translate({ord(digit): ord(digit) + 0xFEE0 for digit in "0123456789"})
    meant = count * SPELLED[read][unit]
    try:
        exact = read(f"{number}{space}{unit}")
    except ValueError:
        offers = [read(one) for one in offered(read, f"{number}{space}{unit}")]
        hopeless = unit == "MByte/s" or (read is units.size_bytes and comma and form == "{:.3f}")
        assert hopeless or pytest.approx(float(meant)) in offers
    else:
        assert exact == pytest.approx(float(meant)) and not (comma and "," in number)


@given(st.integers(1, 999), st.sampled_from([unit for read, unit in SPELLINGS if unit]))
def test_answers_of_students_have_the_same_units(count, unit):
    """... of rates, times and shares; but a title of an axis, which nobody types to tc, may have
    "Mbps". What it calls a kB has 1000 bytes.
    """
    for read in (units.rate_bps, units.delay_s, units.fraction):
        with contextlib.suppress(ValueError):
            value = read(f"{count}{unit}")
            assert known(unit) is None or value == pytest.approx(count * known(unit)[1])


@given(st.decimals(0, 4000, places=3), st.sampled_from(["", " ", "\u00a0", "\u2009"]))
def test_what_people_write_is_what_tc_reads(number, space):
    pairs = {"ms": "ms", "s": "s", "µs": "us", "%": "%", "Gbit/s": "gbit", "Mbit": "mbit"}
    for unit, tcs in pairs.items():
        told = units.tc_text(f"{number}{space}{unit}").lower()
        assert told in (f"{number}{tcs}", f"{number}{unit}".lower())
    assert units.delay_s(f"{number}{space}ms") == units.delay_s(f"{number}ms")


@given(st.text(max_size=12))
def test_text_that_tc_reads_is_left_alone(text):
    assert units.tc_text(units.tc_text(text)) == units.tc_text(text)


@pytest.mark.parametrize(
    ("write", "values"),
    [
        (units.format_rate, {1e10: "10gbit", 1_234_567: "1234567bit", 10**12: "1tbit"}),
        (units.format_rate, {np.float64(0.5): "0.5bit"}),
        (units.format_delay, {0.02: "20ms", 1.5: "1500ms", 0: "0us", 1.5e-7: "0.15us"}),
        (units.format_fraction, {0.01: "1%", 1e-5: "0.001%", 0: "0%"}),
        (
            units.format_size,
            {5_242_880: "5mb", 5_000_000: "5000000", 1536 * 1024: "1536kb", 0: "0"},
        ),
    ],
)
def test_written_as_people_write_it(write, values):
    assert [write(value) for value in values] == [*values.values()]


@pytest.mark.parametrize(
    ("write", "refused"),
    [
        (units.format_rate, [0, -1, 1e21, float("nan"), float("inf"), "10gbit", None, True]),
        (units.format_delay, [-1, 5000, float("nan"), "20ms"]),
        (units.format_fraction, [-0.1, 1.5, float("nan"), "1%"]),
        (units.format_size, [-1, 1.5, 2**32, "5mb"]),
    ],
)
def test_refuses_to_write_nonsense(write, refused):
    for value in refused:
        with pytest.raises(ValueError, match="is not a"):
            write(value)


@given(
    st.integers(1, 10**15) | st.floats(0, 1e20, exclude_min=True),
    st.floats(0, 4294.967295) | st.integers(0, 4 * 10**9).map(lambda us: us / 1e6),
    st.floats(0, 1),
    st.integers(0, 2**32 - 1) | st.integers(0, 4095).map(lambda mb: mb * 2**20),
)
def test_round_trips(bps, seconds, share, count):
    assert units.rate_bps(units.format_rate(bps)) == bps
    assert units.delay_s(units.format_delay(seconds)) == seconds
    assert units.fraction(units.format_fraction(share)) == share
    assert units.size_bytes(units.format_size(count)) == count
