"""The files of the lock come from the mirror, else from the snapshot archive, else not at all."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from netlab import EngineError
from netlab.engines.guest import packages, rootfs
from netlab.engines.guest.integrity import tree_digest
from tests.engines.guest import archives
from tests.engines.guest.archives import SNAPSHOT, serve

NO_SNAPSHOTS = 'Acquire::Snapshots::URI::Origin::Debian "no";'
NAMES = ["apple", "base-files", "cherry"]


@pytest.fixture(autouse=True)
def apt_goes_straight_to_this_machine(tmp_path, monkeypatch):
    own = 'Acquire::Retries "1";', 'Acquire::Retries::Delay "false";', NO_SNAPSHOTS
    archives.configure_apt(monkeypatch, tmp_path, *own)
    monkeypatch.delenv("NETLAB_DEBIAN_SNAPSHOT", raising=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with a pool of packages, and nothing beside it."""
    pool = tmp_path_factory.mktemp("archive") / "pool"
    for name in NAMES:
        archives.make_package(pool, name, **{f"usr/share/{name}": name})
    return pool.parent


@pytest.fixture(scope="module")
def snapshots(site):
    """The same, as a snapshot archive has it."""
    (site / "snapshots").mkdir()
    (site / "snapshots" / SNAPSHOT).symlink_to(site)
    return site / "snapshots"


@pytest.fixture
def files(site):
    pool = site / "pool"
    return [
        dict(zip(("name", "version"), path.stem.split("_"), strict=False))
        | archives.entry(path, pool)
        for path in sorted(pool.rglob("*.deb"))
    ]


@pytest.fixture
def tree(files, tmp_path, monkeypatch):
    """A function that fetches and unpacks the packages from these sites; gives the digest."""

    def make(mirror, snapshot=None):
        monkeypatch.setenv("NETLAB_DEBIAN_MIRROR", mirror)
        if snapshot:
            monkeypatch.setenv("NETLAB_DEBIAN_SNAPSHOT", snapshot)
        fetched = packages.fetch(files, tmp_path / "fetched", SNAPSHOT, "Trial")
        # in the order of the lock, and nothing else is left
        assert [path.name for path in fetched] == [f"{name}_1.0+a~1-1_amd64.deb" for name in NAMES]
        assert {*(tmp_path / "fetched").iterdir()} == {*fetched}
        rootfs.unpack(fetched, tmp_path / "root")
        return tree_digest(tmp_path / "root")

    return make


@pytest.fixture(scope="module")
def expected(site, tmp_path_factory):
    """The digest of what is in the packages, without any server."""
    root = tmp_path_factory.mktemp("expected") / "root"
    rootfs.unpack(list((site / "pool").rglob("*.deb")), root)
    return tree_digest(root)


def refused(make, *sites, match):
    with pytest.raises(EngineError, match=match) as error:
        make(*sites)
    message = str(error.value)
    assert "netlab engine import FILE" in message and "NETLAB_DEBIAN_SNAPSHOT" in message
    return message


@pytest.mark.parametrize(
    ("lacks", "form"),
    [([], ""), (["apple", "cherry"], ""), (["/pool/"], ""), (["/pool/"], "/@SNAPSHOTID@/")],
    ids=["nothing", "two", "all", "all, and the moment has a place"],
)
def test_what_the_mirror_lacks_comes_from_the_snapshot(
    lacks, form, site, snapshots, tree, expected
):
    with serve(site, lacks=lacks) as (mirror, _), serve(snapshots) as (snapshot, asked):
        assert tree(mirror, snapshot + form) == expected
    assert len(asked) == (len(NAMES) if lacks == ["/pool/"] else len(lacks))
    assert all(path.startswith(f"/{SNAPSHOT}/pool/main/") for path in asked)


def test_a_mirror_that_cannot_be_reached_gives_the_same_tree(snapshots, tree, expected):
    """... and apt knows the snapshot archive."""
    with serve(snapshots) as (gone, _):
        pass
    with serve(snapshots) as (snapshot, asked):
        with Path(os.environ["APT_CONFIG"]).open("a") as conf:
            conf.write(f'Acquire::Snapshots::URI::Origin::Debian "{snapshot}/@SNAPSHOTID@/";\n')
        assert tree(gone) == expected
    assert len(asked) == len(NAMES)


def test_a_falsified_package_is_refused_by_its_name(site, tree, files):
    files[0]["size"] -= 1  # of apple
    with serve(site, falsifies=["cherry"]) as (mirror, _):
        message = refused(tree, mirror, match=r"cherry_1\.0\+a~1-1_amd64\.deb \(.*refused")
    assert re.search(r"apple_.*refused", message) and "2 of the files" in message


@pytest.fixture
def debsnap(tmp_path, site, monkeypatch):
    """A function: apt knows no snapshot archive, and debsnap asks one at an address; -> its
    folder.
    """
    conf = tmp_path / "apt.conf"
    conf.write_text(conf.read_text().replace(NO_SNAPSHOTS, ""))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    archives.with_answers(tmp_path / "answers", site / "pool")

    def use(address):
        (tmp_path / "home").mkdir()
        (tmp_path / "home/.devscripts").write_text(f"DEBSNAP_BASE_URL={address}\n")

    return SimpleNamespace(use=use, folder=tmp_path / "answers")


def test_debsnap_is_asked_where_apt_knows_no_snapshot_archive(site, debsnap, tree, expected):
    """Debian 12's apt, and Ubuntu 22.04's: the mirror has moved on."""
    with serve(site, lacks=["cherry"]) as (mirror, _), serve(debsnap.folder) as (address, asked):
        debsnap.use(address)
        assert tree(mirror) == expected
    assert asked[0] == "/mr/binary/cherry/" and asked[-1].startswith("/file/")
    assert not [path for path in asked if "apple" in path]


