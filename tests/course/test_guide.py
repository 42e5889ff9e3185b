"""docs/course.md says what there is: every set, every flag, every key, every command."""

import re
from pathlib import Path

from typer.testing import CliRunner

from netlab.cli.commands import app
from netlab.course.adapters import FORMATS
from netlab.course.grading import marks, report
from netlab.course.grading.batch import NOTHING_NEW
from netlab.course.grading.by_roster import LATE, NO_DATE, STRANGER
from netlab.course.handed_in import found
from netlab.course.sets import source
from netlab.course.sets.specification import reference

GUIDE = Path("docs/course.md").read_text()
SETS = Path("notebooks/assignments/README.md").read_text()
ONLY_CHECKED = {  # flags of `netlab course check`, which students see
    *("not a problem set", "wrong file name", "no answer", "not run", "failing cell"),
    *("run out of order", "output too big", "other course.json", "not in the grader"),
    *("no such id", "no student id", "not right"),
}


def test_the_guide_begins_with_twelve_commands_and_is_short():
    block = re.search(r"^```sh\n(.*?)^```", GUIDE, re.M | re.S)
    commands = [line.partition("#")[0].split() for line in block[1].splitlines()]
    assert len(commands) == 12 and "## " not in GUIDE[: block.start()]
    known = {"new", "solution", "release", "check", "grade", "export", "demo"}
    assert {words[2] for words in commands if words[:2] == ["netlab", "course"]} == known
    assert len(GUIDE.split()) <= 3000


def test_the_table_of_sets_is_what_the_sources_say():
    expected = []
    for path in sorted(Path(source.COURSE).glob("source/*/*.ipynb")):
        one = source.read(path)
        automatic = [each.points for each in one.automatic]
        manual = sum(each.points for each in one.exercises if each.manual)
        cells = [f"`{one.name}`", one.title.partition(": ")[2], f"{one.minutes} min"]
        cells += [str(len(automatic)), f"{sum(automatic):g}", f"{manual:g}"]
        expected.append(cells)
    rows = re.findall(r"^\| (`ps\d` .*) \|$", GUIDE, re.M)
    assert [row.split(" | ")[:6] for row in rows] == expected


def test_every_flag_of_the_grader_is_explained_and_no_other():
    text = "".join(path.read_text() for path in Path("netlab/course").rglob("*.py"))
    flags = set(re.findall(r'Finding\(\s*"(.+?)"', text)) - ONLY_CHECKED
    flags |= set(re.findall(r'flags \+= \["(.+?)"\]', text))
    flags |= set(re.findall(r'without_marks\([^)]*?assignment, "(.+?)"', text))
    flags |= {found.FOUND_AS.format("FILE"), found.ALSO.format("FILE"), NOTHING_NEW, marks.OLD}
    flags |= {LATE.format("N days"), NO_DATE, STRANGER}
    (table,) = re.findall(r"^\| flag \| .*\n\|---.*\n((?:\|.*\n)+)", GUIDE, re.M)
    named = re.findall(r"^\| `(.+?)` \|", table, re.M)
    neighbours = [name for name in named if " ID" in name]
    started = re.findall(r'flags(?:\.append\(| \+= \[)f"(.+?)\{', text)
    assert sorted(name.partition("ID")[0] for name in neighbours) == sorted(started)
    assert set(named) - set(neighbours) == flags
    assert len(named) == len(set(named))


def test_the_tables_of_keys_are_those_of_the_models():
    """`print(report.reference())` writes one, and so of `marks` and `specification`."""
    assert reference() in SETS
    assert marks.reference() in SETS
    assert report.reference() in SETS


def test_every_command_in_the_pages_exists():
    pages = GUIDE + SETS + Path("README.md").read_text()
    help_text = CliRunner().invoke(app, ["course", "--help"]).output
    commands = set(re.findall(r"netlab course ([a-z]+)", pages))
    assert commands == {
        *("new", "release", "solution", "check", "grade", "export", "autograder", "demo"),
        "statistics",
    }
    assert all(f" {command} " in help_text for command in commands)
    for command, options in re.findall(r"netlab course ([a-z]+)([^`\n#]*)", pages):
        options = re.findall(r"(?<!\S)(--?[a-z]+)", options)
        text = CliRunner().invoke(app, ["course", command, "--help"]).output
        assert [one for one in options if one not in text] == []
    assert set(re.findall(r"--to (\w+)", pages)) == set(FORMATS)


def test_links_of_the_sets_page_lead_somewhere():
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", SETS):
        assert (Path("notebooks/assignments") / target).exists(), target
