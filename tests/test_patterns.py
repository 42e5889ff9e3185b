"""Every regular expression of the package takes work in proportion to the text that it reads.

`re` does not say how many steps it takes, so they are counted by a matcher that backtracks as `re`
does, on texts made of the pattern itself: each of its repetitions is repeated n and 2n times.
"""

import ast
import contextlib
import importlib
import itertools
import pkgutil
import re
import warnings
from pathlib import Path
from re import _compiler, _constants, _parser

import pytest

import netlab

METHODS = {"search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
ONCE = {"match", "fullmatch"}  # these begin at one place only
SHORT, LONG = 100, 200  # characters
MOST = 2.6  # times the steps for twice the text
FEW = 40  # steps for a character are not looked at further
TAILS = "", "\n", "\0"
OWN = (  # these read what this project wrote; of a title, 300 characters are looked at
    "netlab.engines.jail.contents", "netlab.engines.guest", "netlab.cli.student_copy",
    "netlab.course.sets.source", "netlab.explore", "netlab.course.checks.unit_names",
)  # fmt: skip


class TooMany(Exception):
    pass


class Matcher:
    """Counts the steps of a backtracking match."""

    def __init__(self, pattern, most):
        self.tree, self.most, self.steps = _parser.parse(pattern.pattern, pattern.flags), most, 0
        self.single = {}

    def run(self, text, once):
        for start in [0] if once else range(len(text) + 1):
            end = next(self.items(list(self.tree), text, start, {}), None)
            if end is not None and not once:
                break
        return self.steps

    def found(self, text):
        return next(self.items(list(self.tree), text, 0, {}), None) is not None

    def items(self, items, text, at, groups):
        if not items:
            yield at
            return
        for end in self.item(items[0], text, at, groups):
            yield from self.items(items[1:], text, end, groups)

    def item(self, item, text, at, groups):
        self.steps += 1
        if self.steps > self.most:
            raise TooMany
        op, value = item
        if op is _constants.SUBPATTERN:
            number, _, _, inside = value
            for end in self.items(list(inside), text, at, groups):
                groups[number] = text[at:end]
                yield end
        elif op is _constants.BRANCH:
            for branch in value[1]:
                yield from self.items(list(branch), text, at, groups)
        elif op in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            yield from self.repeat(item, text, at, groups)
        elif op in (_constants.ASSERT, _constants.ASSERT_NOT):
            ahead = value[0] > 0
            found = any(
                end == at or ahead
                for start in ([at] if ahead else range(at, max(-1, at - 60), -1))
                for end in self.items(list(value[1]), text, start, groups)
            )
            if found == (op is _constants.ASSERT):
                yield at
        elif op is _constants.GROUPREF:
            same = groups.get(value, "")
            if text.startswith(same, at):
                yield at + len(same)
        elif op is _constants.AT:
            if self.here(item).match(text, at):
                yield at
        elif at < len(text) and self.here(item).match(text, at):
            yield at + 1

    def repeat(self, item, text, at, groups):
        op, (least, most, inside) = item
        greedy, inside = op is _constants.MAX_REPEAT, list(inside)
        stack = [(at, 0, None)]  # a generator for each turn: no recursion, however long the text
        if not greedy and least == 0:
            yield at
        while stack:
            place, count, turns = stack.pop()
            if turns is None:
                turns = self.items(inside, text, place, groups) if count < most else iter(())
            end = next(turns, None)
            if end is None:
                if greedy and count >= least:
                    yield place
                continue
            stack.append((place, count, turns))
            if end > place or count < least:
                if not greedy and count + 1 >= least:
                    yield end
                stack.append((end, count + 1, None))

    def here(self, item):
        """A pattern of one item."""
        if id(item) not in self.single:
            one = _parser.SubPattern(self.tree.state, [item])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.single[id(item)] = _compiler.compile(one, self.tree.state.flags)
        return self.single[id(item)]


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


def slow(pattern, method):
    """The first text on which the steps grow faster than the text, and how they do; or None."""
    tree = _parser.parse(pattern.pattern, pattern.flags)
    for attack in attacks(tree):
        texts, steps = [attack(SHORT), attack(LONG)], []
        for text in texts:
            try:
                steps.append(Matcher(pattern, 10 * FEW * LONG).run(text, method in ONCE))
            except TooMany:
                return texts[0], "more steps than any"
        if steps[1] > FEW * len(texts[1]) and steps[1] > MOST * steps[0]:
            return texts[0], steps
    return None


def uses():
    """Every use of a regular expression: module, method, text, flags, pattern."""
    used = []
    for found in pkgutil.walk_packages(netlab.__path__, "netlab."):
        if found.name.endswith("__main__") or found.name.startswith(OWN):
            continue
        spec = importlib.util.find_spec(found.name)
        tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
        if "'re'" not in ast.dump(tree):
            continue
        module = importlib.import_module(found.name)
        for call in ast.walk(tree):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            whose, method = call.func.value, call.func.attr
            if method not in METHODS:
                continue
            name = whose.id if isinstance(whose, ast.Name) else getattr(whose, "attr", "")
            if name == "re":
                used.append((found.name, method, call.args[0], module))
            elif isinstance(vars(module).get(name), re.Pattern):
                used.append((found.name, method, vars(module)[name], module))
    for name, method, one, module in used:
        if isinstance(one, ast.AST):
            value = None
            with contextlib.suppress(NameError):  # made of a local name
                value = eval(compile(ast.Expression(one), "", "eval"), vars(module))
            one = re.compile(value) if isinstance(value, str) else None
        if one:
            yield name, method, one.pattern, one.flags, one


USES = sorted({use[:4]: use for use in uses()}.values(), key=lambda use: use[:4])


@pytest.mark.parametrize(
    ("method", "pattern"), [(use[1], use[4]) for use in USES], ids=[use[0] for use in USES]
)
def test_twice_the_text_is_twice_the_steps(method, pattern):
    assert slow(pattern, method) is None


@pytest.mark.parametrize("pattern", [r"^#{1,6} +(.*\S)", r"(a+)+b", r"\d+x", r"<[^>]*>", r"\s*$"])
def test_the_count_finds_what_is_slow(pattern):
    assert slow(re.compile(pattern, re.M), "search")


def test_steps_lead_where_re_leads():
    for pattern, text in [
        (r"(a|ab)(c|bcd)$", "abcd"),
        (r"x(?!y)\w{2,3}?z", "xabz"),
        (r"(.)\1", "aa"),
    ]:
        assert Matcher(re.compile(pattern), 1000).found(text) == bool(re.match(pattern, text))
