"""What a graded notebook's experiments may take does not tell what others have asked for."""

import itertools
from types import SimpleNamespace

import pytest

import netlab as nl
from netlab.course.grading import runs
from netlab.engines.jail.engine import JailedGuest
from netlab.errors import CommandError, GuestError


def asked(seed, time=100):
    """An experiment, as a notebook asks for it."""
    return nl.Experiment(
        nl.wan("10mbit", "10ms"), nl.Ping("h1", "h2", count=time, interval=1), seed=seed
    ).to_json()


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """`Runs` on an engine that prints as much and takes as long as a test says."""
    said = SimpleNamespace(ran=[], wall_s=1.0, printed=10, clock_s=0.0, letter="x")

    def run_on(experiment, engine):
        said.ran.append(experiment.seed)
        said.clock_s += said.wall_s
        if said.wall_s >= experiment.wall_limit_s:
            raise GuestError("its limit of wall-clock seconds has passed")
        if experiment.seed == 13:
            raise CommandError("a program failed", "ping", "", 1)
        about = {"virtual_s": 1.0, "wall_s": said.wall_s}
        about |= {"engine": engine.name, "engine_digest": engine.digest}
        raw = {"ping.txt": said.letter * said.printed}
        return SimpleNamespace(raw=raw, commands=[], provenance=about, experiment=experiment)

    monkeypatch.setattr(runs, "MOST_RAW", 30_000)
    monkeypatch.setattr(runs, "MOST_RAW_IN_ALL", 100_000)
    monkeypatch.setattr(runs, "run_on", run_on)
    monkeypatch.setattr(runs.time, "monotonic", lambda: said.clock_s)
    said.new = lambda name: runs.Runs(tmp_path / name)
    return said


def answers(of, texts):
    """What a notebook hears that asks for these, one after the other."""
    spent, heard = {}, []
    for text in texts:
        try:
            reply = of.answer(text, spent)
            heard.append((reply.get("kind"), reply.get("error"), reply.get("raw")))
        except runs.OverTime:
            return [*heard, "over time"]
    return heard


BURN = {
    "virtual seconds": ({}, [asked(seed, 280) for seed in range(20, 30)]),
    "output": ({"printed": 24_000}, [asked(seed) for seed in range(20, 24)]),
    "wall time": ({"wall_s": 75.0}, [asked(seed) for seed in range(20, 24)]),
    "number": ({}, [asked(seed, 5) for seed in range(20, 58)]),
    "nothing": ({}, []),
}


@pytest.mark.parametrize("what", BURN)
def test_candidates_are_answered_alike_whatever_was_asked_for_before(outside, what):
    """Who burns what a notebook has does not learn which candidate was the solution's."""
    settings, burnt = BURN[what]
    vars(outside).update(settings)
    candidates = [asked(seed, 200) for seed in (11, 12, 13)]
    cold = answers(outside.new("cold"), burnt + candidates)
    answers(outside.new("warm"), candidates[1:2])
    assert answers(outside.new("warm"), burnt + candidates) == cold
    if what != "nothing":
        assert cold[-1] == "over time" or cold[-1][1]


def test_the_order_of_notebooks_changes_no_answer(outside):
    notebooks = [[asked(1), asked(2)], [asked(2, 280)] * 12, [asked(13), asked(1)]]
    heard = []
    for number, order in enumerate(itertools.permutations(range(3))):
        of = outside.new(f"order{number}")
        found = {one: answers(of, notebooks[one]) for one in order}
        heard.append([found[one] for one in range(3)])
    assert all(one == heard[0] for one in heard)


def test_an_experiment_is_run_once(outside):
    of = outside.new("once")
    assert answers(of, [asked(1), asked(1)]) == 2 * answers(of, [asked(1)])
    assert outside.ran == [1]


def test_a_machine_that_is_too_slow_is_no_answer_to_the_notebook(outside):
    outside.wall_s = runs.MOST_RUN_S
    assert answers(outside.new("slow"), [asked(1)]) == ["over time"]


def slow(seconds, function, outside):
    """A function that takes so long by the clock of a test."""

    def slowly(*arguments):
        outside.clock_s += seconds
        return function(*arguments)

    return slowly


@pytest.mark.parametrize(
    ("of", "name"), [(nl.Experiment, "from_json"), (runs, "packed_result"), (runs, "size")]
)
def test_all_that_an_experiment_takes_counts(outside, monkeypatch, of, name):
    """Validation, keeping and forming, whether it is then refused or not."""
    monkeypatch.setattr(of, name, slow(40, getattr(of, name), outside))
    asked_for = ["{}"] * 10 if name == "from_json" else [asked(seed) for seed in range(20, 30)]
    heard = answers(outside.new("slow"), asked_for)
    assert heard[-1] == "over time" and 2 < len(heard) < 9


@pytest.mark.parametrize(
    ("letter", "fits"), [("x", True), ("\U0001f600", False), ("\ud800", False)]
)
def test_output_counts_in_bytes(outside, letter, fits):
    outside.letter, outside.printed = letter, runs.MOST_RAW // 2
    ((_, error, raw),) = answers(outside.new("bytes"), [asked(1)])
    assert bool(raw) == fits and (fits or "bytes" in error)


def test_an_experiment_of_a_stranger_keeps_no_more_than_may_come_out(monkeypatch):
    """While it runs, and not only once it has ended."""
    monkeypatch.setattr(JailedGuest, "most_output_bytes", 2_000_000)
    line = "head -c 3000000 /dev/zero | tr '\\0' x; true"
    experiment = nl.Experiment(nl.wan("10mbit", "10ms"), nl.Shell("h1", line, time=2))
    spent = {}
    reply = runs.Runs().answer(experiment.to_json(), spent)
    assert reply["kind"] == "CommandError" and "more than 2 MB" in reply["error"]


def test_a_longer_limit_takes_no_more_than_a_longer_experiment(outside):
    experiment = nl.Experiment.from_json(asked(1)).but(virtual_limit_s=5000)
    (heard,) = answers(outside.new("long"), [experiment.to_json()])
    assert "5000 virtual seconds" in heard[1] and not outside.ran
