"""What of an algorithm becomes part of its experiment, and what comes back from there."""

import gc
import importlib
import json
import linecache
import math
import os
import random as chance
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from math import sqrt
from multiprocessing import get_context

import nbclient
import nbformat
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.interactiveshell import InteractiveShell

import netlab as nl
from netlab.algorithms import AIMD, Reno
from netlab.algorithms.source import algorithm, literal, plain

PATH = nl.wan("100mbit", "20ms", burst=15_000, limit=250_000, pairs=1)
STEP, SHARES, NEVER = 3, {"low": [0.1, (2, 3)], "none": []}, math.inf
FRAME = pd.DataFrame({"a": [1]})
TWICE = lambda number: 2 * number  # noqa: E731 - lambdas are what is tested


def doubled(number):
    return number * SHARES["low"][1][0]


def step():
    return doubled(STEP) / 6


def run(congestion, **options):
    return nl.run(PATH, nl.Iperf3("h1", "h2", congestion=congestion, time=1), **options)


def executed(cls):
    """The class that the source gives, executed as the process that answers does it."""
    found = algorithm(cls)
    known = {"CongestionControl": nl.CongestionControl, "netlab": nl, "__name__": "algorithm"}
    exec(compile(found.source, "<algorithm>", "exec"), known)
    return known[found.name]


class Mine(nl.CongestionControl):
    """Uses what its module has."""

    def on_ack(self, tcp, acked):
        tcp.cwnd += step() * acked / sqrt(tcp.cwnd * tcp.cwnd)

    def on_loss(self, tcp):
        tcp.ssthresh = min(tcp.cwnd / 2, NEVER)


@pytest.fixture(scope="module")
def mine():
    return run(Mine)


def test_helpers_constants_and_imports_come_along_in_an_order_that_can_be_executed():
    source = algorithm(Mine).source
    before = {"def doubled": ["SHARES = {"], "def step": ["STEP = 3", "def doubled"]}
    for text, needed in (before | {"class Mine": ["def step", "NEVER ="]}).items():
        assert all(source.index(one) < source.index(text) for one in needed)
    assert "from math import sqrt" in source
    assert 'NEVER = float("inf")' in source
    assert "def executed" not in source and "pandas" not in source, "and nothing else"
    assert executed(Mine).on_ack.__globals__["step"]() == step() == 1


def test_a_class_that_uses_all_this_runs_as_the_one_that_says_it_in_place(mine):
    class Same(nl.CongestionControl):
        def on_ack(self, tcp, acked):
            tcp.cwnd += acked / tcp.cwnd

        def on_loss(self, tcp):
            tcp.ssthresh = tcp.cwnd / 2

    assert mine.raw == run(Same).raw


def test_what_a_class_in_a_function_names_comes_along():
    pace, steps = 20e6, [1, 2]

    class Local(nl.CongestionControl):
        def start(self, tcp):
            tcp.pacing_bps = pace
            tcp.cwnd = steps[1] + np.ceil(math.pi) + chance.randint(0, 0)

    lines = algorithm(Local).source.splitlines()
    for line in (
        *("pace = 20000000.0", "steps = list([1, 2])", "nl = netlab"),
        *("import numpy as np", "import math", "import random as chance"),
    ):
        assert line in lines
    assert lines.count("class Local(nl.CongestionControl):") == 1
    assert executed(Local).__name__ == "Local"
    assert run(Local).flows.received_bps[0] > 0


def test_bases_come_along():
    class Base(nl.CongestionControl):
        step = 2

        def on_ack(self, tcp, acked):
            tcp.cwnd += self.step * acked / tcp.cwnd

    class Own(Base):
        step = 3

    class Gentle(nl.algorithms.Reno):
        decrease = 0.3

    class Louder(Reno):
        def on_loss(self, tcp):
            super().on_loss(tcp)
            tcp.ssthresh += 0

    assert algorithm(Own).source.index("class Base(") < algorithm(Own).source.index("class Own(")
    assert executed(Own).__mro__[1].__name__ == "Base" and executed(Own).step == 3
    assert executed(Gentle).decrease == 0.3 and executed(Gentle).increase == 1
    assert "netlab" not in algorithm(Gentle).source.replace("nl = netlab", "")
    assert run(Louder).raw == run(Reno).raw


