"""No command runs, or takes anything from, what lies in the working directory: it may be a folder
that a student handed in.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import netlab as nl
from netlab.engines import mininet, workers
from netlab.engines.jail.contents import compile_all, contents

ROOT = Path(__file__).parents[1]
NETLAB = Path(sys.executable).with_name("netlab")
MODULES = [
    *sorted(sys.stdlib_module_names - {*sys.builtin_module_names}),
    *("numpy", "pandas", "plotly", "networkx", "pydantic", "typer", "click", "tqdm", "jinja2"),
    *("nbformat", "nbconvert", "nbclient", "papermill", "IPython", "bs4", "mistune", "netlab"),
    *("sitecustomize", "usercustomize", "ipython_config", "jupyter_config", "nbgrader_config"),
    *("jupyter_nbconvert_config", "kaleido", "nbgrader", "packaging", "yaml", "course"),
]
TEMPLATE = "{{ cycler.__init__.__globals__.os.system('echo template >>run') }}"


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """The working directory: whatever of it is run adds a line to its file ``run``."""
    run = tmp_path / "run"
    for name in MODULES:
        code = f"with open({str(run)!r}, 'a') as file:\n    file.write({name + ' '!r})\n"
        (tmp_path / f"{name}.py").write_text(code)
    for name in ("page", "lab/index.html.j2", "lab/base.html.j2", "base/index.html.j2"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(TEMPLATE)
    (tmp_path / "lab/conf.json").write_text('{"base_template": "base"}')
    (tmp_path / "a.pth").write_text("import json; import lzma")
    (tmp_path / "pip.conf").write_text("nothing that can be read")
    monkeypatch.chdir(tmp_path)
    return run


def prepared(folder):
    """Files to name: a notebook, a report of iperf3, an experiment."""
    shutil.copy(next((ROOT / "notebooks").glob("01-*.ipynb")), folder / "notebook.ipynb")
    shutil.copy(ROOT / "tests/data/iperf3/3.18-tcp-8.json", folder / "report.json")
    experiment = nl.Experiment(nl.wan("10mbit"), nl.Ping("h1", "h2", count=1))
    (folder / "experiment.json").write_text(experiment.to_json())


@pytest.mark.skipif(not NETLAB.exists(), reason="netlab was not installed as a command")
@pytest.mark.parametrize(
    "words",
    [
        "engine info",
        "fairness report.json",
        "course check notebook.ipynb",
        "course release ps1 -o released --course {root}/notebooks/assignments",
        "summary notebook.ipynb",
        "run experiment.json -o result",
        pytest.param("pages notebook.ipynb -o pages", marks=pytest.mark.long),
        pytest.param("pictures notebook.ipynb", marks=pytest.mark.long),
        pytest.param("student-copy notebook.ipynb -o copy", marks=pytest.mark.long),
    ],
)
def test_a_command_takes_nothing_but_the_file_that_is_named(planted, words):
    prepared(planted.parent)
    done = subprocess.run(
        [NETLAB, *words.format(root=ROOT).split()],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1) and "Traceback" not in done.stderr, done.stderr
    assert done.stdout + done.stderr
    assert not planted.exists(), planted.read_text()


@pytest.mark.parametrize("given", ["", f":{ROOT}", ".", "elsewhere"])
def test_a_worker_imports_nothing_of_it(planted, given, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", given)
    job = {"source": "ps1.ipynb", "runs": "runs", "key": "", "secret": None}
    failure = workers.Workers("netlab.course.grading.worker", 60).work_on(job)
    assert "ps1.ipynb" in failure and "NetlabError" in failure  # it got as far as the source
    assert not planted.exists(), planted.read_text()


def test_a_worker_is_told_no_more_of_the_environment_than_it_needs(monkeypatch):
    monkeypatch.setenv("A_SECRET", "swordfish")
    monkeypatch.setenv("NETLAB_CACHE", "/somewhere")
    assert "A_SECRET" not in workers.environment()
    assert workers.environment()["NETLAB_CACHE"] == "/somewhere"


def test_byte_code_of_a_jail_is_made_by_the_jails_own_library(planted):
    own = planted.parent / "own"
    own.mkdir()
    (own / "module.py").write_text("a = 1\n")
    compile_all(contents()[0], own)
    assert list(own.glob("__pycache__/module.*.pyc"))
    assert not planted.exists(), planted.read_text()


def test_the_look_for_mininet_imports_nothing_of_it(planted):
    code = "import colorsys; print(colorsys.__name__)"
    assert mininet.output(sys.executable, "-c", code) == "colorsys"
    assert not planted.exists(), planted.read_text()
