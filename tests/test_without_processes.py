"""Python in a browser (Pyodide) has neither processes nor Jupyter. Models, readers, plots and
recorded results work there.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import netlab as nl
from netlab.engines import recorded

ROOT = Path(__file__).parents[1]
# This interpreter stands for one in a browser.
# ABSENT: modules that nobody can import there.
# USELESS: the standard library has them there, and what they do fails. pandas imports
#   `subprocess` (through `platform`), `signal` and `selectors`, plotly `socket`: they may, and
#   never call them; netlab may not, so its own imports are refused.
BROWSER = """
import builtins, sys
from importlib.abc import MetaPathFinder

ABSENT = {
    "fcntl", "termios", "tty", "pty", "resource", "pwd", "grp", "syslog", "curses", "lzma",
    "_multiprocessing", "IPython", "anywidget", "ipykernel", "ipywidgets", "jupyter_client",
    "jupyter_core", "jupyterlab", "nbclient", "nbconvert", "nbformat", "nbval", "papermill",
    "traitlets", "click", "rich", "typer", "psutil",
}
USELESS = {
    "asyncio", "http", "multiprocessing", "select", "selectors", "signal", "socket",
    "socketserver", "ssl", "subprocess", "urllib",
}

class Browser(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r} in a browser", name=name)

for name in ABSENT & sys.modules.keys():
    sys.modules[name] = None
sys.meta_path.insert(0, Browser())
plain_import = builtins.__import__

def browser_import(name, globals=None, *rest, **named):
    importer = (globals or {}).get("__name__", "")
    if importer.partition(".")[0] == "netlab" and name.partition(".")[0] in USELESS:
        raise ImportError(f"{importer} imports {name}")
    return plain_import(name, globals, *rest, **named)

builtins.__import__ = browser_import
"""


def in_browser(code, *arguments, folder=ROOT):
    environment = {key: value for key, value in os.environ.items() if key != "NETLAB_ENGINE"}
    return subprocess.run(
        [sys.executable, "-c", BROWSER + code, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment | {"PYTHONPATH": str(folder), "PYTHONSAFEPATH": "1"},
    )


def printed(code, *arguments):
    done = in_browser(code, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("module", ["subprocess", "fcntl", "typer", "ipywidgets"])
def test_the_stand_in_for_a_browser_refuses_what_it_should(module, tmp_path):
    (tmp_path / "netlab.py").write_text(f"import {module}\n")
    done = in_browser("import netlab", folder=tmp_path)
    assert "ImportError" in done.stderr or "ModuleNotFoundError" in done.stderr


def test_every_name_of_netlab_is_there():
    code = "import netlab; print(*[name for name in netlab.__all__ if getattr(netlab, name, 0)])"
    assert printed(code).split() == nl.__all__


def test_every_module_but_those_of_engines_commands_and_explorers_can_be_imported():
    course = "course.adapters", "course.grading"
    away = "cli", *course, "engines.", "explore", "__main__", "simpleperf"
    away = tuple(f"netlab.{name}" for name in away)
    code = f"""
import importlib, netlab, pkgutil
for module in pkgutil.walk_packages(netlab.__path__, "netlab.", onerror=lambda name: None):
    answers = module.name == "netlab.algorithms.control_process"  # a process of its own
    if not answers and not module.name.startswith({away}):
        importlib.import_module(module.name)
        print(module.name)
"""
    names = printed(code).split()
    assert {"netlab.plots.runs", "netlab.running.sweep", "netlab.topology.miniedit"} <= {*names}


def test_models_readers_and_plots_work():
    code = """
from netlab import fairness, models, plots, readers, units

out = readers.read_iperf3("tests/data/iperf3/3.18-tcp-8.json")
print(fairness.jain_index(out.streams.received_bps))
print(*models.mathis_bps(1448, units.delay_s("20ms"), [0.001, 0.01]))
trace = models.slow_start_trace(1448, 0.02, 1)
print(len(plots.aimd({"one": trace}).data[0].y))
"""
    out = nl.readers.read_iperf3(ROOT / "tests/data/iperf3/3.18-tcp-8.json")
    index, mathis, points = printed(code).splitlines()
    assert float(index) == nl.jain_index(out.streams.received_bps) and int(points) > 2
    expected = nl.models.mathis_bps(1448, 0.02, [0.001, 0.01])
    assert [*map(float, mathis.split())] == expected.tolist()


def test_a_recorded_result_is_found_drawn_saved_and_loaded(tmp_path):
    """`nl.run` takes records where no engine works; Pyodide has lzma as a package of its own."""
    texts = [entry.experiment for _, entry in recorded.records().entries()]
    text = next(one for one in texts if '"traffic": [{"kind": "iperf3", "src": "h1"' in one)
    (tmp_path / "experiment.json").write_text(text)
    code = """
import netlab as nl

ABSENT.discard("lzma")
del sys.modules["lzma"]
folder = sys.argv[1]
with open(f"{folder}/experiment.json") as file:
    result = nl.run(nl.Experiment.from_json(file.read()))
print(len(nl.plots.throughput(result).data))
result.save(f"{folder}/saved")
print(*nl.load(f"{folder}/saved").streams.received_bps)
"""
    why, traces, rates = printed(code, tmp_path).splitlines()
    assert why.startswith("recorded: 1 result of earlier runs on guest")
    assert "as guest: it starts processes, which this Python cannot do" in why
    result = nl.run(nl.Experiment.from_json(text), engine="recorded")
    assert int(traces) == len(nl.plots.throughput(result).data)
    assert list(map(float, rates.split())) == result.streams.received_bps.tolist()


def test_an_engine_that_needs_processes_says_so():
    done = in_browser("import netlab as nl; nl.Network(nl.wan('10mbit'), engine='guest')")
    assert done.stderr.splitlines()[-1].startswith(
        "netlab.errors.EngineError: it starts processes, which this Python cannot do"
    )


MISSING = "`pip install 'anywidget>="  # the packages of the extra: netlab itself is on no registry


def test_explorers_name_the_extra_where_it_is_missing():
    code = """
USELESS -= {"asyncio", "signal"}  # which they use once they are there
try:
    from netlab import explore
except ImportError as error:
    import netlab
    print(isinstance(error, netlab.MissingPackageError), error)
"""
    assert printed(code).startswith("True ipywidgets is not installed") and MISSING in printed(code)


@pytest.mark.parametrize("command", ["summary", "record"])
def test_commands_on_notebooks_name_the_extra_where_it_is_missing(command, tmp_path):
    (tmp_path / "notebook.ipynb").write_text("{}")
    code = "ABSENT -= {'typer', 'click', 'rich'}\nfrom netlab.cli import main\nmain()"
    done = in_browser(code, command, tmp_path / "notebook.ipynb")
    assert done.returncode == 1 and MISSING in done.stderr and "Traceback" not in done.stderr
