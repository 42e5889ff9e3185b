"""The kinds of forms and the parts of each; forms come from strangers and are checked here."""

import math

from netlab.errors import NetlabError

MOST_VALUES = 100_000  # of one form, texts and names included
LONGEST_TEXT = 100_000  # characters of one text: an algorithm's source is the longest
MOST_CHARACTERS = 1_000_000  # of all texts of a form
DEEPEST = 30  # lists and dicts within each other
MOST_BITS = 1000  # of a whole number, which a float can still hold
LONGEST_ERROR = 300  # characters
NOT_FINITE = ("nan", "inf", "-inf")


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


def checked(data):
    """Return what `json.loads` made of a form; raise `NetlabError` if it is none or too large."""
    refuse_too_much(data)
    if not is_form(data):
        found = data if type(data) is dict else {}
        names = ", ".join(ascii(name[:50]) for name in list(found)[:10])
        kind = ascii(str(found.get("kind"))[:50])
        raise NetlabError(f"this is no form of an answer: kind = {kind} with {names or 'nothing'}")
    return data


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


def is_form(value):
    kind = value.get("kind") if type(value) is dict else None
    return type(kind) is str and kind in PARTS and fits(value, {"kind": str} | PARTS[kind])


def is_number(value):
    return type(value) in (int, float) or (type(value) is str and value in NOT_FINITE)


def is_item(value):
    return value is None or type(value) in (bool, int, float, str) or is_form(value)


def is_window(value):
    """A window and a threshold."""
    return fits(value, [is_number]) and len(value) == 2


def fits(value, shape):
    """Whether a value has a shape: a type, [shape], {str: shape}, {name: shape} or a function."""
    if isinstance(shape, type):
        return type(value) is shape
    if isinstance(shape, list):
        return type(value) is list and all(fits(one, shape[0]) for one in value)
    if not isinstance(shape, dict):
        return shape(value)
    if type(value) is not dict:
        return False
    if str in shape:
        return all(fits(one, shape[str]) for one in value.values())
    return value.keys() == shape.keys() and all(fits(value[name], shape[name]) for name in shape)


WORDS_OF_TRACES = "name", "type", "mode", "orientation"
TRACE = dict.fromkeys(WORDS_OF_TRACES, str) | {axis: [is_item] for axis in "xyz"}
AXIS = {"title": str, "type": str}
PARTS = {
    "nothing": {},
    "truth": {"value": bool},
    "number": {"value": is_number},
    "text": {"value": str},
    "list": {"items": [is_item]},
    "dict": {"items": {str: is_form}},
    "table": {"columns": {str: [is_item]}},
    "figure": {"traces": [TRACE], "xaxis": AXIS, "yaxis": AXIS},
    "experiment": {"json": dict},
    "topology": {"json": dict},
    "network": {"script": str},
    "algorithm": {
        **dict.fromkeys(("name", "source", "failed"), str),
        **{"parameters": dict, "trace": [is_window]},
    },
    "function": {"results": [is_form]},
    "error": {"text": str},
    "other": {"type": str},
}
