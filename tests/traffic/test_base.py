"""A kind of traffic from outside the package: one class and a reader, and all else knows it."""

import json
from typing import ClassVar, Literal

import pandas as pd
import pytest

import netlab as nl
from netlab.traffic import base

SERVER = (
    "import socket; c = socket.create_server(('', {port})).accept()[0]; c.sendall(bytes({size}))"
)
CLIENT = """
import json, socket, time
s, n, began = socket.create_connection(("{address}", {port})), 0, time.monotonic()
while data := s.recv(65536):
    n += len(data)
print(json.dumps(dict(bytes=n, took_s=time.monotonic() - began)))
"""


def read_download(text):
    try:
        said = json.loads(text)
        return {"size_bytes": said["bytes"], "took_s": said["took_s"]}
    except (ValueError, KeyError) as error:
        raise nl.ReadError(f"this is not what a download prints: {error!r}", text) from None


@pytest.fixture
def download():
    """A kind that has a server, a client, a program at the end, a table of its own, and a column of
    another's.
    """

    class Download(base.BetweenHosts):
        kind: Literal["download"] = "download"
        size: int = 1_000_000

        tables: ClassVar[dict] = {
            "downloads": base.rows(["flow", "src", "dst", "size_bytes", "took_s", "sockets"])
        }
        adds: ClassVar[dict] = {"flows": ["downloads"]}
        measures: ClassVar[str] = "downloads"

        @property
        def ends(self):
            return {"src": self.dst, "dst": self.src}

        @property
        def duration_s(self):
            return 30

        def programs(self, place):
            server = SERVER.format(port=place.port, size=self.size)
            client = CLIENT.format(address=place.address(self.dst), port=place.port)
            return [
                base.Program(self.dst, f'python3 -c "{server}"', "server", "server"),
                base.Program(self.src, f"python3 -c '{client}'"),
                base.Program(self.src, "ss -tan | wc -l", "sockets", "end"),
            ]

        def read(self, outputs, place):
            row = {"flow": place.flow, **self.ends, **read_download(outputs[""])}
            return {"downloads": row | {"sockets": int(outputs["sockets"])}}

        def annotate(self, tables, place):
            tables["flows"]["downloads"] = len(tables["downloads"])

        @classmethod
        def summary(cls, tables):
            return [f"{len(tables['downloads'])} downloads"] if len(tables["downloads"]) else []

    yield Download
    del base.KINDS["download"]


def test_it_runs_beside_the_others_and_is_saved_and_read_again(download, tmp_path):
    path = nl.wan("10mbit", "20ms", burst=15_000, limit=50_000)
    run = nl.run(path, download("h2", "h1"), nl.Iperf3("h3", "h4", time=2))
    assert run.downloads[["flow", "src", "dst", "size_bytes"]].values.tolist() == [
        [1, "h1", "h2", 1_000_000]
    ]
    assert 0.8 < run.downloads.took_s[0] < 5, (
        "a megabyte takes 0.8 s at 10 Mbit/s, and more if shared"
    )
    assert run.flows.downloads.tolist() == [1] and run.flows.flow.tolist() == [2]
    assert set(run.raw) >= {
        "1-download-h2-h1",
        "1-download-h2-h1-server",
        "1-download-h2-h1-sockets",
    }
    assert "1 downloads" in repr(run)
    run.save(tmp_path)
    assert nl.load(tmp_path).downloads.equals(run.downloads)
    assert pd.read_csv(tmp_path / "downloads.csv").size_bytes.tolist() == [1_000_000]
    again = nl.Experiment.from_json((tmp_path / "experiment.json").read_text())
    assert again == run.experiment and again.to_json() == run.experiment.to_json()


def test_a_sweep_collects_what_it_measures(download):
    def of(rate):
        path = nl.wan(rate, "20ms", burst=15_000, limit=50_000)
        return nl.Experiment(path, download("h2", "h1", size=500_000))

    grid = nl.sweep(of, rate=["5mbit"])
    assert 0.8 < grid.took_s[0] < 1.6, "half a megabyte"
    assert grid.bottleneck_bps.tolist() == [5e6]


def test_what_it_cannot_read_is_an_error_with_the_text(download):
    place = base.Place(None, 1)
    with pytest.raises(nl.ReadError, match="not what a download prints"):
        download("h1", "h2").read({"": "killed", "sockets": "1"}, place)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            '"ping"',
            '"upload"',
            "download, iperf, iperf3, nstat, ping, queue, shell, simpleperf, windows",
        ),
        ('"count": 4', '"count": 0', "Ping.count = 0: .*greater than or equal to 1"),
    ],
)
def test_what_a_file_s_traffic_may_not_be_is_named_as_in_code(download, old, new, words):
    text = nl.Experiment(nl.wan(), nl.Ping("h1", "h2")).to_json().replace(old, new)
    with pytest.raises(nl.SpecificationError, match=words):
        nl.Experiment.from_json(text)


def test_two_kinds_of_one_name_are_refused():
    with pytest.raises(nl.SpecificationError, match=r"kind = 'ping' of .*Pong: Ping has this name"):

        class Pong(base.Traffic):
            kind: Literal["ping"] = "ping"
