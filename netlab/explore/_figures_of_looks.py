"""Throughput, windows and queues of a network that is up, by programs that look at counters."""

import functools
import json
import re

import numpy as np
import plotly.graph_objects as go

from netlab.explore._figure_widget import Figure
from netlab.plots._style import COLOURS, DASHES, apply_style, each, from_0

EVERY_S = 0.2  # between two looks [virtual s]
KEPT_S = 30  # that figures show [virtual s]
MOST_PRINTED = 30_000_000  # that the programs may print
LEAST, NEAR_NOTHING = 0.1, 0.05  # of the highest value; Mbit/s, segments, kB
SLOTS = 8  # traces of a figure
LOOK = "while echo at $EPOCHREALTIME; do {commands}; echo end; sleep {every}; done"
COUNTERS = "cat /proc/net/dev; tc -s -j qdisc show"
WINDOWS = "ss -tniOH state established"
_LOOK = re.compile(r"^at (\d+[.,]\d+)\n(.*?)^end$", re.M | re.S)
_CARD = re.compile(r"^ *(\S+): *(\d+)(?: +\d+){7} +(\d+)", re.M)
_WINDOW = re.compile(r"^\d+ +\d+ +\S+:(\d+) +\S+:\d+ .*?\bcwnd:(\d+)", re.M)
# Axes before and after something was seen; plotly's own begin at -1
EMPTY = {"xaxis.autorange": False, "yaxis.autorange": False, "yaxis.range": [0, 1]}
FULL = {"xaxis.autorange": True, "yaxis.autorange": True}
TITLES = "throughput [Mbit/s]", "window [segment]", "queue [kB]"


class Figures:
    """`figures`: throughput by link and direction, windows by connection, queues by interface."""

    def __init__(self, net):
        self.net, self.jobs, self.zero_s, self.printed = net, {}, None, 0
        self.values = [{}, {}, {}]  # of each figure: name -> [time, value] pairs
        self._before, self._heard, self._latest_s, topology = {}, {}, 0, net.topology
        hosts = [host.name for host in topology.hosts]
        inner = [one.name for one in (*topology.switches[:1], *topology.routers)]
        self.commands = dict.fromkeys(inner, COUNTERS) | dict.fromkeys(hosts, WINDOWS)
        self.names = {}  # interface, is it what it received? -> from where to where
        for link in topology.links:
            for node, other in ((link.a, link.b), (link.b, link.a)):
                if node not in hosts:
                    card = topology.interface(link, node)
                    self.names[card, False] = f"{node} → {other}"
                    if other in hosts:
                        self.names[card, True] = f"{other} → {node}"
        self.figures = [self._figure(title) for title in TITLES]

    def _figure(self, title):
        fig = go.Figure()
        for _, colour, dash in each(range(SLOTS), COLOURS, DASHES):
            fig.add_scatter(mode="lines", line=dict(color=colour, dash=dash), visible=False)
        axes = dict(xaxis=dict(title="virtual time [s]"), yaxis=from_0(title))
        look = dict(height=270, margin=dict(l=60, r=15, t=15, b=20), font_size=13)
        figure = Figure(apply_style(fig, **axes, **look, legend_font_size=12), title)
        figure.layout.width = None
        figure.layout.update(EMPTY | {"xaxis.range": [0, KEPT_S]})
        figure._config = figure._config | dict(displayModeBar=False)
        return figure

    def begin(self):
        """Start the programs that look."""
        for node, commands in self.commands.items():
            heard = self._heard[node] = []
            job = self.net.start(node, LOOK.format(commands=commands, every=EVERY_S))
            job.heard = functools.partial(self._hear, heard)
            self.jobs[node] = job

    def _hear(self, heard, out):
        heard.append(out)
        self.printed += len(out)

    def end(self):
        """Stop them."""
        for job in self.jobs.values():
            job.stop()
        self.jobs = {}

    def draw(self):
        """Draw what they have seen since."""
        for node, heard in self._heard.items():
            text, end = "".join(heard), 0
            for look in _LOOK.finditer(text):
                end = look.end()
                self._take(node, float(look[1].replace(",", ".")), look[2])
            heard[:] = [text[end:]]
        for values in self.values:  # a connection that has ended leaves as time goes on
            for name, points in [*values.items()]:
                values[name] = [one for one in points if one[0] >= self._latest_s - KEPT_S]
                if not values[name]:
                    del values[name]
        for figure, values in zip(self.figures, self.values, strict=True):
            self._show(figure, values)

    def _take(self, node, time_s, text):
        if self.zero_s is None:
            self.zero_s = time_s - self.net.clock
        time_s -= self.zero_s
        self._latest_s = max(self._latest_s, time_s)
        if self.commands[node] == WINDOWS:
            for port, window in _WINDOW.findall(text):
                self._add(1, f"{node}:{port}", time_s, int(window))
            return
        for card, received, sent in _CARD.findall(text):
            for way, count in ((True, received), (False, sent)):
                if name := self.names.get((card, way)):
                    before_s, before = self._before.get(name, (time_s, int(count)))
                    self._before[name] = time_s, int(count)
                    if time_s > before_s:
                        mbps = 8e-6 * (int(count) - before) / (time_s - before_s)
                        self._add(0, name, time_s, mbps)
        for one in json.loads(text[text.index("[") :]):
            if one.get("handle") in ("2:", "10:"):  # tbf's, or netem's below HTB (`Link.setup`)
                name = self.names.get((one["dev"], False), one["dev"])
                self._add(2, name, time_s, one["backlog"] / 1e3)

    def _add(self, figure, name, time_s, value):
        self.values[figure].setdefault(name, []).append((time_s, value))

    def _show(self, figure, values):
        """The traces with the highest values, but for those that are near nothing."""
        highest = {name: max(value for _, value in points) for name, points in values.items()}
        least = max(LEAST * max(highest.values(), default=0), NEAR_NOTHING)
        shown = sorted((name for name in highest if highest[name] > least), key=highest.get)
        shown = sorted(shown[-SLOTS:])
        data = [np.array(values[name]).T.copy() for name in shown]
        empty = [np.full(1, np.nan)] * (SLOTS - len(data))
        update = dict(
            x=[x for x, _ in data] + empty,
            y=[y for _, y in data] + empty,
            name=shown + [""] * len(empty),
            visible=[True] * len(data) + [False] * len(empty),
        )
        end_s = max(self._latest_s, KEPT_S)
        axes = FULL if shown else EMPTY | {"xaxis.range": [end_s - KEPT_S, end_s]}
        figure.plotly_update(update, axes, trace_indexes=list(range(SLOTS)))
        said = ", ".join(f"{name} {values[name][-1][1]:.3g}" for name in shown)
        figure.description = f"{figure.layout.yaxis.title.text}: {said or 'nothing yet'}"
