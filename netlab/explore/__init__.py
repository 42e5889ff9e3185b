"""Sliders, a model and measurements in one figure, for JupyterLab, Notebook and Voila: ``from
netlab import explore``.

Each function gives an `Explorer`, a widget that Jupyter shows if it is the last line of a cell. The
model's curves follow the sliders, where there is a model. The button runs the experiment that the
sliders describe; the sliders can be moved while it runs.

`panel` shows a network that is up, for what is typed on it.
"""

from netlab.errors import needs_notebooks

with needs_notebooks():
    from netlab.explore._explorer import Explorer
    from netlab.explore.duel import race
    from netlab.explore.loss import mathis
    from netlab.explore.panel import panel
    from netlab.explore.plane import aimd
    from netlab.explore.shares import fairness

__all__ = ["Explorer", "aimd", "fairness", "mathis", "panel", "race"]