def test_what_debsnap_brings_counts_by_its_bytes_only(site, debsnap, tree):
    with (
        serve(site, lacks=["/pool/"]) as (mirror, _),
        serve(debsnap.folder, falsifies=["/file/"]) as (address, _),
    ):
        debsnap.use(address)
        with pytest.raises(EngineError, match=r"3 of the files .*debsnap: .*apt-get install devs"):
            tree(mirror)


def test_a_falsified_package_is_taken_elsewhere_and_said(site, snapshots, tree, expected, capsys):
    with serve(site, falsifies=["cherry"]) as (mirror, _), serve(snapshots) as (snapshot, _):
        assert tree(mirror, snapshot) == expected
    said = capsys.readouterr().out
    assert "cherry" in said and mirror in said and "refused" in said and "apple" not in said


def test_a_server_may_redirect(site, snapshots, tree, expected):
    with serve(site, falsifies=["cherry"]) as (mirror, _):
        refused(tree, f"{mirror}/elsewhere", match=r"cherry_.*refused")
        with serve(snapshots) as (snapshot, _):
            assert tree(f"{mirror}/elsewhere", f"{snapshot}/elsewhere") == expected


def test_a_truncated_package_is_noticed(site, tree, tmp_path):
    with serve(site, cuts=["apple"]) as (mirror, asked):
        message = refused(tree, mirror, match="apple_.*")
    assert "cherry" not in message
    assert len([path for path in asked if "apple" in path]) > 1, "it was tried again"
    assert not list((tmp_path / "fetched").glob("apple*")), "and half of it is not kept"


def test_a_download_that_was_interrupted_goes_on(site, tree, files, tmp_path, monkeypatch):
    with serve(site, lacks=["cherry"]) as (mirror, _):
        refused(tree, mirror, match=r"cherry.*404")
    with serve(site) as (mirror, asked):
        tree(mirror)
    assert len(asked) == 1 and "cherry" in asked[0], "what was there already is not fetched again"


def test_a_file_of_the_same_name_that_was_there_stays(site, tree, tmp_path):
    (tmp_path / "fetched").mkdir()
    with serve(site) as (mirror, asked):
        tree(mirror)
        (mine,) = (tmp_path / "fetched").glob("cherry*")
        mine.write_text("mine")
        with pytest.raises(EngineError, match=f"{mine.name}.*move it away".replace("+", r"\+")):
            tree(mirror)
        assert mine.read_text() == "mine" and len(asked) == 3
    assert len([*mine.parent.iterdir()]) == 3


def test_what_nobody_has_is_named_with_what_to_do(site, snapshots, tree):
    none = {"lacks": ["/pool/"]}
    with serve(site, **none) as (mirror, _), serve(snapshots, **none) as (snapshot, _):
        message = refused(tree, mirror, snapshot, match="3 of the files that engine.lock names")
    assert all(name in message for name in NAMES)
    assert f"{mirror}: 404" in message and f"{snapshot}/{SNAPSHOT}: 404" in message


@pytest.fixture
def apt_knows_nothing(tmp_path, monkeypatch):
    """As where this is not Debian, or apt has no sources."""
    monkeypatch.delenv("NETLAB_DEBIAN_MIRROR", raising=False)
    with (tmp_path / "apt.conf").open("a") as conf:
        conf.write('Dir::Etc::sourcelist "/dev/null";\nDir::Etc::sourceparts "/dev/null";\n')
        conf.write(f'Dir::State::Lists "{tmp_path}/lists";\n')


def test_mmdebstrap_knows_a_mirror_where_apt_knows_none(apt_knows_nothing):
    assert re.fullmatch(r"\w+://\S+/debian", packages.mirror())


def test_a_machine_that_knows_no_mirror_says_so(apt_knows_nothing, files, tmp_path, monkeypatch):
    monkeypatch.setattr(packages.shutil, "which", lambda tool: None)
    with pytest.raises(EngineError, match=r"apt .* knows no Debian mirror.*NETLAB_DEBIAN_MIRROR"):
        packages.fetch(files, tmp_path / "fetched", SNAPSHOT, "Trial")


def test_a_list_of_mirrors_is_read(tmp_path, monkeypatch):
    """As in Debian's images for clouds."""
    (tmp_path / "mirrors").write_text("# nearest first\nhttp://one.example/debian/\nhttp://two\n")
    monkeypatch.delenv("NETLAB_DEBIAN_MIRROR", raising=False)
    listed = f"Debian Debian mirror+file:{tmp_path}/mirrors\n"
    monkeypatch.setattr(packages, "output_of", lambda *command: listed)
    assert packages.mirror() == "http://one.example/debian"


def test_netlab_engine_build_ends_in_words(tmp_path):
    """With the real lock, and a mirror that has something else under each name."""
    for package in [*packages.read_lock()["packages"], packages.read_lock()["kernel"]]:
        path = tmp_path / "site" / package["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"falsified")
    with serve(tmp_path / "site") as (mirror, _):
        own = {"NETLAB_CACHE": str(tmp_path / "cache"), "NETLAB_DEBIAN_MIRROR": mirror}
        command = [sys.executable, "-m", "netlab", "engine", "build"]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | own)
    said = " ".join(done.stderr.split())
    assert done.returncode == 1 and "Traceback" not in said, said
    assert "adduser_" in said and "refused" in said and "netlab engine import FILE" in said, said
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == ["CACHEDIR.TAG", "lock"]
