import getpass
import hashlib
import json
from functools import partial
from pathlib import Path

import pytest

import netlab as nl
from netlab.course import mine
from netlab.course.own_numbers import SECRET, drawn, of_notebook, parameters, written
from netlab.course.sets import source
from netlab.errors import SpecificationError

RULES = {  # which no author of a set changes
    "rate": ("40mbit", "180mbit"),
    "delay": ("12ms", "60ms"),
    "seed": (1, 99_999),
    "queue": [0.25, 0.5, 1],
}
DRAWN = {  # digests of what 200 students have: what is handed out never changes by itself
    "ps1": "d51b195b9b18b9ce",
    "ps2": "91be1973184b3d24",
    "ps3": "fbee338c1be432e8",
    "ps4": "633a140ba8022786",
    "ps5": "0303d61731009a7e",
    "ps6": "9a3285cb09a3f503",
    "ps7": "8794b08eda874462",
    "ps8": "3257114ab7fbcee2",
}
HERE = Path.cwd()
by_rules = partial(parameters, numbers=RULES)
mine_by_rules = partial(mine, **RULES)


@pytest.fixture
def nobody(tmp_path, monkeypatch):
    """An empty working folder, and no word from a grader or a hub."""
    monkeypatch.chdir(tmp_path)
    for name in ("NETLAB_STUDENT", "JUPYTERHUB_USER"):
        monkeypatch.delenv(name, raising=False)


def test_numbers_stay_what_they_are():
    ada = by_rules("ps1", "ada", "netlab").as_dict()
    assert ada == {"rate": "117mbit", "delay": "49ms", "seed": 52805, "queue": 1}
    grace = by_rules("ps1", "grace@example.org", "another secret").as_dict()
    assert grace == {"rate": "131mbit", "delay": "50ms", "seed": 43817, "queue": 0.5}


def test_neighbours_have_other_numbers():
    found = [by_rules("ps1", f"student{n}", "netlab").as_dict() for n in range(300)]
    assert len({json.dumps(one) for one in found}) == 300
    values = {name: {one[name] for one in found} for name in found[0]}
    assert len(values["rate"]) > 100 and len(values["delay"]) > 40 and len(values["seed"]) > 290
    assert values["queue"] == {0.25, 0.5, 1}
    assert all(40 <= int(one.removesuffix("mbit")) <= 180 for one in values["rate"])
    assert all(1 <= one <= 99999 for one in values["seed"])


def test_secret_set_and_name_decide():
    ada = by_rules("ps1", "ada", "netlab")
    assert ada == by_rules("ps1", " ada\n", "netlab") == by_rules("ps1", " ADA", "netlab")
    assert ada != by_rules("ps1", "ada", "other")
    assert ada.rate != by_rules("ps2", "ada", "netlab").rate


def test_both_ends_of_a_range_are_drawn():
    found = {drawn("x", (3, 5), number) for number in range(30)}
    assert found == {3, 4, 5} and drawn("x", ("7ms", "7ms"), 12345) == "7ms"


@pytest.mark.parametrize(
    "rule",
    [{}, (), (1,), (2, 1), (1, 2, 3), (1, 2.5), [], 5, "5ms", ("5ms", "9s"), ("9ms", "5ms"),
     ("5", "9"), ("ms", "ms"), ("5 ms", "9 ms"), (5, "9ms")],
)  # fmt: skip
def test_a_rule_that_is_none_is_named(rule):
    with pytest.raises(SpecificationError, match="rate = "):
        mine("ps1", "ada", rate=rule)


@pytest.mark.parametrize("name", DRAWN)
def test_the_numbers_of_a_set_stay_what_they_are(name):
    numbers = source.read(source.find(name)).numbers
    found = [parameters(name, f"s{at}", SECRET, numbers).as_dict() for at in range(200)]
    assert hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16] == DRAWN[name]
    for value in found[0].values():
        if isinstance(value, str) and value.endswith("bit"):
            nl.units.rate_bps(value)
    assert of_notebook(name) == numbers and mine(name, "s0") == parameters(
        name, "s0", SECRET, numbers
    )


@pytest.mark.parametrize("name", DRAWN)
def test_numbers_travel_with_the_notebook(name, nobody, tmp_path, monkeypatch):
    """What is handed out draws the set's numbers, in an empty folder and with no set at hand."""
    monkeypatch.setattr("netlab.course.own_numbers.SETS", tmp_path / "none")
    monkeypatch.chdir(HERE)
    made = source.read(source.find(name))
    monkeypatch.chdir(tmp_path)
    (cell,) = [one for one in made.release()["cells"] if one["id"] == f"{name}-setup"]
    code = "\n".join(one for one in cell["source"].split("\n") if not one.startswith("%"))
    exec(code, known := {"student": "Ada"})
    assert known["my"] == parameters(name, "ada", SECRET, made.numbers)


