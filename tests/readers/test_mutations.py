"""Damaged outputs: refused with a ReadError, read with a ReadWarning, or read to figures that go
together.
"""

import os
import random
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlab.errors import ReadError, ReadWarning
from netlab.readers import read_iperf3, read_simpleperf
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
def test_a_file_in_which_all_stands_twice_reads_as_once(tool):
    count = 0
    for text in mutations.SAMPLES[tool]:
        with warnings.catch_warnings(action="ignore", category=ReadWarning):
            try:
                once = mutations.READERS[tool](text)
            except ReadError:
                continue
        twice = mutations.warned(mutations.READERS[tool], f"{text.rstrip()}\n{text}", "here twice")
        count += 1
        assert type(twice) is type(once) and repr(twice) == repr(once)
        for name in {"streams", "intervals", "pings"} & {*dir(once)}:
            assert getattr(twice, name).equals(getattr(once, name))
    assert count


@pytest.mark.parametrize("tool", mutations.READERS)
@given(text=st.text().filter(lambda text: not os.path.isfile(text)))  # strings of our code, too
def test_any_other_text_is_refused(tool, text):
    mutations.refused(mutations.READERS[tool], text)


@pytest.mark.parametrize("tool", mutations.READERS)
def test_what_is_no_text_is_refused(tool, tmp_path):
    rng = random.Random(1)
    for n, start in enumerate([b"", b"\xff\xfe", b"\xfe\xff\0", b"\0\0\xfe\xff", b"\xef\xbb\xbf{"]):
        file = tmp_path / f"{n}.bin"
        file.write_bytes(start + rng.randbytes(2001 * n))
        with pytest.raises(ReadError, match=f"{n}.bin: "):
            mutations.READERS[tool](file)


def test_an_error_and_a_warning_tell_a_part_of_a_long_text_and_obey_no_terminal():
    long = "\x1b[31m" + "x" * 100_000
    said = mutations.refused(read_simpleperf, f"simpleperf: {long}", "Mend that")
    assert len(said) < 1000 and said.isprintable()
    text = next(one for one in mutations.SAMPLES["iperf3"] if one.strip().endswith("}"))
    name = long.replace("\x1b", "\\u001b")
    with pytest.warns(ReadWarning, match="stands twice") as told:
        read_iperf3(f'{text.strip()[:-1]}, "{name}": 1, "{name}": 2}}')
    assert len(str(told[0].message)) < 3000 and str(told[0].message).isprintable()
