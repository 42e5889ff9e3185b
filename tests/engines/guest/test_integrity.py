"""An engine whose files are not those that it was made with is not used, and what to do is said."""

import json
import os
import re
import shutil

import pytest

import netlab as nl
from netlab.engines.cache import TAG, TAG_TEXT
from netlab.engines.guest import integrity, store
from netlab.engines.guest.integrity import tree_digest
from tests.engines.guest.engines_in_files import copied

REMEDY = r"netlab engine build.*netlab engine import FILE"
EXPERIMENT = nl.Experiment(nl.wan("20mbit", "20ms", pairs=1), nl.Shell("h1", "echo done"))


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return copied(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def cache(copy, monkeypatch):
    """A cache with a sound engine, which was found sound before."""
    monkeypatch.setenv("NETLAB_CACHE", str(copy))
    store.current()
    return copy


@pytest.fixture
def hashed(monkeypatch):
    """How often all files were hashed."""
    calls, original = [], integrity.tree_digest
    monkeypatch.setattr(integrity, "tree_digest", lambda root: calls.append(root) or original(root))
    return calls


def set_back(path, status):
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns), follow_symlinks=False)


def flip(path):
    """Change one byte in the middle; size and time of modification stay."""
    status, content = path.stat(), bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    set_back(path, status)


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def relink(path):
    status = path.lstat()
    path.unlink()
    path.symlink_to("dash")
    set_back(path, status)


FILES = {
    "a byte of the kernel": (flip, "kernel-*/linux"),
    "the library cut off": (cut, "kernel-*/shim.so"),
    "no kernel": (os.unlink, "kernel-*/linux"),
    "a byte of the files": (flip, "rootfs-*/root.tar"),
    "longer files": (lambda path: path.open("ab").write(b"\0"), "rootfs-*/root.tar"),
    "another mode": (lambda path: path.chmod(0o755), "rootfs-*/root.tar"),
    "a link": (relink, "rootfs-*/root.tar"),
    "no files": (os.unlink, "rootfs-*/root.tar"),
}


@pytest.mark.parametrize(("alter", "file"), FILES.values(), ids=FILES)
def test_a_damaged_file_is_named_and_nothing_is_run(alter, file, cache):
    (path,) = cache.glob(file)
    shutil.copy2(path, cache.parent / "sound", follow_symlinks=False)
    alter(path)
    for again in (1, 2):
        with pytest.raises(nl.EngineError, match=rf"is damaged.*{path.name}.*{REMEDY}"):
            nl.run(EXPERIMENT, engine="guest")
            pytest.fail(f"it ran, at the {again}. attempt")
    os.replace(cache.parent / "sound", path)
    assert nl.engines.pick("guest").digest


def test_what_was_added_is_noticed(cache):
    (root,) = cache.glob("rootfs-*")
    for path in (root / "extra", root / b"\xff".decode(errors="surrogateescape")):
        path.write_text("")
        with pytest.raises(nl.EngineError, match=f"is damaged.*{REMEDY}"):
            nl.engines.pick("guest")
        path.unlink()
    nl.engines.pick("guest")


def test_what_changes_while_an_engine_is_in_use_is_noticed(cache):
    engine = nl.engines.pick("guest")
    assert nl.run(EXPERIMENT, engine=engine).raw["1-shell-h1"] == "done\n"
    shutil.copy2(engine.build.shim, cache.parent / "sound")
    flip(engine.build.shim)
    engine.sound_until_s = 0  # a second later
    with pytest.raises(nl.EngineError, match=r"shim\.so"):
        nl.run(EXPERIMENT, engine=engine)
    os.replace(cache.parent / "sound", engine.build.shim)


def test_files_are_hashed_again_only_where_one_looks_different(cache, hashed):
    (file,) = cache.glob("rootfs-*/root.tar")
    for number, change in enumerate((lambda: None, lambda: os.utime(file))):
        change()
        store.current()
        store.current()
        assert len(hashed) == number


STAMPS = {
    "absent": lambda place: place.unlink(),
    "empty": lambda place: place.write_text(""),
    "binary": lambda place: place.write_bytes(b"\xff\xfe"),
    "another": lambda place: place.write_text("0" * 64),
}


@pytest.mark.parametrize("damage", STAMPS.values(), ids=STAMPS)
def test_a_damaged_stamp_does_no_harm(damage, cache, hashed):
    place = cache / "engine.stamp"
    damage(place)
    store.current()
    store.current()
    assert len(hashed) == 1 and place.is_file()


