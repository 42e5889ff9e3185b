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
        ("\n%%bash\nls", "runs no %%bash"),
        ("%%time\nimport scipy", "no scipy"),
        ("%%timeit -n 1 -r1 import scipy\nx = 1", "no scipy"),
        ("%time x = pd.read_csv('a.csv')", "none of your files"),
        ("%timeit -n1 import scipy", "no scipy"),
        ("%%capture out\n%%time\n!ls", "no commands"),
        ("ok = (a\n% b)\nimport scipy", "no scipy"),
        ("files = !ls", "no commands"),
        ("!!ls", "no commands"),
        ("%sx ls", "no commands"),
        ("%system ls", "no commands"),
        ("for host in hosts:\n    !ping {host}", "no commands"),
        ("!python -m pip install scipy", "installs nothing: pip"),
        ("x = !{sys.executable} -m pip install scipy", "installs nothing: pip"),
        ("get_ipython().system('ls')", "no commands"),
        ("get_ipython().run_line_magic('pip', 'install scipy')", "installs nothing"),
        ("os.system('ls')", "no commands"),
        ("subprocess.run(['ls', '-l'])", "no commands"),
        ("subprocess.check_call([sys.executable, '-m', 'pip', 'install', 'scipy'])", "installs"),
        ("%run mine.py", "none of your files"),
        ("rate = float(input('rate? '))", "nobody answers input()"),
        ("os._exit(1)", "ends the whole notebook"),
        ("with open('a.csv') as file:\n    x = file.read()", "none of your files"),
        ("Path('a.json').read_text()", "none of your files"),
        ("Path('a.json').open()", "none of your files"),
        ("name = 'a.csv'\npd.read_csv(name)", "none of your files"),
        ("np.loadtxt(f'{name}.csv')", "none of your files"),
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
        "ok = (a\n!= b)",
        "ok = (a\n      % b)",
        'text = """\n!ls\n%pip install scipy\n%%bash\n"""',
        "%%on h1\npython3 -c 'import scipy'\nopen a",
        "%%time\nx = 1",
        "%time x = 1",
        "nl.run?",
        "pd.read_csv(io.StringIO(t))",
        "np.loadtxt(io.StringIO(t))",
        "np.loadtxt(['1 2', '3 4'])",
        "buffer = StringIO(t)\nwith buffer as file:\n    pd.read_csv(file if file else buffer)",
        "buffer = StringIO(t)\npd.read_csv(buffer)",
        "pd.read_csv(BytesIO(net.files['h1']['a.csv'].encode()))",
        "with open('mine.txt', 'w') as file:\n    file.write('x')",
        "Path('mine.txt').write_text('x')",
        "net.run('h1', 'ls'); executor.run(['ls'])",
        "!ls\n" * 3_000,
        "\n" * 300_000 + "!",
        f"get_ipython().run_line_magic('time', '{'-1' * 100_000}')",
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
        assert nl.check_kind(5).verdict == nl.check_kind(6).verdict == "noted"
    assert len([one for one in told if "matplotlib" in str(one.message)]) == 1
