"""Groups: whoever of them hands in, or is given points by hand, all have the same marks."""

import pytest

from netlab.course import adapters, roster
from netlab.course.grading import by_hand, report, run, solution, worker
from netlab.course.grading.batch import Batch
from netlab.course.grading.by_hand import ByHand
from netlab.course.own_numbers import SECRET, parameters
from netlab.course.roster import Member, Roster
from netlab.course.sets import source
from netlab.engines.workers import Workers
from netlab.errors import NetlabError
from tests.course import small, test_class
from tests.course.test_class import ALL, USUAL, executed_here, notebook, put

folders, quick = test_class.folders, test_class.quick  # three students, of whom nothing is run

BLUE = [Member(id=one, group="blue") for one in ("bob", "ada", "cy")]
CLASS = Roster(members=(*BLUE, Member(id="eve")))


def grade(folders, class_=None, **options):
    batch = Batch(*folders[:3], roster=class_, **options)
    return {one.student: one for one in batch.grade()}


def table(folder, *lines):
    """A table as `course export` leaves it, filled in."""
    path = folder / "filled in.csv"
    path.write_text("\n".join(["student,points,ps1-why (of 4)", *lines]) + "\n")
    return path


def by_hands(found):
    return {student: one.by_hand for student, one in found.items()}


@pytest.mark.parametrize("who", ["bob", "ada", "cy"])
def test_points_of_one_member_are_those_of_all(who, folders, quick, tmp_path):
    given = table(tmp_path, f"{who},5,2.5", "eve,5,1")
    found = grade(folders, CLASS, manual=given)
    assert by_hands(found) == {"ada": 2.5, "bob": 2.5, "cy": 2.5, "eve": 1}
    none = {one.id: None for one in found["eve"].manual}
    plain = [by_hand.with_points(one, none) for one in found.values()]
    assert by_hand.given(plain, given) == [*found.values()]  # as exports do


def test_members_with_other_points_are_refused_by_name_before_anybody_is_graded(
    folders, quick, tmp_path
):
    given = table(tmp_path, "ada,5,2", "bob,5,", "cy,5,3")
    two = r"filled in\.csv: ada and cy are of one group, and have 2 and 3 points for ps1-why: give"
    with pytest.raises(NetlabError, match=two):
        grade(folders, CLASS, manual=given)
    assert not [*folders[2].rglob("*.json")]
    with pytest.raises(NetlabError, match=two):  # and so do exports
        by_hand.given(grade(folders, CLASS).values(), given)
    found = grade(folders, CLASS, manual=table(tmp_path, "ada,5,2", "cy,5,2"))
    assert by_hands(found) == {"ada": 2, "bob": 2, "cy": 2, "eve": None}


def test_who_becomes_a_group_with_other_points_is_refused_until_they_have_the_same(
    folders, quick, tmp_path
):
    grade(folders, manual=table(tmp_path, "ada,5,2", "bob,5,3"))
    with pytest.raises(NetlabError, match=r"kept in by-hand\.json: ada and bob are of one group"):
        grade(folders, CLASS)
    found = grade(folders, CLASS, manual=table(tmp_path, "bob,5,4"))
    assert by_hands(found) == {"ada": 4, "bob": 4, "cy": 4, "eve": None}


def test_the_page_of_texts_has_a_groups_text_once_with_all_names(folders, quick):
    found = grade(folders, CLASS)
    text = [found["bob"].manual[0].but(text="The window.")]
    everybody = [one.but(manual=text) for one in found.values()]
    page = report.report(everybody, folders[2]).with_name("texts") / "ps1-why.html"
    page = page.read_text()
    assert page.count("<section>") == 2 and "<h2>bob, ada, cy</h2>" in page
    assert page.count("The same text as bob, ada, cy.") == 1  # eve's


# Who handed in


@pytest.fixture
def here(monkeypatch):
    """Notebooks run in this process."""
    monkeypatch.setattr(run, "execute", executed_here)
    monkeypatch.setattr(solution, "execute", executed_here)
    monkeypatch.setattr(worker.evidence, "keep_none", lambda: None)
    monkeypatch.setattr(Workers, "work_on", lambda _, job, times=1: worker.do(job) or "")
    monkeypatch.setattr(small, "CODE", test_class.WITHOUT_RUNS)
    worker.set_of.cache_clear()


@pytest.mark.parametrize("who", ["bob", "ada", "cy", "blue"])
@pytest.mark.parametrize("typed", ["bob", "ada"])
def test_any_member_may_hand_in_and_the_numbers_are_those_of_the_first(who, typed, here, tmp_path):
    path = small.write(tmp_path / "course")
    made = notebook(source.read(path), who)
    seed = parameters("ps1", typed, SECRET, small.NUMBERS).seed
    small.cell(made, "number")["source"] = f"seventh = {seed} / 7"
    put(tmp_path / "submitted", who, {USUAL: made})
    found = grade((path, tmp_path / "submitted", tmp_path / "work"), CLASS, jobs=1)
    assert [*found] == ["ada", "bob", "cy", "eve"] and found["eve"].flags == ["nothing to grade"]
    first = found["bob"]
    assert first.points == (ALL if typed == "bob" else ALL - 2)  # what was computed is right
    assert (f"other id in the notebook: {who}" in first.flags) == (who != "bob")
    for student in ("ada", "cy"):
        assert found[student].but(student="bob", file="bob") == first
        assert "graded with the numbers of bob" in found[student].notices[0]
    told = " ".join(first.notices)
    assert "write your id" not in told and ('write "bob" there' in told) == (who != "bob")


def test_a_new_roster_or_another_order_takes_nobodys_marks(folders, quick):
    path, submitted, work, made = folders
    put(submitted, "ada", {USUAL: made | {"metadata": {"by": "ada"}}})
    for student in ("bob", "cy"):
        put(submitted, student, {USUAL: "{}"})
        (submitted / student / USUAL).unlink()
    grade(folders)  # ada handed in before there was a roster, bob has an empty folder
    put(submitted.parent / "late", "eve", {USUAL: made | {"metadata": {"by": "eve"}}})
    late = path, submitted.parent / "late", work
    for members in (BLUE, [BLUE[2], BLUE[0], BLUE[1]]):
        found = grade(late, Roster(members=(*members, Member(id="eve"))))
        assert {one.points for one in found.values()} == {5}
        assert "with the numbers of ada" in found["cy"].notices[0]
        assert f'write student = "{members[0].id}"' in found["cy"].notices[0]


def test_a_groups_marks_say_who_is_in_it(folders, quick, tmp_path):
    found = grade(folders, CLASS)
    assert [one.group for one in found.values()] == [["bob", "ada", "cy"]] * 3 + [[]]
    assert "group" not in found["eve"].model_dump()
    assert adapters.export("table", "ps1", folders[2], tmp_path / "all.csv") == 4
    assert ByHand.kept(folders[2]) == ByHand()
    assert roster.Roster.kept(folders[2]) == CLASS
