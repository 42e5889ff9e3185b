"""Choices as people write them."""

import re
import unicodedata
from fractions import Fraction

import numpy as np

ALIKE = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-") | {"≤": "<=", "≥": ">=", "→": "->"}
)
LONGEST_CHOICE = 2000  # characters; a longer text is compared as it is
NUMBER = re.compile(r"(?a)[+-]?(\d{1,300}(?:\.\d{0,300})?|\.\d{1,300})(e[+-]?\d{1,3})?", re.I)
JOINED = re.compile(r"(?<=\d)\s*([.,:-])\s*(?=\d)|^(-)\s+(?=\d)")
# What people leave out or put in: blanks and underlines, but not between two digits; hyphens,
# commas, brackets and the like, but not before a digit; quotes
FILLING = re.compile(
    r"(?<!\d)[\s_]+|[\s_]+(?!\d)|->(?![\d.-])|-(?!>|-{0,3}[\d.])|[.,;:!?()\[\]](?![\d.])|[\"'`]"
)


def plain(value):
    """A choice in one spelling: "H-TCP" becomes "htcp", True "yes". Signs between digits, signs of
    numbers and operators stay.
    """
    if is_truth(value):
        return "yes" if value else "no"
    if len(str(value)) > LONGEST_CHOICE:  # NFC takes time by the square of the length
        return str(value)
    text = unicodedata.normalize("NFC", str(value)).strip().translate(ALIKE)
    if NUMBER.fullmatch(text):
        return str(Fraction(text))
    return FILLING.sub("", JOINED.sub(r"\1\2", text)).casefold()


def is_truth(value):
    return isinstance(value, bool | np.bool_)
