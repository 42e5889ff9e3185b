"""Checks that the text of a class or function is what Python runs: its file may have been edited
after its import, or its methods and attributes set from elsewhere.
"""

import __future__

import ast
import enum
import functools
import types
import warnings

FUTURE = functools.reduce(
    int.__or__, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)
MISSING = object()
FUNCTIONS = ast.FunctionDef, ast.AsyncFunctionDef


def refuse_changed(value, node, text):
    """Refuse a class or function that differs from its statement in a file's or cell's text."""
    if isinstance(value, types.FunctionType):
        changed = [value.__name__] if differs(value, node, text) else []
    else:
        changed = list(changed_parts(value, node, text))
    if changed:
        raise ValueError(
            f"{', '.join(changed)}: the source is not what Python runs. It was edited after it was"
            " imported, or set from elsewhere: reload the module (importlib.reload), or restart"
            " Python, and write in the class what it should have"
        )


def changed_parts(cls, node, text):
    """The names of methods and attributes that are not what the class statement says."""
    stores = [one for one in ast.walk(node) if isinstance(getattr(one, "ctx", None), ast.Store)]
    stored = [one.id for one in stores if isinstance(one, ast.Name)]
    counted = {  # attributes that it sets itself, such as Mine.made += 1
        one.attr
        for one in stores
        if isinstance(one, ast.Attribute) and getattr(one.value, "id", None) != "self"
    }
    methods = {}
    for part in functions(node):
        methods.setdefault(part.name, []).append(part)
    for name, parts in methods.items():  # one of a property's, one of an if's
        live = vars(cls).get(name, MISSING)
        if all(differs(live, part, text, node.decorator_list) for part in parts):
            yield f"{cls.__name__}.{name}"
    for part in node.body:
        if isinstance(part, ast.Assign | ast.AnnAssign) and part.value:
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            names = {one.id for one in targets if isinstance(one, ast.Name)} - counted
            for name in sorted(names):
                live = vars(cls).get(name, MISSING)
                if stored.count(name) == 1 and not is_literal(part.value, live):
                    yield f"{cls.__name__}.{name}"
    for name, live in vars(cls).items():
        added = isinstance(live, types.FunctionType) and not node.decorator_list
        if added and name.startswith(("on_", "start")) and name not in {*stored, *methods}:
            yield f"{cls.__name__}.{name}"


def functions(node):
    """The function statements in the body of a class, in its `if` and `try`, too."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, FUNCTIONS):
            yield part
        elif not isinstance(part, ast.ClassDef | ast.expr):
            yield from functions(part)


def differs(value, node, text, decorators=()):
    """Is this function not the one of a statement?"""
    value = getattr(value, "__func__", getattr(value, "fget", value))
    if not isinstance(value, types.FunctionType):
        return False
    code, decorated = value.__code__, [*decorators, *node.decorator_list]
    if decorated and code.co_name != node.name:
        return False  # a decorator, of it or of its class, has made another function of it
    if any("@" in name for name in code.co_names + code.co_varnames):
        return False  # pytest has written its asserts anew
    known, own = compiled(text, code.co_flags & FUTURE), meaning(code)
    if own not in known.get((node.name, first_line(node)), ()):
        return not decorated or not any(own in found for found in known.values())
    given = zip(node.args.defaults, value.__defaults__ or (), strict=False)
    kept = [one for one in node.args.kw_defaults if one]
    named = zip(kept, (value.__kwdefaults__ or {}).values(), strict=False)
    return not all(is_literal(written, live) for written, live in (*given, *named))


def first_line(node):
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def is_literal(node, live):
    """Is this the value of an expression? True where that would have to be computed."""
    if isinstance(live, enum.Enum):
        return True
    try:
        return meaning(ast.literal_eval(node)) == meaning(live) or not isinstance(
            live, None | bool | int | float | str | bytes | tuple
        )
    except (ValueError, TypeError):
        return True


@functools.lru_cache(maxsize=32)
def compiled(text, flags):
    """What each function of a file or cell does, by its name and first line."""
    flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # as in a notebook's cell
    # a notebook compiles statement by statement, which can give other byte code
    tree = ast.parse(text)
    trees = [tree, *(ast.Module([one], []) for one in tree.body)]
    found = {}
    with warnings.catch_warnings(action="ignore"):  # Python has said them before
        codes = [compile(one, "algorithm", "exec", flags, dont_inherit=True) for one in trees]
    while codes:
        code = codes.pop()
        found.setdefault((code.co_name, code.co_firstlineno), set()).add(meaning(code))
        codes += [one for one in code.co_consts if isinstance(one, types.CodeType)]
    return found


def meaning(value):
    """A constant or code so that equal ones do the same: 1, 1.0 and True differ."""
    if isinstance(value, types.CodeType):
        names = value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars
        counts = value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount
        return value.co_code, names, counts, meaning(value.co_consts)
    if isinstance(value, tuple):
        return tuple(map(meaning, value))
    if isinstance(value, frozenset):
        return frozenset(map(meaning, value))
    return type(value), repr(value)
