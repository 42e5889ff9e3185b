"""A panel of a network that is up: its picture, the terminals of its nodes, its links, its time."""

import collections
import contextlib
import html
import re
import threading
import time
import traceback

import ipywidgets as widgets

from netlab.errors import NetlabError, SpecificationError
from netlab.explore._explorer import TEXT, on_interrupt
from netlab.explore._figures_of_looks import MOST_PRINTED, Figures
from netlab.explore._link_form import ROW, WRONG, LinkForm
from netlab.explore._panel_views import Picture, Terminal
from netlab.running.network import Network
from netlab.topology.picture import svg

SLICE_S = 0.25  # of the wall between two looks at the buttons, while time runs
SHOW_S = 0.15  # of the wall between two drawings of what is printed
MOST_SHOWN = 20_000  # characters of a terminal
TOOL = re.compile(r"(.*/)?(iperf3?|simpleperf(\.py)?)")
SPEEDS = [("0.1", 0.1), ("1", 1), ("10", 10), ("as fast as it can", None)]


def panel(net):
    """A panel of a network that is up, as the last line of a cell.

    Press on a node for its terminal, and on a link for its rate, delay, loss, queue and discipline.
    Time stands still until you step or run it, or type a line, which then takes its time: that of
    all nodes. While time runs, what you type stays in the foreground and goes on with it. All that
    is done on the panel is in ``net.history``.

    Parameters
    ----------
    net : Network
        It stays yours: close it, as by ``with``, when you are done.

    Notes
    -----
    The figures need programs that look at the counters five times a virtual second, on the switches
    and on all hosts. They are started when you ask for figures; what happens then is no longer the
    same to the byte as without them.

    Examples
    --------
    >>> net = nl.Network(nl.wan("100mbit", "20ms"))  # doctest: +SKIP
    >>> explore.panel(net)  # doctest: +SKIP
    """
    if not isinstance(net, Network):
        raise SpecificationError(f"panel({net!r}): a netlab.Network that is up")
    return Panel(net)


