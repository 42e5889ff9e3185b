"""A JupyterHub on loopback whose students all run problem set 1 at the same time: with the engine
in one read-only folder for all, and behind `netlab engine serve --shared`, where their networks
wait for a CPU in order. STUDENTS says how many, such as 10,30. It installs JupyterHub and its proxy
to a folder of its own.
"""

import asyncio
import contextlib
import json
import os
import resource
import signal
import socket
import statistics
import subprocess
import sys
import sysconfig
import time
import uuid
from collections import Counter
from pathlib import Path

import psutil
import pytest
from tornado import httpclient, websocket

from netlab.course.sets import source
from netlab.engines.cache import cache_folder
from tests.benchmarks.test_class import Memory
from tests.engines.guest.test_process import survivors

ROOT = Path(__file__).parents[2]
STUDENTS = [int(number) for number in os.environ.get("STUDENTS", "10,30").split(",")]
LONGEST_S = 3600
DIGEST = (
    "import hashlib; print(hashlib.sha256("
    "repr([sorted(run.raw.items()) for run in (ping, transfer)]).encode()).hexdigest())"
)
CONFIGURATION = """
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{hub_port}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy_port}"
c.ConfigurableHTTPProxy.command = ["{folder}/node_modules/.bin/configurable-http-proxy"]
c.JupyterHub.db_url = "sqlite://"
c.JupyterHub.cookie_secret_file = "{folder}/cookie"
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = "{folder}/homes/{{username}}"
c.Spawner.cmd = ["{python}", "-m", "jupyterhub.singleuser"]
c.Spawner.args = {arguments}
c.Spawner.environment = {environment}
c.Spawner.start_timeout = c.Spawner.http_timeout = 600
c.JupyterHub.tornado_settings = {{"slow_spawn_timeout": 0}}
c.JupyterHub.services = [{{"name": "class", "api_token": "{token}"}}]
c.JupyterHub.load_roles = [{{"name": "class", "services": ["class"],
    "scopes": ["admin:users", "admin:servers", "access:servers", "tokens"]}}]
"""


def free_ports(number):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with JupyterHub, its proxy and the engine; what this Python has is there, too."""
    folder = tmp_path_factory.mktemp("hub")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv/bin/python"
    subprocess.run([python, "-m", "pip", "install", "-q", "jupyterhub"], check=True)
    (place,) = (folder / "venv/lib").glob("python*/site-packages")
    (place / "here.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT}\n")
    npm = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", folder]
    subprocess.run([*npm, "configurable-http-proxy"], check=True)
    engine, file = [python, "-m", "netlab", "engine"], folder / "engine.tar.gz"
    subprocess.run([*engine, "export", file], check=True)
    shared = os.environ | {"NETLAB_CACHE": str(folder / "shared")}
    subprocess.run([*engine, "import", file], env=shared, check=True)
    return folder


class Hub:
    """JupyterHub with students, whose engine is in the read-only folder, or behind servers of one
    user, as an account that is reached by ssh has them.
    """

    def __init__(self, folder, behind):
        self.temporary = folder / f"tmp-{uuid.uuid4().hex[:8]}"
        self.temporary.mkdir()
        (folder / "homes").mkdir(exist_ok=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.used_s = used.ru_utime + used.ru_stime
        python, shared = folder / "venv/bin/python", folder / "shared"
        own = {"TMPDIR": str(self.temporary), "NETLAB_PROGRESS": "off"}
        engine = {"NETLAB_CACHE": str(shared)}
        if behind:
            serve = f"{python} -m netlab engine serve --shared"
            address = f"exec:env NETLAB_CACHE={cache_folder()} {serve}"
            engine = {"NETLAB_ENGINE": address, "NETLAB_CACHE": "/nowhere"}
        ports = dict(zip(["port", "hub_port", "proxy_port"], free_ports(3), strict=True))
        self.url, self.token = f"http://127.0.0.1:{ports['port']}", uuid.uuid4().hex
        configuration = CONFIGURATION.format(
            folder=folder,
            python=python,
            token=self.token,
            environment=own | engine,
            arguments=["--allow-root"] if os.getuid() == 0 else [],
            **ports,
        )
        (folder / "jupyterhub_config.py").write_text(configuration)
        command = [python, "-m", "jupyterhub", "-f", folder / "jupyterhub_config.py"]
        if os.getuid() == 0 and not behind:  # whom no mode of a file stops
            read_only = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
            command = ["unshare", "-m", "sh", "-c", read_only, shared, *command]
        self.log = open(folder / "log", "a")  # noqa: SIM115
        path = {"PATH": f"{folder}/venv/bin:{os.environ['PATH']}"}
        self.program = subprocess.Popen(
            command, cwd=folder, stdout=self.log, stderr=self.log, env=os.environ | path
        )

    async def ask(self, path, method="GET", token=None, **what):
        request = httpclient.HTTPRequest(
            self.url + path,
            method=method,
            body=json.dumps(what) if method == "POST" else None,
            headers={"Authorization": f"token {token or self.token}"},
            connect_timeout=LONGEST_S,
            request_timeout=LONGEST_S,
        )
        answer = await httpclient.AsyncHTTPClient().fetch(request)
        return json.loads(answer.body or "null")

    async def up(self):
        for _ in range(600):
            try:
                return await self.ask("/hub/api/")
            except (OSError, httpclient.HTTPError):
                await asyncio.sleep(0.2)
        raise TimeoutError("the hub does not answer")

    async def log_in(self, name):
        """Have a student's server started; -> the token for it."""
        await self.ask(f"/hub/api/users/{name}", "POST")
        token = (await self.ask(f"/hub/api/users/{name}/tokens", "POST"))["token"]
        await self.ask(f"/hub/api/users/{name}/server", "POST")
        for _ in range(600):
            if (await self.ask(f"/hub/api/users/{name}"))["servers"].get("", {}).get("ready"):
                return token
            await asyncio.sleep(1)
        raise TimeoutError(f"the server of {name} does not start")

    async def work(self, name, token, cells):
        """Run these cells in a kernel of the student; -> what they printed, and seconds."""
        began, printed = time.monotonic(), []
        kernel = await self.ask(f"/user/{name}/api/kernels", "POST", token, name="python3")
        request = httpclient.HTTPRequest(
            f"{self.url.replace('http', 'ws')}/user/{name}/api/kernels/{kernel['id']}/channels",
            headers={"Authorization": f"token {token}"},
            connect_timeout=LONGEST_S,
            request_timeout=LONGEST_S,  # JupyterLab tries again where this one waits
        )
        line = await websocket.websocket_connect(request, max_message_size=1 << 30)
        for cell in cells:
            asked, told = uuid.uuid4().hex, {}
            await line.write_message(execute(cell, asked))
            while told.get("content", {}).get("execution_state") != "idle":
                told = json.loads(await line.read_message())
                if told["parent_header"].get("msg_id") != asked:
                    told = {}
                elif told["msg_type"] == "stream":
                    printed.append(told["content"]["text"])
                elif told["msg_type"] == "error":
                    raise RuntimeError(f"{told['content']['ename']}: {told['content']['evalue']}")
        return "".join(printed), time.monotonic() - began

    def end(self):
        self.program.send_signal(signal.SIGINT)
        self.program.wait(60)
        self.log.close()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{used.ru_utime + used.ru_stime - self.used_s:.0f} CPU s in all")


