import pytest


def cases(values, group=None):
    """Cases for `parametrize`, of which `make test` runs the first and `make test-all` all. With
    `group`, a test's name, each runs on whichever worker is free.
    """
    params = []
    for value in values:
        name = str(value) if isinstance(value, str) else value.name.partition(".")[0]
        marks = [pytest.mark.long] if params else []
        marks += [pytest.mark.xdist_group(f"{group} {name}")] if group else []
        params.append(pytest.param(value, id=name, marks=marks))
    return params
