"""What a command in the guest can reach: nothing of the host, and nothing of the emulation."""

import os
import re
import textwrap
from pathlib import Path

import psutil
import pytest

import netlab as nl
from netlab.engines.guest import store


def python(text):
    return f"python3 - <<'END'\n{textwrap.dedent(text)}\nEND"


# Each would have to print OPEN if it got where it wants to go.
WAYS = {
    "the host's files by ..": (
        "mkdir /tmp/m; mount -t hostfs none /tmp/m -o hostfs=../../../../../../"
        " && ls /tmp/m/etc && echo OPEN"
    ),
    "the host's files through a folder swapped for a link": (
        "mkdir -p /tmp/m /job/d; mount -t hostfs none /tmp/m -o hostfs=j/; cd /job/d"
        " && rmdir /tmp/m/d && ln -s / /tmp/m/d && cat ./etc/hostname && echo OPEN"
    ),
    "the engine in the cache": (
        "mkdir /tmp/m; mount -t hostfs none /tmp/m -o hostfs=r/ && touch /tmp/m/opened && echo OPEN"
    ),
    "the engine by a remount": "mount -o remount,rw / && touch /opened && echo OPEN",
    "the host's disk": "dd if=/dev/zero of=/job/x bs=1M count=1 && echo OPEN",
    "the emulation, from another host": (
        "nsenter -t 1 -n tc qdisc del dev s1-eth2 root && echo OPEN"
    ),
    "the line": "echo '.{\"done\": true}' > /dev/netlab && echo OPEN",
    "the line, by its device number": (
        "mknod /tmp/line c 10 $(sed -n 's/ netlab//p' /proc/misc) && cat /tmp/line && echo OPEN"
    ),
    "the first process's files": "ls /proc/1/root/ && echo OPEN",
    "a user namespace of its own": "unshare -U true && echo OPEN",
    "a namespace for mounts": "unshare -m true && echo OPEN",
    "chroot": "chroot /tmp true && echo OPEN",
    "the machine's memory": "test -e /dev/mem -o -e /dev/kmem -o -e /proc/kcore && echo OPEN",
    "kernel modules": "test -e /proc/modules && echo OPEN",
    "a program that the kernel starts": (
        "echo '|/bin/sh' > /proc/sys/kernel/core_pattern && echo OPEN;"
        " echo /bin/sh > /proc/sys/kernel/modprobe && echo OPEN"
    ),
    "the machine's devices": (
        "rm -f /dev/null && echo OPEN; mv /dev/zero /dev/x && echo OPEN; touch /dev/x && echo OPEN;"
        " ln -sf /root /dev/fd && echo OPEN; mount -o remount,bind,rw /dev && echo OPEN"
    ),
    "a turn before the agent's": (
        "chrt -f 99 true && echo OPEN; chrt -r 1 true && echo OPEN; renice -n -5 $$ && echo OPEN"
    ),
    "control groups": "mount -t cgroup2 x /tmp && echo OPEN; ls -A /sys/fs/cgroup | sed s/^/OPEN/",
    "powering off": python(
        """
        import ctypes
        if ctypes.CDLL(None, use_errno=True).reboot(0x4321FEDC) == 0:
            print("OPEN")
        print("failed")
        """
    ),
    "looking into the agent": python(
        """
        import ctypes, os
        for pid in filter(str.isdigit, os.listdir("/proc")):
            if b"\\0/job/agent.py\\0" in open(f"/proc/{pid}/cmdline", "rb").read():
                libc = ctypes.CDLL(None, use_errno=True)
                if libc.ptrace(16, int(pid), 0, 0) == 0:
                    print("OPEN")
                pidfd = libc.syscall(434, int(pid), 0)
                for number in range(3, 9):
                    if libc.syscall(438, pidfd, number, 0) >= 0:
                        print("OPEN")
                try:
                    open(f"/proc/{pid}/mem", "r+b")
                    print("OPEN")
                except OSError as error:
                    print(error)
        """
    ),
    "the switches' links, through netlink": python(
        """
        # RTM_NEWLINK on interface s1-eth2 of namespace 0 (IFLA_TARGET_NETNSID), down
        import socket, struct
        line = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        def attribute(kind, data):
            data = struct.pack("HH", 4 + len(data), kind) + data
            return data + bytes(-len(data) % 4)
        body = struct.pack("BxHiII", 0, 0, 0, 0, 1)
        body += attribute(3, b"s1-eth2\\0") + attribute(46, struct.pack("i", 0))
        line.send(struct.pack("IHHII", 16 + len(body), 16, 5, 1, 0) + body)
        status = struct.unpack_from("i", line.recv(4096), 16)[0]
        print("OPEN" if status == 0 else f"failed: {status}")
        """
    ),
    "moving its card to the switches": (
        "ip link add x0 type veth peer name x1; ip link set x1 netns 1 && echo OPEN;"
        " ip link set x1 netns /proc/1/ns/net && echo OPEN; ip link del x0"
    ),
}


