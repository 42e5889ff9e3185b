import pytest

from netlab.course.sets import source
from tests.course import problem_set


@pytest.fixture(scope="session")
def assignment(tmp_path_factory):
    """The small problem set ps0."""
    return source.read(problem_set.write(tmp_path_factory.mktemp("course")))


def pytest_make_parametrize_id(val):
    """No long texts and numbers in the names of tests."""
    return "long" if isinstance(val, str | bytes | int) and val.__sizeof__() > 110 else None
