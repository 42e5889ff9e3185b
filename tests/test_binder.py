"""Binder's files, read and run as repo2docker does it, with fake commands: no image is made here,
and nothing is installed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
BINDER = ROOT / "binder"
DOCKERFILE = (ROOT / ".devcontainer/Dockerfile").read_text()
TOOLS = ("bash", "cat", "dirname", "env", "grep", "sleep", "taskset", "timeout")


def read_apt():
    """(package, tool, purpose) for each line of binder/apt.txt, as repo2docker reads it: what is
    before a #.
    """
    lines = [line.partition("#") for line in (ROOT / "binder/apt.txt").read_text().splitlines()]
    return [(name.strip(), *rest.strip().split(": ", 1)) for name, _, rest in lines if name.strip()]


def machine(folder, *tools):
    """Put these commands into a folder bin; -> a function that adds a script to them."""
    (folder / "bin").mkdir()
    for tool in tools:
        (folder / "bin" / tool).symlink_to(shutil.which(tool))

    def add(name, script):
        path = folder / "bin" / name
        path.write_text(f"#!{folder}/bin/bash\n{script}\n")
        path.chmod(0o755)

    return add


@pytest.mark.parametrize("name", ["setup", "postBuild"])
def test_the_scripts_are_executable_bash_and_only_setup_needs_an_administrator(name):
    script, text = BINDER / name, (BINDER / name).read_text()
    assert os.access(script, os.X_OK) and text.startswith("#!/usr/bin/env bash\n")
    subprocess.run(["bash", "-n", script], check=True)
    assert name == "setup" or not re.search(r"\b(sudo|su|apt|apt-get|dpkg)\b", text)


@pytest.fixture
def checkout(tmp_path):
    """A checkout that needs no system packages, with files that netlab did not make."""
    (tmp_path / "binder").mkdir()
    shutil.copy(BINDER / "setup", tmp_path / "binder")
    (tmp_path / "binder/apt.txt").touch()
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("netlab", "tests"):
        (tmp_path / name).mkdir()
    for name in (".venv/mine", "out/course/submitted/mine", "dist/other.whl", "out/mine"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("mine")
    return tmp_path


@pytest.mark.parametrize("command", ["binder/setup", "make clean"])
def test_what_setup_and_clean_did_not_make_stays(command, checkout):
    done = subprocess.run(command.split(), cwd=checkout, capture_output=True, text=True)
    assert ".venv" in done.stdout + done.stderr
    assert len([path for path in checkout.rglob("*") if path.name in ("mine", "other.whl")]) == 4
    assert (done.returncode == 0) == (command == "make clean")


def test_clean_removes_what_setup_made_and_no_target_empties_out(checkout):
    (checkout / ".venv/.setup").touch()
    (checkout / "dist/netlab_tcp-1-py3-none-any.whl").touch()
    subprocess.run(["make", "clean"], cwd=checkout, check=True, capture_output=True)
    left = {path.name for path in checkout.iterdir()}
    assert left == {"Makefile", "binder", "dist", "netlab", "out", "tests"}
    assert [path.name for path in (checkout / "dist").iterdir()] == ["other.whl"]
    removed = re.findall(r"rm -r?f ([^\n;]*)", (ROOT / "Makefile").read_text())
    assert not any(re.search(r"\bout\b", names) for names in removed)


def test_nothing_else_in_binder_decides_what_repo2docker_builds():
    """A Dockerfile there would replace all the rest; a requirements.txt or setup.py would join in;
    .binder is refused. A file `start` would run before Jupyter, whose hub gives it 30 seconds.
    """
    names = {"apt.txt", "environment.yml", "postBuild", "setup"}
    assert {path.name for path in BINDER.iterdir()} == names and not (ROOT / ".binder").exists()
    # its regular expression for the pin of Python; without a match it would take one of its choice
    lines = yaml.safe_load((BINDER / "environment.yml").read_text())["dependencies"]
    (found,) = filter(None, (re.match(r"python\s*=+\s*([\d\.]*)", line) for line in lines))
    assert re.fullmatch(r"3\.1[1-4]", found[1])
    assert {"flex", "mmdebstrap", "util-linux"} <= {name for name, *_ in read_apt()}


@pytest.fixture
def image(tmp_path):
    """A function that runs one of the scripts in a copy of binder/, with fakes of `netlab` and
    `python` that list their calls.

    `netlab` gives the fake's answers as the clauses of a bash `case`, such as ``"engine build")
    exit 1;;``; any other call succeeds. The fake is on the PATH only once pip has "installed" it,
    or from the start.
    """
    shutil.copytree(BINDER, tmp_path / "binder", symlinks=True)
    add, calls = machine(tmp_path, *TOOLS), tmp_path / "calls"

    def fake(name, script):
        add(name, f'echo "${{0##*/}} $*" >>{calls}\n{script}')

    def run(*command, netlab="", installed=False, pip="", **environment):
        fake("netlab" if installed else "netlab.later", f'case "$*" in\n{netlab}\nesac')
        arrive = f"PATH=/usr/bin:/bin mv {tmp_path}/bin/netlab.later {tmp_path}/bin/netlab"
        fake(
            "python",
            f'case "$*" in\n"-m pip"*) {pip or arrive};;\n"-c import os"*) exec {sys.executable}'
            ' "$@";;\nesac',
        )
        environment = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path), **environment}
        done = subprocess.run(
            [tmp_path / "binder" / command[0], *command[1:]],
            env=environment,
            capture_output=True,
            text=True,
        )
        done.calls = calls.read_text().splitlines() if calls.exists() else []
        return done

    return run


def test_post_build_installs_the_project_and_builds_its_engine(image):
    done = image("postBuild")
    assert done.returncode == 0, done.stderr
    install = "python -m pip install --quiet --no-deps --editable ."
    assert done.calls.index(install) < done.calls.index("netlab engine build")
    assert "python -c from netlab import *" in done.calls
    assert done.calls[-2:] == ["netlab engine info", "netlab doctor"]
    assert "recorded" not in done.stdout


def test_post_build_leaves_a_netlab_that_is_there_alone(image):
    done = image("postBuild", installed=True)
    assert done.returncode == 0 and "netlab engine build" in done.calls
    assert not [call for call in done.calls if "pip" in call]


@pytest.mark.parametrize(
    ("build", "limit"), [("echo no mirror >&2; exit 1", "30m"), ("exec sleep 60", "0.2")]
)
def test_post_build_goes_on_where_the_engine_cannot_be_built(image, build, limit):
    done = image("postBuild", netlab=f'"engine build") {build};;', NETLAB_BUILD_LIMIT=limit)
    assert done.returncode == 0 and done.calls[-1] == "netlab engine remove"
    assert limit != "30m" or ("no mirror" in done.stderr and "recorded results" in done.stdout)


@pytest.mark.parametrize(
    ("failures", "builds"),
    [
        # on arm64, under emulation, in gVisor: doctor fails, not only for the missing engine
        (["FAIL  processor   the guest needs x86-64", "FAIL  engine   no engine"], False),
        (["FAIL  engine   no engine: run `netlab engine build`"], True),
    ],
)
def test_post_build_builds_where_only_the_engine_is_missing(image, failures, builds):
    printed = " ".join(f"'{line}'" for line in failures)
    done = image("postBuild", netlab=f'doctor) printf "%s\\n" {printed}; exit 1;;')
    assert done.returncode == 0 and ("netlab engine build" in done.calls) == builds
    if not builds:
        assert f"  {failures[0]}\n" in done.stdout and "no engine\n" not in done.stdout


@pytest.mark.parametrize("pip", ["exit 1", "true"], ids=["pip fails", "pip installs nothing"])
def test_post_build_fails_without_the_project(image, pip):
    assert image("postBuild", pip=pip).returncode != 0


def test_the_dockerfile_uses_the_same_scripts():
    base, *_ = re.findall(r"^FROM (.+)", DOCKERFILE, re.M)
    assert re.fullmatch(
        r"(debian|ubuntu|python):[a-z0-9.-]+", base
    )  # a name: whose registry it is, is everybody's own affair
    assert "RUN binder/setup && binder/postBuild" in DOCKERFILE
    assert DOCKERFILE.index("USER jovyan") < DOCKERFILE.index("RUN binder/setup")
    assert "EXPOSE 8888" in DOCKERFILE
    command = json.loads(re.search(r"^CMD (.+)", DOCKERFILE, re.M)[1])
    folder = re.search(r"^WORKDIR (.+)", DOCKERFILE, re.M)[1]
    assert folder == "/home/jovyan/netlab" and "ENTRYPOINT" not in DOCKERFILE
    assert command[:2] == ["jupyter", "lab"] and (ROOT / command[-1]).is_dir()


def test_the_dockerfile_reads_apt_txt_like_repo2docker_and_copies_what_is_there():
    command = re.search(r"(sed '[^']+') /tmp/apt.txt \| xargs", DOCKERFILE)[1]
    typed = f"{command} {BINDER / 'apt.txt'} | xargs echo"
    printed = subprocess.check_output(typed, shell=True, text=True)
    assert printed.split() == [name for name, *_ in read_apt()]
    for sources in re.findall(r"^COPY(?: --\S+)* (.+) \S+$", DOCKERFILE, re.M):
        assert all((ROOT / source).exists() for source in sources.split()), sources


def test_the_dev_container_uses_the_dockerfile():
    text = (ROOT / ".devcontainer/devcontainer.json").read_text()
    settings = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.M))
    assert (ROOT / ".devcontainer" / settings["build"]["dockerfile"]).exists()
    assert (ROOT / ".devcontainer" / settings["build"]["context"]).resolve() == ROOT
    assert settings["remoteUser"] == re.search(r"^USER (.+)", DOCKERFILE, re.M)[1]
    assert os.access(ROOT / settings["postCreateCommand"], os.X_OK)


def test_each_system_package_has_its_tool_and_purpose():
    packages = read_apt()
    assert packages
    for package, *rest in packages:
        assert re.fullmatch(r"[a-z0-9][a-z0-9.+-]+", package)  # repo2docker refuses anything else
        tool, purpose = rest
        assert tool and purpose


@pytest.fixture
def bare_machine(tmp_path):
    """A function that runs binder/setup where hardly any command is there; scripts stand in for
    others, by name.
    """
    for name in ("binder/setup", "binder/apt.txt", "tests/apt.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    add = machine(tmp_path, "bash", "dirname", "env")

    def setup(user_id, *lists, **stubs):
        for name, script in {"id": f"echo {user_id}", "apt_get": "exit 1", **stubs}.items():
            add(name.replace("_", "-"), script)
        command = [tmp_path / "binder/setup", *lists]
        environment = {"PATH": str(tmp_path / "bin"), "PYTHON": "no-python"}
        return subprocess.run(command, env=environment, capture_output=True, text=True, input="")

    return setup


@pytest.mark.parametrize(
    "stubs", [{}, {"sudo": "exit 1"}], ids=["no sudo", "sudo that wants a password"]
)
def test_setup_without_an_administrator_says_what_to_ask_for(bare_machine, stubs):
    run = bare_machine(1000, **stubs)
    assert run.returncode == 1
    for package, tool, purpose in read_apt():
        if not tool.startswith("/"):  # this machine may have that file
            assert f"{package}: {purpose}" in run.stdout
    typed = r"Please ask for:\n.* apt-get update && apt-get install --yes .*\bmmdebstrap\b"
    assert re.search(typed, run.stderr)


@pytest.mark.parametrize("user_id", [0, 1000], ids=["root", "ordinary user"])
def test_setup_installs_what_is_missing_and_only_that(bare_machine, user_id):
    sudo = 'echo "sudo $*"; [[ $1 = -n ]] || "$@"'
    run = bare_machine(user_id, flex="", apt_get='echo "apt-get $*"', sudo=sudo)
    assert re.search(r"apt-get .*install --yes --no-install-recommends .*\bbison\b", run.stdout)
    assert not re.search(r"apt-get .*install .*\bflex\b", run.stdout)
    assert ("sudo" in run.stdout) == (user_id != 0)
    assert run.returncode == 1
    assert "still missing after the installation" in run.stderr  # since that apt-get does nothing


def test_setup_takes_further_lists(bare_machine):
    """A browser, which tests need and Binder does not."""
    assert "chromium" not in bare_machine(1000).stdout
    said = bare_machine(1000, "tests/apt.txt")
    assert "chromium: the browser" in said.stdout
    assert re.search(r"install --yes .*\bmmdebstrap\b.* chromium ", said.stderr)
