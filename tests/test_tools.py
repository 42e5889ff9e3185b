"""What netlab says of tc and iperf, in docstrings, messages and the guide, is what the guest's own
tools do; a table with a line for each sentence.
"""

import json
import re

import pytest

from netlab import Network, units, wan

DISCIPLINE = "tc qdisc replace dev h1-eth0 root {} 2>&1 && tc -j -d qdisc show dev h1-eth0"
GONE = "tc qdisc del dev h1-eth0 root 2>/dev/null; "


@pytest.fixture(scope="module")
def net():
    with Network(wan("1gbit", "1ms", pairs=1)) as net:
        net.start("h2", "iperf3 -s")
        net.start("h2", "iperf -s -u")
        net.sleep(0.5)
        yield net


def built(net, *lines):
    """The options of the disciplines that tc builds from these words; a text where it refuses."""
    typed = "; ".join(f"{GONE}{DISCIPLINE.format(words)}; echo @@" for words in lines)
    *texts, _ = net.run("h1", typed, echo=False).text.split("@@")
    for text in texts:
        try:
            yield json.loads(text)[0]["options"]
        except (ValueError, KeyError):
            yield text


def found(options, place):
    for name in place.split():
        options = options[name]
    return options


TBF, RED = "tbf rate {} burst 15000 limit 30000", "red limit 400kb min 30kb max 90kb avpkt 1000"
TC = [  # the words; where the option is, and its value: bytes per second, seconds, shares, bytes
    # units.py, and the guide's table: bps are bytes, in whatever case
    *[(TBF.format(f"100{unit}"), "rate", 100e6) for unit in ("mbps", "Mbps", "MBps", "MBPS")],
    *[(TBF.format(f"100{unit}"), "rate", 12.5e6) for unit in ("mbit", "Mbit", "MBIT")],
    ("cake bandwidth 100Mbps", "bandwidth", 100e6),
    # rates count in 1000s, with an i in 1024s, and a bare one is in bit/s
    (TBF.format("1mibit"), "rate", 2**20 / 8),
    (TBF.format("1000000"), "rate", 1e6 / 8),
    # sizes count in 1024s; with bit, an eighth; bare bytes
    *[(f"bfifo limit 5{unit}", "limit", 5 * 2**20) for unit in ("mb", "MB", "m", "M")],
    ("bfifo limit 5mbit", "limit", 5 * 2**20 / 8),
    ("bfifo limit 5000000", "limit", 5e6),
    ("bfifo limit 7b", "limit", 7),
    # a bare delay of netem is in ns, a bare time of a discipline in us, a bare loss in percent
    ("netem delay 5000", "delay delay", 5e-6),
    ("netem delay 10ms 5000", "delay jitter", 5e-6),
    ("pie target 5000", "target", 5000),  # shown in us
    ("netem loss 1", "loss-random loss", 0.01),
    ("netem loss 0.01", "loss-random loss", 0.0001),
    # upper and lower case, all spellings, an exponent, no digit before the point
    *[(f"netem delay {text}", "delay delay", 0.02) for text in ("20MS", "20msecs", "2e1ms")],
    ("netem delay .02s", "delay delay", 0.02),
    # links.py, qdisc.py: what tc and the kernel take where nothing is given, or 0, or 010
    ("netem", "limit", 1000),
    ("fq_codel limit 0", "limit", 10240),
    ("fq_codel limit 010", "limit", 8),
    ("pfifo limit 1k", "limit", 1024),
    ("fq maxrate 34gbit", "maxrate", 34e9 / 8),
]  # fmt: skip
REFUSED = [
    *[TBF.format(rate) for rate in ("10G", "10Gb/s", "10Gbit/s", "10 Gbit", "7bit")],
    TBF.format("200000000000gbit"),  # above 2^67
    *[f"netem {words}" for words in ("delay 20 ms", "delay 20m", "loss 1,5%", "loss 150%")],
    *[f"bfifo limit {size}" for size in ("5MiB", "4gb")],
    "fq_codel limit 1k", "fq maxrate 40gbit", "dualpi2 target 5ms",
]  # fmt: skip
SAME = [  # what is passed on to tc as it is: where, who reads it here, and per what
    (TBF, "rate", units.rate_bps, 8, ["10gbit", "0.1Mbit", "1e2mbit", "1mibit"]),
    ("netem delay {}", "delay delay", units.delay_s, 1, ["20ms", "1.5sec", "3secs", "250us"]),
    ("netem delay {}", "delay delay", units.delay_s, 1, [".5usecs", "1e-3s", "4294967295us"]),
    ("netem loss {}", "loss-random loss", units.fraction, 1, ["1%", "0.01%", "1e-3%", "100%"]),
    ("bfifo limit {}", "limit", units.size_bytes, 1, ["1kb", "1K", "1.5kb", "7b", "1500B"]),
    ("bfifo limit {}", "limit", units.size_bytes, 1, ["1kbit", "1mbit", "1gb", "4294967295"]),
]
IPERF3 = {  # options; where it is in what iperf3 says, and its value
    "-b 10G": ("test_start target_bitrate", 10**10),
    "-b 10g": ("test_start target_bitrate", 10**10),
    "-b 500k": ("test_start target_bitrate", 500_000),
    "-b 100Mbps": ("test_start target_bitrate", 10**8),  # what follows the M is not looked at
    "-b 1000000": ("test_start target_bitrate", 10**6),
    "-b 0.5": ("test_start target_bitrate", 0),  # no limit
    "-u": ("test_start target_bitrate", 1024**2),
    "-w 512K": ("sock_bufsize", 512 * 1024),
    "-t 1.5": ("test_start duration", 1),
}
IPERF = {  # -b of iperf 2, and the rate of its datagrams [bit/s]
    "-b 2M": 2 * 1024**2, "-b 2m": 2e6, "-b 2000K": 2000 * 1024, "-b 2000000": 2e6, "": 1024**2,
}  # fmt: skip


