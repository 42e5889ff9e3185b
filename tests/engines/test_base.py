"""What an engine must have, and that whoever writes one needs to know no more than that."""

import inspect

import pytest

import netlab as nl
from netlab import engines
from netlab.course.grading.runner import OutsideConnection, OutsideEngine
from netlab.engines.base import Connection, Engine, Record
from netlab.engines.guest import GuestEngine
from netlab.engines.guest.process import Guest
from netlab.engines.jail.engine import JailedEngine, JailedGuest
from netlab.engines.mininet import MininetConnection, MininetEngine
from netlab.engines.recorded import RecordedEngine
from netlab.engines.remote import RemoteConnection, RemoteEngine

PATH = nl.wan("20mbit", "20ms", pairs=1)
TRAFFIC = nl.Ping("h1", "h2", count=2), nl.Iperf3("h1", "h2", time=1)


ENGINES = GuestEngine, JailedEngine, MininetEngine, RecordedEngine, RemoteEngine, OutsideEngine
CONNECTIONS = Guest, JailedGuest, MininetConnection, RemoteConnection, OutsideConnection


def parameters(function):
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


@pytest.mark.parametrize(
    ("base", "kind"),
    [(Engine, kind) for kind in ENGINES] + [(Connection, kind) for kind in CONNECTIONS],
)
def test_ours_derive_from_these_and_what_they_override_has_the_same_parameters(base, kind):
    assert issubclass(kind, base)
    for name, function in vars(base).items():
        if inspect.isfunction(function):
            assert parameters(getattr(kind, name)) == parameters(function), name


def test_who_has_only_what_must_be_had_answers_what_everybody_may_ask():
    connection = Connection()
    assert connection.ask(op="watch", watches={}) == {"kept": False}
    assert connection.ask(op="watched", began_ns=0) == {"texts": {}}
    assert connection.ask(op="key", key="I") == {}
    with pytest.raises(nl.EngineError, match="does not ask Python"):
        connection.ask(op="algorithms", algorithms=[], seed=1)
    engine = OwnEngine()
    assert (engine.recall(None), engine.refusal(), engine.digest) == (None, "", None)


def test_ours_are_engines():
    for chosen in (engines.pick("guest"), engines.pick("recorded")):
        assert isinstance(chosen, Engine) and engines.pick(chosen) is chosen
        assert isinstance(chosen.name, str) and isinstance(chosen.about, dict)
        assert isinstance(chosen.digest, str | None) and chosen.at_once >= 1
        assert set(chosen.clocks) <= {"virtual", "cpu", "real"}


class OwnConnection(Connection):
    """Hands everything on to a guest but what the kernel tells, and notes what is asked."""

    def __init__(self, guest, asked):
        self.guest, self.asked = guest, asked

    def carry_out(self, on_event, question):
        self.asked.append(question["op"])
        answer = self.guest.ask(on_event, **question)
        assert answer["clock_ns"] > 0 and "done" not in answer
        return answer

    def close(self):
        self.guest.close()


class OwnEngine(Engine):
    name = "own"

    def __init__(self, record=None):
        self.guest, self.asked, self.record = engines.pick("guest"), [], record
        self.about = self.guest.about

    def connect(self, seed, clock, wall_limit_s):
        return OwnConnection(self.guest.connect(seed, clock, wall_limit_s), self.asked)

    def recall(self, experiment):
        return self.record


def test_an_engine_of_one_s_own_runs_what_ours_runs():
    engine = OwnEngine()
    mine, ours = nl.run(PATH, *TRAFFIC, engine=engine), nl.run(PATH, *TRAFFIC, engine="guest")
    assert mine.raw == ours.raw and mine.commands == ours.commands
    assert mine.provenance["engine"] == "own" and mine.provenance["engine_digest"] is None
    assert engine.asked[0] == "up" and set(engine.asked) == {"up", "start", "wait", "sleep"}
    recalls = OwnEngine(Record(ours.raw, ours.commands, ours.provenance))
    assert nl.run(PATH, *TRAFFIC, engine=recalls).raw == ours.raw and recalls.asked == []


class Half:
    """What an engine had to be before there was a class to derive from."""

    name, digest, about, clocks, at_once = "half", None, {}, ("virtual",), 1

    def connect(self, seed, clock, wall_limit_s):
        raise AssertionError("it must not be used")

    def recall(self, experiment):
        raise AssertionError("it must not be used")


@pytest.mark.parametrize("engine", [5, 0, b"guest", [], object(), Half(), OwnEngine, nl.wan])
def test_what_is_no_engine_is_refused_with_what_is(engine):
    with pytest.raises(nl.SpecificationError, match=r"engine = .*guest, mininet, rec") as refused:
        nl.run(PATH, *TRAFFIC, engine=engine)
    assert repr(engine) in str(refused.value)
