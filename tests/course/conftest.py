import pytest

from netlab.course.sets import source
from tests.course import problem_set


@pytest.fixture(scope="session")
def assignment(tmp_path_factory):
    """The small problem set ps0."""
    return source.read(problem_set.write(tmp_path_factory.mktemp("course")))