def execute(code, number):
    """Jupyter's message that has a kernel execute code."""
    header = {"msg_id": number, "msg_type": "execute_request", "version": "5.3", "username": ""}
    header |= {"session": "class", "date": "2027-01-01T00:00:00Z"}
    content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
    content |= {"user_expressions": {}, "stop_on_error": True}
    message = {"header": header, "parent_header": {}, "metadata": {}, "content": content}
    return json.dumps(message | {"channel": "shell", "buffers": []})


def solution(name):
    """The cells of problem set 1 with every answer, with a student's name, and what came of it."""
    notebook = source.read(source.find("ps1")).solution()
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert code[0].startswith('student = ""')
    return [f"student = {name!r}", *code[1:], DIGEST]


def below():
    """How many processes of each name there are below this one."""
    found = Counter()
    for one in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
            found[one.name()] += 1
    return dict(found)


async def a_class(hub, number, memory):
    """All log in, all work at the same time, and some of them again while their servers stop.
    -> What each one's notebook printed, and what failed.
    """
    httpclient.AsyncHTTPClient.configure(None, max_clients=10 * number)
    await hub.up()
    names, began = [f"student{one:03}" for one in range(number)], time.monotonic()
    tokens = await asyncio.gather(*(hub.log_in(name) for name in names))
    print(f"{number} servers: ready after {time.monotonic() - began:.0f} s, {shown(memory.now())}")
    memory.most = 0
    work = [hub.work(name, one, solution(name)) for name, one in zip(names, tokens, strict=True)]
    came = await asyncio.gather(*work, return_exceptions=True)
    print(f"most memory {shown(memory.most)}, with kernels {shown(memory.now())}; {below()}")
    took = [one[1] for one in came if isinstance(one, tuple)]
    failed = [repr(one)[:500] for one in came if not isinstance(one, tuple)]
    if len(took) > 1:
        late = statistics.quantiles(took, n=20, method="inclusive")[-1]
        median = statistics.median(took)
        print(f"s for ps1: median {median:.0f}, 95 % {late:.0f}, longest {max(took):.0f}")
    busy = ["import netlab as nl", "nl.run(nl.wan(), nl.Iperf3('h1', 'h2', time=600))"]
    amid = [
        asyncio.ensure_future(hub.work(name, token, busy))
        for name, token in zip(names[:5], tokens, strict=False)
    ]
    await asyncio.sleep(10)
    print(f"while some run: {below()}")
    await asyncio.gather(*(hub.ask(f"/hub/api/users/{n}/server", "DELETE") for n in names))
    for one in amid:
        one.cancel()
    await asyncio.gather(*amid, return_exceptions=True)
    return [one[0] for one in came if isinstance(one, tuple)], failed


def shown(size):
    return f"{size / 1e9:.2f} GB"


@pytest.mark.parametrize("number", STUDENTS)
def test_a_class_at_a_hub(installed, number):
    printed = {}
    for way in ("read-only folder", "server"):
        print(f"\nthe engine is in a {way}")
        hub, memory = Hub(installed, way == "server"), Memory()
        try:
            printed[way], failed = asyncio.run(a_class(hub, number, memory))
            late = time.monotonic() + 60
            while sum(below().values()) > 2 and time.monotonic() < late:
                time.sleep(1)
            after = below()
        finally:
            memory.ended.set()
            hub.end()
        print(f"{len(failed)} failed {failed[:3]}; after all servers have stopped: {after}")
        assert not failed and "linux" not in after
        assert sum(after.values()) <= 2, "the hub, its proxy"
        assert survivors(hub.temporary) == ([], [])
    assert printed["server"] == printed["read-only folder"]
