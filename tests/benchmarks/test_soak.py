"""Fifty runs, half of them killed at random moments: nothing is left. `make bench`; the test suite has a shorter one."""

import os
import random
import signal
import subprocess
import sys
import time

from tests.engines.guest.test_start import VICTIM, survivors


def test_fifty_runs_leave_nothing(tmp_path):
    random.seed(50)
    ways = ["it ends"] * 25 + ["kill -9"] * 9 + ["Ctrl-C"] * 8 + ["wall limit"] * 8
    random.shuffle(ways)
    for way in ways:
        limit = str(random.uniform(0.2, 3)) if way == "wall limit" else "120"
        victim = subprocess.Popen(
            [sys.executable, "-c", VICTIM, limit],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"TMPDIR": str(tmp_path)},
        )
        victim.stdout.readline()
        if way in ("kill -9", "Ctrl-C"):
            time.sleep(random.uniform(0, 4))
            victim.send_signal(signal.SIGKILL if way == "kill -9" else signal.SIGINT)
        victim.wait(150)
    left = survivors(tmp_path)
    print(f"\n50 runs, 25 of them killed: {len(left[0])} processes and {len(left[1])} folders left")
    assert left == ([], [])