@pytest.fixture(scope="module")
def net():
    with nl.Network(nl.wan("100mbit", "20ms")) as net:
        yield net


@pytest.mark.parametrize("host", ["h1", "s1"])
@pytest.mark.parametrize("way", WAYS)
def test_there_is_no_way_to(net, way, host):
    if host == "s1" and "switches" in way:
        pytest.skip("a switch's shell is among the switches")
    said = net.run(host, WAYS[way], echo=False).text
    assert "OPEN" not in said
    assert net.run("s1", "tc qdisc show dev s1-eth2", echo=False).text.count("qdisc") == 2
    assert "UP" in net.run("s1", "ip -br link show s1-eth2", echo=False).text


def test_what_the_host_has_is_not_shown(net):
    command = "df / /job; ls -ldin / /usr /etc/passwd; cat /proc/cpuinfo"
    shown = net.run("h1", command, echo=False).text
    assert net.run("h1", "stat -c '%u %g %Y' / /usr/bin/bash", echo=False).text == "0 0 0\n" * 2
    assert os.uname().nodename not in shown.split()
    assert str(store.current().archive.stat().st_ino) not in shown.split()


def test_devices_and_terminals_and_shared_memory_are_there_to_use(net):
    command = "echo gone >/dev/null; tty; cat <(echo one); echo two >/dev/shm/two; cat /dev/shm/two"
    assert net.run("h1", command, echo=False).text.split() == ["/dev/pts/0", "one", "two"]


@pytest.mark.parametrize("command", ["chrt -f 99 true", "nice -n -5 true"])
def test_who_wants_a_turn_before_others_reads_why_not(net, command):
    said = net.run("h1", command, echo=False).text
    assert re.search("Operation not permitted|Permission denied", said)


def test_files_come_in_the_same_order_everywhere(net):
    listed = net.run("h1", "ls -1U /etc", echo=False).text.split()
    assert listed == sorted(listed)


def test_the_process_of_the_guest_itself_opens_nothing_for_writing(net):
    status = Path(f"/proc/{net._connection.kernel}/status").read_text()
    assert "NoNewPrivs:\t1" in status and "Seccomp:\t2" in status


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(":() { : | : & }; :; sleep 1000", marks=pytest.mark.long),
        "kill -KILL -1",
    ],
)
def test_what_takes_everything_ends_and_leaves_nothing(command, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = psutil.Process().children()
    try:
        with nl.Network(nl.wan("100mbit", "20ms"), wall_limit_s=60) as net:
            net.run("h1", command, limit_s=2, echo=False)
    except (nl.GuestError, nl.CommandError):
        pass
    assert psutil.Process().children() == before
    assert not list(tmp_path.glob("netlab-*/guest-*"))
    assert sum(path.lstat().st_blocks << 9 for path in tmp_path.rglob("*")) < 1 << 20
