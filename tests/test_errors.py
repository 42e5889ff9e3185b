"""Errors as a reader of a notebook sees them: the message, and the reader's own lines."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbclient
import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell

import netlab
from netlab.errors import _readers_lines

CELLS = [
    """import netlab as nl
def lossy(loss):
    return nl.Experiment(nl.wan(loss=loss), nl.Iperf3("h1", "h2"))""",
    "path = nl.wan(\n    delay=20)",
    "nl.sweep(lossy, loss=[1])",
    """try:
    open("/nowhere")
except OSError as problem:
    error = nl.NetlabError("could not")
    error.add_note("the file is on the other disk")
    raise error from problem""",
    """def deep(n):
    return deep(n - 1) if n else nl.wan(delay=20)
deep(100)""",
    """try:
    raise OSError("no such disk")
except OSError as problem:
    raise nl.NetlabError("could not: no such disk") from problem""",
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
    bad_call, in_sweep, raised, recursion, told, verbose = shown
    assert bad_call.startswith("SpecificationError: wan.delay = 20: ")
    assert "\nCell In[2], line 1:  path = nl.wan(\n" in bad_call
    assert len(bad_call.splitlines()) == 4 and ".py" not in bad_call
    assert "%xmode Verbose and then %tb" in bad_call
    lines = "\nCell In[3], line 1:  nl.sweep(lossy, loss=[1])\nCell In[1], line 3:  return"
    assert lines in in_sweep
    assert raised.splitlines()[:5] == [
        "NetlabError: could not",
        "the file is on the other disk",
        "caused by FileNotFoundError: [Errno 2] No such file or directory: '/nowhere'",
        "",
        "Cell In[4], line 6:  raise error from problem",
    ]
    assert len(recursion.splitlines()) < 16 and "\n... 92 more lines ...\n" in recursion
    assert "Cell In[5], line 3:  deep(100)\n" in recursion
    assert "caused by" not in told  # what the message says is not said again
    assert "description.py" in verbose and "Cell In[7], line 2" in verbose


def test_a_folder_beside_netlab_that_is_named_alike_is_the_reader_s():
    beside = Path(netlab.__file__).parent.with_name("netlab_course.py")
    code = "import netlab as nl\ndef path():\n    return nl.wan(delay=20)"
    mine = {"__name__": "netlab_course"}
    exec(compile(code, beside, "exec"), mine)
    with pytest.raises(netlab.NetlabError) as error:
        mine["path"]()
    found = "\n".join(_readers_lines(InteractiveShell(), error.tb))
    assert f"File {beside}, line 3" in found and "description.py" not in found


def test_in_a_terminal_the_reader_s_lines_are_shown_and_elsewhere_python_s(tmp_path):
    ipython = ["-m", "IPython", "--simple-prompt", "--colors=NoColor"]
    typed = "import netlab as nl\nnl.wan(delay=20)\n"
    shown, printed = (
        subprocess.run(
            [sys.executable, *words],
            input=typed,
            env=os.environ | {"IPYTHONDIR": str(tmp_path)},
            capture_output=True,
            text=True,
        )
        for words in (ipython, ["-"])
    )
    assert ", line 1:  nl.wan(delay=20)\n" in re.sub(r"\x1b\[[0-9;]*m", "", shown.stdout)
    assert "description.py" not in shown.stdout
    assert "description.py" in printed.stderr and "SpecificationError: wan.delay" in printed.stderr
