import getpass
import json
import tomllib

import pytest

import netlab as nl
from netlab.course import mine
from netlab.course.own_numbers import PARAMETERS, drawn, parameters
from netlab.errors import SpecificationError

RULES = """
[ps1]
rate = {unit = "mbit", from = 40, to = 180}
delay = {unit = "ms", from = 12, to = 60}
seed = {from = 1, to = 99999}
queue = {choices = [0.25, 0.5, 1]}

[ps2]
rate = {unit = "mbit", from = 40, to = 180}
"""


@pytest.fixture
def rules(tmp_path, monkeypatch):
    """A parameters.toml that no author of a set changes."""
    file = tmp_path / "parameters.toml"
    file.write_text(RULES)
    monkeypatch.setitem(parameters.__globals__, "PARAMETERS", file)


@pytest.fixture
def nobody(tmp_path, monkeypatch):
    """An empty working folder, and no word from a grader or a hub."""
    monkeypatch.chdir(tmp_path)
    for name in ("NETLAB_STUDENT", "JUPYTERHUB_USER"):
        monkeypatch.delenv(name, raising=False)


def test_numbers_stay_what_they_are(rules):
    ada = parameters("ps1", "ada", "netlab").as_dict()
    assert ada == {"rate": "117mbit", "delay": "49ms", "seed": 52805, "queue": 1}
    grace = parameters("ps1", "grace@example.org", "another secret").as_dict()
    assert grace == {"rate": "131mbit", "delay": "50ms", "seed": 43817, "queue": 0.5}


def test_neighbours_have_other_numbers(rules):
    found = [parameters("ps1", f"student{n}", "netlab").as_dict() for n in range(300)]
    assert len({json.dumps(one) for one in found}) == 300
    values = {name: {one[name] for one in found} for name in found[0]}
    assert len(values["rate"]) > 100 and len(values["delay"]) > 40 and len(values["seed"]) > 290
    assert values["queue"] == {0.25, 0.5, 1}
    assert all(40 <= int(one.removesuffix("mbit")) <= 180 for one in values["rate"])
    assert all(1 <= one <= 99999 for one in values["seed"])


def test_secret_set_and_name_decide(rules):
    ada = parameters("ps1", "ada", "netlab")
    assert ada == parameters("ps1", " ada\n", "netlab") == parameters("ps1", " ADA", "netlab")
    assert ada != parameters("ps1", "ada", "other")
    assert ada.rate != parameters("ps2", "ada", "netlab").rate


def test_both_ends_of_a_range_are_drawn():
    found = {drawn("x", {"from": 3, "to": 5}, number) for number in range(30)}
    assert found == {3, 4, 5} and drawn("x", {"from": 7, "to": 7, "unit": "ms"}, 12345) == "7ms"


@pytest.mark.parametrize(
    "rule",
    [{}, {"from": 1}, {"from": 2, "to": 1}, {"choices": []}, {"from": 1, "to": 2, "x": 1}, 5],
)
def test_a_rule_that_is_none_is_named(rule):
    with pytest.raises(SpecificationError, match=r"parameters\.toml: \[ps1\] rate = "):
        drawn("[ps1] rate", rule, 1)


def test_every_set_can_be_drawn_and_its_texts_are_tc_s():
    for name in tomllib.loads(PARAMETERS.read_text()):
        for key, value in parameters(name, "ada", "netlab").as_dict().items():
            if isinstance(value, str) and value.endswith("bit"):
                nl.units.rate_bps(value)
            assert key.isidentifier() and key not in ("student", "assignment", "as_dict")


def test_numbers_cannot_be_changed(rules):
    my = parameters("ps1", "ada", "netlab")
    for change in (lambda: setattr(my, "rate", "1mbit"), lambda: delattr(my, "rate")):
        with pytest.raises(AttributeError, match="given"):
            change()
    with pytest.raises(AttributeError, match=r"my\.loss: .* it has rate, delay, seed, queue"):
        my.loss  # noqa: B018
    assert (my.student, my.assignment) == ("ada", "ps1")


def test_it_shows_a_line_for_each_number(rules):
    my = parameters("ps1", "a|<b>", "netlab")
    assert len(repr(my).splitlines()) == 5
    assert f"my.rate = '{my.rate}'" in repr(my)
    head, _, *rows = my._repr_markdown_().splitlines()
    assert len(rows) == 4 and "<b>" not in head and head.count("|") == 3


def test_an_unknown_set_names_the_known(rules):
    for name in ("ps9", None, 3):
        with pytest.raises(SpecificationError, match="ps1, ps2"):
            parameters(name, "ada", "netlab")


@pytest.mark.parametrize(
    "student",
    ["", "  ", "a/b", "a\\b", "..", ".", "a\nb", "a\x1b[31m", "\u200b", "\uff0f", "x" * 101, 7],
)
def test_an_id_that_cannot_be_one_is_refused(student, nobody):
    with pytest.raises(SpecificationError, match="write your student id") as refused:
        mine("ps1", student)
    assert refused.value.args[0].isprintable()


@pytest.mark.parametrize("student", ["ada", "O'Neill, Zoë", "1234567", "ada@uni.example", "王芳"])
def test_ids_are_taken_in_small_letters(student, nobody):
    assert mine("ps1", f" {student}\t").student == student.lower()


def test_who_asks(nobody, monkeypatch):
    assert mine("ps1").student == getpass.getuser()
    monkeypatch.setenv("JUPYTERHUB_USER", "hub")
    assert mine("ps1").student == "hub"
    assert mine("ps1", "ada").student == "ada"
    monkeypatch.setenv("NETLAB_STUDENT", "graded")
    assert mine("ps1", "ada").student == mine("ps1", "").student == "graded"


def test_the_secret_is_in_the_working_folder(nobody, tmp_path):
    plain = mine("ps1", "ada")
    assert plain == parameters("ps1", "ada", "netlab")
    (tmp_path / "course.json").write_text('{"secret": "xyz", "name": "TCP 1"}')
    assert mine("ps1", "ada") == parameters("ps1", "ada", "xyz") != plain


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"secret": ""}', '{"secret": 5}', "[" * 100_000, "\xff"]
)
def test_a_damaged_course_json_is_named(text, nobody, tmp_path):
    (tmp_path / "course.json").write_text(text, encoding="latin-1")
    with pytest.raises(SpecificationError, match=r"course\.json"):
        mine("ps1", "ada")
