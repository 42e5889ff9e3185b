"""Every regular expression of the package takes time in proportion to the text that it reads.

Each is tried on long texts that are made of the pattern itself, one of its repetitions taken very
often, within a limit of CPU time that a quadratic one exceeds.
"""

import ast
import contextlib
import importlib
import itertools
import pkgutil
import re
import signal
from pathlib import Path
from re import _compiler, _constants, _parser

import pytest

import netlab

ONCE = {"match", "fullmatch"}  # these begin at one place only
METHODS = ONCE | {"search", "sub", "subn", "split", "findall", "finditer"}
TAILS = "", "\n", "\0"
LENGTH, LIMIT_S = 40_000, 0.1  # characters of a text, and the CPU time that it may take
OWN = (  # these read what this project wrote; of a title, 300 characters are looked at
    "netlab.engines.jail.contents", "netlab.engines.guest", "netlab.cli.student_copy",
    "netlab.course.sets.source", "netlab.explore._", "netlab.course.answers.unit_names",
)  # fmt: skip


class TooLong(Exception):
    pass


@contextlib.contextmanager
def cpu_limit():
    def stop(*_):
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def sample(items, pumped=None, times=0):
    """A text that a pattern matches, with one of its repetitions taken so often; ends behind it."""
    text = ""
    for op, value in items:
        done = False
        if op is _constants.SUBPATTERN:
            part, done = sample(value[3], pumped, times)
        elif op is _constants.BRANCH:
            parts = [sample(branch, pumped, times) for branch in value[1]]
            part, done = next((one for one in parts if one[1]), parts[0])
        elif op in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            part, done = sample(value[2], pumped, times)
            if not done:
                done = value is pumped
                part = part * (times if done else value[0])
        elif op is _constants.LITERAL:
            part = chr(value)
        elif op in (_constants.ANY, _constants.NOT_LITERAL, _constants.IN):
            one = _parser.SubPattern(_parser.State(), [(op, value)])
            allowed = _compiler.compile(one)
            part = next((c for c in CHARACTERS if allowed.match(c)), "x")
        else:
            part = ""
        text += part
        if done:
            return text, True
    return text, False


CHARACTERS = " 0a\t.A-_/:=[\n\x1b\u00e9" + "".join(map(chr, range(33, 127)))


def repetitions(items):
    for op, value in items:
        if op is _constants.SUBPATTERN:
            yield from repetitions(value[3])
        elif op is _constants.BRANCH:
            for branch in value[1]:
                yield from repetitions(branch)
        elif op in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            if value[1] > 1:
                yield value
            yield from repetitions(value[2])


def attacks(tree):
    """Functions of n that make texts of about n characters."""
    starts = {""}
    for pumped in repetitions(tree):
        starts.add(sample(tree, pumped, 0)[0])
        one = max(len(sample(tree, pumped, 2)[0]) - len(sample(tree, pumped, 1)[0]), 1)
        for tail in TAILS:
            yield lambda n, p=pumped, o=one, t=tail: sample(tree, p, n // o)[0] + t
    whole = sample(tree)[0]
    for start, one in itertools.product(sorted({*starts, whole}), " \n0a"):
        yield lambda n, start=start, one=one: start + one * (n - len(start)) + "\0"
        yield lambda n, start=start, one=one: (start + one) * (n // len(start + one))


def without_bounds(pattern):
    """The same with "any number" for bounds like {0,400}, so that they hide no quadratic."""
    return re.compile(re.sub(r"\{(\d*),\d{3,}\}", r"{\1,}", pattern.pattern), pattern.flags)


def slow(pattern, method):
    """The beginning of the first text that takes too long; or None."""
    free = without_bounds(pattern)
    for attack in attacks(_parser.parse(pattern.pattern, pattern.flags)):
        text = attack(LENGTH)
        try:
            with cpu_limit():
                getattr(free, method)(text) if method in ONCE else free.sub("", text)
        except TooLong:
            return text[:100]
    return None


def uses():
    """Of every use of a regular expression: module, method, pattern."""
    for found in pkgutil.walk_packages(netlab.__path__, "netlab."):
        source = Path(importlib.util.find_spec(found.name).origin).read_text(encoding="utf-8")
        if "import re\n" not in source or found.name.startswith(OWN):
            continue
        module = importlib.import_module(found.name)
        for call in ast.walk(ast.parse(source)):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            whose, method = call.func.value, call.func.attr
            one = vars(module).get(getattr(whose, "id", None) or getattr(whose, "attr", None))
            if one is re:
                with contextlib.suppress(NameError):  # made of a local name
                    one = eval(compile(ast.Expression(call.args[0]), "", "eval"), vars(module))
                    one = re.compile(one) if isinstance(one, str) else None
            if method in METHODS and isinstance(one, re.Pattern):
                yield found.name, method, one


USES = sorted({*uses()}, key=lambda use: (*use[:2], use[2].pattern))


@pytest.mark.parametrize(
    ("method", "pattern"), [use[1:] for use in USES], ids=[use[0] for use in USES]
)
def test_a_long_text_takes_no_longer_than_its_length_does(method, pattern):
    assert slow(pattern, method) is None


@pytest.mark.parametrize(
    "pattern",
    [r"^#{1,6} +(.*\S)", r"(a+)+b", r"\d+x", r"<[^>]*>", r"\s*$", r"[0-9]{1,400}\.?[0-9]{0,400}x"],
)
def test_what_is_slow_is_found(pattern):
    assert slow(re.compile(pattern, re.M), "search")
