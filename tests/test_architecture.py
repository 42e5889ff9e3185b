"""The structure that docs/architecture.md draws: levels, no import upward, no circle, no riddle."""

import ast
import os
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "netlab"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
# From the top; a module imports from its own level (its own folder only) or from below.
LEVELS = [
    ["__main__"],
    ["cli", "explore"],
    ["course"],
    ["running"],
    ["experiment"],
    ["traffic", "plots"],
    ["topology", "engines"],
    ["algorithms"],
    ["models", "fairness", "readers", "description", "simpleperf"],
    ["units", "errors"],
]
LEVEL = {name: number for number, names in enumerate(LEVELS) for name in names}


def imported(module):
    """The modules of netlab that a module imports, anywhere in it."""
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            while name.startswith("netlab") and name not in MODULES:
                name = name.rpartition(".")[0]
            if name.startswith("netlab"):
                yield name


GRAPH = {module: set(imported(module)) - {module} for module in MODULES}


def room(module):
    """The file or folder of netlab that a module is in; the front door is its own."""
    return module.split(".")[1] if "." in module else "netlab"


def test_there_are_fewer_than_twenty_files_and_folders_at_the_top():
    names = [path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"]
    assert len(names) < 20


def test_running_is_fourteen_modules_that_the_glossary_names():
    names = [name.split(".")[2] for name in MODULES if name.startswith("netlab.running.")]
    glossary = (
        (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split("## Glossary")[1]
    )
    assert len(names) <= 14
    for name in names:
        word = name.removesuffix("s").replace("_", " ")
        assert re.search(rf"^\|[^\n]*\b{word}", glossary, re.M), name


def test_every_room_has_its_level():
    assert {room(module) for module in MODULES} - {"netlab"} == LEVEL.keys()


@pytest.mark.parametrize("module", [name for name in MODULES if name != "netlab"])
def test_nothing_imports_upward(module):
    own = LEVEL[room(module)]
    for other in GRAPH[module]:
        if other == "netlab":
            assert own < LEVEL["running"], f"{module} imports the front door, which lies above it"
        elif room(other) != room(module):
            assert LEVEL[room(other)] > own, f"{module} imports {other}, which is not below it"


def test_what_students_hand_in_flows_one_way_through_the_course():
    """Answers are in notebooks, these become marks, and marks go out: no import the other way."""
    levels = {"answers": 0, "checks": 1, "sets": 2, "handed_in": 2, "grading": 3, "adapters": 4}
    assert levels.keys() == {path.parent.name for path in (PACKAGE / "course").glob("*/*.py")}
    inside = {name: re.match(r"netlab\.course\.(\w+)", name) for name in MODULES}
    level = {
        name: levels[found[1]] for name, found in inside.items() if found and found[1] in levels
    }
    for module in level:
        for other in GRAPH[module] & level.keys():
            assert level[other] <= level[module], f"{module} imports {other}, which lies above it"


def test_there_are_no_circles():
    graph = {module: set(others) for module, others in GRAPH.items()}
    for module, others in graph.items():  # a package that offers its own modules is no circle
        if MODULES[module].name == "__init__.py":
            for inner in [other for other in others if other.startswith(f"{module}.")]:
                graph[inner] = graph[inner] - {module}
    list(TopologicalSorter(graph).static_order())


def test_no_module_asks_an_object_what_it_is():
    """`hasattr` is what code does that has no contract."""
    found = [
        module for module, path in MODULES.items() if re.search(r"\bhasattr\(", path.read_text())
    ]
    assert [name for name in found if not name.startswith("netlab.explore")] == []


def test_nothing_waits_with_what_knows_1024_descriptors():
    found = [name for name, path in MODULES.items() if "select.select(" in path.read_text()]
    assert found == []


def test_only_engines_start_processes():
    starts = re.compile(r"\b(subprocess|os\.(fork|exec\w+|spawn\w+|system|popen)|Popen)\b")
    found = {module for module, path in MODULES.items() if starts.search(path.read_text())}
    # these name what they refuse
    found -= {"netlab.algorithms.control_process", "netlab.course.graders_python"}
    assert {room(module) for module in found} <= {"engines"}


def test_run_result_and_sweep_know_no_kind_of_traffic():
    kinds = re.compile(r"\b(Iperf3|Ping|Nstat|Shell|isinstance\(item)\b")
    for name in ("run", "sweep", "unfinished"):
        tree = ast.parse(MODULES[f"netlab.running.{name}"].read_text())
        for node in ast.walk(tree):  # docstrings may give examples
            if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
                node.body = [one for one in node.body if not isinstance(one, ast.Expr)] or [
                    ast.Pass()
                ]
        assert not kinds.search(ast.unparse(tree)), name


def test_architecture_md_names_every_room():
    text = (ROOT / "docs/architecture.md").read_text()
    for name in LEVEL.keys() - {"__main__"}:
        assert re.search(rf"`{name}(/|\.py)`", text), name


def test_the_tests_of_a_file_run_on_one_worker(request):  # pytest-xdist #1386
    if "PYTEST_XDIST_WORKER" not in os.environ:
        pytest.skip("there is one process only")
    assert request.node.nodeid.endswith("@tests/test_architecture.py")
