"""iperf3's data is not copied, and its loop of reads is done in the kernel: the same, faster."""

import pytest

import netlab as nl


def report(path, program, options):
    """What a program that is iperf3 reports, on a fresh guest."""
    with nl.Network(path) as net:
        for host in ("h1", "h2"):  # hosts share files; the copy costs each the same
            net.run(
                host, "cp /usr/bin/iperf3 /tmp/iperf3; cp /usr/bin/iperf3 /tmp/copied", echo=False
            )
        net.start("h2", f"/tmp/{program} -s -1")
        net.sleep(0.5)
        return net.run("h1", f"/tmp/{program} -c 10.0.0.2 {options}", echo=False).text


@pytest.mark.parametrize(
    ("path", "options"),
    [
        (nl.wan(pairs=1), "-t 3 -i 0.5"),
        (nl.wan("1gbit", "20ms", "0.1%", pairs=1, offload=False), "-t 3 -P 4 -C reno"),
        (nl.wan("100mbit", "20ms", pairs=1, noise="10us"), "-t 3 -P 2 -R"),
        (nl.wan("100mbit", "20ms", pairs=1), "-n 3M -w 64K"),
    ],
    ids=["10 Gbit/s", "loss, no offload", "noise, reversed", "small buffers"],
)
def test_a_program_by_another_name_reports_the_same(path, options):
    mine, plain = (report(path, program, options) for program in ("iperf3", "copied"))
    assert "receiver" in mine and mine == plain
