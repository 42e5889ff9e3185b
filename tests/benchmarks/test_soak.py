"""What is rare, tried often: `make bench`; the test suite has shorter ones."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.engines.guest.test_process import run_one, survivors
from tests.running.test_delay_check import behind_a_router, coming_up, direct


@pytest.mark.parametrize(
    "topology",
    [
        behind_a_router(),
        direct("45%", delay="10ms"),
        direct("45%", delay="1ms"),
        behind_a_router(loss="45%", both=True),
    ],
)
def test_forty_lossy_networks_come_up(topology):
    with ThreadPoolExecutor(2) as pool:
        assert len(list(pool.map(coming_up, [(topology, seed) for seed in range(1, 41)]))) == 40


def test_fifty_runs_leave_nothing(tmp_path):
    """Half of them are killed at random moments."""
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