class Panel(widgets.VBox):
    """See `panel`.

    Attributes
    ----------
    picture, terminals, link, go, speed, steps, looking, clock, status
        Its parts; `terminals` by node, `link` is the form of the link that is open.
    """

    def __init__(self, net):
        self.net, self.terminals, self.link = net, {}, None
        self.states = list(net.topology.links)  # what each link is now
        self._lock, self._acts, self._thread = threading.Lock(), collections.deque(), None
        self._running, self._typing, self._wake = False, None, threading.Event()
        self._shown_s, self._figures = 0.0, None
        self.picture = Picture(svg=svg(net.topology, buttons=True))
        self.picture.on_msg(lambda _, message, __: self.choose(message.get("target")))
        self.go = _button("Run", "play", lambda: self.pause() if self._running else self.run())
        self.go.button_style = "primary"
        self.speed = widgets.Dropdown(
            options=SPEEDS, value=1, description="virtual s per s",
            layout=dict(width="230px", max_width="100%"), style=dict(description_width="105px"),
        )  # fmt: skip
        self.steps = {
            seconds: _button(f"Step {seconds:g} s", "step-forward", self.step, seconds)
            for seconds in (0.1, 1)
        }
        self.looking = widgets.ToggleButton(
            description="Figures", icon="line-chart", layout=dict(width="110px"),
            tooltip="Starts programs that look at counters: they take virtual time, too",
        )  # fmt: skip
        self.looking.observe(self._look, "value")
        self.clock, self.status = widgets.HTML(), widgets.HTML()
        self.status.add_class("netlab-status")
        self._forms, self._opened = widgets.VBox(), widgets.Box(layout=dict(ROW, grid_gap="6px"))
        self._drawn = widgets.Box(layout=ROW)
        self._drawing = threading.RLock()  # two threads draw: the kernel's and the panel's
        buttons = [self.go, self.speed, *self.steps.values(), self.looking, self.clock]
        times = widgets.Box(buttons, layout=ROW)
        super().__init__([self.picture, times, self.status, self._forms, self._opened, self._drawn])
        self.add_class("netlab-explorer")  # its buttons are off without its kernel
        self.refresh()

    def choose(self, target):
        """Open a node's terminal, or the form of a link, by its number, or close that."""
        if target in self.net.topology.node_names:
            self.show(target)
        elif str(target).isdecimal() and int(target) < len(self.states):
            same = self.link and self.link.number == int(target)
            self.link = None if same else LinkForm(self, int(target))
            self._lay_out()

    def show(self, host):
        """Show the terminal of a node, with the cursor in its line."""
        if host not in self.terminals:
            terminal = Terminal(host=host, layout=dict(flex="1 1 380px", min_width="0"))
            terminal.on_msg(lambda _, message, __: self._told(host, message))
            self.terminals[host] = terminal
            self._lay_out()
        self.terminals[host].cursor += 1
        self.refresh()

    def type(self, host, line, stays=False):
        """Type a line on a node: as its terminal's line does. A server stays by itself."""
        if line == "^C" and self._typing == host:
            self.net.ctrl_c()
        elif serves(line):
            self._do(lambda: self._serve(host, line))
        else:
            self._do(lambda: self._type(host, line, stays or (self._running and line != "^C")))

    def run(self):
        """Let time run, at the speed that is chosen, until `pause`."""
        self._running = True
        self._do(None)
        self.refresh()

    def pause(self):
        """Let time stand still."""
        self._running = False
        self._wake.set()
        self.refresh()

    def step(self, seconds):
        """Let so much time pass. [virtual s]"""
        self._do(lambda: self.net.sleep(seconds))

    def wait(self, seconds=None):
        """Wait until all that was asked for is done, at most this long. [s]"""
        if thread := self._thread:
            thread.join(seconds)

    def say(self, text, look=TEXT):
        """Show a line below the buttons."""
        text = html.escape(text)
        self.status.value = f'<div role="status" style="{look}">{text}</div>' if text else ""

    def refresh(self):
        """Show what terminals show, the time, and what figures tell."""
        with self._drawing:
            self._shown_s = time.monotonic()
            self.clock.value = f'<span style="{TEXT}">at <b>{self.net.clock:.3f} s</b></span>'
            for host, terminal in list(self.terminals.items()):
                console = self.net.consoles.get(host)
                if console and console.job:
                    text = console.job.last(MOST_SHOWN).replace("\r\n", "\n")
                    terminal.text = re.sub(r"(?m)^[^\n]*\r(?!\n)", "", text)
                terminal.busy = bool(console and console.busy)
            self.go.description = "Pause" if self._running else "Run"
            self.go.icon = "pause" if self._running else "play"
            if self._figures:
                self._figures.draw()
                if self._figures.printed > MOST_PRINTED:
                    self.looking.value = False
                    self.say(
                        "The programs that look have printed all that they may: figures are off."
                    )
            if not self.net.up:
                self.say("The network has been closed.")
                for button in (self.go, self.looking, *self.steps.values()):
                    button.disabled = True

    def _lay_out(self):
        self._forms.children = [self.link] if self.link else []
        self._opened.children = [*self.terminals.values()]
        open_ = [*self.terminals, *([str(self.link.number)] if self.link else [])]
        self.picture.pressed = " ".join(open_)

    def _told(self, host, message):
        if message.get("close"):
            self.terminals.pop(host).close()
            self._lay_out()
        elif isinstance(line := message.get("line"), str):
            self.type(host, line, bool(message.get("stays")))

    def _type(self, host, line, stays=False):
        self._typing = None if stays else host
        try:
            return self.net.type(host, line, stays=stays, show=self._heard)
        finally:
            self._typing = None

    def _serve(self, host, line):
        """Type the line of a server, which stays; -> what to tell of it."""
        self._type(host, line, stays=True)
        if self.net.consoles[host].busy:
            return (
                f"`{line}` runs on {host} until you press Ctrl-C there. Time stands still until"
                " you type on another node, or step or run it."
            )

    def _heard(self, out):
        if time.monotonic() - self._shown_s > SHOW_S:
            self.refresh()

    def _look(self, change):
        if change.new:
            self._figures = Figures(self.net)
            third = dict(flex="1 1 300px", min_width="0")
            self._drawn.children = [
                widgets.VBox([one], layout=third) for one in self._figures.figures
            ]
            self._do(self._figures.begin)
        elif figures := self._figures:
            self._figures, self._drawn.children = None, []
            self._do(figures.end)

    def _do(self, act):
        """Have the panel's thread do this; it lives while there is something to do."""
        with self._lock:
            if act:
                self._acts.append(act)
            self._wake.set()
            if self._thread:
                return
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()
        on_interrupt(self._interrupted, until=self._thread)

    def _interrupted(self):
        self.pause()
        self.net.ctrl_c()

    def _next(self):
        with self._lock:
            if self._acts:
                return self._acts.popleft()
            if self._running and self.net.up:
                return self._slice
            self._thread = None

    def _work(self):
        while act := self._next():
            try:
                done = act()
                if act != self._slice:
                    doubts = " ".join(getattr(done, "doubts", ()))
                    self.say(done if isinstance(done, str) else doubts, WRONG if doubts else TEXT)
            except KeyboardInterrupt:
                self.say("Ended by Ctrl-C.")
            except Exception as error:
                self._running = False
                own = isinstance(error, NetlabError)
                self.say(str(error) if own else "".join(traceback.format_exception(error)), WRONG)
            with contextlib.suppress(Exception):  # the page may have gone
                self.refresh()

    def _slice(self):
        speed, began = self.speed.value, time.monotonic()
        self._wake.clear()
        self.net.sleep(SLICE_S * (speed or 2))
        left_s = SLICE_S - (time.monotonic() - began) if speed else 0
        # other threads have their turn, too
        self._wake.wait(max(left_s, 0.01))


def serves(line):
    """Is this the line of a server, which ends by Ctrl-C alone?"""
    words = line.removeprefix("sudo ").split()
    once = {"-1", "--one-off", "-D", "--daemon"}
    return (
        any(map(TOOL.fullmatch, words[:2]))
        and not {"-s", "--server"}.isdisjoint(words)
        and once.isdisjoint(words)
    )


def _button(text, icon, act, *arguments):
    found = widgets.Button(description=text, icon=icon, layout=dict(width="110px"))
    found.on_click(lambda _: act(*arguments))
    return found
