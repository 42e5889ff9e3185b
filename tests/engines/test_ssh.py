"""An engine behind a real SSH server gives what it gives here, and leaves nothing there."""

import re
import signal
import threading

import psutil
import pytest

import netlab as nl
from netlab.engines.remote import RemoteEngine
from tests.engines import ssh_server
from tests.engines.afar import BUSY, EXPERIMENT, PATH
from tests.programs import names


def descendants():
    return {one for one in psutil.Process().children(recursive=True) if one.is_running()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("ssh")


@pytest.fixture(scope="module")
def server(own_cpus, folder):
    with ssh_server.start(folder) as program:
        yield program


@pytest.fixture
def others(server):
    """What this process had started before the test."""
    return descendants()


def still_there(processes, within_s=10):
    return psutil.wait_procs(processes, within_s)[1]


def test_a_run_over_ssh_has_the_same_bytes(server, others, here, capfd):
    engine = RemoteEngine(server.address)
    assert nl.run(EXPERIMENT, engine=engine).raw == here.raw
    assert capfd.readouterr() == (here.printed, "")
    with nl.Network(PATH, engine=engine) as net:  # of the same server
        threading.Timer(1, signal.raise_signal, [signal.SIGINT]).start()
        assert net.run("h1", BUSY, echo=False).status == 0 and net.clock < 600
    (idle,) = engine.idle
    programs = descendants() - others
    assert names(programs) >= {"ssh", "netlab"}
    idle.close()
    assert still_there(programs) == []


@pytest.mark.parametrize(
    ("file", "words"),
    [("known_hosts", "Host key verification failed."), ("user", "Permission denied (publickey).")],
)
def test_whom_ssh_does_not_let_in_is_told_what_to_do(server, others, folder, file, words):
    before = (folder / file).read_text()
    (folder / file).write_text("")
    with pytest.raises(nl.EngineError, match=re.escape(words)) as error:
        RemoteEngine(server.address)
    (host,) = re.findall("ssh://[^/]+", server.address)
    assert f"`ssh {host}` must ask nothing: try it in a terminal" in str(error.value)
    assert descendants() == others
    (folder / file).write_text(before)


def test_where_netlab_does_not_lie_is_told(server):
    with pytest.raises(nl.EngineError, match="/nowhere/netlab: no netlab engine answers there"):
        RemoteEngine(re.sub("(?<=[0-9])/.*", "/nowhere/netlab", server.address))


@pytest.mark.long
def test_a_server_that_dies_ends_the_network_with_an_error_that_names_it(others, tmp_path):
    with (
        ssh_server.start(tmp_path) as server,
        nl.Network(PATH, engine=RemoteEngine(server.address)) as net,
    ):
        programs = descendants() - others
        assert "linux" in names(programs)
        threading.Timer(1, server.kill).start()
        with pytest.raises(nl.GuestError, match=r"^ssh://ada@127.*has gone.* closed by remote"):
            net.run("h1", BUSY, echo=False)
        server.wait()
        assert still_there(programs) == []
