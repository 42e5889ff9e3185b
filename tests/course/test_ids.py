"""Ids: what is the same person, what can be nobody, and whom a course has."""

import string
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlab.course import ids
from netlab.errors import SpecificationError

ALIKE = [
    ("emma", "Emma", "EMMA ", "\temma\n", "e\u200bmma", "\ufeffemma"),
    ("ada lovelace", "Ada  Lovelace", "ada\u00a0lovelace", "ADA \u3000 LOVELACE"),
    ("rené", "rene\u0301", "RENÉ", "RENE\u0301"),
    ("weiß", "WEISS", "Weiss"),
    ("123456", "\uff11\uff12\uff13456"),
    ("\u0131\u015f\u0131l", "I\u015eIL", "\u0130\u015fil"),
    ("\u03c3\u03bf\u03c6\u03cc\u03c2", "\u03a3\u039f\u03a6\u038c\u03a3"),
]
ODD = "iI\u0131\u0130\u0307\u0323\u0345\u200bßΣς \u1160\ufe0f"


@pytest.mark.parametrize("texts", ALIKE)
def test_ways_to_write_an_id_are_one_id(texts):
    assert len({ids.normalised(one) for one in texts}) == 1


def test_who_differs_stays_apart():
    found = [ids.normalised(texts[0]) for texts in ALIKE] + ["emma2", "adalovelace", "rene"]
    assert len({*map(ids.normalised, found)}) == len(found)


@given(st.text(string.ascii_lowercase + string.digits + "@._-+,'", min_size=1, max_size=30))
def test_small_ascii_stays_as_it_is(text):
    if text not in (".", ".."):
        assert ids.normalised(text) == text


@settings(max_examples=500)
@given(st.text(st.sampled_from(ODD) | st.characters()))
def test_an_id_is_its_own_id_or_is_refused_in_words(text):
    try:
        once = ids.normalised(text)
    except SpecificationError as error:
        assert str(error).isprintable()
    else:
        assert ids.normalised(once) == once == unicodedata.normalize("NFC", once)
