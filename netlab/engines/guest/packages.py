"""Fetch the Debian packages that `engine.lock` names: from the mirror, or the snapshot archive.

A file counts only with the SHA-256 of the lock, so it does not matter who hands it out.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from urllib.parse import quote

from tqdm import tqdm

from netlab.engines.guest.integrity import hash_of
from netlab.errors import EngineError

LOCK = Path(__file__).with_name("engine.lock")
# apt's own downloader: it knows apt's proxies, passwords and kinds of addresses; it tries again
# and continues what was cut off.
APT_HELPER = "/usr/lib/apt/apt-helper"
DEBSNAP = "debsnap"  # of devscripts: it knows the address of the snapshot archive
IMPORT = "Or take an engine built elsewhere: `netlab engine import FILE`."
OTHER_BYTES = "has other bytes than engine.lock says: refused"


def read_lock():
    """What `engine.lock` says: ``snapshot`` (a moment at which Debian's archive had all of this),
    ``requested`` (names in `rootfs.txt`), ``packages`` and ``kernel`` (see `renewal.package_entry`;
    the kernel also has ``tarball_sha256``, of what is in the package), ``sources`` (each with
    ``name``, ``version`` and ``files``: ``path``, ``size``, ``sha256``).
    """
    return json.loads(LOCK.read_text(encoding="utf-8"))


def fetch(files, folder, snapshot, title, otherwise=IMPORT):
    """Fetch files of Debian's archive into a folder, unless they are there; -> their paths.

    `snapshot` is a moment at which the archive had them, `title` the bar's, `otherwise` a remedy.
    An EngineError names those that cannot be had or have other bytes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {folder / Path(file["path"]).name: file for file in files}
    missing = {path: file for path, file in wanted.items() if not sound(path, file)}
    for path in filter(os.path.lexists, missing):
        raise EngineError(f"{path} is there already and {OTHER_BYTES}; move it away")
    reasons = {path: [] for path in missing}
    for site in filter(None, (mirror(), snapshot_archive(snapshot))):
        for path, reason in download(site, missing, title).items():
            reasons[path].append(f"{site}: {reason}")
        missing = {path: file for path, file in missing.items() if not path.exists()}
        if not missing:
            break
    for path, found in reasons.items():
        if path not in missing and any(OTHER_BYTES in reason for reason in found):
            print(f"NOTE: {path.name}: {'; '.join(found)}; taken elsewhere.", flush=True)
    if missing:
        raise EngineError(f"{refusal(missing, reasons)} {otherwise}")
    return list(wanted)


def sound(path, file):
    return path.is_file() and hash_of(path) == file["sha256"]


def refusal(missing, reasons):
    shown = [f"{path.name} ({'; '.join(reasons[path])})" for path in list(missing)[:5]]
    if not any(reasons.values()):
        shown = ["apt on this machine knows no Debian mirror"]
    return (
        f"{len(missing)} of the files that engine.lock names cannot be had: {', '.join(shown)}"
        f"{', ...' if len(missing) > 5 else ''}. NETLAB_DEBIAN_MIRROR names another mirror, and"
        " NETLAB_DEBIAN_SNAPSHOT Debian's snapshot archive, which keeps every version; where"
        " debsnap is installed (`apt-get install devscripts`), it is asked there, too."
    )


def mirror():
    """$NETLAB_DEBIAN_MIRROR, or the mirror of this machine's apt, or of mmdebstrap; or None."""
    if site := os.environ.get("NETLAB_DEBIAN_MIRROR"):
        return site.rstrip("/")
    listed = output_of("apt-get", "indextargets", "--format", "$(ORIGIN) $(LABEL) $(SITE)")
    sites = [line.split()[2] for line in listed.splitlines() if line.startswith("Debian Debian ")]
    if not sites:  # apt has no lists yet, or this is not Debian
        uris = output_of("apt-get", "--print-uris", "update")
        sites = re.findall(r"'(\S+/debian)/dists/", uris)
    if not sites and shutil.which("mmdebstrap"):
        sites = mmdebstrap_mirrors()
    for site, _ in Counter(sites).most_common(1):
        if site.startswith("mirror+file:"):  # a list of mirrors, as in Debian's cloud images
            listed = Path(site.removeprefix("mirror+file:")).read_text(encoding="utf-8")
            site = re.findall(r"^[^#\s]\S*", listed, re.M)[0]
        return site.rstrip("/")
    return None


def mmdebstrap_mirrors():
    """Asked by a hook that ends it before it fetches anything."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder, "sources.list")
        listed.touch()
        hook = f'--setup-hook=cat "$1/etc/apt/sources.list" >{shlex.quote(str(listed))}; exit 1'
        options = ["--mode=chrootless", "--variant=extract", hook]
        output_of("mmdebstrap", *options, "trixie", f"{folder}/root")
        return re.findall(r"^deb (?:\[.*\] )?(\S+)", listed.read_text(encoding="utf-8"), re.M)[:1]


def snapshot_archive(moment):
    """$NETLAB_DEBIAN_SNAPSHOT (None for "no"), or apt's, at this moment; or `DEBSNAP`, or None."""
    site = os.environ.get("NETLAB_DEBIAN_SNAPSHOT")
    for kind in ("Override::Origin", "Origin"):
        key = f"Acquire::Snapshots::URI::{kind}::Debian"
        site = site or output_of("apt-config", "dump", "--format", "%v", key).strip()
    if site == "no":
        return None
    if not site:
        return shutil.which(DEBSNAP) and DEBSNAP
    if "@SNAPSHOTID@" not in site:
        site = f"{site.rstrip('/')}/@SNAPSHOTID@"
    return site.replace("@SNAPSHOTID@", moment).rstrip("/")


def download(site, files, title):
    """Fetch files by path, all in one folder; -> by path, why it did not come."""
    with tempfile.TemporaryDirectory(prefix=".netlab-", dir=next(iter(files)).parent) as fresh:
        parts = {Path(fresh, path.name): file for path, file in files.items()}
        said = asked_of_debsnap(parts, title) if site == DEBSNAP else fetched(site, parts, title)
        reasons = {}
        for path, (part, file) in zip(files, parts.items(), strict=True):
            if sound(part, file):
                os.rename(part, path)
                continue
            reason = " ".join(said.get(quote(path.name), "it did not come").split())
            other = re.match("Hash Sum mismatch|File has unexpected size|Maximum file size", reason)
            reasons[path] = OTHER_BYTES if other else reason
    return reasons


def fetched(site, files, title):
    """Have apt fetch files by path; -> by name what it says of those that did not come."""
    words = []
    for path, file in files.items():
        words += [f"{site}/{quote(file['path'])}", path]
        words += [f"SHA256:{file['sha256']}", f"Checksum-FileSize:{file['size']}"]
    command = [APT_HELPER, "-o", "APT::Sandbox::User=", "download-file", *map(str, words)]
    environment = os.environ | {"LC_ALL": "C"}  # its messages are read
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=environment,
        ) as process,
        bar(title, sum(file["size"] for file in files.values())) as progress,
    ):
        try:
            while process.poll() is None:
                time.sleep(0.05)
                there = sum(path.stat().st_size for path in files if path.exists())
                progress.update(min(there, progress.total) - progress.n)
        except BaseException:
            process.kill()
            raise
        errors.seek(0)
        # by the file's name: the rest is another address where the server redirects
        return dict(re.findall(r"^E: Failed to fetch \S*/(\S+)\s+(.*)", errors.read(), re.M))