def change(**fields):
    return lambda record: json.dumps(json.loads(record) | fields).encode()


def without(key):
    return lambda record: re.sub(rb'"%s"' % key.encode(), b'"x"', record)


KEYS = "about", "kernel", "kernel_binary", "recipe", "rootfs"
VERSIONS = {"kernel": "7", "iperf3": "3", "mininet": "2", "congestion": ["reno"]}
RECORDS = {
    "cut": lambda record: record[: len(record) // 2],
    "empty": lambda record: b"",
    "{}": lambda record: b"{}",
    "[]": lambda record: b"[]",
    "null": lambda record: b"null",
    "a text": lambda record: b'"kernel"',
    "binary": lambda record: b"\x7fELF\xff\xfe\0",
    "deep": lambda record: b"[" * 100_000,
    **{f"without {key}": without(key) for key in KEYS},
    "kernel a number": change(kernel=123456789012),
    "rootfs a path": change(rootfs="../../../../etc"),
    "about a list": change(about=["kernel", "iperf3", "mininet"]),
    "about empty": change(about={}),
    "congestion a text": change(about=VERSIONS | {"congestion": "reno"}),
    "kernel null": change(about=VERSIONS | {"kernel": None}),
    **{f"another {key}": change(**{key: "0" * 12}) for key in KEYS[1:]},
}


@pytest.mark.parametrize("alter", RECORDS.values(), ids=RECORDS)
def test_a_damaged_engine_json_is_an_error_that_says_what_to_do(alter, cache):
    file = cache / "engine.json"
    sound = file.read_bytes()
    file.write_bytes(alter(sound))
    with pytest.raises(nl.EngineError, match=REMEDY) as refused:
        nl.engines.pick("guest")
    assert str(cache) in str(refused.value) and "\n" not in str(refused.value)
    file.write_bytes(sound)
    nl.engines.pick("guest")


def test_the_work_folder_leaves_nothing_half_made(elsewhere):
    with pytest.raises(KeyboardInterrupt), store.work_folder() as folder:
        (folder / "half").mkdir()
        raise KeyboardInterrupt
    assert {path.name for path in elsewhere.iterdir()} == {"CACHEDIR.TAG", "lock"}
    (elsewhere / "making-killed_0").mkdir()  # as kill -9 leaves it
    with store.work_folder():
        assert not (elsewhere / "making-killed_0").exists()


def test_an_installed_part_replaces_one_that_is_not_the_same(elsewhere):
    for text, old in (("new", "damaged"), ("new", "new")):
        with store.work_folder() as folder:
            (folder / "part").mkdir()
            (folder / "part" / "file").write_text(text)
            shutil.rmtree(elsewhere / "rootfs-1", ignore_errors=True)
            (elsewhere / "rootfs-1").mkdir()
            (elsewhere / "rootfs-1" / "file").write_text(old)
            inode = (elsewhere / "rootfs-1" / "file").stat().st_ino
            place = store.install(folder / "part", "rootfs-1", tree_digest)
        assert place == elsewhere / "rootfs-1" and (place / "file").read_text() == "new"
        assert ((place / "file").stat().st_ino == inode) == (old == text)
    assert {path.name for path in elsewhere.iterdir()} == {"CACHEDIR.TAG", "lock", "rootfs-1"}


def test_a_cache_that_cannot_be_made_is_an_error_in_words(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(nl.EngineError, match=r"Not a directory.*NETLAB_CACHE"), store.work_folder():
        pass


def test_a_damaged_engine_can_be_removed(elsewhere):
    elsewhere.mkdir()
    (elsewhere / TAG).write_text(TAG_TEXT)
    for name in ("kernel-0123456789ab", "rootfs-0123456789ab", "engine.json"):
        (elsewhere / name).mkdir()
        (elsewhere / name / "file").write_text("")
    (elsewhere / "engine.stamp").symlink_to("nowhere")
    store.remove()
    assert {path.name for path in elsewhere.iterdir()} == {"CACHEDIR.TAG", "lock"}


def test_the_cache_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.delenv("NETLAB_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert store.cache_folder() == tmp_path / "netlab"
    monkeypatch.setenv("NETLAB_CACHE", str(tmp_path / "mine"))
    assert store.cache_folder() == tmp_path / "mine"
