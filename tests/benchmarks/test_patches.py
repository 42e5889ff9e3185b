"""Which kernels of Debian's the patches apply to: the locked one and all that are newer (`make
bench ARGS="-k patches"`), before somebody renews the lock with `make engine-lock SERIES=...`.
"""

import re
import subprocess

from netlab.engines.guest import packages, renewal, store

PATCHES = sorted(store.HERE.glob("kernel/*.patch"))


def test_the_patches_apply_to_the_locked_kernel_and_perhaps_to_newer_ones(tmp_path):
    (tmp_path / "apt").mkdir()
    lock, apt = packages.read_lock(), renewal.Apt(tmp_path / "apt")
    locked = lock["kernel"]
    kernels = [locked] + [
        apt.kernel(series) for series in apt.series() if number(series) > number(locked["name"])
    ]
    applied = {}
    for kernel in kernels:
        folder = tmp_path / kernel["version"]
        tree = sources(renewal.tarball(kernel, lock["snapshot"], folder), folder / "tree")
        print(f"\n{kernel['name']} {kernel['version']}")
        applied[kernel["name"]] = [patch.name for patch in PATCHES if applies(patch, tree)]
    assert applied[locked["name"]] == [patch.name for patch in PATCHES]


def number(name):
    major, minor = re.search(r"(\d+)\.(\d+)$", name).groups()
    return int(major), int(minor)


def sources(tarball, tree):
    """The files that the patches change, without the 90,000 others."""
    top = tarball.name.removesuffix(".tar.xz")
    texts = "".join(patch.read_text() for patch in PATCHES)
    names = {f"{top}/{path}" for path in re.findall(r"^--- a/(\S+)", texts, re.M)}
    tree.mkdir()
    # status 2: a newer kernel lacks one of them; then a patch fails
    subprocess.run(
        ["tar", "xf", tarball, "-C", tree, "--strip-components=1", *names], capture_output=True
    )
    return tree


def applies(patch, tree):
    """Apply a patch to a tree as a build does; prints how that went."""
    done = subprocess.run(
        ["patch", "-p1", "--forward", "--batch", "-d", tree, "-i", patch],
        capture_output=True,
        text=True,
    )
    lines = re.findall(r"^.*(?:FAILED|find file|ignored|fuzz).*$", done.stdout, re.M)
    print(f"  {patch.name:<30} {'FAILS' if done.returncode else 'applies'}", *lines, sep="  ")
    return not done.returncode
