"""A program that computes: its run repeats to the byte, or ends with an error that says why."""

import pytest

import netlab as nl

PATH = nl.wan("100mbit", "20ms", "0.1%", pairs=1)


def beside(iterations):
    """A test of TCP beside a loop without system calls."""
    loop = f"python3 -c 'for _ in range({iterations}): pass'"
    return nl.Experiment(
        PATH, nl.Iperf3("h1", "h2", congestion="reno", time=3), nl.Shell("h1", loop)
    )


def test_little_of_it_repeats_to_the_byte():
    one, two = (nl.run(beside(1_000_000)) for _ in range(2))
    assert one.raw == two.raw


def test_seconds_of_it_are_an_error_and_what_was_measured_is_kept():
    with pytest.raises(nl.GuestError, match="computed for more than two seconds") as ended:
        nl.run(beside(400_000_000))
    assert "Everything" in str(ended.value)


def test_in_a_live_network_time_passes_and_it_says_so():
    with nl.Network(PATH) as net:
        net.run("h1", "python3 -c 'for _ in range(1_000_000): pass'")
        assert net.unrepeatable == ""
        with pytest.raises(nl.CommandError, match="did not end within 1 virtual second"):
            net.run("h1", "while :; do :; done", limit_s=1)
        net.run("h1", "true")
        assert "would differ another time" in net.unrepeatable
