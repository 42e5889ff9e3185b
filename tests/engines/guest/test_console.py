import os
import signal

import pytest

import netlab as nl
from netlab.engines.guest.console import KEPT_BYTES, MOST_BYTES, Console


def test_the_end_is_kept_and_signs_are_not_forgotten(tmp_path):
    path = tmp_path / "console"
    with open(path, "a+b", buffering=0) as file:
        console = Console(file.fileno(), ["lost a stub"])
        assert console.text() == "" and not console.flooded
        file.write(b"begun; lost a")
        assert "lost a stub" not in console.text()
        file.write(b" stub\n" + 3 * KEPT_BYTES * b"x" + "ende é".encode()[:-1])
        text = console.text()
        assert text.startswith("lost a stub\n") and text.endswith("ende �")
        assert len(text) < KEPT_BYTES + 100
        assert console.text() == text


def test_too_much_is_seen_and_not_read(tmp_path):
    path = tmp_path / "console"
    with open(path, "w+b") as file:
        file.truncate(100 * MOST_BYTES)
        console = Console(file.fileno(), [])
        assert console.flooded
        console.text()
        assert console.bytes_read <= MOST_BYTES + KEPT_BYTES


def test_another_file_under_its_name_is_not_read():
    """As code in the guest's kernel process might put there."""
    with nl.Network(nl.wan("100mbit", "20ms")) as net:
        console = net._agent.folder / "console"
        console.unlink()
        console.symlink_to("/etc/passwd")
        with pytest.raises(nl.GuestError) as ended:
            os.killpg(net._agent.process.pid, signal.SIGKILL)
            net.run("h1", "true")
        assert "root:" not in str(ended.value) + (ended.value.evidence / "console").read_text()


def test_a_flood_of_the_console_ends_the_run():
    command = "head -c 2500000000 /dev/zero > /dev/console"
    with nl.Network(nl.wan("100mbit", "20ms"), wall_limit_s=100) as net:
        with pytest.raises(nl.GuestError, match="more than 16 MB to its console") as ended:
            net.run("h1", command, echo=False)
        assert (ended.value.evidence / "console").stat().st_size <= KEPT_BYTES + 100
