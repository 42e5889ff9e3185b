"""A program that computes, and one that moves data: what they cost, and that it repeats."""

import pytest

import netlab as nl
from tests import cases

PATH = nl.wan("100mbit", "20ms", "0.1%", pairs=1)


def beside(iterations):
    """A test of TCP beside a loop without system calls."""
    loop = f"python3 -c 'for _ in range({iterations}): pass'"
    return nl.Experiment(
        PATH, nl.Iperf3("h1", "h2", congestion="reno", time=3), nl.Shell("h1", loop)
    )


@pytest.mark.long
def test_little_of_it_repeats_to_the_byte():
    one, two = (nl.run(beside(1_000_000)) for _ in range(2))
    assert one.raw == two.raw


@pytest.mark.long
def test_seconds_of_it_are_an_error_and_what_was_measured_is_kept():
    with pytest.raises(nl.GuestError, match="computed for more than two seconds") as ended:
        nl.run(beside(200_000_000))
    assert "Everything" in str(ended.value)


@pytest.mark.long
def test_in_a_live_network_time_passes_and_it_says_so():
    with nl.Network(PATH) as net:
        net.run("h1", "python3 -c 'for _ in range(1_000_000): pass'")
        assert net.unrepeatable == ""
        with pytest.raises(nl.CommandError, match="did not end within 1 virtual second"):
            net.run("h1", "while :; do :; done", limit_s=1)
        net.run("h1", "true")
        assert "would differ another time" in net.unrepeatable


def report(path, program, options):
    """What a program that is iperf3 reports, on a fresh guest."""
    with nl.Network(path) as net:
        copy = "cp /usr/bin/iperf3 /tmp/iperf3; cp /usr/bin/iperf3 /tmp/copied"
        for host in ("h1", "h2"):  # hosts share files; the copy costs each the same
            net.run(host, copy, echo=False)
        net.start("h2", f"/tmp/{program} -s -1")
        net.sleep(0.5)
        return net.run("h1", f"/tmp/{program} -c 10.0.0.2 {options}", echo=False).text


PATHS = {
    "10 Gbit/s": (nl.wan(pairs=1), "-t 1 -i 0.5"),
    "loss, no offload": (
        nl.wan("1gbit", "20ms", "0.1%", pairs=1, offload=False),
        "-t 2 -P 4 -C reno",
    ),
    "noise, reversed": (nl.wan("100mbit", "20ms", pairs=1, noise="10us"), "-t 2 -P 2 -R"),
    "small buffers": (nl.wan("100mbit", "20ms", pairs=1), "-n 1M -w 64K"),
}


@pytest.mark.parametrize("name", cases(PATHS))
def test_iperf3_by_another_name_whose_data_is_copied_reports_the_same(name):
    path, options = PATHS[name]
    mine, plain = (report(path, program, options) for program in ("iperf3", "copied"))
    assert "receiver" in mine and mine == plain
