"""Build the guest engine as an ordinary user: a User-Mode Linux kernel and a small Debian root file
system with Mininet in it.

Nothing is installed on the machine. Debian packages are fetched through apt and mmdebstrap with
folders of their own, from the mirror that apt is configured with; the result goes to the cache
(`store`).
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tqdm import tqdm

from netlab.engines.cache import cache_folder
from netlab.engines.guest import integrity, store
from netlab.engines.guest.process import Guest
from netlab.errors import EngineError

KERNEL = "7.2.12"  # pinned: another kernel is another engine
KERNEL_SUITE, ROOTFS_SUITE = "trixie-backports", "trixie"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
TOOLS = {
    "gcc": "gcc",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "patch": "patch",
    "xz": "xz-utils",
    "mmdebstrap": "mmdebstrap",
    "dpkg-deb": "dpkg",
    "apt-get": "apt",
}
FREE_BYTES = 4 << 30  # the kernel's source and objects, deleted afterwards
TRIMMED = (
    "usr/share/doc",
    "usr/share/man",
    "usr/share/locale",
    "usr/share/info",
    "usr/share/i18n",
    "var/cache",
    "var/lib/apt",
    "etc/apt",
    "usr/share/bash-completion",
    "usr/share/lintian",
    "usr/share/common-licenses",
)


def build(kernel_source=None, again=False):
    """Build an engine from the pinned recipe and make it the one in use.

    Parameters
    ----------
    kernel_source : path, optional
        A kernel source tarball to build instead of the pinned Debian package.
    again : bool
        Build even if somebody has built one while we waited for them.

    Returns
    -------
    store.Build

    Raises
    ------
    EngineError
        A tool, the mirror, the pinned version or disk space is missing, or a step failed; the
        message says what to do.
    """
    check_tools()
    with store.work_folder() as folder:
        if not (again or kernel_source):
            with contextlib.suppress(EngineError):
                return store.current()
        free = shutil.disk_usage(folder).free
        if free < FREE_BYTES:
            raise EngineError(
                f"{folder.parent} has {free >> 20} MB free; building needs {FREE_BYTES >> 20}. Make"
                " room, or move the cache with NETLAB_CACHE."
            )
        site = mirror(folder)
        rootfs = build_rootfs(folder, site)
        tarball = Path(kernel_source or fetch_kernel(folder, site))
        kernel, about = build_kernel(folder, tarball)
        record = {
            "recipe": store.recipe_digest(),
            "kernel": kernel.name.removeprefix("kernel-"),
            "about": about,
            "kernel_binary": integrity.kernel_digest(kernel),
            "source_sha256": integrity.hash_of(tarball),
            "rootfs": rootfs.name.removeprefix("rootfs-"),
        }
        record["about"] |= versions(store.Build(cache_folder(), record))
        return store.use(record)


def check_tools():
    missing = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
    if not KEYRING.exists():
        missing.append("debian-archive-keyring")
    if missing:
        raise EngineError(
            f"building the engine needs {', '.join(missing)}: `sudo apt-get install"
            f" {' '.join(missing)}`, or `netlab engine import FILE` with an engine built elsewhere."
        )


def mirror(folder):
    """The Debian mirror that this machine's apt uses, or mmdebstrap's own where it uses none, or
    $NETLAB_DEBIAN_MIRROR.
    """
    if site := os.environ.get("NETLAB_DEBIAN_MIRROR"):
        return site
    listed = output_of("apt-get", "indextargets", "--format", "$(ORIGIN) $(LABEL) $(SITE)")
    sites = [line.split()[2] for line in listed.splitlines() if line.startswith("Debian Debian ")]
    if not sites:  # apt has no lists yet, or this is not Debian
        sites = re.findall(r"'(\S+/debian)/dists/", output_of("apt-get", "--print-uris", "update"))
    if not sites:
        trial = folder / "trial"
        options = [
            "--mode=chrootless",
            "--variant=extract",
            f"--keyring={KEYRING}",
            "--include=base-files",
        ]
        step(
            "Debian mirror",
            ["mmdebstrap", *options, ROOTFS_SUITE, trial],
            env=os.environ | {"TMPDIR": str(folder)},
        )
        sites = re.findall(
            r"^deb (?:\[.*\] )?(\S+)", (trial / "etc/apt/sources.list").read_text(), re.M
        )[:1]
    return max(set(sites), key=sites.count)


def output_of(*command):
    """What a command prints, whether it succeeds or not."""
    return subprocess.run(command, capture_output=True, text=True).stdout


def step(title, command, expected_lines=None, **options):
    """Run one step of the build with a progress bar; raise with the end of its output when it
    fails.
    """
    process = subprocess.Popen(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        **options,
    )
    tail, layout = (
        [],
        (
            "{desc:<28} {percentage:3.0f}%|{bar:30}| {elapsed}"
            if expected_lines
            else "{desc:<28} {elapsed}"
        ),
    )
    seldom = 0.1 if sys.stderr.isatty() else 30  # a log needs no moving bar
    with (
        process,
        tqdm(desc=title, total=expected_lines, bar_format=layout, mininterval=seldom) as bar,
    ):
        try:
            for line in process.stdout:
                tail = [*tail[-30:], line]
                bar.update(not bar.total or bar.n < bar.total)
        except BaseException:
            process.kill()
            raise
        if expected_lines:
            bar.update(expected_lines - bar.n)
    if process.returncode:
        raise EngineError(
            f"{title} failed (status {process.returncode}):"
            f" {' '.join(map(str, command))}\n{''.join(tail)}"
        )


def build_rootfs(folder, site):
    """A Debian root file system with Mininet and iperf3, unpacked but not configured: that needs no
    root.
    """
    root = folder / "rootfs"
    packages = [
        line
        for line in (store.HERE / "rootfs.txt").read_text().splitlines()
        if not line.startswith("#")
    ]
    source = f"deb [signed-by={KEYRING}] {site} {ROOTFS_SUITE} main"
    step(
        "Root file system",
        [
            "mmdebstrap",
            "--mode=chrootless",
            "--variant=extract",
            f"--include={','.join(packages)}",
            ROOTFS_SUITE,
            root,
            source,
        ],
        env=os.environ | {"TMPDIR": str(folder)},
    )
    for name in (*TRIMMED, "dev"):  # the kernel fills dev; made as root, there would be more in it
        shutil.rmtree(root / name, ignore_errors=True)
    for name in ("job", "dev", "proc", "sys", "run", "tmp", "var", "root"):
        (root / name).mkdir(exist_ok=True)
    texts = {
        "passwd": (
            "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
        ),
        "group": "root:x:0:\nnogroup:x:65534:\n",
        "hosts": "127.0.0.1 localhost\n",
        "hostname": "netlab\n",
        "resolv.conf": "",
        "cpuinfo": "processor\t: 0\nvendor_id\t: User Mode Linux\nmodel name\t: UML\n",
    }
    for name, text in texts.items():
        (root / "etc" / name).unlink(missing_ok=True)
        (root / "etc" / name).write_text(text)
    # nothing is configured: no alternatives
    for link, target in {"awk": "mawk", "which": "which.debianutils"}.items():
        (root / "usr/bin" / link).unlink(missing_ok=True)
        (root / "usr/bin" / link).symlink_to(target)
    init = root / "netlab-init"
    init.write_text(
        "#!/bin/sh\nmount -t proc proc /proc\nmount -t hostfs -o hostfs=$JOB none /job\nexec"
        " /bin/bash /job/boot.sh\n"
    )
    init.chmod(0o755)
    inside = [
        root / "lib64/ld-linux-x86-64.so.2",
        "--library-path",
        f"{root}/usr/lib/x86_64-linux-gnu",
    ]
    # else the loader probes folders by CPU type
    step("Library cache", [*inside, root / "usr/sbin/ldconfig", "-r", root])
    python = [
        *inside,
        root / "usr/bin/python3",
        "-B",
        "-S",
        "-m",
        "compileall",
        "-q",
        "-f",
        "-s",
        root,
    ]
    python += [
        "-x",
        r"/sitecustomize\.py$",
    ]  # a link to /etc: outside the guest, that is a file of the builder's own
    step(
        "Python byte code",
        [
            *python,
            "--invalidation-mode",
            "unchecked-hash",
            root / "usr/lib/python3",
            root / "usr/lib/python3.13",
        ],
        env={"PYTHONHOME": f"{root}/usr", "PATH": os.environ["PATH"], "PYTHONHASHSEED": "0"},
    )
    for path in root.rglob("*"):  # the same for every builder: setuid bits depend on who unpacks
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    return store.install(root, f"rootfs-{integrity.tree_digest(root)}", integrity.tree_digest)


def build_kernel(folder, tarball):
    """A User-Mode Linux kernel with our patches, and the library preloaded into it."""
    name = f"kernel-{integrity.digest_of(tarball, *store.KERNEL_RECIPE)}"
    source, out = folder / "source", folder / "kernel"
    source.mkdir()
    out.mkdir()
    step("Kernel source", ["tar", "xf", tarball, "-C", source, "--strip-components=1"])
    text = (source / "Makefile").read_text()
    version = ".".join(
        re.search(rf"^{key} = (\d+)", text, re.M)[1]
        for key in ("VERSION", "PATCHLEVEL", "SUBLEVEL")
    )
    about = {"kernel": version, "source": tarball.name}
    if kept := store.sound_kernel(name):
        return kept, about
    for patch in sorted(store.HERE.glob("kernel/*.patch")):
        step(f"Patch {patch.stem}"[:28], ["patch", "-p1", "--forward", "-d", source, "-i", patch])
    jobs = len(os.sched_getaffinity(0))
    environment = os.environ | {
        "KBUILD_BUILD_TIMESTAMP": "2026-01-01",
        "KBUILD_BUILD_USER": "netlab",
        "KBUILD_BUILD_HOST": "netlab",
        "KBUILD_BUILD_VERSION": "1",
    }
    make = ["make", "-C", source, "ARCH=um", f"-j{jobs}"]
    step("Kernel configuration", [*make, "x86_64_defconfig"], env=environment)
    with open(source / ".config", "a") as config:
        config.write((store.HERE / "kernel/config").read_text())
    step("Kernel configuration", [*make, "olddefconfig"], env=environment)
    step(f"Kernel {version}", [*make, "linux"], 1560, env=environment)
    step("Kernel binary", ["strip", "-o", out / "linux", source / "linux"])
    step(
        "Preloaded library",
        ["gcc", "-O2", "-shared", "-fPIC", "-o", out / "shim.so", store.HERE / "shim.c"],
    )
    return store.install(out, name, integrity.kernel_digest), about


def fetch_kernel(folder, site):
    """The pinned kernel's source package; the newest of the same series, and a word about it, where
    the pin has gone.
    """
    series = KERNEL.rpartition(".")[0]
    package = f"linux-source-{series}"
    (folder / "sources.list").write_text(f"deb [signed-by={KEYRING}] {site} {KERNEL_SUITE} main\n")
    for name in ("lists/partial", "archives/partial"):
        (folder / name).mkdir(parents=True)
    private = [
        "-o",
        f"Dir::Etc::sourcelist={folder}/sources.list",
        "-o",
        "Dir::Etc::sourceparts=/dev/null",
        "-o",
        f"Dir::State::Lists={folder}/lists",
        "-o",
        f"Dir::Cache={folder}",
        "-o",
        "Dir::State::status=/dev/null",
        "-o",
        "APT::Sandbox::User=",
    ]
    step("Package lists", ["apt-get", *private, "update"])
    versions = [
        line.split("|")[1].strip()
        for line in output_of("apt-cache", *private, "madison", package).splitlines()
    ]
    if not versions:
        raise EngineError(
            f"the mirror no longer has Linux {series}, which this version of netlab is built with."
            " Use a newer netlab, an engine built elsewhere (`netlab engine import FILE`), or a"
            f" tarball of Linux {series}.x (`netlab engine build --kernel-source FILE`)."
        )
    chosen = next(
        (version for version in versions if version.startswith(f"{KERNEL}-")), versions[0]
    )
    if not chosen.startswith(f"{KERNEL}-"):
        print(
            f"NOTE: the mirror no longer has Linux {KERNEL}; taking {chosen}. Results repeat on"
            " this engine, but its digest, and its bytes, are not those of the pinned one.",
            flush=True,
        )
    step("Kernel download", ["apt-get", *private, "download", f"{package}={chosen}"], cwd=folder)
    (package_file,) = folder.glob(f"{package}_*.deb")
    step("Kernel unpacking", ["dpkg-deb", "-x", package_file, folder / "package"])
    (tarball,) = folder.glob("package/usr/src/linux-source-*.tar.xz")
    return tarball


def versions(build):
    """Start an engine once and ask it what is in it."""
    commands = {
        "kernel": "uname -r",
        "iperf3": "iperf3 --version | head -n 1 | cut -d' ' -f2",
        "mininet": "mn --version",
        "congestion": "cat /proc/sys/net/ipv4/tcp_available_congestion_control",
    }
    about = {}
    guest = Guest(build, 1, "virtual", 60)
    try:
        guest.ask(op="up", hosts=[["h1", "10.0.0.1/8"]], switches=[], links=[], setup=[])
        for key, command in commands.items():
            printed = []
            job = guest.ask(op="start", host="h1", command=command)["job"]
            guest.ask(
                lambda event, printed=printed: printed.append(event.get("out", "")),
                op="wait",
                numbers=[job],
                limit_s="10",
            )
            about[key] = "".join(printed).strip()
    finally:
        guest.close()
    return about | {"congestion": sorted(about["congestion"].split())}
