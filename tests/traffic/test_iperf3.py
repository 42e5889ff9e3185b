"""What is typed for an iperf3 test, what is refused; every algorithm of the kernel runs."""

import pytest

import netlab as nl

CONGESTION = "bbr bic cubic dctcp highspeed htcp hybla illinois reno scalable vegas veno westwood"
CONGESTION = [*CONGESTION.split(), "yeah"]


@pytest.mark.parametrize(
    ("options", "typed"),
    [
        ({}, "-t 10 -P 1 -i 1 -J"),
        ({"parallel": 8, "time": 2, "interval": 0.5}, "-t 2 -P 8 -i 0.5 -J"),
        ({"congestion": "bbr"}, "-t 10 -P 1 -i 1 -C bbr -J"),
        ({"udp": True, "bitrate": "10mbit"}, "-t 10 -P 1 -i 1 -u -b 10000000 -J"),
        ({"reverse": True, "omit": 2}, "-t 10 -P 1 -i 1 -R -O 2 -J"),
        ({"mss": 536, "window": "1mb"}, "-t 10 -P 1 -i 1 -M 536 -w 1048576 -J"),
        ({"get_server_output": True}, "-t 10 -P 1 -i 1 --get-server-output -J"),
    ],
)
def test_each_option_of_iperf3_is_typed_as_a_person_would(options, typed):
    test = nl.Iperf3("h1", "h2", **options)
    assert test.command("10.0.0.2", 5203) == f"iperf3 -c 10.0.0.2 -p 5203 {typed}"
    assert test.server_command(5203) == "iperf3 -s -1 -p 5203" + " -J" * test.get_server_output


def test_a_server_that_counts_for_the_client_reports_as_often():
    test = nl.Iperf3("h1", "h2", interval=0.5, get_server_output=True)
    assert test.server_command(5203) == "iperf3 -s -1 -p 5203 -i 0.5 -J"


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("time", 1.5, "whole seconds"),
        ("omit", 2.000001, "whole seconds"),
        ("time", 0, ""),
        ("window", "1gb", "from 1 byte"),
        ("window", 0, "from 1 byte"),
        *(("congestion", name, "the kernel's name of one") for name in (3, "BBR", ["reno"], "-J")),
        ("congestion", object, "the kernel's name of one"),
    ],
)
def test_what_iperf3_would_not_take_is_refused(field, value, words):
    with pytest.raises(nl.SpecificationError, match=rf"Iperf3.{field} = .*{words}"):
        nl.Iperf3("h1", "h2", **{field: value})


def test_a_window_that_the_kernel_refuses_is_an_error_with_a_remedy():
    with pytest.raises(nl.ReadError, match=r"(?s)Ask for a smaller window.*4 MiB in the guest"):
        nl.run(nl.wan("100mbit", pairs=1), nl.Iperf3("h1", "h2", time=1, window="200mb"))


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


class Mine(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwnd += acked / tcp.cwnd

    def on_loss(self, tcp):
        tcp.ssthresh = tcp.cwnd / 2


def test_an_algorithm_in_python_is_typed_by_the_kernels_name_for_it():
    tests = [
        nl.Iperf3("h1", "h2", congestion=Mine),
        nl.Iperf3("h3", "h4", congestion=nl.algorithms.AIMD(0.06, 8)),
        nl.Iperf3("h1", "h2", congestion=Mine, reverse=True),
        nl.Iperf3("h1", "h2", congestion="bbr"),
    ]
    experiment = nl.Experiment(nl.wan("100mbit"), *tests)
    typed = [item.programs(place)[1].command.split(" -C ")[1] for item, place in experiment.places]
    assert [text.split()[0] for text in typed] == ["netlab0", "netlab1", "netlab0", "bbr"]
    assert str(experiment.algorithms) == "[Mine, AIMD(0.06, 8)]"


def test_a_name_that_the_kernel_does_not_have_is_refused_before_anything_starts():
    with pytest.raises(nl.SpecificationError, match=r"'renoo': this engine's kernel has .*reno"):
        nl.run(nl.wan(), nl.Iperf3("h1", "h2", congestion="renoo"))


def test_udp_has_no_algorithm_in_python():
    with pytest.raises(nl.SpecificationError, match="UDP has no congestion control"):
        nl.Iperf3("h1", "h2", udp=True, congestion=Mine)
