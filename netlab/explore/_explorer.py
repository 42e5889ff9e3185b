"""What every explorer is made of: sliders, a sentence, a figure, and a button that measures while
the sliders stay alive.
"""

import html
import threading
import time
import traceback

import ipywidgets as widgets
import numpy as np

import netlab as nl
from netlab.explore._figure_widget import Figure
from netlab.plots._style import COLOURS, INK, short_number, with_unit
from netlab.running.progress import told
from netlab.running.stop import Stop

TEXT = "font-family: Arial, Helvetica, sans-serif; font-size: 17px; line-height: 1.35"
WRONG = "white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.35; color: #A00000"
LOOK = dict(style=dict(description_width="110px"), layout=dict(width="auto"))  # of a slider
MEASURED = dict(color="white", size=9, line=dict(color="#999999", width=1.5))
# with the settings of the sliders
MEASURED_SO = dict(color=COLOURS[1], size=10, line=dict(color="white", width=1))
HERE = dict(symbol="diamond", color=COLOURS[4], size=19, line=dict(color=INK, width=2))
LEGEND = dict(orientation="h", y=1, yanchor="bottom", x=0, font_size=14, title_font_size=14)
# one above the other
LINES, POINTS = LEGEND | dict(title_text="model", y=1.08), LEGEND | dict(title_text="points")
LAYOUT = dict(legend=LEGEND, modebar_orientation="v", margin=dict(l=70, r=45, t=62, b=60))


class Explorer(widgets.VBox):
    """Sliders beside a figure, and a button that measures, with its progress, and its answer or its
    error.

    One of its kind has ``draw()``, which gives the traces' new data where the sliders are, by name,
    the same keys for each, and the sentence above the figure; ``experiment()``, the arguments of
    `netlab.run` for the button, those without a name and those with one; and ``add(result)``, which
    takes a run of the button into ``measured`` and gives the traces that changed, as ``draw`` does,
    and what to say of it.

    Attributes
    ----------
    figure : plotly.graph_objects.FigureWidget
    sliders : dict of ipywidgets.Widget
        By name; each is an attribute of its own, too.
    measured : pandas.DataFrame
        What the figure shows as measured, the runs of the button included.
    said, button, stop_button, bar, status : ipywidgets.Widget
        The sentence above the figure, the button that measures and the one that ends its run, the
        progress of the run, and what became of it.
    """

    def __init__(self, figure, sliders, measured, extras=()):
        self.figure, self.sliders, self.measured = figure, sliders, measured
        self.said, self.status = widgets.HTML(layout=dict(min_height="50px")), widgets.HTML()
        self.button = widgets.Button(
            description="Measure here", icon="flask", button_style="primary"
        )
        self.bar = widgets.FloatProgress(layout=dict(width="auto", visibility="hidden"))
        self.stop_button = widgets.Button(description="Stop", icon="stop", disabled=True)
        # both the kernel's thread and the button's draw
        self._turn, self._thread, self._stop = threading.RLock(), None, Stop()
        for name, slider in sliders.items():
            setattr(self, name, slider)
            slider.observe(self._moved, "value")
        self.button.on_click(self._begin)
        self.stop_button.on_click(lambda button: self._stop.now())
        self.redraw()
        self.figure = Figure(figure)
        grid = widgets.GridBox(
            [*sliders.values()],
            layout=dict(grid_template_columns="repeat(auto-fit, minmax(265px, 1fr))"),
        )
        buttons = widgets.HBox([self.button, self.stop_button])
        left = widgets.VBox(
            [grid, *extras, buttons, self.bar, self.status], layout=dict(flex="1 1 300px")
        )
        right = widgets.VBox([self.said, self.figure], layout=dict(flex="2 1 550px", min_width="0"))
        super().__init__(
            [widgets.HBox([left, right], layout=dict(flex_flow="row wrap", width="100%"))]
        )

    def redraw(self):
        """Bring figure and sentence to where the sliders are."""
        with self._turn:
            traces, sentence = self.draw()
            self.show(traces)
            self.said.value = f'<div style="{TEXT}">{sentence}</div>'

    def show(self, traces):
        """Give traces new data in one message to the browser.

        All keys for all traces: where a message leaves one out, plotly's widget forgets what it was
        (as of plotly 7.1).
        """

        def packed(value):  # a trace without a point would come and go in the legend
            return np.ascontiguousarray(
                value if len(value) else np.full((1, *value.shape[1:]), np.nan)
            )

        numbers = [number for number, trace in enumerate(self.figure.data) if trace.name in traces]
        new = [traces[self.figure.data[number].name] for number in numbers]
        self.figure.plotly_update(
            {key: [packed(data[key]) for data in new] for key in new[0]}, trace_indexes=numbers
        )

    def wait(self, seconds=None):
        """Until the button's run has ended, or for so long. [s]"""
        if self._thread:
            self._thread.join(seconds)

    def _moved(self, change):
        try:
            self.redraw()
        except Exception as error:  # which Jupyter would not show
            self._fail(error)

    def _begin(self, button):
        if self._thread and self._thread.is_alive():  # a double click
            return
        button.disabled, button.description, self.stop_button.disabled = (
            True,
            "Measuring ...",
            False,
        )
        self.bar.value, self.bar.layout.visibility, self._stop = 0, "visible", Stop()
        self._say("starting the network")
        self._thread = threading.Thread(target=self._measure, daemon=True)
        self._thread.start()

    def _measure(self):
        began = time.monotonic()

        def on_tick(seconds, total_s):
            self.bar.max, self.bar.value = total_s, seconds
            self._say(
                f"{seconds:.0f} of {total_s:.0f} virtual s, {time.monotonic() - began:.0f} s on the"
                " wall"
            )

        try:
            arguments, named = self.experiment()
            with told(on_tick):
                result = self._stop.covering(nl.run)(*arguments, **named)
            with self._turn:
                traces, sentence = self.add(result)
                self.show(traces)
                self.redraw()
            self._say(f"seed {named['seed']}: {sentence} ({cost(result.provenance)})")
        except KeyboardInterrupt:
            self._say("stopped: this run is not in the figure")
        except Exception as error:
            self._fail(error)
        finally:
            self.stop_button.disabled = True
            self.bar.layout.visibility = "hidden"
            self.button.disabled, self.button.description = False, "Measure here"

    def _fail(self, error):
        text = (
            str(error)
            if isinstance(error, nl.NetlabError)
            else "".join(traceback.format_exception(error))
        )
        self._say(text, WRONG)

    def _say(self, text, look=TEXT):
        self.status.value = f'<div style="{look}">{html.escape(text)}</div>'


