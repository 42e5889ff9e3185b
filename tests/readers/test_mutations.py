"""Damaged outputs: refused with a ReadError, read with a ReadWarning, or read to figures that go
together. `make bench` reads tens of thousands.
"""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlab.errors import ReadError
from tests.readers import mutations


@pytest.mark.parametrize("tool", mutations.READERS)
@settings(max_examples=100)
@given(seed=st.integers(0, 2**32))
def test_a_damaged_output_is_refused_or_can_be(tool, seed):
    text = mutations.mutated(random.Random(seed), tool)
    try:
        out, sure = mutations.read(tool, text)
    except ReadError as error:
        assert error.raw == text
    else:
        mutations.check(tool, out, sure)


@pytest.mark.parametrize("tool", mutations.READERS)
def test_what_is_no_text_is_refused(tool, tmp_path):
    rng = random.Random(1)
    for n, start in enumerate([b"", b"\xff\xfe", b"\xfe\xff\0", b"\0\0\xfe\xff", b"\xef\xbb\xbf{"]):
        file = tmp_path / f"{n}.bin"
        file.write_bytes(start + rng.randbytes(2001 * n))
        with pytest.raises(ReadError, match=f"{n}.bin: "):
            mutations.READERS[tool](file)
