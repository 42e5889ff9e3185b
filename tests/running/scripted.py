"""An engine without a network: every command prints what the test gives it, piece by piece."""

from netlab import Host, Link, Network, Switch, Topology
from netlab.engines.protocol import Connection, Engine

PLAIN = Topology(
    [Host("h1", "10.0.0.1/8"), Host("h2", "10.0.0.2/8")],
    switches=[Switch("s1")],
    links=[Link("h1", "s1"), Link("s1", "h2")],
)


class Scripted(Engine, Connection):
    """An engine, and its connection: each command prints these pieces, a message each."""

    name, about = "scripted", {}

    def __init__(self, pieces=()):
        self.pieces, self.rung, self.questions, self.jobs = pieces, "", [], 0

    def connect(self, seed, clock, wall_limit_s):
        return self

    def do_key(self, key):
        self.rung = "interrupt"

    def carry_out(self, on_event, question):
        op = question.pop("op")
        self.questions.append((op, question))
        answer = {"clock_ns": 10**9}
        if op == "start":
            self.jobs += 1
            return answer | {"job": self.jobs}
        self.rung = ""
        if op == "wait":
            for piece in self.pieces:
                on_event({"job": question["numbers"][0], "out": piece})
                if self.rung:
                    break
        count = len(question.get("numbers", [0]))
        return answer | {"rung": self.rung, "status": [-2 if self.rung else 0] * count}

    def interrupt(self):
        self.rung = "interrupt"


def network(pieces=()):
    """A network on which every command prints these pieces."""
    return Network(PLAIN, engine=Scripted(pieces))
