"""An engine without a network: every command prints what the test gives it, piece by piece."""

from netlab import Host, Link, Network, Switch, Topology
from netlab.engines.base import Connection, Engine

PLAIN = Topology(
    [Host("h1", "10.0.0.1/8"), Host("h2", "10.0.0.2/8")],
    switches=[Switch("s1")],
    links=[Link("h1", "s1"), Link("s1", "h2")],
)


class Scripted(Engine, Connection):
    """An engine, and its connection: each command prints these pieces, a message each."""

    name, about = "scripted", {}

    def __init__(self, pieces=()):
        self.pieces, self.ended_by, self.questions, self.jobs = pieces, "", [], 0

    def connect(self, seed, clock, wall_limit_s):
        return self

    def do_key(self, key):
        self.ended_by = "interrupt"

    def carry_out(self, on_event, question):
        op = question.pop("op")
        self.questions.append((op, question))
        answer = {"clock_ns": 10**9}
        if op == "start":
            self.jobs += 1
            return answer | {"job": self.jobs}
        self.ended_by = ""
        if op == "wait":
            for piece in self.pieces:
                on_event({"job": question["numbers"][0], "out": piece})
                if self.ended_by:
                    break
        count = len(question.get("numbers", [0]))
        return answer | {"ended_by": self.ended_by, "status": [-2 if self.ended_by else 0] * count}

    def interrupt(self):
        self.ended_by = "interrupt"


def network(pieces=()):
    """A network on which every command prints these pieces."""
    return Network(PLAIN, engine=Scripted(pieces))
