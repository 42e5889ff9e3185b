"""iperf3 in the guest: every algorithm of the kernel runs."""

import pytest

import netlab as nl

CONGESTION = "bbr bic cubic dctcp highspeed htcp hybla illinois reno scalable vegas veno westwood"
CONGESTION = [*CONGESTION.split(), "yeah"]


def test_a_window_that_the_kernel_refuses_is_an_error_with_a_remedy():
    with pytest.raises(nl.ReadError, match=r"(?s)Ask for a smaller window.*4 MiB in the guest"):
        nl.run(nl.wan("100mbit", pairs=1), nl.Iperf3("h1", "h2", time=1, window="200mb"))


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
