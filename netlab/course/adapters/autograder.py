"""An autograder for Gradescope: its zip file, and what runs there: one submission at a time, within
ten minutes. A student's id is the part of the e-mail address before the @.
"""

import contextlib
import json
import sys
import tempfile
import traceback
import zipfile
from pathlib import Path

from netlab.course.adapters.results import gradescope, write_json
from netlab.course.grading.marks import Marks
from netlab.course.handed_in.found import is_systems
from netlab.course.own_numbers import course
from netlab.course.texts import printable
from netlab.engines import files
from netlab.errors import NetlabError

SETUP = """#!/usr/bin/env bash
# Installs netlab, its engine, and a Python that they run on.
set -euxo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update
for version in 3.13 3.12 3.11; do
    apt-get install -y python$version python$version-venv && break
done
python$version -m venv /autograder/netlab
/autograder/netlab/bin/pip install --no-cache-dir /autograder/source/netlab_engine-*.whl \\
    "$(echo /autograder/source/netlab_tcp-*.whl)[course]"
export NETLAB_CACHE=/autograder/cache
/autograder/netlab/bin/python -I -c 'from netlab.engines.jail.contents import contents; contents()'
"""
RUN = """#!/usr/bin/env bash
# Grades /autograder/submission; leaves /autograder/results/results.json, whatever happens.
export NETLAB_CACHE=/autograder/cache NETLAB_PROGRESS=off
results=/autograder/results/results.json
/autograder/netlab/bin/python -I -m netlab.course.adapters.autograder /autograder
if [ ! -s "$results" ]; then
    mkdir -p /autograder/results
    why="netlab could not be started. Tell your instructor: the output of setup.sh says why."
    echo "{\\"score\\": 0, \\"output\\": \\"This was not graded: $why\\"}" >"$results"
fi
"""
UNFINISHED = (
    "It was ended before it was done: perhaps it took more than ten minutes, or too much memory."
    " Look whether your notebook runs to its end, and hand it in again."
)
GROUP = (
    "A group is graded with the numbers of the member whose id comes first in the alphabet:"
    ' {student} (with {others}). Write student = "{student}" in the first cell.'
)
TELL = "Tell your instructor; it is not your fault."


def build(path, wheels, output, secret=None):
    """Write the zip file of a set's source (`path`), of wheels and a secret; -> its path."""
    path, output = Path(path), Path(output)
    members = {"setup.sh": SETUP.encode(), "run_autograder": RUN.encode()}
    for kind in ("netlab_tcp", "netlab_engine"):
        found = sorted(Path(wheels).glob(f"{kind}-*.whl"))
        if len(found) != 1:
            why = f"{len(found)} files {kind}-*.whl in it, not one: `make wheel` writes to dist/"
            raise NetlabError(f"--wheels {wheels}: {why}")
        members[found[0].name] = found[0].read_bytes()
    members[f"set/{path.name}"] = path.read_bytes()
    if secret is not None:
        members["set/course.json"] = json.dumps({"secret": secret}).encode()
    with (
        files.replacing(output, "--output", is_autograder) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, data in members.items():
            about = zipfile.ZipInfo(name)  # of 1980, as no date is given
            about.compress_type = zipfile.ZIP_DEFLATED
            mode = 0o755 if name in ("setup.sh", "run_autograder") else 0o644
            about.external_attr = mode << 16
            archive.writestr(about, data)
    return output


def is_autograder(file):
    """Has a file what those of `build` have? Others' zip files for Gradescope have setup.sh."""
    with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(file) as archive:
        return any(name.startswith("netlab_tcp-") for name in archive.namelist())
    return False


def run(home):
    """Grade what is in HOME/submission with HOME/source; leave HOME/results/results.json."""
    home = Path(home)
    target = home / "results" / "results.json"
    write_json(target, failed(UNFINISHED))
    try:
        said = gradescope(grade(home))
    except NetlabError as error:
        said = failed(f"{error}")
    except Exception:  # a student must never see an empty page
        traceback.print_exc()
        said = failed(f"The autograder stumbled. {TELL}")
    write_json(target, said)


def failed(why):
    """What results.json says where nothing could be graded."""
    about = {"student": "", "assignment": "", "exercises": [], "manual": []}
    return gradescope(Marks(**about, reason=f"This was not graded. {why}"))


def grade(home):
    """The marks of the submission."""
    from netlab.course.grading.batch import Batch

    (path,) = (home / "source" / "set").glob("*.ipynb")
    secret, _ = course(path.parent)
    (student, *others), data = who(home), handed_in(home / "submission", path.name)
    with tempfile.TemporaryDirectory(prefix="netlab-") as work:
        place = Path(work, "submitted", student, path.stem, path.name)
        place.parent.mkdir(parents=True)
        place.write_bytes(data)
        batch = Batch(path, Path(work, "submitted"), Path(work, "work"), secret, jobs=1)
        (marks,) = batch.grade()
    if others:
        names = printable(", ".join(others))
        notice = GROUP.format(student=printable(student), others=names)
        marks = marks.but(notices=[notice, *marks.notices])
    return marks


def who(home):
    """The ids of whoever handed in, as Gradescope says, sorted: the first one's numbers count, in
    whatever order the group is listed.
    """
    try:
        said = json.loads((home / "submission_metadata.json").read_text(encoding="utf-8"))
        found = sorted({one["email"].partition("@")[0].lower() for one in said["users"]})
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        found = []
    if not found or any(not one or "/" in one or one.startswith(".") for one in found):
        raise NetlabError(f"Gradescope did not say whose submission this is. {TELL}")
    return found


def handed_in(folder, name):
    """The bytes of the notebook: the one with the set's name, or the only one."""
    found = [one for one in sorted(folder.rglob("*")) if one.name.casefold().endswith(".ipynb")]
    found = [one for one in found if one.is_symlink() or not one.is_dir()]
    found = [one for one in found if not any(map(is_systems, one.relative_to(folder).parts))]
    found = [file for file in found if file.name.casefold() == name.casefold()] or found
    if len(found) != 1:
        raise NetlabError(f"There are {len(found)} notebooks: hand in one, {name}.")
    try:
        return files.read_below(found[0], folder)
    except OSError as error:
        raise NetlabError(f"{found[0].name} cannot be read: {error.strerror}.") from error


if __name__ == "__main__":
    run(sys.argv[1])
