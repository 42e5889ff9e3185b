"""A network on which everything that a script says has been done again."""

import json
import math
import re
from pathlib import Path

from netlab import engines
from netlab.algorithms.source import Algorithm
from netlab.engines.base import ignore
from netlab.errors import CommandError, LimitError, SpecificationError
from netlab.readers._common import read_file
from netlab.running.history import MOST_BYTES, History
from netlab.running.network import Network
from netlab.topology import Topology

CALLS = "run", "start", "wait", "stop"
SLEEP = re.compile(r"sleep (\d+(?:\.\d+)?(?:e[-+]?\d+)?)")
STEP_S = 600  # that a line may take, as in `Network.type` [virtual s]


def replay(script, engine=None, wall_limit_s=None, show=ignore, limit_s=math.inf):
    """A network on which a script has been carried out.

    Parameters
    ----------
    script : History, str or path
        A `Network.history`, what its ``to_text`` gave, or a file that ``save`` wrote.
    engine, wall_limit_s
        As for `Network`; Mininet on this machine is taken only where it is named, as it would do
        as root whatever the script says. Algorithms that the script carries run in a jail.
    show : callable, optional
        Is told what the terminals show, as it comes.
    limit_s : float
        How long all of it may take. [virtual s]

    Returns
    -------
    Network
        It is up, and stands where the script ended; its `history` is that of this time.

    Raises
    ------
    SpecificationError
        It is no script, has a line that none has, or would be carried out on this machine.
    NetlabError
        A line failed now that did not when it was saved; a LimitError where it took too long.

    Examples
    --------
    >>> with nl.replay("lab9.txt") as net:  # doctest: +SKIP
    ...     print(net.history)
    """
    if isinstance(script, History):
        script = script.to_text()
    elif isinstance(script, Path) or "\n" not in script:
        script = read_file(script, MOST_BYTES).decode(errors="backslashreplace")
    script = History.from_text(script)
    known, named = script.network, engine is not None
    engine = (engines.pick_jailed if known.get("algorithms") else engines.pick)(engine)
    if engine.name == "mininet" and not named:
        raise SpecificationError(
            "a script is not carried out as root on this machine unless its reader says so:"
            ' engine="mininet"'
        )
    net = Network(
        Topology.from_json(json.dumps(known["topology"])),
        known["seed"],
        known["clock"],
        engine,
        wall_limit_s,
        [Algorithm(**one) for one in known.get("algorithms", ())],
    )
    try:
        jobs = []
        for step in script.steps:
            left_s = limit_s - net.clock
            if left_s <= 0 or (step.what == "sh" and step.times * asleep_s(step) > left_s):
                raise LimitError(f"`{step}`: the script may take {limit_s:g} virtual seconds")
            carry_out(step, net, jobs, show, min(STEP_S, left_s))
        return net
    except BaseException:
        net.close()
        raise


def asleep_s(step):
    """How long ``sh sleep 2`` lets pass, once; 0 of what is none. [virtual s]"""
    found = SLEEP.fullmatch(step.line)
    return float(found[1]) if found else 0


def carry_out(step, net, jobs, show, most_s):
    """Do a step of a script that was read, in at most so long [virtual s]; `jobs` are those of its
    calls so far.
    """
    after_s, (node, _, rest) = step.done.ended_after_s, step.line.partition(" ")
    limit = {"limit_s": most_s if after_s is None else min(after_s, most_s)}
    try:
        match step.what:
            case what if what in net.topology.node_names:
                net.type(what, step.line, stays=step.done.stays, show=show, **limit)
            case "sh" if SLEEP.fullmatch(step.line):
                for _ in range(step.times):
                    net.sleep(asleep_s(step))
            case "run":
                jobs.append(None)
                jobs[-1] = net.run(node, rest, echo=False, **limit)
            case "start":
                jobs.append(net.start(node, rest))
            case "wait":
                net.wait(*[jobs[int(one) - 1] for one in step.line.split(" ")], **limit)
            case "stop":
                jobs[int(step.line) - 1].stop()
            case _:
                raise ValueError
    except CommandError:
        if after_s is None and not step.done.refused:
            raise
    except (ValueError, LookupError, AttributeError, RecursionError):
        raise SpecificationError(
            f"`{step}`: a line of a script is a node and what is typed there, `sh sleep 2`, or one"
            f" of {', '.join(CALLS)}, as net.history.save writes it"
        ) from None
