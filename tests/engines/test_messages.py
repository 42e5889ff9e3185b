"""What is asked and answered: the page, the types and the methods that answer agree."""

import inspect
import re
from pathlib import Path

import pytest

from netlab.engines import messages
from netlab.engines.agent import Agent
from netlab.engines.base import Connection
from netlab.engines.jail.warden import Warden
from netlab.engines.serve import Client

PAGE = (Path(__file__).parents[2] / "docs/protocol.md").read_text()
PARTS = {
    "Of every network": (messages.AGENT, Agent),
    "Answered by our end, without the agent": (messages.OUR_END, Connection),
    "Of a server": (messages.SERVER, Client),
    "Of a jail": (messages.WARDEN, Warden),
}


def rows(heading):
    """The cells of the table under a heading."""
    _, _, rest = PAGE.partition(f"### {heading}\n")
    section = re.split(r"^##", rest, flags=re.M)[0]
    return [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in re.findall(r"^\| `.*", section, re.M)
    ]


def named(cell):
    """The fields that a cell names, and whether each may be left out."""
    return {name: bool(optional) for name, optional in re.findall(r"`(\w+)`(\?)?", cell)}


def typed(kind, *without):
    """The same of a type."""
    names = kind.__required_keys__ | kind.__optional_keys__
    return {name: name in kind.__optional_keys__ for name in names - {*without}}


@pytest.mark.parametrize("heading", PARTS)
def test_the_page_and_the_types_agree(heading):
    questions, _ = PARTS[heading]
    common = typed(messages.Carried) if questions is messages.AGENT else ()
    page = {
        op.strip("`"): (named(fields), named(answer)) for op, fields, answer, _ in rows(heading)
    }
    assert page == {
        op: (typed(one.fields), typed(one.answer, *common)) for op, one in questions.items()
    }
    assert not common or all(f"`{name}`" in PAGE for name in common)


def test_the_page_and_the_types_of_events_agree():
    page = {name.strip("`"): named(fields) for name, fields, _, _ in rows("Events")}
    assert page == {one.__name__: typed(one) for one in messages.EVENTS}


@pytest.mark.parametrize("heading", PARTS)
def test_the_methods_that_answer_have_these_fields_and_there_are_no_others(heading):
    questions, kind = PARTS[heading]
    methods = {name.removeprefix("do_"): one for name, one in vars(kind).items() if "do_" in name}
    assert methods.keys() == questions.keys()
    for op, method in methods.items():
        _, *parameters = inspect.signature(method).parameters.values()
        taken = {one.name: one.default is not one.empty for one in parameters}
        assert taken == typed(questions[op].fields), op


@pytest.mark.parametrize(
    ("message", "is_one"),
    [
        ({"tick": 1}, True),
        ({"job": 1, "out": ""}, True),
        ({"job": 1}, False),
        ({"job": "1", "out": ""}, False),
        ({"tick": 1, "done": False}, False),
        ({}, False),
    ],
)
def test_what_is_an_event(message, is_one):
    assert messages.is_event(message) == is_one


def test_what_an_answer_lacks():
    assert messages.lacks("wait", {"status": [], "ended_by": ""}) == {"clock_ns"}
    assert messages.lacks("wait", {"error": "x", "clock_ns": 1}) == set()
    assert messages.lacks("watch", {}) == {"kept"} and messages.lacks("close", {}) == set()
