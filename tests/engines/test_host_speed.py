"""Limits of wall-clock time that netlab sets itself, on a slow machine."""

import pytest

import netlab as nl
from netlab.engines.guest import hooks
from netlab.engines.host_speed import wall_s
from netlab.errors import AlgorithmError, LimitError, SpecificationError
from tests.running.scripted import Scripted


@pytest.mark.parametrize(("text", "expected"), [("", 30), ("1", 30), ("2.5", 75)])
def test_limits_are_multiplied(monkeypatch, text, expected):
    monkeypatch.setenv("NETLAB_SLOWER", text)
    assert wall_s(30) == expected


@pytest.mark.parametrize("text", ["0", "0.5", "-3", "1001", "nan", "inf", "fast", "1,5"])
def test_what_is_no_factor_is_refused(monkeypatch, text):
    monkeypatch.setenv("NETLAB_SLOWER", text)
    with pytest.raises(SpecificationError, match=r"NETLAB_SLOWER = .*a number from 1 to 1000"):
        wall_s(30)


class Engine(Scripted):
    """Tells only what limit it was given."""

    def connect(self, seed, clock, wall_limit_s):
        raise LimitError(f"{wall_limit_s:g}")


def limit(**given):
    """The limit that a network's engine is given."""
    with pytest.raises(LimitError) as told:
        nl.Network(nl.wan("10mbit", "20ms"), engine=Engine(), **given)
    return float(str(told.value))


def test_a_network_waits_an_hour_here_and_longer_on_a_slow_machine(monkeypatch):
    assert limit() == 3600
    monkeypatch.setenv("NETLAB_SLOWER", "40")
    assert limit() == 40 * 3600 and limit(wall_limit_s=7) == 7, "what is given is not multiplied"


def test_a_slow_machine_waits_longer_for_an_algorithm(monkeypatch):
    monkeypatch.setattr(hooks, "LONGEST_S", 1)
    monkeypatch.setenv("NETLAB_SLOWER", "1.5")

    class Endless(nl.CongestionControl):
        def on_ack(self, tcp, acked):
            while True:
                pass

    flow = nl.Iperf3("h1", "h2", time=1, congestion=Endless)
    with pytest.raises(AlgorithmError, match=r"it did not answer within 1\.5 seconds"):
        nl.run(nl.Experiment(nl.wan("10mbit", "20ms"), flow), engine="guest")