def another_step():
    class step(nl.CongestionControl):
        pass

    return step


class Both(another_step()):
    def on_ack(self, tcp, acked):
        tcp.cwnd += step()


class Framed(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwnd = FRAME.a[0]


class Called(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwnd = TWICE(tcp.cwnd)


class Given(nl.CongestionControl):
    def __init__(self, table):
        self.table = table


@pytest.mark.parametrize(
    ("congestion", "words"),
    [
        (Both, "two different things are called step"),
        (Framed, r"(?s)FRAME is .*type DataFrame"),
        (Called, "lambda"),
        (Given(FRAME), r"(?s)Given's table is .*type DataFrame"),
        *((Given(keys), "key") for keys in ({1: 0.5}, [{"a": {None: 1}}], {(1, 2): 3})),
        (Given, r"Give it as Given\(...\)"),
        (nl.CongestionControl, "derive a class"),
        (dict, "derives from netlab.CongestionControl"),
    ],
)
def test_what_cannot_be_written_down_is_refused_by_its_name(congestion, words):
    with pytest.raises(nl.SpecificationError, match=words):
        nl.Iperf3("h1", "h2", congestion=congestion)


@pytest.mark.parametrize("name", ["", "a b", "Mine\n", "<b>", "1st", "class", "M" * 101, 3, None])
def test_a_name_that_no_class_can_have_is_refused(name):
    algorithm = {"name": name, "parameters": {}, "source": "class Mine(CongestionControl): pass"}
    text = experiment(Mine).to_json()
    congestion = json.loads(text)["traffic"][0]["congestion"]
    forged = text.replace(json.dumps(congestion["name"]), json.dumps(name))
    for make in (
        lambda: nl.Iperf3("h1", "h2", congestion=algorithm),
        lambda: nl.Experiment.from_json(forged),
    ):
        with pytest.raises(nl.SpecificationError, match=r"Algorithm\.name"):
            make()
    assert (
        nl.Iperf3("h1", "h2", congestion=algorithm | {"name": "Größe"}).congestion.name == "Größe"
    )


def test_parameters_are_plain_numbers_and_texts():
    assert algorithm(Given({"1": [{"a": 2}]})).parameters == {"table": {"1": [{"a": 2}]}}
    found = algorithm(AIMD(np.float64(0.06), np.int64(8)))
    assert found == algorithm(AIMD(0.06, 8)) and str(found) == "AIMD(0.06, 8)"
    other = algorithm(AIMD(increase=8, decrease=0.06))  # found again by its text
    assert found.model_dump_json() == other.model_dump_json()
    assert json.loads(found.model_dump_json())["parameters"] == {"decrease": 0.06, "increase": 8}


numbers, texts = st.integers() | st.floats(allow_nan=False), st.text() | st.binary()
PLAIN = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers(), inner)
        | st.sets(st.integers() | st.text())
        | st.frozensets(st.integers())
    ),
    max_leaves=12,
)


@given(PLAIN)
def test_a_constant_means_the_same_where_it_is_executed(value):
    back = eval(literal(plain(value, "it")))
    assert back == value and type(back) is type(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({9, 10}, "set([10, 9])"),
        (frozenset({9, 10, "a"}), "frozenset(['a', 10, 9])"),
        ({"b": {9, 10}}, "{'b': set([10, 9])}"),
        ([9, 10, 2], "list([9, 10, 2])"),
        ((9, 10, 2), "tuple([9, 10, 2])"),
        (math.nan, 'float("nan")'),
        (-0.0, "-0.0"),
    ],
)
def test_constants_are_written_in_one_way(value, text):
    """Sets in the order of their texts, whatever a process's hashes are: experiments are found by
    them.
    """
    assert literal(value) == text


