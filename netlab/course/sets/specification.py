"""What a check cell's hidden tests say: TOML in comments, a table for each answer."""

import keyword
import math
import re
import tomllib

from netlab.errors import NetlabError


def number(value):
    return type(value) in (int, float) and math.isfinite(value) and value > 0


def lists(value):
    return isinstance(value, list) and value and all(isinstance(each, list) for each in value)


def expressions(value):
    try:
        good = [compile(one, "", "eval") and hint.strip() for hint, one in value.items()]
        return bool(good) and all(good)
    except (AttributeError, SyntaxError, TypeError, ValueError):
        return False


KEYS = {  # of an answer's table: what is allowed, and how it is said
    "unit": (lambda value: isinstance(value, str), 'a text, as in "byte"'),
    "within": (lambda value: number(value) and value < 1, "a share between 0 and 1, as in 0.01"),
    "exact": (lambda value: value is True, "true, or leave it out"),
    "points": (number, "a number above 0"),
    "cases": (lists, "a list of argument lists, as in [[1e9, 0.02]]"),
    "mistakes": (expressions, 'a table {"what went wrong" = "Python expression"}'),
    "state": (
        lambda value: isinstance(value, str) and expressions({"state": value}),
        "a Python expression, as in \"[nl.course.rtt('h1', 'h2', at_least='20ms')]\"",
    ),
    "pairs": (
        lambda value: lists(value) and all(len(p) == 2 and {*map(type, p)} == {str} for p in value),
        'a list of pairs of hosts, as in [["h1", "h4"]]',
    ),
}


def specification(hidden, points, where):
    """The specifications of answers by name; those without `points` share the cell's evenly.

    Examples
    --------
    >>> specification('# [rate_bps]\\n# unit = "bit/s"', 3, "cell 7")
    {'rate_bps': {'unit': 'bit/s', 'points': 3}}
    """
    lines = []
    for line in map(str.strip, hidden.split("\n")):
        if line and not line.startswith("#"):
            raise NetlabError(
                f"{where}: hidden tests are TOML in comments: write # before {line!r}"
            )
        lines.append(re.sub("^# ?", "", line))
    try:
        answers = tomllib.loads("\n".join(lines))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise NetlabError(f"{where}: its hidden tests are no TOML: {error}") from None
    if not answers:
        raise NetlabError(f"{where}: its hidden tests name no answer: write a table, # [name]")
    for name, spec in answers.items():
        refuse(name, spec, f"{where}: answer {name!r}")
    given = [spec["points"] for spec in answers.values() if "points" in spec]
    if given and (len(given) < len(answers) or not math.isclose(sum(given), points)):
        raise NetlabError(f"{where}: give all of its answers points, {points:g} together, or none")
    for spec in answers.values():
        spec.setdefault("points", points / len(answers) if len(answers) > 1 else points)
    return answers


def refuse(name, spec, what):
    """Refuse an answer that nothing could be compared by."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise NetlabError(f"{what}: is no name that Python knows: name a variable of the solution")
    if not isinstance(spec, dict):
        raise NetlabError(f"{what}: write a table, [{name}], and what is compared below it")
    for key, value in spec.items():
        if key not in KEYS:
            raise NetlabError(f"{what}: {key!r} is unknown; allowed are {', '.join(KEYS)}")
        good, allowed = KEYS[key]
        if not good(value):
            raise NetlabError(f"{what}: {key} = {value!r}: give {allowed}")
    if "within" in spec and "exact" in spec:
        raise NetlabError(f"{what}: within and exact say two things; leave one out")