def test_tc_reads_what_is_said_of_it(net):
    for (words, place, value), options in zip(TC, built(net, *(row[0] for row in TC)), strict=True):
        assert found(options, place) == pytest.approx(value, rel=1e-4), words


def test_tc_refuses_what_is_said_to_be_refused(net):
    for words, text in zip(REFUSED, built(net, *REFUSED), strict=True):
        assert isinstance(text, str), words


def test_what_is_read_here_is_the_same_to_tc(net):
    """... of the spellings that are passed on as they are."""
    for form, place, read, scale, texts in SAME:
        for text, options in zip(texts, built(net, *map(form.format, texts)), strict=True):
            assert found(options, place) == pytest.approx(read(text) / scale, rel=1e-4), text


def test_red_without_a_bandwidth_has_10_mbit_and_htb_says_kb(net):
    text = net.run("h1", f"{GONE}{DISCIPLINE.format(RED)}; true", echo=False).text
    assert "set bandwidth to 10Mbit" in text
    slow, fast = built(net, f"{RED} bandwidth 10mbit", f"{RED} bandwidth 100mbit")
    bare = json.loads(text[text.index("[") :])[0]["options"]
    assert bare["Scell_log"] == slow["Scell_log"] > fast["Scell_log"]
    net.run("h1", f"{GONE}tc qdisc add dev h1-eth0 root handle 5: htb default 1", echo=False)
    added = "tc class add dev h1-eth0 parent 5: classid 5:1 htb rate 20.000000Mbit burst 15k"
    text = net.run("h1", f"{added} && tc class show dev h1-eth0", echo=False).text
    assert "rate 20Mbit" in text and "burst 15Kb cburst 1600b" in text
    net.run("h1", GONE, echo=False)


def test_iperf3_reads_what_is_said_of_it(net):
    for option, (place, value) in IPERF3.items():
        time = "" if option.startswith("-t") else "-t 1"
        text = net.run("h1", f"iperf3 -c 10.0.0.2 {time} {option} -J", echo=False).text
        assert found(json.loads(text)["start"], place) == value, option
    text = net.run("h1", "iperf3 -c 10.0.0.2 -b 10Gbit/s -J; true", echo=False).text
    assert "parameter error" in text  # after the slash it expects a number of packets


def test_iperf_counts_bits_in_1024s_and_in_1000s(net):
    for option, bps in IPERF.items():
        text = net.run("h1", f"iperf -c 10.0.0.2 -u -t 2 {option} -f b", echo=False).text
        sent_bps = float(re.search("([0-9]+) bits/sec", text)[1])
        assert sent_bps == pytest.approx(bps, rel=0.015), option
        assert "Sending 1470 byte" in text