def test_an_experiment_from_json_and_from_a_record_runs_to_the_same_bytes(
    mine, tmp_path, monkeypatch
):
    monkeypatch.setenv("NETLAB_RECORDS", str(tmp_path / "records"))
    first = experiment(Mine)
    again = nl.Experiment.from_json(first.to_json())
    assert again == first and again.to_json() == first.to_json()
    (tmp_path / "experiment.json").write_text(first.to_json())
    shown = subprocess.run(
        [sys.executable, "-m", "netlab", "run", "experiment.json", "-o", "left"],
        cwd=tmp_path,
        env=os.environ | {"NETLAB_RECORD": "on"},
        capture_output=True,
        text=True,
    )
    assert shown.returncode == 0, shown.stderr
    recalled = nl.run(again, engine="recorded")
    assert recalled.provenance["recorded"] and recalled.flows.congestion.tolist() == ["Mine"]
    assert mine.raw == recalled.raw
    for name, text in recalled.raw.items():
        assert (tmp_path / "left" / "raw" / f"{name}.txt").read_text() == text
    with pytest.raises(nl.EngineError):
        run(AIMD(0.07, 8), engine="recorded")


def experiment(congestion):
    return nl.Experiment(PATH, nl.Iperf3("h1", "h2", congestion=congestion, time=1))


def test_a_sweep_names_it_and_another_process_runs_it(mine):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        grid = nl.sweep(experiment, congestion=[Mine, AIMD(0.06, 8)], executor=pool)
    assert grid.congestion.tolist() == ["Mine", "AIMD(0.06, 8)"]
    assert grid.columns.is_unique, "an axis that is named like a flow's column keeps its own"
    assert grid.received_bps[0] == mine.flows.received_bps[0]


def test_an_engine_that_does_not_ask_python_refuses():
    about = {"congestion": ["cubic", "reno"]}
    with pytest.raises(nl.SpecificationError, match="does not ask Python; it has cubic, reno"):
        nl.Iperf3("h1", "h2", congestion=Mine).check_engine(about)


class Notebook:
    """The cells of a notebook, run in this process."""

    def __init__(self):
        self.shell = InteractiveShell()
        self.run("import dataclasses, enum, functools, math\nimport netlab as nl")

    def run(self, *cells):
        for cell in cells:
            self.shell.run_cell(cell, store_history=True).raise_error()

    def source(self, name):
        return algorithm(self.shell.user_ns[name]).source


def test_cells_of_a_notebook_the_last_one_that_was_run_counts():
    notebook = Notebook()
    written = """class Mine(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwnd = 10 + 0 * helper(acked)"""
    notebook.run("STEP = 1\ndef helper(acked):\n    return STEP * acked", written)
    first = notebook.source("Mine")
    assert "tcp.cwnd = 10 + 0" in first and first.startswith("STEP = 1\n")
    assert "def helper(acked):\n    return STEP * acked" in first
    notebook.run(written.replace("10", "20"))
    assert "tcp.cwnd = 20 + 0" in notebook.source("Mine")
    notebook.run(
        "STEP = 5", "class Other(Mine):\n    def on_loss(self, tcp):\n        raise ValueError"
    )
    assert notebook.source("Mine").startswith("STEP = 5\n")
    other = notebook.source("Other")
    assert other.index("class Mine") < other.index("class Other")
    assert other.endswith("raise ValueError\n")


def test_threads_may_read_sources_at_a_time():
    """CPython 3.11's parser takes the depths of two threads for one, when the collector of garbage
    lets the other thread in.
    """

    def let_others_in(*_):
        time.sleep(1e-4)

    threshold = gc.get_threshold()
    gc.callbacks.append(let_others_in)
    gc.set_threshold(50)
    try:
        with ThreadPoolExecutor(8) as pool:
            sources = {one.source for one in pool.map(algorithm, [nl.algorithms.AIMD] * 30)}
    finally:
        gc.callbacks.remove(let_others_in)
        gc.set_threshold(*threshold)
    assert len(sources) == 1


