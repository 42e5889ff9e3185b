"""Renew `engine.lock`: apt resolves the packages in folders of its own and checks signatures."""

import itertools
import json
import re
import subprocess
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

from netlab.engines import files
from netlab.engines.guest import packages, store
from netlab.engines.guest.build import tarball_in
from netlab.engines.guest.integrity import hash_of
from netlab.errors import EngineError

ROOTFS_SUITE, KERNEL_SUITE = "trixie", "trixie-backports"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def renew(series=None):
    """Write `engine.lock` with the mirror's packages of today and the newest kernel of a series.

    The series, such as ``7.2``, is the lock's by default. An EngineError where the mirror cannot be
    reached, has a wrong signature, or lacks a package.
    """
    requested = store.HERE.joinpath("rootfs.txt").read_text(encoding="utf-8").splitlines()
    requested = sorted(name for name in requested if not name.startswith("#"))
    series = series or packages.read_lock()["kernel"]["name"].removeprefix("linux-source-")
    with tempfile.TemporaryDirectory(prefix="netlab-lock-") as name:
        folder = Path(name)
        apt = Apt(folder)
        chosen, kernel, moment = apt.resolve(requested), apt.kernel(series), apt.moment()
        (package,) = packages.fetch([kernel], folder, moment, "Kernel download")
        lock = {
            "snapshot": moment,
            "requested": requested,
            "packages": chosen,
            "kernel": kernel | {"tarball_sha256": hash_of(tarball_in(package, folder))},
            "sources": apt.sources([*chosen, kernel]),
        }
    files.write(packages.LOCK, text_of(lock))
    return lock


def text_of(lock):
    """JSON with a line for each package and each file."""
    text = json.dumps(lock, indent=1)
    return re.sub(r"[\[{][^\[\]{}]*[\]}]", lambda found: " ".join(found[0].split()), text) + "\n"


class Apt:
    """This machine's apt, with the mirror's lists in its own folder and no package installed."""

    def __init__(self, folder):
        site = packages.mirror()
        if not site:
            raise EngineError(
                "apt on this machine knows no Debian mirror: name one with NETLAB_DEBIAN_MIRROR."
            )
        if not KEYRING.exists():
            raise EngineError(
                f"there is no {KEYRING} to check Debian's signatures with: `sudo apt-get install"
                " debian-archive-keyring`."
            )
        self.lists = folder / "lists"
        for name in ("lists/partial", "archives/partial"):
            (folder / name).mkdir(parents=True)
        kinds = itertools.product(("deb", "deb-src"), (ROOTFS_SUITE, KERNEL_SUITE))
        lines = [f"{one} [signed-by={KEYRING}] {site} {suite} main\n" for one, suite in kinds]
        (folder / "sources.list").write_text("".join(lines))
        settings = (
            *(f"Dir::Etc::sourcelist={folder}/sources.list", "Dir::Etc::sourceparts=/dev/null"),
            *("Dir::Etc::preferences=/dev/null", "Dir::Etc::preferencesparts=/dev/null"),
            *(f"Dir::State::Lists={self.lists}", f"Dir::Cache={folder}"),
            *("Dir::State::status=/dev/null", "APT::Sandbox::User=", "APT::Default-Release="),
            *("APT::Architecture=amd64", "APT::Architectures=amd64"),
            *("APT::Install-Recommends=false", "APT::Install-Suggests=false"),
            "APT::Update::Error-Mode=any",
        )
        self.options = [word for setting in settings for word in ("-o", setting)]
        packages.step("Package lists", ["apt-get", *self.options, "update"])

    def ask(self, program, *words):
        done = subprocess.run([program, *self.options, *words], capture_output=True, text=True)
        if done.returncode:
            raise EngineError(f"{program} {' '.join(words[:3])}: {done.stderr.strip()}")
        return done.stdout

    def moment(self):
        """When the snapshot archive has all of this: a day after the newest list was signed."""
        texts = [path.read_text(encoding="utf-8") for path in self.lists.glob("*InRelease")]
        dates = [re.search(r"^Date: (.*)", text, re.M)[1] for text in texts]
        signed = max(datetime.strptime(date, "%a, %d %b %Y %H:%M:%S %Z") for date in dates)
        return (signed + timedelta(days=1)).strftime("%Y%m%dT%H%M%SZ")

    def resolve(self, names):
        """What the lock says of these packages and of all that they depend on."""
        printed = self.ask("apt-get", "--simulate", "install", *names)
        found = re.findall(r"^Inst (\S+) \((\S+)", printed, re.M)
        return self.packages(f"{name}={version}" for name, version in sorted(found))

    def packages(self, chosen):
        """What the lock says of packages."""
        return list(map(package_entry, paragraphs(self.ask("apt-cache", "show", *chosen))))

    def kernel(self, series):
        """What the lock says of the newest kernel of a series."""
        if series not in (known := self.series()):
            raise EngineError(f"the mirror has no linux-source-{series}; it has {', '.join(known)}")
        (kernel,) = self.packages(["--no-all-versions", f"linux-source-{series}"])
        return kernel

    def series(self):
        """The series of kernels that the mirror has, oldest first."""
        names = self.ask("apt-cache", "pkgnames", "linux-source-")
        numbers = re.findall(r"^linux-source-(\d+)\.(\d+)$", names, re.M)
        return [".".join(one) for one in sorted(numbers, key=lambda one: [*map(int, one)])]

    def sources(self, chosen):
        """What the lock says of the sources of packages."""
        wanted = sorted({(package["source"], package["source_version"]) for package in chosen})
        names = sorted({name for name, _ in wanted})
        listed = paragraphs(self.ask("apt-cache", "showsrc", "--only-source", *names))
        known = {(fields["Package"], fields["Version"]): source_files(fields) for fields in listed}
        if missing := [" ".join(source) for source in wanted if source not in known]:
            raise EngineError(f"the mirror has no source of {', '.join(missing)}")
        return [{"name": one[0], "version": one[1], "files": known[one]} for one in wanted]


def package_entry(fields):
    """What the lock says of a package that Debian's list describes with these fields."""
    source, _, source_version = fields.get("Source", fields["Package"]).partition(" ")
    return {
        "name": fields["Package"],
        "version": fields["Version"],
        "source": source,
        "source_version": source_version.strip("()") or fields["Version"],
        "path": fields["Filename"],
        "size": int(fields["Size"]),
        "sha256": fields["SHA256"],
    }


def source_files(fields):
    lines = [line.split() for line in fields["Checksums-Sha256"].splitlines() if line.strip()]
    return [
        {"path": f"{fields['Directory']}/{name}", "size": int(size), "sha256": sha256}
        for sha256, size, name in lines
    ]


def paragraphs(text):
    """Debian's format of control files: a dict for each paragraph."""
    return [
        {key: value.strip() for key, value in re.findall(r"^(\S+?):(.*(?:\n[ \t].*)*)", part, re.M)}
        for part in re.split(r"\n\s*\n", text.strip())
    ]
