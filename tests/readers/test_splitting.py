"""split_outputs, on files into which several runs were written."""

import json
from pathlib import Path

import pytest

from netlab.errors import ReadError, ReadWarning
from netlab.readers import read_iperf, read_iperf3, read_ping, split_outputs

DATA = Path(__file__).parents[1] / "data"
ONE, TWO = ((DATA / "iperf3" / f"3.12-{name}.json").read_text() for name in ("tcp-1", "tcp-8"))
STREAM = (DATA / "iperf3" / "odd" / "3.22-json-stream.json").read_text()


@pytest.mark.parametrize(
    ("text", "streams"),
    [
        (ONE + TWO, [1, 8]),
        ("first\n" + ONE + "{\nand then\n" + TWO + "the end", [1, 8]),
        (json.dumps([json.loads(TWO), 5, json.loads(ONE)]), [8, 1]),
        ('{"status": "ok", "data": {"a": ' + ONE + ', "b": [' + TWO + "]}}", [1, 8]),
        (json.dumps([{"of": 1, "is": json.loads(one)} for one in (ONE, TWO)]), [1, 8]),
        (STREAM + STREAM.replace("53733", "53735"), [1, 1]),
        (ONE, [1]),
    ],
)
def test_each_report_of_iperf3(text, streams):
    assert [len(read_iperf3(part).streams) for part in split_outputs(text)] == streams


@pytest.mark.parametrize(
    ("text", "streams"),
    [
        ((DATA / "iperf3/odd/3.18-tcp-8-twice.json").read_text(), [8]),
        (ONE + TWO + ONE + TWO, [1, 8]),
        (json.dumps([json.loads(TWO)] * 3), [8]),
        (STREAM + STREAM, [1]),
    ],
)
def test_a_test_is_in_one_part_only(text, streams):
    with pytest.warns(ReadWarning, match="their cookies are the same"):
        parts = split_outputs(text)
    assert [len(read_iperf3(part).streams) for part in parts] == streams


def test_cookies_that_were_blotted_out_are_no_sign():
    text = "".join((DATA / f"iperf3/odd/3.18-{n}.json").read_text() for n in ("before", "after"))
    assert [read_iperf3(part).meta["cookie"] for part in split_outputs(text)] == ["x", "x"]


def test_each_ping_each_run_of_a_server_and_each_side():
    parts = split_outputs(DATA / "ping" / "odd" / "refused-two-pings.txt")
    assert [read_ping(part).meta["dst"] for part in parts] == ["10.7.0.2", "10.7.0.4"]
    parts = split_outputs(DATA / "iperf" / "odd" / "2.0.5-server-of-three-runs.txt")
    assert [read_iperf(part).streams.port.tolist() for part in parts] == [[40003], [40004], [40005]]
    sides = ["client", "server"]
    text = "".join((DATA / "iperf" / f"2.1.9-udp-1-{side}.txt").read_text() for side in sides)
    assert [read_iperf(part).meta["role"] for part in split_outputs(text)] == sides
    # parallel streams are one run
    assert len(split_outputs(DATA / "iperf" / "2.1.9-udp-2-server.txt")) == 1


def test_no_output_is_refused():
    with pytest.raises(ReadError, match="no output of iperf3, iperf or ping"):
        split_outputs("nothing at all")