MODULE = """
import netlab as nl

def factor():
    return 0.5

class Edited(nl.CongestionControl):
    least = 2
    def on_loss(self, tcp, share=0.5):
        tcp.ssthresh = tcp.cwnd * 0.5 * factor()
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of a student's, and a function that edits it; each edit changes its length."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "edited_by_hand.py"
    file.write_text(MODULE)
    yield (
        importlib.import_module(file.stem),
        lambda old, new: file.write_text(MODULE.replace(old, new)),
    )
    del sys.modules[file.stem]


def test_an_edited_and_reloaded_module_is_what_runs(module):
    module, edit = module
    assert "cwnd * 0.5" in algorithm(module.Edited).source
    edit("cwnd * 0.5", "cwnd * 0.99")
    importlib.reload(module)
    assert "cwnd * 0.99" in algorithm(module.Edited).source


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("cwnd * 0.5", "cwnd * 0.99"),
        ("return 0.5", "return 0.75"),
        ("least = 2", "least = 2.0"),
        ("share=0.5", "share=0.75"),
        ("class Edited", "class Away"),
        ("import netlab as nl", "import netlab as nl\n"),  # and every line is another
    ],
)
def test_a_module_that_was_edited_and_not_reloaded_is_refused(module, old, new):
    module, edit = module
    algorithm(module.Edited)
    edit(old, new)
    with pytest.raises(ValueError, match=r"reload|not known"):
        algorithm(module.Edited)


@pytest.mark.parametrize(
    ("name", "value"),
    [("share", 0.9), ("on_ack", lambda self, tcp, acked: None), ("on_loss", Mine.on_loss)],
)
def test_what_was_set_from_elsewhere_is_refused(name, value):
    class Set(nl.CongestionControl):
        share = 0.5

        def on_loss(self, tcp):
            tcp.ssthresh = tcp.cwnd * self.share

    algorithm(Set)
    setattr(Set, name, value)
    with pytest.raises(ValueError, match=rf"Set\.{name}"):
        algorithm(Set)


HONEST = """
import math
class Mine(nl.CongestionControl):
    asked = 0

    def __init__(self):
        self._gain = 1.0

    @property
    def gain(self):
        return self._gain

    @gain.setter
    def gain(self, value):
        self._gain = value

    def on_ack(self, tcp, acked):
        Mine.asked += 1
        tcp.cwnd += math.exp(-self.gain) * acked / tcp.cwnd
"""


HELPERS = """class Smoother:
    gain = 0.25

    def __init__(self):
        self.value = 0.0

    def add(self, value):
        self.value += self.gain * (value - self.value)
        return self.value


class Phase(enum.Enum):
    SLOW, FAST = "slow", "fast"


@dataclasses.dataclass
class State:
    phase: Phase = Phase.SLOW


@functools.lru_cache
def step(count):
    return 2 * count
"""
USER = """class Helped(nl.CongestionControl):
    def start(self, tcp):
        self.rtt, self.state = Smoother(), State()

    def on_ack(self, tcp, acked):
        self.rtt.add(tcp.rtt_s or 0.0)
        tcp.cwnd += step(1) * (self.state.phase is Phase.SLOW)
"""


@pytest.mark.parametrize("split", [False, pytest.param(True, marks=pytest.mark.long)])
def test_helpers_of_a_notebooks_cells_are_taken_along(split):
    cells = ["import dataclasses, enum, functools\nimport netlab as nl"]
    cells += HELPERS.split("\n\n\n") if split else [HELPERS]
    cells += [USER, "print(nl.Iperf3('h1', 'h2', congestion=Helped).congestion.source)"]
    notebook = nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_code_cell, cells)])
    nbclient.NotebookClient(notebook, kernel_name="python3").execute()
    (shown,) = notebook.cells[-1].outputs
    helped = {"name": "Helped", "parameters": {}, "source": shown.text}
    assert run(helped).flows.received_bps[0] > 4e6


STATE = "@dataclasses.dataclass\nclass State:\n    count: int = 0"
COUNTS = "class Mine(nl.CongestionControl):\n    def start(self, tcp):\n        self.at = State()"


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([HONEST, "Mine.asked += 1"], "math.exp"),  # it changes itself, and imports in its cell
        ([STATE, "class State(:", COUNTS], STATE),  # a cell that Python cannot read hides no helper
    ],
)
def test_cells_that_change_nothing_of_a_source(cells, words, monkeypatch):
    monkeypatch.setitem(linecache.cache, "of a loader, not read yet", (lambda: "",))
    notebook = Notebook()
    for cell in cells:
        notebook.shell.run_cell(cell, store_history=True)
    assert words in notebook.source("Mine")
