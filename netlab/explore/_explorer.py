"""The base class of all explorers: sliders, a sentence, a figure, and a button that measures."""

import asyncio
import contextlib
import html
import json
import re
import signal
import threading
import time
import traceback

import ipywidgets as widgets
import numpy as np

import netlab as nl
from netlab.explore._figure_widget import Figure
from netlab.running.progress import told
from netlab.running.session import Stop

TEXT = "font-family: Arial, Helvetica, sans-serif; font-size: 17px; line-height: 1.35"
# a bar, as no red is read well on white and on black
WRONG = "white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.35"
WRONG += "; border-left: 4px solid #D32F2F; padding-left: 8px"
TURN_S = 0.2
_acts = {}  # thread that measures -> what ends its run


class Explorer(widgets.VBox):
    """Sliders beside a figure, and a button that measures and shows progress and result.

    A subclass has these methods; ``meanwhile`` is optional:

    ``draw()``
        The data of the traces for the current settings (trace name -> new data, with the same keys
        for each trace), and the sentence above the figure.
    ``experiment()``
        The positional and the keyword arguments of `netlab.run` for the button.
    ``settings()``
        What the button measures, in words: the settings of the sliders on which it depends.
    ``add(result)``
        Adds a result to ``measured``. Gives traces, as ``draw`` does, and a text about the result.
    ``meanwhile()``
        Is called after each virtual second of the button's run, in its thread. What it draws,
        `draw` must not draw any more after a run that was stopped or failed.

    Attributes
    ----------
    figure : plotly.graph_objects.FigureWidget
    sliders : dict of ipywidgets.Widget
        Name -> slider. Each slider is an attribute of its own, too.
    measured : pandas.DataFrame
        The runs that the figure shows.
    said, button, stop_button, bar, status : ipywidgets.Widget
        Sentence above the figure, button that measures, the one that ends its run, progress bar,
        last message.

    Examples
    --------
    >>> from netlab import explore
    >>> explorer = explore.mathis()
    >>> explorer.rtt.value = 0.1
    >>> explorer.plain_sentence()
    '1 stream gets 4.47 Mbit/s: the loss is the limit. ...'
    """

    def __init__(self, figure, sliders, measured, extras=()):
        self.figure, self.sliders, self.measured = figure, sliders, measured
        self.said, self.status = widgets.HTML(layout=dict(min_height="50px")), widgets.HTML()
        look = dict(icon="flask", button_style="primary")
        self.button = widgets.Button(description="Measure here", **look)
        self.bar = widgets.FloatProgress(layout=dict(width="auto", visibility="hidden"))
        self.stop_button = widgets.Button(description="Stop", icon="stop", disabled=True)
        # two threads draw: the kernel's and the button's
        self._drawing, self._thread, self._stop = threading.RLock(), None, Stop()
        self.status.add_class("netlab-status")
        for name, slider in sliders.items():
            setattr(self, name, slider)
            slider.observe(self._moved, "value")
        self.button.on_click(self._begin)
        self.stop_button.on_click(lambda button: self._stop.now())
        self.redraw()
        self.figure = Figure(figure, self.plain_sentence())
        # one column where two would leave the sliders' tracks too short
        columns = dict(grid_template_columns="repeat(auto-fit, minmax(min(100%, 340px), 1fr))")
        grid = widgets.GridBox([*sliders.values()], layout=columns)
        buttons = widgets.HBox([self.button, self.stop_button])
        controls = [grid, *extras, buttons, self.bar, self.status]
        left = widgets.VBox(controls, layout=dict(flex="1 1 340px"))
        right = widgets.VBox([self.said, self.figure], layout=dict(flex="2 1 550px", min_width="0"))
        wrapped = dict(flex_flow="row wrap", width="100%")
        super().__init__([widgets.HBox([left, right], layout=wrapped)])
        self.add_class("netlab-explorer")

    def _repr_mimebundle_(self, **options):
        """The widget; and for where no widgets run, as in a stored notebook, its figure."""
        figure = {"application/vnd.plotly.v1+json": json.loads(self.figure.to_json())}
        return super()._repr_mimebundle_(**options) | figure

    def redraw(self):
        """Draw the figure and write the sentence for the current settings."""
        with self._drawing:
            traces, sentence = self.draw()
            self.show(traces)
            self.said.value = f'<div style="{TEXT}">{sentence}</div>'
            if isinstance(self.figure, Figure):
                self.figure.description = self.plain_sentence()

    def plain_sentence(self):
        """What the figure says, without markup."""
        return html.unescape(re.sub(r"<[^>]*>", "", self.said.value))

    def show(self, traces):
        """Give traces new data, in one message to the browser. Each needs all keys: plotly's widget
        forgets a key that a message leaves out (as of plotly 7.1).
        """

        def packed(value):  # a trace without points would disappear from the legend
            value = value if len(value) else np.full((1, *value.shape[1:]), np.nan)
            if value.ndim > 1:  # it is sent as JSON, which has no NaN
                return np.where(np.isnan(value), None, value)
            return np.ascontiguousarray(value)

        numbers = [number for number, trace in enumerate(self.figure.data) if trace.name in traces]
        new = [traces[self.figure.data[number].name] for number in numbers]
        update = {key: [packed(data[key]) for data in new] for key in new[0]}
        self.figure.plotly_update(update, trace_indexes=numbers)

    def meanwhile(self):
        """Nothing is drawn before the run has ended."""

    def wait(self, seconds=None):
        """Wait until the button's run has ended, at most this long. [s]"""
        if self._thread:
            self._thread.join(seconds)

    def _moved(self, change):
        try:
            self.redraw()
        except Exception as error:  # Jupyter would not show it
            self._fail(error)

    def _begin(self, button):
        if self._thread and self._thread.is_alive():  # a double click
            return
        button.disabled, button.description, self._stop = True, "Measuring ...", Stop()
        self.stop_button.disabled = False
        self.bar.value, self.bar.layout.visibility = 0, "visible"
        # the settings of this moment are measured, also if the sliders move meanwhile
        (arguments, named), settings = self.experiment(), self.settings()
        self._say(f"{settings}: starting the network")
        run = dict(target=self._measure, args=(arguments, named, settings), daemon=True)
        self._thread = threading.Thread(**run)
        self._thread.start()
        on_interrupt(self._stop.now, until=self._thread)

    def _measure(self, arguments, named, settings):
        began = time.monotonic()

        def on_tick(seconds, total_s):
            self.bar.max, self.bar.value = total_s, seconds
            self._say(f"{settings}: {pace(seconds, total_s, time.monotonic() - began)}")
            self.meanwhile()

        try:
            with told(on_tick), self._stop.covering():
                result = nl.run(*arguments, **named)
            with self._drawing:
                traces, sentence = self.add(result)
                self.show(traces)
                self.redraw()
            took = cost(result.provenance)
            self._say(f"{settings}, seed {named['seed']}: {sentence} ({took})")
        except KeyboardInterrupt:
            self._say(f"{settings}: stopped, this run is not in the figure")
        except Exception as error:
            self._fail(error)
        finally:
            self.stop_button.disabled = True
            self.bar.layout.visibility = "hidden"
            self.button.disabled, self.button.description = False, "Measure here"

    def _fail(self, error):
        own = isinstance(error, nl.NetlabError)
        self._say(str(error) if own else "".join(traceback.format_exception(error)), WRONG)

    def _say(self, text, look=TEXT):
        self.status.value = f'<div style="{look}">{html.escape(text)}</div>'