@pytest.mark.parametrize(
    ("code", "numbers"),
    [
        ('my = nl.course.mine("ps1", student, seed=(1, 9))', {"seed": (1, 9)}),
        ('%load_ext netlab\nmy = nl.course.mine("ps1", student=student, a=[1])', {"a": [1]}),
        ('from netlab import course\ncourse.mine("ps1", student)', {}),
        ('nl.course.mine("ps1", student, seed=(low, 9))', None),
        ('nl.course.mine("ps1", student, **numbers)', {}),
        ("mine = 5", None),
        ("nl.course.mine(", None),
        ("f(" * 3000, None),
        ("nl.course.mine(seed=" + "-" * 15_000 + "1)", None),
        ("nl.course.mine(seed=1)" + " " * 30_000, None),
        ("nl.course.mine(seed=1)\0", None),
    ],
)
def test_what_numbers_are_drawn_from_is_read_without_running_a_cell(code, numbers):
    assert written(code)[0] == numbers


def test_numbers_cannot_be_changed():
    my = by_rules("ps1", "ada", "netlab")
    for change in (lambda: setattr(my, "rate", "1mbit"), lambda: delattr(my, "rate")):
        with pytest.raises(AttributeError, match="given"):
            change()
    with pytest.raises(AttributeError, match=r"my\.loss: .* it has rate, delay, seed, queue"):
        my.loss  # noqa: B018
    assert (my.student, my.assignment) == ("ada", "ps1")


def test_it_shows_a_line_for_each_number():
    my = by_rules("ps1", "a|<b>", "netlab")
    assert len(repr(my).splitlines()) == 5
    assert f"my.rate = '{my.rate}'" in repr(my)
    head, _, *rows = my._repr_markdown_().splitlines()
    assert len(rows) == 4 and "<b>" not in head and head.count("|") == 3


def test_a_set_without_numbers_is_named(nobody):
    for name in ("ps99", None, 3):
        with pytest.raises(SpecificationError, match="drawn from"):
            mine(name, "ada")


def test_a_notebook_without_numbers_is_passed_over(nobody, tmp_path, monkeypatch):
    """Such as an earlier netlab handed out."""
    monkeypatch.setattr("netlab.course.own_numbers.SETS", tmp_path / "none")
    for text in ("", "{}", '{"cells": [{"source": "my = nl.course.mine(\'ps1\', student)"}]}'):
        (tmp_path / "ps1.ipynb").write_text(text)
        with pytest.raises(SpecificationError, match="drawn from"):
            mine("ps1", "ada")
    cell = {"source": ["import netlab as nl\n", "my = nl.course.mine('ps1', s, seed=(5, 5))"]}
    (tmp_path / "ps1.ipynb").write_text(json.dumps({"cells": [cell]}))
    assert mine("ps1", "ada").as_dict() == {"seed": 5}


@pytest.mark.parametrize(
    "student",
    ["", "  ", "a/b", "a\\b", "..", ".", "a\nb", "a\x1b[31m", "\u200b", "\uff0f", "x" * 101, 7],
)
def test_an_id_that_cannot_be_one_is_refused(student, nobody):
    with pytest.raises(SpecificationError, match="write your student id") as refused:
        mine_by_rules("ps1", student)
    assert refused.value.args[0].isprintable()


@pytest.mark.parametrize("student", ["ada", "O'Neill, Zoë", "1234567", "ada@uni.example", "王芳"])
def test_ids_are_taken_in_small_letters(student, nobody):
    assert mine_by_rules("ps1", f" {student}\t").student == student.lower()


def test_who_asks(nobody, monkeypatch):
    assert mine_by_rules("ps1").student == getpass.getuser()
    monkeypatch.setenv("JUPYTERHUB_USER", "hub")
    assert mine_by_rules("ps1").student == "hub"
    assert mine_by_rules("ps1", "ada").student == "ada"
    monkeypatch.setenv("NETLAB_STUDENT", "graded")
    assert mine_by_rules("ps1", "ada").student == mine_by_rules("ps1", "").student == "graded"


def test_the_secret_is_in_the_working_folder(nobody, tmp_path):
    plain = mine_by_rules("ps1", "ada")
    assert plain == by_rules("ps1", "ada", "netlab")
    (tmp_path / "course.json").write_text('{"secret": "xyz", "name": "TCP 1"}')
    assert mine_by_rules("ps1", "ada") == by_rules("ps1", "ada", "xyz") != plain


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"secret": ""}', '{"secret": 5}', "[" * 100_000, "\xff"]
)
def test_a_damaged_course_json_is_named(text, nobody, tmp_path):
    (tmp_path / "course.json").write_text(text, encoding="latin-1")
    with pytest.raises(SpecificationError, match=r"course\.json"):
        mine_by_rules("ps1", "ada")
