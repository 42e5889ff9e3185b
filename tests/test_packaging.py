"""The files that say what to install agree with each other."""

import ast
import contextlib
import os
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from netlab.errors import DISTRIBUTION, installed

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DEPENDENCIES = [Requirement(line) for line in PROJECT["project"]["dependencies"]]
EXTRAS = PROJECT["project"]["optional-dependencies"]
OPTIONAL = {extra: [*map(Requirement, lines)] for extra, lines in EXTRAS.items()}
BUILD = PROJECT["build-system"]["requires"] + PROJECT["dependency-groups"]["build"]


def read_lock():
    """The pins of requirements.lock, each with its list of hashes."""
    text = (ROOT / "requirements.lock").read_text().replace("\\\n", "")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    parts = [line.split("--hash=sha256:") for line in lines]
    return [(Requirement(pin), [text.strip() for text in hashes]) for pin, *hashes in parts]


def pins(python):
    """Name -> version of what the lock installs on Linux for one version of Python."""
    machine = default_environment() | {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "implementation_name": "cpython",
        "os_name": "posix",
        "platform_system": "Linux",
        "sys_platform": "linux",
    }
    chosen = [pin for pin, _ in read_lock() if pin.marker is None or pin.marker.evaluate(machine)]
    names = [canonicalize_name(pin.name) for pin in chosen]
    assert sorted(names) == sorted(set(names))  # a package is pinned twice
    return {
        name: next(iter(pin.specifier)).version for name, pin in zip(names, chosen, strict=True)
    }


def test_plotly_7_is_a_dependency_and_the_notebook_tools_are_an_extra():
    bounds = {requirement.name: requirement.specifier for requirement in DEPENDENCIES}
    assert bounds.keys() == {"networkx", "numpy", "pandas", "plotly", "pydantic", "tqdm", "typer"}
    extra = {requirement.name for requirement in OPTIONAL["notebooks"]}
    assert {"anywidget", "ipywidgets", "jupyterlab", "nbval", "papermill"} <= extra
    assert not bounds["plotly"].contains("6.9.9") and bounds["plotly"].contains("7.1.0")
    assert not bounds["pandas"].contains("2.1.9") and bounds["pandas"].contains("2.2.0")


class Imported(ast.NodeVisitor):
    """The packages that a module imports, but for those of extras."""

    def __init__(self):
        self.packages = set()

    def visit_With(self, node):
        if not ast.unparse(node).startswith("with needs_notebooks("):
            self.generic_visit(node)

    def visit_Import(self, node):
        self.packages |= {alias.name.partition(".")[0] for alias in node.names}

    def visit_ImportFrom(self, node):
        self.packages.add(node.module.partition(".")[0])


def test_netlab_without_notebooks_imports_its_dependencies_and_no_other_package():
    imported = Imported()
    for path in sorted((ROOT / "netlab").rglob("*.py")):
        in_a_guest = path.name in ("agent.py", "ending_agent.py", "warden.py")
        if path.parent.name != "explore" and not in_a_guest:
            imported.visit(ast.parse(path.read_text()))
    others = imported.packages - sys.stdlib_module_names - {"netlab"}
    assert others == {requirement.name for requirement in DEPENDENCIES}


def test_the_conda_environment_has_the_same_packages_and_bounds():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    python, pip, *packages = environment["dependencies"]
    assert environment["channels"] == ["conda-forge"]
    assert pip == "pip"
    assert re.fullmatch(r"python=3\.1[123]", python)  # with =, else repo2docker does not see it
    asked = DEPENDENCIES + OPTIONAL["notebooks"] + OPTIONAL["course"]
    assert {str(Requirement(package)) for package in packages} == {*map(str, asked)}
    assert packages == sorted(packages)
    assert os.readlink(ROOT / "binder/environment.yml") == "../environment.yml"


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_the_lock_satisfies_the_project(python):
    pinned = pins(python)
    extras = [requirement for extra in OPTIONAL.values() for requirement in extra]
    for requirement in [*DEPENDENCIES, *extras, *map(Requirement, BUILD)]:
        name = canonicalize_name(requirement.name)
        assert name in pinned, f"{requirement} is not in requirements.lock: make lock"
        assert requirement.specifier.contains(pinned[name]), f"{requirement}: make lock"


