"""Congestion windows over time."""

from itertools import cycle

import plotly.graph_objects as go

from netlab.plots._style import COLOURS, apply_style, check_frame, unit_prefix


def aimd(traces, colours=("#009E73", "#D55E00", COLOURS[0], *COLOURS[3:])):
    """Congestion windows over time.

    Parameters
    ----------
    traces : dict of pandas.DataFrame
        Label -> ``time_s`` [s] and ``cwnd_bytes`` [byte], as `netlab.models.aimd_trace` gives them.
    colours : sequence of str
        Colours of the traces, in their order. Default: green, red, then others.

    Returns
    -------
    plotly.graph_objects.Figure
        The congestion window [MB, kB, ...; 1 kB = 1000 byte] over time [s].
    """
    if not traces:
        raise ValueError("aimd: traces is empty, there is nothing to draw")
    for label, trace in traces.items():
        check_frame(f"aimd, {label!r}", trace, "time_s", "cwnd_bytes")
    scale, unit = unit_prefix("byte", max(trace.cwnd_bytes.max() for trace in traces.values()))
    fig, hover = go.Figure(), f"%{{x:.4~g}} s: %{{y:.4~g}} {unit}"
    for (label, trace), colour in zip(traces.items(), cycle(colours), strict=False):
        look = dict(mode="lines", line=dict(color=colour, width=3), hovertemplate=hover)
        fig.add_scatter(x=trace.time_s, y=trace.cwnd_bytes / scale, name=label, **look)
    yaxis = dict(title=f"congestion window [{unit}]", rangemode="tozero")
    return apply_style(fig, xaxis_title="time [s]", yaxis=yaxis)
