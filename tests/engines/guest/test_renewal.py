"""`netlab engine lock`, with an archive of a few tiny packages that a key of the test signs."""

import hashlib
import json
import subprocess
import tarfile

import pytest

from netlab import EngineError
from netlab.engines.guest import packages, renewal, store
from tests.engines.guest import archives
from tests.engines.guest.archives import serve

SIGNED = {
    "trixie": "Sat, 12 Sep 2026 07:55:41 UTC",
    "trixie-backports": "Fri, 20 Nov 2026 02:11:10 UTC",
}
BEFORE = '{"kernel": {"name": "linux-source-7.2"}}'


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    """A function that signs a text; its attribute is the keyring."""
    home = tmp_path_factory.mktemp("gpg", numbered=False)
    home.chmod(0o700)
    gpg = ["gpg", "--homedir", str(home), "--batch", "--quiet", "--passphrase", ""]
    subprocess.run([*gpg, "--quick-gen-key", "tests", "ed25519", "sign", "never"], check=True)
    exported = subprocess.run([*gpg, "--export"], check=True, capture_output=True).stdout
    (home / "keyring.gpg").write_bytes(exported)

    def sign(text):
        done = subprocess.run([*gpg, "--clear-sign"], check=True, capture_output=True, input=text)
        return done.stdout

    sign.keyring = home / "keyring.gpg"
    yield sign
    subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "all"], check=True)


@pytest.fixture
def site(tmp_path, key):
    """An archive with two suites."""
    site = tmp_path / "site"
    needs = "Source: toolbox (1.0-1)\nDepends: needed\nRecommends: spare\n"
    binaries = [
        package(site, "tool", "1.0-1+b2", needs),
        package(site, "needed", "1:2.0-1"),
        package(site, "spare", "1.0-1"),
    ]
    known = [("toolbox", "0.9-1"), ("toolbox", "1.0-1"), ("needed", "1:2.0-1")]
    publish(site, "trixie", binaries, [source(site, *one) for one in known], key)
    versions = "7.2.9-1", "7.2.12-1", "7.3.4-1"
    binaries = [package(site, "tool", "9.0-1"), *(kernel(site, one[:3], one) for one in versions)]
    publish(site, "trixie-backports", binaries, [source(site, "linux", v) for v in versions], key)
    return site


def package(site, name, version, fields="", **files):
    """Make a package; gives its paragraph of the list."""
    pool = site / "pool"
    path = archives.make_package(pool, name, version, fields=fields, **files)
    if ":" in version:  # Debian's file names leave it out
        path = path.rename(path.with_name(path.name.replace(version, version.partition(":")[2])))
    found = archives.entry(path, pool)
    control = subprocess.run(["dpkg-deb", "-f", path], check=True, capture_output=True, text=True)
    return (
        f"{control.stdout}Filename: {found['path']}\nSize: {found['size']}\n"
        f"SHA256: {found['sha256']}\n"
    )


def kernel(site, series, version):
    inside = site.parent / f"{version}.tar.xz"
    with tarfile.open(inside, "w:xz") as archive:
        archive.addfile(tarfile.TarInfo(version))
    name = f"linux-source-{series}"
    files = {f"usr/src/{name}.tar.xz": inside.read_bytes()}
    return package(site, name, version, "Source: linux\n", **files)


def source(site, name, version):
    folder = site / "pool/main" / name[0] / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}_{version.rpartition(':')[2]}.dsc"
    path.write_text(f"Source: {name}\nVersion: {version}\n")
    found = archives.entry(path, site / "pool")
    return (
        f"Package: {name}\nVersion: {version}\nDirectory: {folder.relative_to(site)}\n"
        f"Checksums-Sha256:\n {found['sha256']} {found['size']} {path.name}\n"
    )


def publish(site, suite, binaries, sources, sign):
    lists = {"main/binary-amd64/Packages": binaries, "main/source/Sources": sources}
    lines = []
    for name, paragraphs in lists.items():
        path = site / "dists" / suite / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(paragraphs))
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        lines.append(f" {digest} {path.stat().st_size} {name}\n")
    later = "NotAutomatic: yes\nButAutomaticUpgrades: yes\n" if "-" in suite else ""
    release = (
        f"Origin: Debian\nLabel: Debian\nSuite: {suite}\nCodename: {suite}\n{later}"
        f"Date: {SIGNED[suite]}\nArchitectures: amd64\nComponents: main\nSHA256:\n{''.join(lines)}"
    )
    (site / "dists" / suite / "InRelease").write_bytes(sign(release.encode()))


