"""iperf3 in the guest: every algorithm of the kernel runs."""

import re

import pytest

import netlab as nl

CONGESTION = "bbr bic cubic dctcp highspeed htcp hybla illinois reno scalable vegas veno westwood"
CONGESTION = [*CONGESTION.split(), "yeah"]


def test_a_window_that_the_kernel_refuses_is_an_error_whose_remedy_helps():
    path = nl.wan("100mbit", pairs=1)
    with pytest.raises(nl.ReadError, match="Ask for a smaller window") as refused:
        nl.run(path, nl.Iperf3("h1", "h2", time=1, window="200mb"))
    names = re.findall(r"net\.core\.rmem_max|[rw]mem_max(?= and|,)", str(refused.value))
    assert names == ["net.core.rmem_max", "wmem_max"] and "sysctl" in str(refused.value)
    asked = [f"sysctl -n net.core.{name}" for name in ("rmem_max", "wmem_max")]
    with nl.Network(path) as net:
        most = min(int(net.run("h1", command, echo=False).text) for command in asked)
    flow = nl.run(path, nl.Iperf3("h1", "h2", time=1, window=most)).flows.iloc[0]
    assert most > 4 * 2**20 and flow.received_bps > 0


def test_a_typed_test_says_the_same_without_j():
    """Nothing is lost, and blocks are small: else a microsecond would make another run or sum."""

    def typed(option):
        with nl.Network(nl.wan("100mbit", "20ms", pairs=1), seed=3) as net:
            server = net.start("h2", "iperf3 -s -1")
            net.sleep(0.5)
            client = net.run(
                "h1", f"iperf3 -c 10.0.0.2 -t 3 -P 2 -w 50K -l 1448{option}", echo=False
            )
            net.wait(server)
            return client.read(), server.read()

    (text, server), (report, _) = typed(""), typed(" -J")
    assert text.meta["rounding"] <= 0.005 and report.meta["rounding"] == 0
    for table, other in ((text.streams, report.streams), (text.intervals, report.intervals)):
        assert table[["stream", "src", "dst"]].equals(other[["stream", "src", "dst"]])
        assert table.retransmits.tolist() == other.retransmits.tolist() == [0] * len(table)
        for column in ("sent_bps", "received_bps"):
            assert table[column].to_numpy() == pytest.approx(other[column], rel=0.0051, nan_ok=True)
    assert text.intervals.cwnd_bytes.to_numpy() == pytest.approx(
        report.intervals.cwnd_bytes, 0.0051
    )
    assert server.streams.received_bps.tolist() == text.streams.received_bps.tolist()
    assert server.meta["role"] == "server"


@pytest.mark.long
def test_every_algorithm_of_the_kernel_fills_a_link_and_is_named_in_the_flow():
    def alone(congestion):
        test = nl.Iperf3("h1", "h2", time=3, congestion=congestion)
        return nl.Experiment(nl.wan("20mbit", "20ms", burst=5000, limit=50_000, pairs=1), test)

    # netlab0 to netlab7 do what this process tells them (`hooks`), and nothing of their own
    about = [x for x in nl.engines.pick().about["congestion"] if not x.startswith("netlab")]
    assert set(about) >= set(CONGESTION), "the guest's kernel has them all"
    grid = nl.sweep(alone, congestion=about)
    assert grid.congestion.tolist() == about
    for congestion, received_bps in zip(about, grid.received_bps, strict=True):
        assert 0.8 * nl.models.goodput_bps(20e6) <= received_bps <= nl.models.goodput_bps(20e6), (
            congestion
        )
    # without ECN on the path, DCTCP is Reno; all others are themselves
    differ = grid.set_index("congestion")[["received_bps", "retransmits", "rtt_s"]]
    assert differ.loc["dctcp"].tolist() == differ.loc["reno"].tolist()
    assert len(differ.drop_duplicates()) == len(about) - 1


def test_the_flow_says_what_the_kernel_used_and_not_what_we_asked_for():
    path = nl.wan("20mbit", "20ms").tuned({"net.ipv4.tcp_congestion_control": "reno"}, "h1")
    result = nl.run(path, nl.Iperf3("h1", "h2", time=1), nl.Iperf3("h3", "h4", time=1))
    assert [item.congestion for item in result.experiment.traffic] == [None, None]
    assert result.flows.congestion.tolist() == ["reno", "cubic"]
