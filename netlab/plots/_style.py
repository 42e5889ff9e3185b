"""The style that all figures share."""

from itertools import cycle
from math import ceil
from textwrap import wrap

import plotly.graph_objects as go

# Colour-blind people can tell them apart: after Okabe and Ito, and each at least 21 units of CIELAB
# from every other and from INK, with and without red or green (tests/plots/test_all.py)
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#882CDB", "#F2A100", "#2BB3C9", "#8A3414", "#6A5470",
)  # fmt: skip
INK, FAINT = "#222222", "#6E6E6E"
DASHES = "solid", "dash", "dot", "dashdot"
SYMBOLS = "circle", "diamond-open", "square-open", "triangle-up-open"

_AXIS = dict(
    showline=True, linecolor=INK, gridcolor="#E3E3E3", zeroline=False, ticks="outside",
    automargin=True, exponentformat="none", title_standoff=10,
)  # fmt: skip
_SUBTITLE = dict(size=15, color=FAINT)
# below the figure, as wide as it is; the space that it takes is taken from the plot
_LEGEND = dict(
    orientation="h", x=0, xref="container", y=0, yref="container", yanchor="bottom",
    font_size=15, itemsizing="constant", tracegroupgap=0, bgcolor="rgba(0,0,0,0)",
)  # fmt: skip
_TITLE = dict(
    x=0, xref="container", pad=dict(l=16, t=14), font_size=20, subtitle_font=_SUBTITLE,
    y=1, yref="container", yanchor="top", automargin=True,
)  # fmt: skip
# of a trace that says nothing else
_HOVER = go.Scatter(hovertemplate="%{x:.4~g}: %{y:.4~g}<extra>%{fullData.name}</extra>")
TEMPLATE = go.layout.Template(data=dict(scatter=[_HOVER]), layout=dict(
    font=dict(family="Arial, Helvetica, sans-serif", size=16, color=INK), title=_TITLE,
    colorway=COLOURS, hoverlabel_font_size=15, paper_bgcolor="white", plot_bgcolor="white",
    xaxis=_AXIS, yaxis=_AXIS, legend=_LEGEND, margin=dict(l=60, r=20, t=30, b=20),
))  # fmt: skip
"""The look of netlab's figures: ``go.Figure(layout_template=netlab.plots.TEMPLATE)``."""


def apply_style(fig, title="", subtitle="", **layout):
    """The figure in netlab's style, with a description of it in ``layout.meta``.

    `layout` has priority over the style. The figure is as wide as the page; its height has room for
    title and legend on a page of 550 px.
    """
    shown = [trace.name for trace in fig.data if trace.name and trace.showlegend is not False]
    shown = list(dict.fromkeys(shown))
    rows, lines = ceil(sum(45 + 8 * len(name) for name in shown) / 520), wrap(subtitle, 76)
    height = 380 + 22 * rows + 50 * bool(title) + 28 * len(lines)
    style = dict(template=TEMPLATE, height=height, showlegend=True)
    style |= dict(title_text=title, title_subtitle_text="<br>".join(lines))
    fig.update_layout(**style | layout)
    title, axes = fig.layout.title, [*fig.select_xaxes(), *fig.select_yaxes()]
    axes = [axis.title.text for axis in (*axes, fig.layout.coloraxis.colorbar)]
    words = title.text, title.subtitle.text, ", ".join(filter(None, axes)), ", ".join(shown)
    description = ". ".join(filter(None, words)).replace("<br>", " ")
    return fig.update_layout(meta=dict(description=description))


def each(items, *looks):
    """The items, each with one of each kind of look, such as COLOURS; looks repeat."""
    return zip(items, *map(cycle, looks), strict=False)


def from_0(title):
    """An axis that begins at 0."""
    return dict(title=title, rangemode="tozero")