def asked_of_debsnap(files, title):
    """Have debsnap fetch packages; -> by name what it says of those that did not come."""
    said = {}
    with bar(title, sum(file["size"] for file in files.values())) as progress:
        for path, file in files.items():
            if "name" in file:
                architecture = path.stem.rpartition("_")[2]
                words = [f"--destdir={path.parent}", f"--architecture={architecture}"]
                done = subprocess.run(
                    [DEBSNAP, "--force", *words, file["name"], file["version"]],
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    env=os.environ | {"LC_ALL": "C"},
                )
                lines = done.stderr.strip().splitlines()
                said[quote(path.name)] = lines[-1] if lines else "it did not come"
            else:
                said[quote(path.name)] = "it is asked for packages only"
            progress.update(file["size"])
    return said


def output_of(*command):
    """What a command prints, whether it succeeds or not."""
    return subprocess.run(command, capture_output=True, text=True).stdout


def bar(title, total=None):
    """A progress bar, in a terminal; a line now and then in a log."""
    return tqdm(
        desc=title,
        total=total,
        bar_format="{desc:<28} " + "{percentage:3.0f}%|{bar:30}| " * bool(total) + "{elapsed}",
        mininterval=0.1 if sys.stderr.isatty() else 30,
    )


def step(title, command, expected_lines=None, **options):
    """Run a step of a build with a progress bar; an EngineError has the end of its output."""
    process = subprocess.Popen(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        **options,
    )
    tail = []
    with process, bar(title, expected_lines) as progress:
        try:
            for line in process.stdout:
                tail = [*tail[-30:], line]
                progress.update(not progress.total or progress.n < progress.total)
        except BaseException:
            process.kill()
            raise
        if expected_lines:
            progress.update(expected_lines - progress.n)
    if process.returncode:
        raise EngineError(
            f"{title} failed (status {process.returncode}):"
            f" {' '.join(map(str, command))}\n{''.join(tail)}"
        )
