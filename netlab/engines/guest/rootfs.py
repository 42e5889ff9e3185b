"""The guest's root file system: Debian packages, unpacked without root and not configured."""

import contextlib
import os
import shutil

from netlab.engines.guest import archives, integrity, store
from netlab.engines.guest.packages import step

# What no run needs. Of usr/share/doc, what the licences ask for stays.
TRIMMED = (
    *("usr/share/man", "usr/share/locale", "usr/share/info", "usr/share/i18n"),
    *("usr/share/bash-completion", "usr/share/lintian", "etc/apt"),
    *("var", "dev"),  # memory, in the guest; the kernel fills it
)
MOUNT_POINTS = ("job", "dev", "proc", "sys", "run", "tmp", "var", "root")
TEXTS = {
    "passwd": (
        "root:x:0:0:root:/root:/bin/bash\n"
        "tcpdump:x:100:100:tcpdump:/nonexistent:/usr/sbin/nologin\n"  # which it becomes
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
    ),
    "group": "root:x:0:\ntcpdump:x:100:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1 localhost\n",
    "hostname": "netlab\n",
    "resolv.conf": "",
    "cpuinfo": "processor\t: 0\nvendor_id\t: User Mode Linux\nmodel name\t: UML\n",
}
INIT = """\
#!/bin/sh
mount -t proc proc /proc
mount -t hostfs -o hostfs=$JOB none /job
exec /bin/bash /job/boot.sh
"""


def build_rootfs(folder, packages):
    """Make the root file system from package files, in a work folder; -> its place in the cache."""
    root, made = folder / "tree", folder / "rootfs"
    unpack(packages, root)
    trim(root)
    for name in MOUNT_POINTS:
        (root / name).mkdir(exist_ok=True)
    for name, text in TEXTS.items():
        (root / "etc" / name).unlink(missing_ok=True)
        (root / "etc" / name).write_text(text)
    # nothing is configured: no alternatives
    links = {"awk": "mawk", "which": "which.debianutils", "traceroute": "traceroute.db"}
    for link, target in links.items():
        (root / "usr/bin" / link).unlink(missing_ok=True)
        (root / "usr/bin" / link).symlink_to(target)
    (root / "netlab-init").write_text(INIT)
    (root / "netlab-init").chmod(0o755)
    run_programs_of(root)
    same_modes(root)
    made.mkdir()
    archives.pack(root, made / store.ARCHIVE)
    return store.install(made, f"rootfs-{integrity.tree_digest(made)}", integrity.tree_digest)


def unpack(packages, root):
    """Unpack packages by name, base-files first: its links make /bin, /lib, /sbin parts of /usr."""
    ordered = sorted(packages, key=lambda path: (not path.name.startswith("base-files_"), path))
    extract = 'dpkg-deb --fsys-tarfile "$file" | tar -x --keep-directory-symlink -C "$1"'
    script = f'for file in "${{@:2}}"; do {extract} || exit; echo; done'
    command = ["bash", "-o", "pipefail", "-c", script, "unpack", root, *ordered]
    root.mkdir()
    step("Root file system", command, len(ordered))


def trim(root):
    for name in TRIMMED:
        shutil.rmtree(root / name, ignore_errors=True)
    for path in list((root / "usr/share/doc").glob("*/*")):
        if path.name == "copyright" or path.parent.is_symlink():
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    for path in (root / "usr/share/doc").iterdir():
        with contextlib.suppress(OSError):  # those that are not empty stay
            path.rmdir()


def run_programs_of(root):
    """Run its own ldconfig and Python, by its own loader: that works on any distribution."""
    libraries = f"{root}/usr/lib/x86_64-linux-gnu"
    inside = [root / "lib64/ld-linux-x86-64.so.2", "--library-path", libraries]
    # else the loader probes folders by CPU type
    step("Library cache", [*inside, root / "usr/sbin/ldconfig", "-r", root])
    python = [*inside, root / "usr/bin/python3", "-B", "-S", "-P", "-m", "compileall", "-q", "-f"]
    python += ["-s", root, "--invalidation-mode", "unchecked-hash"]
    # a link to /etc: outside the guest, that is a file of the builder's own
    python += ["-x", r"/sitecustomize\.py$"]
    step(
        "Python byte code",
        [*python, root / "usr/lib/python3", root / "usr/lib/python3.13"],
        env={"PYTHONHOME": f"{root}/usr", "PATH": os.environ["PATH"], "PYTHONHASHSEED": "0"},
    )


def same_modes(root):
    """The same for every builder: setuid bits and masks depend on who unpacks."""
    for path in root.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
