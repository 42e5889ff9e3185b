"""What the grader does not have is told on the student's own machine."""

import sys
import types

import pytest

import netlab as nl
from netlab.course import graders_python
from netlab.engines.jail import contents


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import matplotlib.pyplot as plt", "no matplotlib"),
        ("def f():\n    from scipy import stats", "no scipy"),
        ("import importlib\nimportlib.import_module('seaborn')", "no seaborn"),
        ("__import__('cv2')", "no cv2"),
        ("    import torch", "no torch"),
        ("%pip install scipy\nx = 1", "installs nothing"),
        ("!pip install scipy", "installs nothing"),
        ("x = 1\n!ls", "no commands"),
        ("%%bash\nls", "runs no %%bash"),
        ("open('a.csv')", "none of your files"),
        ("pd.read_csv('a.csv')", "none of your files"),
        ("from . import mine", "none of your files"),
        ("nl.run(path, test, engine='mininet')", "leave engine= out"),
        ("nl.Experiment(path, test, clock='real')", "no clock 'real'"),
    ],
)
def test_what_the_grader_refuses_is_found(source, words):
    found = graders_python.refused(source.strip())
    assert len(found) == 1 and words in found[0]


@pytest.mark.parametrize(
    "source",
    [
        "import math, netlab as nl\nimport pandas as pd, plotly.graph_objects as go",
        "from IPython.display import display\nimport numpy.linalg",
        "%matplotlib inline",
        "nl.run(path, test, seed=my.seed, engine=None, clock='virtual')",
        "x = (",
        "",
        "# import matplotlib",
    ],
)
def test_what_the_grader_has_is_not_warned_of(source):
    assert graders_python.refused(source) == []


def test_what_a_jail_has_is_derived_from_its_packages():
    names = contents.modules()
    assert {"netlab", "pandas", "IPython", "math", "plotly"} <= names
    assert not {"tkinter", "matplotlib", "nbgrader", "pytest"} & names


def test_a_check_warns_once_of_a_module_that_the_grader_lacks(monkeypatch):
    monkeypatch.delenv("NETLAB_STUDENT", raising=False)
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setattr(graders_python, "WARNED", set())
    monkeypatch.setattr(
        sys.modules["__main__"], "plt", types.ModuleType("matplotlib.pyplot"), raising=False
    )
    with pytest.warns(UserWarning, match="no matplotlib") as told:
        assert nl.check(5).verdict == nl.check(6).verdict == "noted"
    assert len([one for one in told if "matplotlib" in str(one.message)]) == 1
