"""How large a form may be, which comes from a stranger; and the form of an exception."""

import math

from netlab.errors import NetlabError

MOST_VALUES = 100_000  # of one form, texts and names included
LONGEST_TEXT = 100_000  # characters of one text: an algorithm's source is the longest
MOST_CHARACTERS = 1_000_000  # of all texts of a form
DEEPEST = 30  # lists and dicts within each other
MOST_BITS = 1000  # of a whole number, which a float can still hold
LONGEST_ERROR = 300  # characters


class TooMuch(NetlabError):
    """A value that is larger than any answer."""

    def __init__(self, why):
        super().__init__(f"this is too much for an answer: {why}")


def clean(text, most=None):
    """A text that every file can hold: halves of surrogate pairs become question marks."""
    return text[:most].encode(errors="replace").decode()


def failure(error):
    """The form of an exception, which may be one of a student's own."""
    name = type(error).__name__
    try:
        text = str(error) if isinstance(error, NetlabError) else f"{name}: {error}"
    except KeyboardInterrupt:
        raise
    except BaseException:
        text = name
    return {"kind": "error", "text": clean(text, LONGEST_ERROR)}


def refuse_too_much(data):
    """Refuse values too large or too many for an answer; a loop, as nesting may be deep."""
    waiting, values, characters = [(data, 0)], 0, 0
    while waiting:
        value, depth = waiting.pop()
        values += 1
        if type(value) is str:
            characters += len(value)
            if len(value) > LONGEST_TEXT or characters > MOST_CHARACTERS:
                raise TooMuch(
                    f"texts of more than {LONGEST_TEXT:,} characters, or of {MOST_CHARACTERS:,}"
                    " together"
                )
            if clean(value) != value:
                raise NetlabError("this is no form of an answer: a text with half a character")
        elif type(value) is int and value.bit_length() > MOST_BITS:
            raise TooMuch(f"a whole number of more than {MOST_BITS} bits")
        elif type(value) is float and not math.isfinite(value):
            raise NetlabError('this is no form of an answer: write "nan", "inf" or "-inf"')
        elif type(value) in (list, dict):
            if depth == DEEPEST:
                raise TooMuch(f"nested more than {DEEPEST} deep")
            if values + len(waiting) + len(value) > MOST_VALUES:
                raise TooMuch(f"more than {MOST_VALUES:,} values")
            parts = [*value, *value.values()] if type(value) is dict else value
            waiting += [(part, depth + 1) for part in parts]
