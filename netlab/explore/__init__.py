"""Sliders, a model and measurements in one figure, for JupyterLab, Notebook and Voila: ``from
netlab import explore``.

Each function gives an `Explorer`, a widget that shows itself as the last line of a cell. Move its
sliders and the model's curves follow; press its button and netlab runs the experiment that the
sliders describe, while they stay alive.
"""

from netlab.explore._explorer import Explorer
from netlab.explore.loss import mathis
from netlab.explore.plane import aimd
from netlab.explore.shares import fairness

__all__ = ["Explorer", "aimd", "fairness", "mathis"]
