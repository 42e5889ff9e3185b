import pytest

from netlab.course.sets import source
from tests.course import problem_set


@pytest.fixture(scope="session")
def assignment(tmp_path_factory):
    """The small problem set ps0."""
    return source.read(problem_set.write(tmp_path_factory.mktemp("course")))


@pytest.fixture(scope="session")
def engine():
    """What the grader runs strangers' networks on."""
    from netlab.engines.jail import JailedEngine  # some tests run where there is no Unix

    return JailedEngine()


def pytest_make_parametrize_id(val):
    """No long texts and numbers in the names of tests."""
    return "long" if isinstance(val, str | bytes | int) and val.__sizeof__() > 110 else None