@pytest.fixture
def lock(site, key, tmp_path, monkeypatch):
    """The file of a lock that is to be renewed; the archive is served meanwhile."""
    archives.configure_apt(
        monkeypatch,
        tmp_path,
        *('Acquire::Languages "none";', 'Acquire::Check-Valid-Until "false";'),
        *('APT::Install-Recommends "true";', 'APT::Default-Release "nowhere";'),
    )
    (tmp_path / "rootfs.txt").write_text("# A comment.\ntool\n")
    (tmp_path / "engine.lock").write_text(BEFORE)
    monkeypatch.setattr(renewal, "KEYRING", key.keyring)
    monkeypatch.setattr(store, "HERE", tmp_path)
    monkeypatch.setattr(packages, "LOCK", tmp_path / "engine.lock")
    with serve(site) as (mirror, _):
        monkeypatch.setenv("NETLAB_DEBIAN_MIRROR", mirror)
        yield tmp_path / "engine.lock"


def test_the_lock_names_what_apt_would_install_and_its_sources(lock, site, tmp_path):
    renewed = renewal.renew()
    assert renewed == packages.read_lock() == json.loads(lock.read_text())
    assert renewed["requested"] == ["tool"]

    def versions(entries):
        return {one["name"]: one["version"] for one in entries}

    # of the stable suite, with what it needs and nothing that is only recommended
    assert versions(renewed["packages"]) == {"needed": "1:2.0-1", "tool": "1.0-1+b2"}
    # the newest of the same series
    assert versions([renewed["kernel"]]) == {"linux-source-7.2": "7.2.12-1"}
    sources = {"toolbox": "1.0-1", "needed": "1:2.0-1", "linux": "7.2.12-1"}
    assert versions(renewed["sources"]) == sources and len(renewed["sources"]) == 3
    assert renewed["snapshot"] == "20261121T021110Z", "a day after the newest list"
    files = [file for one in renewed["sources"] for file in one["files"]]
    every = [*renewed["packages"], renewed["kernel"], *files]
    fetched = packages.fetch(every, tmp_path / "fetched", renewed["snapshot"], "Trial")
    assert len(fetched) == 6
    tarball = (site.parent / "7.2.12-1.tar.xz").read_bytes()
    assert renewed["kernel"]["tarball_sha256"] == hashlib.sha256(tarball).hexdigest()


def test_another_series_can_be_asked_for(lock):
    assert renewal.renew("7.3")["kernel"]["version"] == "7.3.4-1"
    before = lock.read_text()
    assert renewal.renew()["kernel"]["name"] == "linux-source-7.3", "and stays"
    assert lock.read_text() == before, "a second renewal changes nothing"
    assert sum("/tool_" in line for line in before.splitlines()) == 1, "one line for each package"


def test_what_is_not_there_is_named(lock, tmp_path):
    with pytest.raises(EngineError, match=r"no linux-source-7\.9; it has 7\.2, 7\.3"):
        renewal.renew("7.9")
    (tmp_path / "rootfs.txt").write_text("# A comment.\ntool\nnowhere\n")
    with pytest.raises(EngineError, match="Unable to locate package nowhere"):
        renewal.renew()
    assert lock.read_text() == BEFORE


ALTERED = {
    "trixie/InRelease": ("Components: main", "signature"),
    "trixie/main/binary-amd64/Packages": ("Source: toolbox", "Hash Sum mismatch"),
}


@pytest.mark.parametrize("name", ALTERED)
def test_a_list_that_was_altered_after_it_was_signed_is_refused(name, lock, site):
    path, (text, why) = site / "dists" / name, ALTERED[name]
    path.write_text(path.read_text().replace(text, text.swapcase()))
    with pytest.raises(EngineError, match=rf"Package lists failed(?s:.*){why}"):
        renewal.renew()
    assert lock.read_text() == BEFORE
