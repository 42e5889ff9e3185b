"""A network on which everything that a script says has been done again."""

import json
from pathlib import Path

from netlab.algorithms.source import Algorithm
from netlab.engines.protocol import ignore
from netlab.errors import CommandError, SpecificationError
from netlab.running.history import History
from netlab.running.network import Network
from netlab.topology import Topology

CALLS = "run", "start", "wait", "stop", "keys"


def replay(script, engine=None, wall_limit_s=None, show=ignore):
    """A network on which a script has been carried out.

    Parameters
    ----------
    script : History, str or path
        A `Network.history`, what its ``to_text`` gave, or a file that ``save`` wrote.
    engine, wall_limit_s
        As for `Network`.
    show : callable, optional
        Is told what the terminals show, as it comes.

    Returns
    -------
    Network
        It is up, and stands where the script ended; its `history` is that of this time.

    Raises
    ------
    SpecificationError
        It is no script, or has a line that none has.
    NetlabError
        A line failed now that did not when it was saved.

    Examples
    --------
    >>> with nl.replay("lab9.txt") as net:  # doctest: +SKIP
    ...     print(net.history)
    """
    if isinstance(script, Path) or (isinstance(script, str) and "\n" not in script):
        script = Path(script).read_text(encoding="utf-8")
    if not isinstance(script, History):
        script = History.from_text(script)
    known = script.network
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
            carry_out(step, net, jobs, show)
        return net
    except BaseException:
        net.close()
        raise


def carry_out(step, net, jobs, show):
    """Do a step of a script on a network; `jobs` are those of its calls so far."""
    words = step.line.split(" ")
    limit = {} if step.ended_after_s is None else {"limit_s": step.ended_after_s}
    try:
        if step.what in net.topology.node_names:
            net.type(step.what, step.line, stays=step.stays, show=show, **limit)
        elif step.what == "sh" and words[0] == "sleep" and len(words) == 2:
            net.sleep(float(words[1]))
        elif step.what in ("run", "start"):
            host, _, command = step.line.partition(" ")
            if step.what == "start":
                jobs.append(net.start(host, command))
            else:
                jobs.append(None)
                jobs[-1] = net.run(host, command, echo=False, **limit)
        elif step.what == "wait":
            net.wait(*[jobs[int(one) - 1] for one in words], **limit)
        elif step.what == "stop":
            jobs[int(step.line) - 1].stop()
        elif step.what == "keys":
            host, _, keys = step.line.partition(" ")
            net.press(host, json.loads(keys))
        else:
            raise ValueError
    except CommandError:
        if step.ended_after_s is None:
            raise
    except (ValueError, LookupError, AttributeError):
        raise SpecificationError(
            f"`{step}`: a line of a script is a node and what is typed there, `sh sleep 2`, or one"
            f" of {', '.join(CALLS)}, as net.history.save writes it"
        ) from None
