"""The questions that a network asks its agent, and what the answers leave: jobs and a clock."""

import contextlib
import functools
import threading
import weakref
from contextvars import ContextVar

from netlab.engines.base import ignore
from netlab.errors import CommandError, EmulationError, NetlabError
from netlab.running.job import ALL_OUTPUT_LIMIT, Job
from netlab.running.progress import having, progress

SETTLE_S = 1  # before this, ping skips its interval and bridges are still learning
OF_A_SIGNAL = (-2, -9, 128 + 2, 128 + 9)  # exit statuses after Ctrl-C and SIGKILL
_stop = ContextVar("stop", default=None)


def alone(method):
    """Only one thread at a time runs such a method, as it writes the history; others wait."""

    @functools.wraps(method)
    def call(self, *args, **named):
        with self.lock:
            return method(self, *args, **named)

    return call


class Session:
    """Asks the agent; keeps the jobs, `clock_ns` (virtual time since boot) and `unrepeatable`.
    Threads wait for one another at its `lock`.

    Where Ctrl-C ended a question, `wait`, `stop` and `sleep` raise KeyboardInterrupt; `let_run` and
    `type` return, and say so.
    """

    def __init__(self, connection):
        self.connection, self.jobs, self.clock_ns, self.unrepeatable = connection, {}, 0, ""
        self.history, self.lock = None, threading.RLock()
        self._most = self._room = connection.most_output_bytes or ALL_OUTPUT_LIMIT

    def note(self, what, jobs):
        """Keep this call in the network's history, which names jobs by their place in it."""
        if self.history and (numbers := self.history.numbers(jobs)):
            self.history.add(what, numbers)

    @alone
    def ask(self, on_tick=ignore, on_output=ignore, **question):
        """Ask the agent one question; -> its answer.

        `on_tick` is told how long it has lasted [virtual s], `on_output` what a job printed. A
        program that prints too much is ended, and the question with it.
        """
        flooding = []

        def on_event(event):
            if "tick" in event:
                return on_tick(event["tick"])
            job, out = self.jobs[event["job"]], event["out"]
            kept, too_much = job.keep(out, self._room)
            self._room -= kept
            if too_much:
                flooding.append(job)
                for key in "IK":  # Ctrl-C, and SIGKILL at the agent's next look: it answers soon
                    self.connection.ask(op="key", key=key)
            elif not flooding:
                job.heard(out)
                on_output(job, out)

        answer = self.connection.ask(on_event, **question)
        self.clock_ns = answer["clock_ns"]
        self.unrepeatable = answer.get("unrepeatable", "")
        if flooding:
            raise flooding[0].stop().flooded(self._most)
        if "error" in answer:
            raise CommandError(f"the agent could not do this: {answer['error']}")
        return answer

    def set_up(self, topology, setup):
        """Have the topology built, its `setup` typed, and let the first second pass."""
        answer = self.ask(
            op="up",
            hosts=[[host.name, host.address] for host in topology.hosts]
            + [[router.name, None] for router in topology.routers],
            switches=[switch.name for switch in topology.switches],
            links=[[link.a, link.b] for link in topology.links],
            setup=setup,
        )
        if "failed" in answer:
            node, command, output = answer["failed"]
            raise EmulationError(
                f"{node} could not be set up, so nothing was measured: `{command}` said:"
                f" {output.strip()}"
            )
        self.sleep(SETTLE_S)  # as a number: the question's length costs virtual time

    @alone
    def start(self, host, command, **echo):
        """Start a command; -> `Job`. With ``echo=True`` its terminal shows what is typed on it."""
        job = Job(self, len(self.jobs) + 1, host, command)
        with self._ending([job]):  # the question may have reached the agent
            try:
                job.number = self.ask(op="start", host=host, command=command, **echo)["job"]
            finally:
                self.jobs[job.number] = job
        return job

    @alone
    def let_run(self, jobs, limit_s, on_output=ignore, total_s=None):
        """Let time pass until the jobs have ended; -> what ended them: "", "limit", "interrupt"."""
        passed_s, late = 0, set()

        def tick(seconds):
            nonlocal passed_s
            passed_s = seconds
            on_tick(seconds)

        def hear(job, out):
            if passed_s >= limit_s:
                late.add(job)
            on_output(job, out)

        numbers, limit = [job.number for job in jobs], f"{limit_s:016.6f}"
        with progress(total_s) as on_tick, self._ending(jobs):
            answer = self.ask(tick, hear, op="wait", numbers=numbers, limit_s=limit)
        for job, status in zip(jobs, answer["status"], strict=True):
            job.status = status
            # of Ctrl-C a program dies, or it says its last words
            job.cut_off = answer["ended_by"] == "limit" and (status in OF_A_SIGNAL or job in late)
        return answer["ended_by"]

    @contextlib.contextmanager
    def _ending(self, jobs):
        """At Ctrl-C, stop what still runs of these jobs, where the network is still up."""
        try:
            yield
        except KeyboardInterrupt:
            for job in jobs:
                with contextlib.suppress(NetlabError):
                    job.stop()
            raise

    @alone
    def wait(self, jobs, limit_s, total_s=None):
        """Let time pass until the jobs have ended; -> "", or "limit" where that ended them."""
        self.note("wait", jobs)
        ended_by = self.let_run(jobs, limit_s, total_s=total_s)
        if ended_by == "interrupt":
            raise KeyboardInterrupt
        return ended_by

    @alone
    def type(self, job, text, until, limit_s, leave=False):
        """Type on a job's terminal, and let time pass until it has printed `until`, or has ended;
        -> the agent's answer. At the limit it is ended, or left running.
        """
        question = dict(number=job.number, text=text, until=until, limit_s=f"{limit_s:016.6f}")
        with progress(None) as on_tick:
            answer = self.ask(on_tick, op="type", leave=leave, **question)
        (job.status,) = answer["status"]
        return answer

    @alone
    def stop(self, job):
        """Ctrl-C for a job, and SIGKILL a second later."""
        self.note("stop", [job])
        answer = self.ask(op="stop", number=job.number)
        (job.status,) = answer["status"]
        if answer["ended_by"] == "interrupt":
            raise KeyboardInterrupt

    @alone
    def sleep(self, seconds):
        """Let time pass. [virtual s]"""
        if self.ask(op="sleep", seconds=seconds)["ended_by"]:
            raise KeyboardInterrupt

    def output(self, host, command, limit_s=60):
        """What a command prints."""
        job = self.start(host, command)
        self.wait([job], limit_s)
        return job.raw


class Stop:
    """Ends the networks opened under it; their runs raise KeyboardInterrupt in their threads."""

    def __init__(self):
        self._lock, self._networks, self.pressed = threading.Lock(), weakref.WeakSet(), False

    def now(self):
        """End every run under way, and every one that begins later. Any thread may call it."""
        with self._lock:
            self.pressed, networks = True, list(self._networks)
        for network in networks:
            network.interrupt()

    def covering(self):
        """Within it, networks that this thread opens are under this `Stop`."""
        return having(_stop, self)


def stoppable(network):
    """Put a network under this thread's `Stop`; KeyboardInterrupt where that was pressed."""
    if stop := _stop.get():
        with stop._lock:
            stop._networks.add(network)
        if stop.pressed:
            raise KeyboardInterrupt
