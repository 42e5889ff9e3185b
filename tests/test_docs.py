"""The documentation names what there is: every part of the engine, every environment variable."""

import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from netlab.engines import ADDRESS, serve
from netlab.engines.guest import store
from netlab.engines.guest.process import CLOCKS
from netlab.engines.jail.engine import JailedGuest
from tests.benchmarks import defaults, defaults_page

ROOT = Path(__file__).parent.parent
ENGINE = (ROOT / "docs/engine.md").read_text()
PAGES = {path.name: path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))}


def section(heading):
    """The part of docs/engine.md under a heading of the second level."""
    (found,) = re.findall(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", ENGINE, re.M | re.S)
    return found


def first_cells(text):
    return re.findall(r"^\| `(.+?)` \|", text, re.M)


def test_every_flag_of_the_command_line_is_explained_and_no_other():
    before_the_clocks, _, _ = section("The kernel command line").partition("### ")
    assert first_cells(before_the_clocks) == store.COMMAND_LINE


def test_every_clock_is_explained():
    assert first_cells(section("The kernel command line"))[-len(CLOCKS) :] == [
        f'"{name}"' for name in CLOCKS
    ]


def test_every_symbol_of_the_kernel_configuration_is_explained_and_no_other():
    lines = (store.HERE / "kernel/config").read_text().split()
    assert set(re.findall(r"`(CONFIG_\w+=\w+)`", section("The kernel configuration"))) == set(lines)


def test_every_patch_is_explained_and_no_other():
    patches = [path.name for path in sorted(store.HERE.glob("kernel/*.patch"))]
    assert first_cells(section("The kernel patches")) == patches


def test_every_function_of_the_preloaded_library_is_explained():
    source = (store.HERE / "shim.c").read_text()
    functions = re.findall(r"^\S.* \*?(\w+)\([^()]*\)\n\{", source, re.M)
    assert len(functions) == source.count("\n{\n")
    assert sorted(first_cells(section("The preloaded library (`shim.c`)"))) == sorted(functions)


def test_every_line_of_the_boot_script_is_explained():
    """In their order; three dots in the documentation stand for any text."""
    lines = [line.split("   ")[0] for line in (store.HERE / "boot.sh").read_text().splitlines()]
    commands = [line for line in lines if not line.startswith("#")]
    explained = first_cells(section("The boot script (`boot.sh`)"))
    assert len(explained) == len(commands)
    for cell, command in zip(explained, commands, strict=True):
        assert re.fullmatch(re.escape(cell).replace(r"\.\.\.", ".*"), command)


def test_every_package_of_the_root_file_system_is_named():
    packages = (store.HERE / "rootfs.txt").read_text().splitlines()[1:]
    assert [name for name in packages if f"`{name}`" not in section("The root file system")] == []


def test_every_environment_variable_is_described_and_no_other():
    files = [ROOT / "Makefile"]
    for folder in ("netlab", "binder", "tests"):
        files += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    text = "\n".join(
        path.read_text(errors="replace")
        for path in files
        if path.suffix != ".pyc" and path != Path(__file__)
    )
    macros = set(re.findall(r"#define (NETLAB_\w+)", text))
    used = set(re.findall(r"\bNETLAB_[A-Z_]+\b", text)) - macros
    assert set(re.findall(r"`(NETLAB_\w+)`", "".join(PAGES.values()))) == used


@pytest.mark.parametrize("name", PAGES)
def test_tables_have_as_many_cells_in_each_row(name):
    """A pipe ends a cell on GitHub even within code."""
    for table in re.findall(r"(?:^\|.*\n)+", PAGES[name], re.M):
        assert len({row.count("|") for row in table.splitlines()}) == 1, table


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", PAGES[name]):
        page = (ROOT / "docs" / target) if target else ROOT / "docs" / name
        assert page.exists(), target
        headings = re.findall(r"^#+ (.*)", page.read_text(), re.M) if anchor else []
        anchors = [re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings]
        assert not anchor or anchor in anchors, anchor


def test_what_a_client_of_a_server_may_take_is_told_in_numbers():
    _, _, text = PAGES["guide.md"].partition("What a client may take")
    table = text.partition("\n\nThe rest")[0].replace(",", "")
    caps = [serve.SHARED_AT_ONCE, serve.SHARED_WALL_S, serve.IDLE_S, serve.TAKEN_S]
    caps += [serve.MOST_BYTES >> 20, store.MEMORY_MB, JailedGuest.most_output_bytes]
    caps += [JailedGuest.most_records]
    assert [cap for cap in caps if not re.search(rf"\b{cap}\b", table)] == []


def test_how_an_engine_elsewhere_is_reached_can_be_read():
    """Each recipe ends in an address that netlab takes, of a command that serves."""
    guide = PAGES["guide.md"]
    machine = yaml.safe_load(re.search(r"```yaml\n(# netlab.yaml\n.*?)```", guide, re.S)[1])
    assert machine["arch"] == "x86_64" and machine["base"]
    forced = re.findall(r'^command="(.*)",restrict ssh-ed25519 ', guide, re.M)
    assert {*forced} == {"/opt/netlab/bin/netlab engine serve --shared"}
    addresses = re.findall(r"""NETLAB_ENGINE[ =]"?((?:exec|ssh):[^"`#\n]*[^"`# \n])""", guide)
    kinds = [one.partition(":")[0] for one in addresses]
    assert {*kinds} == {"exec", "ssh"} and kinds.count("exec") == 2, addresses
    for one in addresses:
        assert ADDRESS.fullmatch(one), one
        if one.startswith("exec:"):
            assert shlex.split(one)[-2:] == ["engine", "serve"]


def test_readmes_own_lines_are_a_script_that_shows_a_figure(tmp_path):
    (code,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
    (tmp_path / "script.py").write_text(code)
    (tmp_path / "browser.py").write_text(
        "import os, sys, urllib.request as request\n"
        "open('part', 'wb').write(request.urlopen(sys.argv[1]).read())\n"
        "os.replace('part', 'page')\n"
    )
    # "&": beside the script, which serves the page once and waits for that
    browser = f"{sys.executable} {tmp_path}/browser.py %s &"
    environment = {**os.environ, "BROWSER": browser, "PLOTLY_RENDERER": ""}
    command = [sys.executable, "script.py"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=300)
    page = tmp_path / "page"
    for _ in range(600):  # the browser writes while the script ends
        if page.exists():
            break
        time.sleep(0.1)
    assert "stream 8" in page.read_text()


def test_the_page_of_defaults_is_written_from_what_was_measured():
    rows = defaults.stored()
    assert defaults_page.filled(PAGES["defaults.md"], rows) == PAGES["defaults.md"]
    assert defaults_page.FIGURE.read_text() == defaults_page.figure(rows)
