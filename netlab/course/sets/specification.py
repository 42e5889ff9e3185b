"""What a check cell's hidden tests say: TOML in comments, a table (`Rule`) for each answer."""

import keyword
import math
import re
import tomllib

from netlab.course.answers.rule import Rule
from netlab.errors import NetlabError, SpecificationError


def specification(hidden, points, where):
    """The rules of answers by name; those without `points` share the cell's evenly.

    Examples
    --------
    >>> rules = specification('# [rate_bps]\\n# unit = "bit/s"', 3, "cell 7")
    >>> rules["rate_bps"].unit, rules["rate_bps"].points
    ('bit/s', 3.0)
    """
    lines = []
    for line in map(str.strip, hidden.split("\n")):
        if line and not line.startswith("#"):
            raise NetlabError(
                f"{where}: hidden tests are TOML in comments: write # before {line!r}"
            )
        lines.append(re.sub("^# ?", "", line))
    try:
        tables = tomllib.loads("\n".join(lines))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise NetlabError(f"{where}: its hidden tests are no TOML: {error}") from None
    if not tables:
        raise NetlabError(f"{where}: its hidden tests name no answer: write a table, # [name]")
    rules = {name: rule(name, one, f"{where}: answer {name!r}") for name, one in tables.items()}
    given = [one.points for one in rules.values() if one.points]
    if given and (len(given) < len(rules) or not math.isclose(sum(given), points)):
        raise NetlabError(f"{where}: give all of its answers points, {points:g} together, or none")
    each = points / len(rules)
    return {name: one.but(points=one.points or each) for name, one in rules.items()}


def rule(name, table, what):
    """The rule of an answer; refuses one by which nothing could be compared."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise NetlabError(f"{what}: is no name that Python knows: name a variable of the solution")
    if not isinstance(table, dict):
        raise NetlabError(f"{what}: write a table, [{name}], and what is compared below it")
    for key in table.keys() - Rule.keys():
        raise NetlabError(f"{what}: {key!r} is unknown; allowed are {', '.join(Rule.keys())}")
    if "within" in table and "exact" in table:
        raise NetlabError(f"{what}: within and exact say two things; leave one out")
    try:
        return Rule(**table, name=name)
    except SpecificationError as error:
        example = "; ".join(f"{key} = {Rule.keys()[key][0]}" for key in table)
        raise NetlabError(f"{what}: {error} (as in {example})") from None


def reference():
    """The keys of an answer's table, as a table in Markdown."""
    rows = [f"| `{name} = {example}` | {says} |" for name, (example, says) in Rule.keys().items()]
    first = "| `[name]` | a table for each answer: a variable or function of the solution |"
    return "\n".join(["| key | what it says |", "|---|---|", first, *rows])
