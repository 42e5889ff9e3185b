import pytest

from netlab import ReadError, SpecificationError
from tests.running import scripted

PING = """PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.
64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=20.0 ms

--- 10.0.0.2 ping statistics ---
1 packets transmitted, 1 received, 0% packet loss, time 0ms
rtt min/avg/max/mdev = 20.000/20.000/20.000/0.000 ms
"""


@pytest.mark.parametrize("line", ["ping -c 1 10.0.0.2", "sudo timeout 9 /bin/ping 10.0.0.2 2>&1"])
def test_a_job_is_read_by_the_reader_of_its_tool(line):
    job = scripted.network([PING]).run("h1", line, echo=False)
    assert job.read().pings.rtt_s.tolist() == [0.020]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ls", "`ls`: no reader knows .* readers of iperf3, iperf, ping"),
        ("ping h2 | tee out", "these are several commands"),
        ("echo 'ping", "no reader knows"),
    ],
)
def test_a_line_that_no_reader_knows_is_refused(line, words):
    with pytest.raises(SpecificationError, match=words):
        scripted.network([PING]).run("h1", line, echo=False).read()


def test_what_cannot_be_read_says_what_to_type():
    job = scripted.network(["qdisc noqueue 0: dev lo\n"]).run("s1", "tc qdisc show", echo=False)
    with pytest.raises(ReadError) as refused:
        job.read()
    assert "`tc -s -j qdisc show` prints what can be read" in refused.value.__notes__[0]
    assert refused.value.raw == job.text


def test_who_typed_what_can_be_read_is_not_told_to():
    failed = '{"error": "unable to connect to server: Connection refused"}'
    job = scripted.network([failed]).run("h1", "iperf3 -c 10.0.0.2 -J", echo=False)
    with pytest.raises(ReadError, match="give it a moment") as refused:
        job.read()
    assert refused.value.__notes__ == ["It is what `iperf3 -c 10.0.0.2 -J` printed."]


def test_a_typed_line_is_read_without_its_prompt(network):
    typed = network.type("h1", "ping -c 2 10.0.0.2", show=lambda _: None)
    assert typed.read().pings.rtt_s.iloc[-1] == pytest.approx(0.020, abs=1e-4)
