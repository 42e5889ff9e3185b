"""What the explorers' sliders show on a page: each state of a few settings, computed beforehand."""

import ast
import contextlib
import io
import itertools
import os
import re

import numpy as np

# The explorers of notebooks/explorers.ipynb in their order, but for the race, which has no model
GRIDS = (
    {"streams": (1, 2, 4, 8, 16), "loss": (1e-5, 1e-4, 1e-3, 1e-2, 0.1),
     "window": (50e3, 200e3, 1e6, 5e6, np.inf)},
    {"mine": (1, 2, 4, 8), "theirs": (1, 2, 4, 8), "ratio": (1, 2, 4, 8),
     "exponent": (1, 1.5, 2)},
    {"decrease": (0.1, 0.3, 0.5), "step": range(41)},
)  # fmt: skip


def grids(notebook, folder):
    """For each explorer its sliders, and the traces and the sentence of each of their states."""
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    names, found, before = {}, [], os.getcwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(cells[0], names)
            for cell, settings in zip(cells[1:], GRIDS, strict=False):
                *lines, last = ast.parse(cell).body  # its runs are recorded
                exec(compile(ast.Module(lines, []), "cell", "exec"), names)
                explorer = eval(ast.unparse(last), names)
                found.append(grid(explorer, settings))
    finally:
        os.chdir(before)
    return found


def grid(explorer, settings):
    explorer.redraw = lambda: None  # no widget looks on
    sliders, states = [], []
    for name, values in settings.items():
        slider = explorer.sliders[name]
        at = list(values).index(slider.value)
        labels = [label(slider, value) for value in values]
        sliders.append({"name": slider.description, "labels": labels, "at": at})
    for values in itertools.product(*settings.values()):
        for name, value in zip(settings, values, strict=True):
            explorer.sliders[name].value = value
        traces, sentence = explorer.draw()
        drawn = {name: points(trace["x"], trace["y"]) for name, trace in traces.items()}
        states.append({"traces": drawn, "said": re.sub("<[^>]*>", "", sentence)})
    return {"sliders": sliders, "states": states}


def label(slider, value):
    """A value as its slider shows it."""
    slider.value = value
    return getattr(slider, "label", None) or f"{value:g}"


def points(x, y):
    """A curve with fewer points, to four digits; a straight one by its ends."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    if np.isnan(y).all():  # also of none
        return [[None], [None]]
    few = slice(None, None, 2 if len(x) > 60 else 1)
    if len(x) > 2 and np.ptp(y) == 0:
        few = slice(None, None, len(x) - 1)
    return [[float(f"{value:.4g}") for value in values[few]] for values in (x, y)]
