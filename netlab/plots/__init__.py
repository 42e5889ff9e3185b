"""Tidy frames in, `plotly.graph_objects.Figure` out.

Frames are in SI units. A figure chooses the prefix that suits its numbers, and names it in the axis
title. No function shows a figure or changes a frame. A frame that is empty, lacks a column or has
no measured value raises ``ValueError``.
"""

from netlab.plots._style import TEMPLATE
from netlab.plots.competition import index_over_time, matrix, plane
from netlab.plots.distributions import distribution
from netlab.plots.predictions import prediction
from netlab.plots.runs import streams, throughput
from netlab.plots.tables import comparison, loss_onset
from netlab.plots.window_traces import aimd, queues, windows

__all__ = [
    "TEMPLATE", "aimd", "comparison", "distribution", "index_over_time", "loss_onset", "matrix",
    "plane", "prediction", "queues", "streams", "throughput", "windows",
]  # fmt: skip
