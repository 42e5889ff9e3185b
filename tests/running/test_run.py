"""What `nl.run` says where a run fails."""

import pytest

import netlab as nl

PATH = nl.wan("100mbit", "20ms", pairs=1)


@pytest.mark.parametrize(
    ("ended", "late"),
    [("ping -c 1 10.0.0.2", "sleep 100"), ("echo done", "ping 10.0.0.2"), ("true", "iperf3 -s")],
)
def test_at_the_limit_the_program_that_had_not_ended_is_named(ended, late):
    with pytest.raises(nl.CommandError, match="had not ended") as caught:
        nl.run(PATH, nl.Shell("h1", ended), nl.Shell("h2", late), virtual_limit_s=5)
    assert caught.value.command == late
    assert f"`{ended}`" not in str(caught.value)


def test_at_the_limit_all_that_had_not_ended_are_named():
    with pytest.raises(nl.CommandError) as caught:
        nl.run(
            PATH,
            *(nl.Shell("h1", text) for text in ("true", "sleep 100", "ping 10.0.0.2")),
            virtual_limit_s=5,
        )
    assert "`sleep 100`" in str(caught.value) and "`ping 10.0.0.2`" in str(caught.value)
    assert "`true`" not in str(caught.value)
