"""Fifty runs, half of them killed at random moments: nothing is left. `make bench`; the test suite
has a shorter one.
"""

import random

from tests.engines.guest.test_start import run_one, survivors


def test_fifty_runs_leave_nothing(tmp_path):
    random.seed(50)
    ways = ["it ends"] * 25 + ["kill -9"] * 9 + ["Ctrl-C"] * 8 + ["wall limit"] * 8
    random.shuffle(ways)
    for way in ways:
        run_one(
            way,
            tmp_path,
            str(random.uniform(0.2, 3)) if way == "wall limit" else "120",
            killed_within_s=4,
        )
    left = survivors(tmp_path)
    print(f"\n50 runs, 25 of them killed: {len(left[0])} processes and {len(left[1])} folders left")
    assert left == ([], [])
