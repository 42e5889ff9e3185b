"""Networks that graded notebooks type on: they are up outside the jail; and what a script of one
leads to, looked at on a network of the grader's own.
"""

import time

from netlab import errors
from netlab.course.answers.descriptions import MOST_PLACES, differences
from netlab.course.answers.verdicts import Check
from netlab.course.checks import states
from netlab.course.grading import runs
from netlab.errors import EngineError, GuestError, LimitError, NetlabError, SpecificationError
from netlab.running.history import History
from netlab.running.replay import replay

MOST_UP = 2  # at once, of one notebook; another one ends that which was opened first
MOST_STEPS = 1000  # of one script
# what students may ask: the field that says how long it may take, "" where no time passes
LIMITS = {
    **dict.fromkeys(("up", "start", "stop"), ""),
    **{"wait": "limit_s", "type": "limit_s", "sleep": "seconds"},
}
OTHER = "its first line names another network than the question's"


class Networks:
    """The networks that one notebook has up; `spent` is as for `Runs.answer`."""

    def __init__(self, engine, spent):
        self.engine, self.spent, self.up = engine, spent, {}

    def answer(self, number, question):
        """Carry out what a notebook asks of its network `number` (anything); -> the reply. Raises
        `OverTime`.
        """
        began_s = time.monotonic()
        try:
            return self._answer(number, question)
        except (NetlabError, LookupError, TypeError, ValueError, AttributeError) as error:
            self._end(number)
            if isinstance(error, EngineError) and not isinstance(error, GuestError):
                raise
            known = type(error).__name__ in vars(errors)
            said = str(error).partition("\n")[0] if known else "no question that a network has"
            kind = type(error).__name__ if known else "SpecificationError"
            kind = "LimitError" if isinstance(error, GuestError) else kind
            return {"error": said[:1000], "kind": kind}
        finally:
            self.spent["wall_s"] = self.spent.get("wall_s", 0) + time.monotonic() - began_s
            if self.spent["wall_s"] >= runs.MOST_WALL_S:
                raise runs.over_time()

    def _answer(self, number, question):
        op = question["op"]
        if op == "connect":
            return {"network": self._connect(int(question["seed"]))}
        if op == "close":
            self._end(number)
            return {}
        if op not in LIMITS or number not in self.up:
            raise SpecificationError(
                f"this network has been ended: a graded notebook has {MOST_UP} up at once"
            )
        return self._ask(number, question)

    def _connect(self, seed):
        runs.take(self.spent, "runs", 1, runs.MOST_RUNS, "experiments and networks")
        while len(self.up) >= MOST_UP:
            self._end(next(iter(self.up)))
        number = self.spent["runs"]
        limit_s = min(runs.MOST_RUN_S, runs.MOST_WALL_S)
        self.up[number] = [self.engine.connect(seed, "virtual", limit_s), 0.0, 0]
        return number

    def _ask(self, number, question):
        guest, clock_s, printed = self.up[number]
        left_s = runs.MOST_VIRTUAL_S - clock_s
        key = LIMITS[question["op"]]
        if left_s <= 0 or (key == "seconds" and not 0 <= float(question[key]) <= left_s):
            raise LimitError(
                f"a network of a graded notebook is up for {runs.MOST_VIRTUAL_S} virtual seconds at"
                " most"
            )
        if key == "limit_s":  # as long a text: its bytes cost time
            question = question | {key: f"{min(float(question[key]), left_s):016.6f}"}
        events = []

        def on_event(event):
            nonlocal printed
            printed += len(event.get("out", ""))
            if printed <= runs.MOST_RAW:
                events.append(event)
            else:
                for key in "IK":
                    guest.ask(op="key", key=key)

        answer = guest.ask(on_event, **question)
        if printed > runs.MOST_RAW:
            raise LimitError(f"the network's programs printed more than {runs.MOST_RAW} bytes")
        now_s = answer["clock_ns"] / 1e9
        self.up[number][1:] = now_s, printed
        passed_s = max(0.0, now_s - clock_s)
        runs.take(self.spent, "virtual_s", passed_s, runs.MOST_VIRTUAL_IN_ALL_S, "virtual seconds")
        return {"answer": answer, "events": events}

    def _end(self, number):
        if isinstance(number, int) and number in self.up:
            self.up.pop(number)[0].close()

    def close(self):
        """End them all."""
        for number in [*self.up]:
            self._end(number)


def reached(given, own, wanted, engine):
    """Does what a stranger's script does lead to the state that is wanted? -> `Check`.

    It is carried out on a network of the topology, the seed and the clock of `own`, the solution's
    script, on an engine of guests. What runs there is ended before each look. Raises `OverTime`.
    """
    began_s, limit_s = time.monotonic(), runs.MOST_RUN_S
    try:
        given, own = History.from_text(given), History.from_text(own)
        if not given.steps:
            return Check("nothing", 0, "nothing has been typed on it")
        if len(given.steps) > MOST_STEPS:
            raise SpecificationError(f"a script of {len(given)} lines: {MOST_STEPS} are allowed")
        if places := differences(given.network["topology"], own.network["topology"]):
            return Check("wrong", 0, f"{OTHER}: {', '.join(places[:MOST_PLACES])}")
        script = History(own.network, given.steps)
        with replay(script, engine, limit_s, limit_s=runs.MOST_VIRTUAL_S) as net:
            return states.look(net, wanted, net.end_all)
    except NetlabError as error:
        if time.monotonic() - began_s >= limit_s:
            raise runs.over_time() from None
        return Check("wrong", 0, str(error).partition("\n")[0])
    except (ValueError, LookupError, TypeError, RecursionError):
        return Check("wrong", 0, "this is no history of a network")
