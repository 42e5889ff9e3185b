"""Errors as a reader of a notebook sees them: the message, and the reader's own lines."""

import os
import re
import subprocess
import sys

import nbclient
import nbformat
import pytest

CELLS = [
    """import netlab as nl
def lossy(loss):
    return nl.Experiment(nl.wan(loss=loss), nl.Iperf3("h1", "h2"))""",
    "path = nl.wan(\n    delay=20)",
    "nl.sweep(lossy, loss=[1])",
    "%xmode Verbose\nnl.wan(delay=20)",
]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The text of each cell's error."""
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    os.environ["IPYTHONDIR"] = str(tmp_path_factory.mktemp("ipython"))
    nbclient.NotebookClient(notebook, kernel_name="python3", allow_errors=True).execute()
    del os.environ["IPYTHONDIR"]
    texts = ["\n".join(one.outputs[-1].get("traceback", [])) for one in cells if one.outputs]
    return [re.sub(r"\x1b\[[0-9;]*m", "", text) for text in texts]


def test_a_notebook_shows_the_message_and_the_reader_s_own_lines(shown):
    bad_call, in_sweep, _ = shown
    assert bad_call.startswith("SpecificationError: wan.delay = 20: ")
    assert "\nCell In[2], line 1:  path = nl.wan(\n" in bad_call
    assert len(bad_call.splitlines()) == 4 and ".py" not in bad_call
    assert (
        "\nCell In[3], line 1:  nl.sweep(lossy, loss=[1])\nCell In[1], line 3:  return" in in_sweep
    )


def test_all_lines_are_shown_to_who_asks_for_them(shown):
    assert "%xmode Verbose and then %tb" in shown[0]
    assert "description.py" in shown[2] and "Cell In[4], line 2" in shown[2]


def test_elsewhere_the_traceback_is_python_s():
    code = "import netlab as nl; nl.wan(delay=20)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "description.py" in done.stderr and "SpecificationError: wan.delay" in done.stderr