def test_every_pin_is_exact_and_has_hashes():
    for pin, hashes in read_lock():
        assert [specifier.operator for specifier in pin.specifier] == ["=="], pin
        assert hashes and all(re.fullmatch("[0-9a-f]{64}", text) for text in hashes), pin
        assert pin.url is None


REGISTRY = re.compile(
    r"pypi[.]org|pythonhosted[.]org|anaconda[.]org|npmjs[.](org|com)|crates[.]io|proxy[.]golang[.]org"
    r"|(deb|security|snapshot|ftp[.\w]*)[.]debian[.]org|(archive|security|ports)[.]ubuntu[.]com|--(extra-)?index[-]url",
    re.IGNORECASE,
)


def test_no_file_names_a_package_registry():
    """Everybody's own configuration says where packages come from: a mirror, a proxy, a classroom's
    cache.
    """
    names = ("netlab", "notebooks", "data", "tests", "binder", ".ci", ".devcontainer")
    assert all((ROOT / name).is_dir() for name in names)
    found = []
    for path in [*ROOT.iterdir(), *(path for name in names for path in (ROOT / name).rglob("*"))]:
        if path.is_file() and not path.is_symlink():
            with contextlib.suppress(UnicodeDecodeError):
                text = path.read_text(encoding="utf-8")
                found += [f"{path}: {one[0]}" for one in REGISTRY.finditer(text)]
    assert not found


def test_a_version_is_the_same_everywhere_and_its_changes_are_told():
    version = PROJECT["project"]["version"]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    told = re.findall(r"^## (\S+)(?: \((\d{4}-\d\d-\d\d)\))?$", changes, re.M)
    newest, date = next(one for one in told if one[0] != "Unreleased")
    assert version == cited["version"] == newest and cited["date-released"] == date
    numbers = [[*map(int, name.split("."))] for name, _ in told if name != "Unreleased"]
    assert numbers == sorted(numbers, reverse=True)
    assert {"title", "message", "authors", "abstract", "license", "keywords"} <= cited.keys()


def test_the_command_has_a_second_name():
    """`netlab` is also the command of networklab."""
    scripts = PROJECT["project"]["scripts"]
    assert scripts.keys() == {"netlab", "netlab-tcp"} and len({*scripts.values()}) == 1


def test_what_pip_installs_has_one_name_and_it_is_ours(monkeypatch):
    """`netlab` is somebody else's on registries: one installs a wheel or a checkout of ours."""
    assert PROJECT["project"]["name"] == DISTRIBUTION
    places = [ROOT / "netlab", ROOT / "docs", ROOT / "notebooks", ROOT / ".ci", ROOT / ".github"]
    files = [ROOT / "README.md", ROOT / "Makefile", *(p for at in places for p in at.rglob("*.*"))]
    text = "".join(
        path.read_text(encoding="utf-8")
        for path in files
        if path.suffix in {".md", ".py", ".ipynb", ".yml", ""} and path.is_file()
    )
    asked = re.findall(r"pip install [^`\n&;]*?(?<![\w./])(netlab[\w-]*)(?=[\[\s\"'`])", text)
    assert {DISTRIBUTION} >= {*asked}
    assert len(re.findall(r"pip install .*netlab_tcp-\*\.whl", text)) > 2
    assert re.findall(r"['\"](netlab\[\w+\])", text) == []

    def only(name):  # a checkout that was set up when it had the other name
        if name != "netlab":
            raise metadata.PackageNotFoundError(name)
        return name

    monkeypatch.setattr(metadata, "distribution", only)
    assert installed() == "netlab"


@pytest.mark.parametrize("name", ["bug", "course", "sentence"])
def test_forms_for_issues_are_forms(name):
    form = yaml.safe_load((ROOT / f".github/ISSUE_TEMPLATE/{name}.yml").read_text(encoding="utf-8"))
    assert (
        form["name"]
        and form["description"]
        and not {*form} - {*("name", "description", "labels", "body")}
    )
    ids = [part["id"] for part in form["body"]]
    assert len({*ids}) == len(ids)
    for part in form["body"]:
        assert part["type"] in {"textarea", "input", "dropdown"} and part["attributes"]["label"]
        assert bool(part["attributes"].get("options")) == (part["type"] == "dropdown")
    assert any(part.get("validations", {}).get("required") for part in form["body"])