def cost(provenance):
    """The virtual and the wall time of a result, and whether it was recorded earlier."""
    took = f"{provenance['virtual_s']:.0f} virtual s in {provenance['wall_s']:.0f} s"
    return f"recorded earlier: {took}" if provenance.get("recorded") else took


def pace(seconds, total_s, wall_s):
    """How much has been measured, and how long the rest will take on the wall."""
    text = f"{seconds:.0f} of {total_s:.0f} virtual s, {wall_s:.0f} s on the wall"
    if not seconds or wall_s < 2:
        return text
    left_s = wall_s * (total_s / seconds - 1)
    return f"{text}, about {f'{left_s:.0f} s' if left_s < 90 else f'{left_s / 60:.0f} min'} left"


def on_interrupt(act, until):
    """Call `act` at Kernel > Interrupt, until a thread ends.

    An idle kernel ignores interrupts, and restores that after each message that it handles.
    Therefore the handler is set again between messages.
    """
    with contextlib.suppress(RuntimeError):  # no event loop runs here: there is no kernel
        loop = asyncio.get_running_loop()
        _acts[until] = act
        loop.call_later(TURN_S, _turn, loop)


def _turn(loop):
    for thread in [thread for thread in _acts if not thread.is_alive()]:
        del _acts[thread]
    now = signal.getsignal(signal.SIGINT)
    if _acts and now is signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupted)
    if _acts:
        loop.call_later(TURN_S, _turn, loop)
    elif now is _interrupted:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interrupted(number, frame):
    for act in list(_acts.values()):
        act()
