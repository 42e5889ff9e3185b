"""The documentation names what there is: every part of the engine, every environment variable."""

import re
from pathlib import Path

import pytest

from netlab.engines.guest import store
from netlab.engines.guest.process import CLOCKS

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