def cost(provenance):
    """What a result took, and whether that was now."""
    took = f"{provenance['virtual_s']:.0f} virtual s in {provenance['wall_s']:.0f} s"
    return f"recorded earlier: {took}" if provenance.get("recorded") else took


def steps(name, value, low, high, unit, more=()):
    """A slider over round numbers, six to a power of ten, each written with its unit.

    Parameters
    ----------
    name : str
    value, low, high : float
        Where it is, and its ends. [unit]
    unit : str
        "bit/s", "s", "byte", or "%" for shares, whose values stay from 0 to 1.
    more : sequence of (str, float)
        What comes after `high`.
    """
    numbers = [
        float(f"{digit}e{power}") for power in range(-6, 12) for digit in (1, 1.5, 2, 3, 5, 7)
    ]
    written = {
        number: f"{short_number(100 * number)} %" if unit == "%" else with_unit(number, unit)
        for number in numbers
    }
    options = [(written[number], number) for number in numbers if low <= number <= high]
    return widgets.SelectionSlider(options=[*options, *more], value=value, description=name, **LOOK)


def whole(name, value, low, high, step=1):
    """A slider over whole numbers."""
    return widgets.IntSlider(value, low, high, step, description=name, **LOOK)


def real(name, value, low, high, step, form=".2f"):
    """A slider over numbers."""
    return widgets.FloatSlider(
        value=value, min=low, max=high, step=step, readout_format=form, description=name, **LOOK
    )
