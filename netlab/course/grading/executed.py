"""What a notebook answers: its cells run in a jail, its experiments outside."""

import json
from dataclasses import dataclass, field

from netlab.course.answers.bounds import LONGEST_ERROR, refuse_too_much
from netlab.course.grading.networks import Networks
from netlab.course.grading.runs import OverTime
from netlab.engines.channel import OutOfTime
from netlab.engines.jail import Jail
from netlab.errors import EngineError, GuestError, NetlabError

PROGRAM = "/run/netlab/netlab/course/grading/runner.py"
JAIL_WALL_S = 150.0  # of computing in the jail, for one student
MOST_LISTS = 1_000_000  # and objects of a message: each takes far more memory than its two bytes


@dataclass
class Executed:
    """What came out of a notebook."""

    # by check cell, what the answers' names have, None where the name was never assigned; those of
    # mistakes are named "answer, line break, hint". From a notebook that is not trusted, this is
    # plain data of bounded size, and may be no form (see `netlab.course.answers.forms`).
    answers: dict = field(default_factory=dict)
    errors: dict = field(default_factory=dict)  # by cell, what went wrong in it
    # What ended it before its end. Only teachers see more than the first line: the notebook may
    # have written it.
    error: NetlabError | None = None
    at: str = ""  # the cell that ran last

    @property
    def ended(self):
        """Why it was ended before its end, or ""."""
        return str(self.error or "").partition("\n")[0]


def execute(cells, students, assignment, runs, secret=None, mistakes=False):
    """Run a notebook for some students, one after the other; -> `Executed` by student, in their
    order. Where a student's run ends the jail, the rest have had no turn.

    `cells` have ``id``, ``kind``, ``source``, and ``answers``: a `Rule` by name. Only a trusted
    notebook may have several `students`, and `mistakes`, whose expressions are evaluated.
    An `EngineError` says that no jail works here; what a notebook does never raises.
    """
    keys = {"cases", "mistakes", "state"} if mistakes else {"cases"}
    wanted = {
        cell["id"]: {
            name: rule.model_dump(include=keys, exclude_defaults=True)
            for name, rule in cell["answers"].items()
        }
        for cell in cells
    }
    order = {
        "students": students,
        "digest": runs.engine.digest,
        "about": runs.engine.about,
        "cells": [cell | {"answers": wanted[cell["id"]]} for cell in cells],
    }
    found = {students[0]: Executed()}
    files = {"course.json": json.dumps({"secret": secret})} if secret else {}
    current, following, spent = students[0], students[1:], {}
    networks = Networks(runs.engine, spent)
    jail = Jail(PROGRAM, files=files, wall_limit_s=JAIL_WALL_S)
    try:
        heard = begun(jail, order)
        while "ended" not in (message := understood(heard)):
            reply = {}
            if "run" in message:
                reply = runs.answer(message["run"], spent)
            elif "network" in message:
                reply = networks.answer(message["network"], message.get("question"))
            else:
                if message.get("student") != current:
                    if message.get("student") not in following[:1]:
                        raise NetlabError("the notebook answered for another student")
                    current, spent = following.pop(0), {}
                    networks.close()
                    networks = Networks(runs.engine, spent)
                    found[current] = Executed()
                    jail.channel.wall_limit_s = jail.channel.wall_s + JAIL_WALL_S
                if message.get("begins") in wanted:
                    found[current].at = message["begins"]
                if "cell" in message:
                    keep(found[current], message, wanted)
            heard = jail.say(json.dumps(reply))
    except (NetlabError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, EngineError) and not isinstance(error, GuestError):
            raise
        if isinstance(error.__context__, OutOfTime):  # which a slow machine may be the reason of
            error = OverTime(
                f"the notebook computed for more than {JAIL_WALL_S:g} s on this machine"
            )
        if not isinstance(error, NetlabError):
            error = NetlabError(f"the notebook sent a message that cannot be read\n{error!r}")
        found[current].error = error
    finally:
        networks.close()
        jail.close()
    return found


def begun(jail, order):
    """Start the jail; -> its first message. An `EngineError` where it does not start."""
    try:
        heard = jail.say(json.dumps(order))
    except GuestError as error:
        raise EngineError(f"the jail does not begin: {error}") from error
    if heard != '{"ready": true}':
        raise EngineError(f"the jail does not begin: it says {heard[:200]!r}")
    return jail.say("{}")


def understood(text):
    """A message of the jail, which may be anything; a `NetlabError` where it is no JSON object."""
    if text.count("[") + text.count("{") > MOST_LISTS:
        raise NetlabError("the notebook sent more lists than any answer has")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise NetlabError("the notebook sent a message that cannot be read")
    return message


def keep(executed, message, wanted):
    """Keep the first message of a cell; later ones do not count."""
    cell, error, answers = (message.get(key) for key in ("cell", "error", "answers"))
    if cell not in wanted:
        raise NetlabError("the notebook told of a cell that it does not have")
    if isinstance(error, str):
        executed.errors.setdefault(cell, error[:500])
    if isinstance(answers, dict) and answers and cell not in executed.answers:
        names = {*wanted[cell]}
        for name, spec in wanted[cell].items():
            names |= {f"{name}\n{hint}" for hint in spec.get("mistakes", ())}
            names |= {f"{name}\n"} if "state" in spec else set()
        executed.answers[cell] = {
            name: small_enough(form) for name, form in answers.items() if name in names
        }


def small_enough(form):
    """Plain data as it is; what is larger than any answer is an error of the notebook's."""
    try:
        refuse_too_much(form)
    except NetlabError as error:
        return {"kind": "error", "text": str(error)[:LONGEST_ERROR]}
    return form
