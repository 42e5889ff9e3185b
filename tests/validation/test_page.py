"""docs/validation.json and its page belong to the answers, and the engine still gives them."""

from tests import compare_with_stored
from tests.validation import SEEDS, answers, page, state
from tests.validation.__main__ import measured


def test_each_answer_has_ten_stored_values_and_each_row_is_an_answer():
    rows = page.stored()["answers"]
    assert {*rows} == {*answers()}
    assert {len(row["engine"]) for row in rows.values()} == {SEEDS}


def test_only_what_is_outside_has_a_cause():
    rows = page.stored()["answers"]
    outside = {
        name
        for name, one in answers().items()
        if "outside" in [state(one, rows[name].get(column)) for column in page.COLUMNS]
    }
    assert outside == {name for name, one in answers().items() if one.cause}


def test_the_page_and_its_figures_are_written_from_what_is_stored():
    stored = page.stored()
    assert page.PAGE.read_text(encoding="utf-8") == page.page(stored)
    for topic in page.TOPICS:
        kept = page.IMAGES / f"validation-{topic}.svg"
        assert kept.read_text(encoding="utf-8") == page.figure(topic, stored["answers"])


def test_two_are_measured_again(draw, request):
    """With `--every`: all of them. Each column is of one engine, whose digest stands beside it."""
    stored = page.stored()
    names, seed = sorted(stored["answers"]), draw("seed").randint(1, SEEDS)
    if not request.config.option.every:
        names = draw("answers").sample(names, 2)
    compare_with_stored(stored["engines"]["engine"]["digest"])
    for name in names:
        assert measured(name, seed) == stored["answers"][name]["engine"][seed - 1], name
