"""Files that nobody's Jupyter wrote: each is read or refused in words, in bounded work."""

import copy
import json
import os
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from netlab.cli.commands import app
from netlab.course.grading import recipe
from netlab.course.handed_in import submitted
from netlab.course.handed_in.before import examine
from netlab.course.sets import source
from netlab.errors import NetlabError
from tests import lines_run
from tests.course.compared import repaired

VALUES = [None, True, 5, -1.5, 1e400, "", "text", "\ud800", "\0", [], [5], {}, {"a": [{}]}, [[]]]
SEARCH = settings(
    max_examples=150,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def released(assignment):
    notebook = assignment.release()
    notebook["cells"][2]["outputs"] = [{"output_type": "error", "ename": "E", "traceback": ["x"]}]
    notebook["cells"][0]["attachments"] = {"a.png": {"image/png": "AAAA"}}
    return notebook


def places(value, path=()):
    """Where something can be changed in plain data."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def changed(notebook, path, value):
    if not path:
        return value
    notebook = copy.deepcopy(notebook)
    inside = notebook
    for key in path[:-1]:
        inside = inside[key]
    if value is ...:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return notebook


def read_everywhere(data, assignment, folder):
    """By the grader and by the check; what is refused is refused in words."""
    path = folder / "ps0.ipynb"
    path.write_bytes(data)
    for read in (lambda: repaired(data, assignment), lambda: examine(path)):
        try:
            read()
        except NetlabError as error:
            assert "Traceback" not in str(error) and str(folder.parent) not in str(error)
            assert error.__cause__ is None, f"raised {error.__cause__!r}"


@SEARCH
@given(st.data())
def test_any_value_anywhere_in_a_notebook(assignment, released, tmp_path_factory, data):
    notebook = released
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([*places(notebook)]))
        notebook = changed(notebook, path, data.draw(st.sampled_from([...] * bool(path) + VALUES)))
        if not path:
            break
    text = json.dumps(notebook).encode()
    read_everywhere(text, assignment, tmp_path_factory.mktemp("notebook"))


@SEARCH
@given(st.data())
def test_any_bytes_anywhere_in_a_notebook(assignment, released, tmp_path_factory, data):
    text = bytearray(json.dumps(released).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at : at + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=4))
    read_everywhere(bytes(text), assignment, tmp_path_factory.mktemp("notebook"))


def test_whatever_reading_raises_is_unreadable_and_the_evidence_is_kept(assignment, monkeypatch):
    def stumble(*_):
        raise OSError(2, "No such file", "/home/grader/secret")

    monkeypatch.setattr(submitted, "under", stumble)
    marks = recipe.grade(source.text(assignment.release()).encode(), "ada", assignment, {}, None)
    assert marks.flags == ["unreadable"]
    assert "/home" not in marks.reason and "Error" not in marks.reason
    assert "/home/grader/secret" in marks.evidence


def check(path):
    ran = CliRunner().invoke(app, ["course", "check", str(path)])
    assert ran.exception is None or isinstance(ran.exception, SystemExit | NetlabError)
    return ran


def test_the_check_ends_at_once_on_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / "folder.ipynb").mkdir()
    (tmp_path / "zero.ipynb").symlink_to("/dev/zero")
    (tmp_path / "nowhere.ipynb").symlink_to(tmp_path / "gone")
    for path in sorted(tmp_path.iterdir()):
        ran = check(path)
        assert ran.exit_code != 0 and "ipynb" in f"{ran.output} {ran.exception}"


def test_the_check_reads_no_more_than_a_notebook_may_have(assignment, tmp_path):
    with (tmp_path / "ps0.ipynb").open("wb") as file:
        file.truncate(10**9)
    with pytest.raises(NetlabError, match="MB"):
        examine(tmp_path / "ps0.ipynb")
    (tmp_path / "ps0.ipynb").write_text(json.dumps({"cells": [], "x": "x" * 11_000_000}))
    assert "output too big" in [found.flag for found in examine(tmp_path / "ps0.ipynb")[0]]
    (tmp_path / "kept").write_text(source.text(assignment.release()))
    (tmp_path / "ps0.ipynb").unlink()
    (tmp_path / "ps0.ipynb").symlink_to(tmp_path / "kept")  # on one's own machine, it is followed
    assert examine(tmp_path / "ps0.ipynb") == (examine(tmp_path / "kept")[0][1:], "")


def own(text, kind="markdown"):
    return {"cell_type": kind, "metadata": {}, "source": text}


GROWING = {
    "blanks in a heading": lambda n: [own("# " + " " * n)],
    "headings": lambda n: [own("# a\n" * n)],
    "signs of headings": lambda n: [own("#" * n)],
    "lines": lambda n: [own("\n" * n, "code")],
    "names": lambda n: [own('student = "' * n, "code")],
    "blanks before names": lambda n: [own(" " * n + "student" + " " * n, "code")],
    "parts of a module's name": lambda n: [own("import " + "a." * n + "a", "code")],
    "parts, and lines": lambda n: [own("import " + "á .\\\n" * n + "a", "code")],
    "modules": lambda n: [own("import " + ", ".join(f"zz{m}" for m in range(n)), "code")],
    "cells": lambda n: [own("# a")] * (n // 10),
    "cells of the set": lambda n: (
        [own("a", "code") | {"metadata": {"nbgrader": {"grade_id": "ps0-bdp"}}}] * (n // 10)
    ),
}


@pytest.mark.parametrize("grow", GROWING.values(), ids=GROWING)
def test_twice_the_notebook_is_twice_the_work(assignment, tmp_path, grow):
    def work(n):
        """Lines of Python, and bytes of memory."""
        notebook = assignment.release()
        notebook["cells"] += grow(n)
        path = tmp_path / "ps0.ipynb"
        path.write_text(json.dumps(notebook))
        tracemalloc.start()
        try:
            lines = lines_run(lambda: (repaired(path.read_bytes(), assignment), examine(path)))
            return lines, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    work(1)  # what is loaded once
    for twice, once in zip(work(4000), work(2000), strict=True):
        assert twice <= 2.2 * once


def test_few_findings_are_told_of_many(assignment, tmp_path):
    notebook = assignment.release()
    notebook["cells"] += [5] * 500
    for n in range(200):
        names = ", ".join(f"zz{n}x{m}" for m in range(25))
        notebook["cells"].append(own(f"import {names}", "code"))
    path = tmp_path / "ps0.ipynb"
    path.write_text(json.dumps(notebook))
    ran = check(path)
    assert "And 460 more of this kind" in ran.output and "And 1160 more of this kind" in ran.output
    assert "no zz0x4" in ran.output and "zz0x5" not in ran.output
    assert "notebook: not in the grader. And" in ran.output and len(ran.output) < 100_000
    found = repaired(path.read_bytes(), assignment).findings
    assert [one.flag for one in found].count("damaged cell") == submitted.MOST_FINDINGS + 1


def test_what_a_cell_names_obeys_no_terminal(assignment, tmp_path):
    notebook = assignment.release()
    notebook["cells"] += [
        own(r"importlib.import_module('\x1b]0;mine\x07')", "code"),
        own("!\x1b[1m" + "x" * 9000 + "/pip install a", "code"),
    ]
    path = tmp_path / "ps0.ipynb"
    path.write_text(json.dumps(notebook))
    told = [one.text for one in examine(path)[0] if one.flag == "not in the grader"]
    assert len(told) == 2 and all(one.isprintable() and len(one) < 300 for one in told)
