"""Tens of thousands of damaged outputs: each is refused with a ReadError, read with a ReadWarning,
or read to figures that go together. `make bench`; the test suite has a shorter one.
"""

import random
from collections import Counter

import pytest

from netlab.errors import ReadError
from tests.readers import mutations


@pytest.mark.parametrize(
    ("tool", "count"),
    [
        ("iperf3", 16_000),
        ("iperf", 9_000),
        ("simpleperf", 9_000),
        ("ping", 9_000),
        ("nstat", 5_000),
    ],
)
def test_damaged_outputs(tool, count):
    rng, ends, wrong = random.Random(2024), Counter(), []
    for _ in range(count):
        text = mutations.mutated(rng, tool)
        try:
            out, sure = mutations.read(tool, text)
        except ReadError as error:
            assert error.raw == text
            ends["refused with a ReadError"] += 1
            continue
        except Exception as error:
            ends["raised something else"] += 1
            wrong.append(f"{type(error).__name__}: {str(error)[:100]}")
            continue
        ends["read" if sure else "read with a warning"] += 1
        try:
            mutations.check(tool, out, sure)
        except Exception as error:
            ends["read, but cannot be"] += 1
            wrong.append(f"read, but {error!r:.300}")
    print(f"\n{tool}: {count} damaged outputs: {dict(ends)}")
    assert not wrong, Counter(wrong).most_common(10)
