"""The page of a class, and those of its answers in words: what they say of whom, and what in them
runs. How they work in a browser: tests/browser/test_class_pages.py.
"""

import base64
import hashlib
import html
import re

import pytest

from netlab.course.grading import marks as records
from netlab.course.grading import report
from tests.course.test_adapters import ASSIGNMENT, HOSTILE, marks

GAVE = "you gave {}: bits or bytes? A byte has 8 bits"
CLASS = [
    marks("ada", (3, 3.5), "The window."),
    marks("bob", (1, 3.5), "The  window.", ["cell copied"], hint=GAVE.format("94.1 bit/s")),
    marks("cem", (1, 0), "", hint=GAVE.format("12 000 000 bit/s")),
    marks("dan", (0, 0), HOSTILE, flags=[HOSTILE], hint="zero is not it"),
    records.without_marks("eva", ASSIGNMENT, "nothing to grade", "nothing was handed in"),
    records.pending("fay", ASSIGNMENT, "the grader failed"),
]


@pytest.fixture
def pages(tmp_path):
    """The text of the class page, and of that of the texts."""
    page = report.report(CLASS, tmp_path, ASSIGNMENT)
    return page.read_text(), (tmp_path / "texts/ps0-explain.html").read_text()


def test_averages_are_of_those_who_have_marks():
    found = report.found(CLASS)
    assert (found["count"], found["most"]) == (4, 6.5)
    assert found["mean"] == pytest.approx((6.5 + 4.5 + 1 + 0) / 4)
    assert found["median"] == pytest.approx((4.5 + 1) / 2)
    bins = dict(found["bins"])
    assert sum(bins.values()) == 4 and (bins["0+"], bins["0.65+"], bins["5.85+"]) == (1, 1, 1)
    first, second = found["exercises"]
    assert first["rate"] == round(100 * (3 + 1 + 1 + 0) / 4 / 3)
    assert second["rate"] == round(100 * (3.5 + 3.5) / 4 / 3.5)
    assert report.found(CLASS[4:]) == {"count": 0}


def test_the_same_mistake_counts_together_whatever_number_was_given():
    (_, verdicts, hints), *_ = report.found(CLASS)["exercises"][0]["answers"]
    assert verdicts["wrong"] == 4
    assert hints[0] == ("bits or bytes? A byte has 8 bits", 2)


def test_digits_in_groups_are_one_number():
    many, few = ("0 of 4 are right; " + GAVE.format(one) for one in ("20 000 000 byte", "25 byte"))
    rows = [marks(name, (1, 0), "", hint=one) for name, one in (("ann", many), ("ben", few))]
    (_, _, hints), *_ = report.found(rows)["exercises"][0]["answers"]
    assert hints == [(few.replace("25", "\N{HORIZONTAL ELLIPSIS}"), 2)]


def test_who_has_a_flag_is_first_and_each_has_a_row(pages):
    text, _ = pages
    listed = re.findall(r'href="feedback/(\w+)\.html"', text)
    assert listed == ["bob", "dan", "eva", "fay", "ada", "cem"]
    assert "6 students, of whom 4 have marks: on average 3 of 6.5 points" in text


def test_all_texts_are_on_a_page_with_the_rubric_and_what_was_copied(pages):
    _, text = pages
    (rubric,) = [one.rubric for one in ASSIGNMENT.exercises if one.manual]
    assert all(one in html.unescape(text) for one in (rubric.answer, rubric.criteria[0].text))
    listed = re.findall(r"<section><h2>(\w+)</h2>", text)
    assert listed == ["ada", "bob", "dan", "cem", "eva", "fay"]
    assert text.count("The same text as ada.") == 1


def test_only_our_script_may_run_and_nothing_else_is_in_the_page(pages):
    for text in pages[:1]:
        (script,) = re.findall(r"<script>(.*?)</script>", text, re.S)
        policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="(.*?)">', text)[1]
        assert text.index(policy) < text.index("<title>")
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
        assert rules["default-src"] == "'none'" and rules["script-src"] == f"'sha256-{digest}'"
        assert text.count("<script") == 1 and " on" not in "".join(re.findall("<[a-z].*?>", text))
        assert "&lt;script&gt;" in text and "\x1b" not in text


def test_without_answers_in_words_there_is_nothing_to_mark(tmp_path):
    some = [one.but(manual=[]) for one in CLASS]
    assert "Answers in words" not in report.report(some, tmp_path).read_text()
    assert not (tmp_path / "texts").exists()
    assert "no marks" in report.report([], tmp_path).read_text()
