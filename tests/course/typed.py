"""A small problem set that is typed, under the name of ps1."""

from functools import partial

from tests.course import problem_set
from tests.course.problem_set import CHECK, LOCKED

about = partial(problem_set.said, of="ps1")
SETUP = """%load_ext netlab
import netlab as nl

my = nl.course.mine("ps1", student, seed=(1, 99_999))"""
OPEN = "net = nl.Network(nl.wan(None, None, pairs=1), seed=my.seed)"
SET_UP = """%%on s1
tc qdisc add dev s1-eth2 root handle 1: netem delay 30ms
tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 100mbit burst 50000 limit 500000"""
WRITE = """%%on h1
cat > index.py <<'END'
import json, sys
x = json.load(open(sys.argv[1]))
print(sum(x) ** 2 / len(x) / sum(one * one for one in x))
END
echo '[1, 1]' > example.json
python3 index.py example.json"""
READ = """rtts = net.run("h1", "ping -c 3 10.0.0.2", echo=False).text.count("time=30")
example = float(net.files["h1"]["example.json"].strip("[] \\n").split(",")[0])"""
CHECKED = """slow = [nl.course.rtt("h1", "h2", "29.9ms", "30.1ms"),
        nl.course.goodput("h1", "h2", "90mbit", "97mbit", seconds=1)]
print("net:", nl.check_state(net, slow))
### BEGIN HIDDEN TESTS
# [net]
# state = "slow"
# points = 4
#
# [rtts]
# points = 1
#
# [example]
# points = 1
### END HIDDEN TESTS"""
SCRIPT = """files = {"/run/two.json": "[3, 1]"}
index = [nl.course.prints("h1", "/usr/bin/python3 /root/index.py /run/two.json", 0.79, 0.81, files)]
print("net:", nl.check_state(net, index))
### BEGIN HIDDEN TESTS
# [net]
# state = "[nl.course.prints('h1', '/usr/bin/python3 /root/index.py /run/a.json', 0.63, 0.65, {'/run/a.json': '[7, 1]'})]"
### END HIDDEN TESTS"""  # noqa: E501


def solution(text):
    return f"### BEGIN SOLUTION\n{text}\n### END SOLUTION"


def source():
    return problem_set.notebook(
        [
            ("markdown", "# A typed set\n\nAbout 5 minutes.", {}),
            ("code", 'student = ""  # <- your student id', about("name")),
            ("code", SETUP, about("setup", **LOCKED)),
            ("code", OPEN, about("open", **LOCKED)),
            ("code", solution(SET_UP), about("path", solution=True)),
            ("code", solution(WRITE), about("write", solution=True)),
            ("code", solution(READ), about("read", solution=True)),
            ("code", CHECKED, about("read-check", 6, **CHECK)),
            ("code", SCRIPT, about("script-check", 2, **CHECK)),
        ]
    )


def write(folder):
    """A course folder with the source in it; -> the source's path."""
    return problem_set.write(folder, "ps1", source())
