"""Do the notebooks' conclusions hold under other defaults? Measures defaults.csv again, and writes
the tables of docs/defaults.md: some 20 minutes of CPU time. SEEDS says how many; `make bench
ARGS="-k defaults"` prints a line for each value.
"""

import os

import pytest

from tests.benchmarks import defaults, defaults_page

SEEDS = range(1, int(os.environ.get("SEEDS", 3)) + 1)


@pytest.mark.parametrize("option", defaults.OPTIONS)
def test_conclusions_under(option):
    defaults.measure([option], SEEDS)
    defaults_page.write(defaults.stored())
