"""Thousands of broken MiniEdit files: each loads, or is refused by an error of netlab's."""

import random
from collections import Counter

from tests.topology.test_miniedit import FILES, mutated, reading

FILES_OF_EACH = 2000


def test_broken_files_never_raise_anything_else(tmp_path):
    random.seed(11)
    ends, raw = Counter(), []
    for sample in sorted(FILES.glob("*.mn")):
        text = sample.read_text()
        for _ in range(FILES_OF_EACH):
            broken = mutated(text, random.randrange)
            try:
                ends[reading(broken, tmp_path / "mutated.mn") or "loaded"] += 1
            except Exception as error:
                raw.append((sample.name, repr(error)))
    print(f"\n{ends.total() + len(raw)} broken files: {dict(ends)}, other errors {len(raw)}")
    assert raw == []
