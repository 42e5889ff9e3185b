"""ps8 for ten invented students: three reach the states by another way, and have all points; three
only pretend, and have none for that; marks of a second grading are the same to the byte.
"""

import json

import pytest

from netlab.course import invented
from netlab.course.grading.batch import Batch
from netlab.course.own_numbers import SECRET, parameters
from netlab.course.sets import source
from netlab.engines import files
from tests.course import problem_set

TBF = "burst 5000000 limit 15000000"
LARGE = "10240 87380 134217728"
RECEIVED = "[  7]   0.00-5.02   sec  5.60 GBytes  9.56 Gbits/sec                  receiver"

# By student, what stands in answer cells instead of the solution; @NAME@ is one's own number
ANOTHER_WAY = {
    "bela": {
        "path": "%%on s1 path\ntc qdisc add dev s1-eth2 root netem delay @delay@ rate @rate@",
        "fast-receiver": "%%on h2 fast\ncat >buffers.conf <<END\n"
        f"net.ipv4.tcp_rmem = {LARGE}\nnet.ipv4.tcp_wmem = {LARGE}\nEND\nsysctl -p buffers.conf",
        "fast": "%%on h1 fast\nsysctl -p buffers.conf",
        "lossy": "%%on s1 lossy\ntc qdisc del dev s1-eth2 root\n"
        "tc qdisc add dev s1-eth2 root netem delay @delay@ loss @loss@ rate 200mbit",
    },
    "chen": {
        "path": "%%on s2 path\ntc qdisc add dev s2-eth1 root netem delay @delay@",
        "path-ping": f"%%on s1 path\ntc qdisc add dev s1-eth2 root tbf rate $RATE {TBF}",
        "path-rtt": 'answer = path.run("h1", "ping -c 3 10.0.0.2", echo=False).text\n'
        'rtt_s = min(float(one) for one in re.findall("time=([0-9.]+)", answer)) / 1000',
        "fast-receiver": f"%%on h2 fast\necho '{LARGE}' >/proc/sys/net/ipv4/tcp_rmem",
        "fast": f"%%on h1 fast\necho '{LARGE}' >/proc/sys/net/ipv4/tcp_wmem\ntrue",
    },
    "dido": {
        "path": 'path.run("s1", f"tc qdisc add dev s1-eth2 root handle 5: '
        'netem delay {my.delay}")\n'
        f'path.run("s1", f"tc qdisc add dev s1-eth2 parent 5: tbf rate {{my.rate}} {TBF}")',
        "fast-receiver": 'for host, name in ("h2", "tcp_rmem"), ("h1", "tcp_wmem"):\n'
        f"    fast.run(host, f\"sysctl -w net.ipv4.{{name}}='{LARGE}'\")",
        "fast": "",
        "script": 'script.files["h1"]["jain.py"] = """import json, sys\n'
        "import statistics as s\n"
        'd = json.load(open(sys.argv[1]))["end"]["streams"]\n'
        'x = [one["receiver"]["bits_per_second"] for one in d]\n'
        "print('index', s.mean(x) ** 2 / s.mean([one * one for one in x]))\n"
        '"""',
    },
}
PRETENDED = {  # and what is lost by it
    "emre": (
        4 + 5 + 3 + 5,
        {
            "path": "%%on s1 path\necho qdisc netem delay @delay@\necho qdisc tbf rate @rate@",
            "path-rtt": "rtt_s = delay_s",
            "fast-receiver": "%%on h2 fast\necho Server listening on 5201",
            "fast": f"%%on h1 fast\necho '{RECEIVED}'",
            "lossy": "%%on s1 lossy\necho netem delay @delay@ loss @loss@",
            "script": "%%on h1 script\necho 'print(0.8)' >jain.py\npython3 jain.py out.json",
        },
    ),
    "farah": (
        4 + 5 + 3,
        {
            "path": '%%on s1 path\ntc() { echo "qdisc $*"; }; export -f tc\n'
            "tc qdisc add dev s1-eth2 root netem delay $DELAY",
            "path-rtt": "rtt_s = delay_s",
            "fast-receiver": "%%on h2 fast\nmkdir bin\ncat >bin/iperf3 <<'END'\n#!/bin/sh\n"
            f"echo '{RECEIVED}'\nEND\nchmod +x bin/iperf3\nexport PATH=~/bin:$PATH",
            "fast": "%%on h1 fast\nexport PATH=~/bin:$PATH\nalias sysctl='echo large'\n"
            "mount --bind bin/iperf3 /usr/bin/iperf3\niperf3 -c 10.0.0.2",
            "lossy": "%%on s1 lossy\nalias tc='echo loss @loss@'\ntc qdisc change",
        },
    ),
    "goran": (
        4 + 5,
        {
            "path": "%%on s1 path\ntrue",
            "path-rtt": "rtt_s = delay_s\n"
            'path.history.network["topology"]["links"][1] |= {"delay": my.delay, "rate": my.rate}',
            "fast": "text = fast.history.to_text()\n"
            'first, _, rest = text.partition("\\n")\n'
            "about = json.loads(first)\n"
            'about["seed"], about["clock"] = 1, "cpu"\n'
            f"said = 'h1 echo {RECEIVED}\\n'\n"
            'said += "#: printed 80 bytes, sha256 " + "0" * 64\n'
            'fast = nl.History.from_text(json.dumps(about) + "\\n" + said)',
        },
    ),
}


def edited(assignment, student, cells):
    work = invented.Work(invented.right, assignment, student)
    own = parameters("ps8", student, SECRET).as_dict()
    for name, text in cells.items():
        for key, value in own.items():
            text = text.replace(f"@{key}@", str(value))
        problem_set.cell(work.notebook, name)["source"] = text
    return work


def handed_in(assignment):
    """Ten notebooks, by student."""
    works = {name: edited(assignment, name, cells) for name, cells in ANOTHER_WAY.items()}
    for name, (lost, cells) in PRETENDED.items():
        works[name] = edited(assignment, name, cells)
        works[name].points = works[name].least = works[name].points - lost
    one = assignment.automatic[2]
    for name, kind in (
        ("ada", invented.right),
        ("hana", invented.untouched),
        ("ivo", invented.endless),
        ("jamila", invented.wrong),
    ):
        works[name] = invented.Work(kind, assignment, name, one)
    return works


@pytest.mark.long
def test_what_the_network_does_counts(tmp_path):
    path = source.find("ps8")
    works = handed_in(source.read(path))
    assert len(works) == 10
    for student, work in works.items():
        files.write(tmp_path / "in" / student / "ps8" / "ps8.ipynb", work.text)
    marks = Batch(path, tmp_path / "in", tmp_path / "work").grade()
    assert not invented.misjudged(marks, works)
    for kept in (tmp_path / "work" / "marks").glob("[be]*.json"):
        kept.unlink()  # then these are graded anew
    again = Batch(path, tmp_path / "in", tmp_path / "work").grade()
    assert json.dumps(again) == json.dumps(marks)
