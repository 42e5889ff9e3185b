"""The class as its teacher has it: who is in it, who works together, when each handed in, and what
is lost by being late. It is read from a CSV file, which may be Moodle's grading worksheet.
"""

import csv
import io
import math
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

from netlab import units
from netlab.course import ids
from netlab.course.kept import Kept
from netlab.course.texts import printable
from netlab.description import Description, Fraction
from netlab.errors import NetlabError, SpecificationError
from netlab.readers._common import read_file

MAILS = ("email address", "e-mail address", "e-mail", "email")
COLUMNS = {  # the headings of each field; the first that is there counts
    "id": ("id", "student", "student id", "username", *MAILS),
    "group": ("group",),
    "handed_in": ("handed in", "last modified (submission)"),
    "number": ("identifier",),
}
MOODLES = re.compile(r"_(\d+)_assignsubmission_\w*$")  # at the end of a folder's name
FILES = "_assignsubmission_file"  # of which those with files end so
TIMES = ("%Y-%m-%d %H:%M", "%A, %d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M")  # the others: Moodle's
WRITE_TIME = "write day and time, such as 2027-03-01 23:59"


class Member(Description):
    """A student of the class."""

    id: str
    group: str = ""
    handed_in: datetime | None = None
    number: str = ""  # Moodle's, which is in the names of its folders


class Roster(Kept):
    """A class, and its rule for late work: of the points, the share `late` is lost for each day
    that began after `due`.
    """

    file = "roster.json"
    options = "--roster (with --due and --late)"
    members: tuple[Member, ...] = ()
    due: datetime | None = None
    late: Fraction = "0%"

    @cached_property
    def by_id(self):
        return {ids.compared(one.id): one for one in self.members}

    @cached_property
    def by_number(self):
        return {one.number: one for one in self.members if one.number}

    @cached_property
    def groups(self):
        """The members of each group, by its name; with the numbers of the first all are graded."""
        found = {}
        for one in self.members:
            if one.group:
                found.setdefault(ids.compared(one.group), []).append(one)
        return found

    def member(self, student):
        """Who has this id, or None."""
        return self.by_id.get(ids.compared(student))

    def group_of(self, student):
        """The members of a student's group; [] for who has none."""
        member = self.member(student)
        return self.groups[ids.compared(member.group)] if member and member.group else []

    def ids_of_group(self, student):
        """The ids of these members."""
        return [one.id for one in self.group_of(student)]

    def submissions(self, folders):
        """By student the names of the folders with what is graded as that student's: a group's
        own, and its members' in the order of the roster.
        """
        found = {}
        for folder in folders:
            found.setdefault(self.owner(folder), []).append(folder)
        place = {one.id: at for at, one in enumerate(self.members)}
        for several in found.values():
            several.sort(key=lambda one: place[who.id] if (who := self.whose(one)) else -1)
        return found

    def owner(self, folder):
        """The student as whose a folder is graded."""
        member = self.whose(folder)
        group = self.groups.get(ids.compared(member.group if member else folder))
        if group:
            return group[0].id
        return member.id if member and MOODLES.search(folder) else folder

    def whose(self, folder):
        """The `Member` whose folder this is, by its name; None for a group's or a stranger's."""
        moodles = MOODLES.search(folder)
        return self.by_number.get(moodles[1]) if moodles else self.member(folder)

    def handed_in(self, student):
        """When a student handed in, or the last of the group; None where that is not known."""
        several = self.group_of(student) or filter(None, [self.member(student)])
        return max((self.at(one) for one in several if one.handed_in), default=None)

    def at(self, member):
        """When a member handed in, on the clock of `due`."""
        when, due = member.handed_in, self.due
        if due and when.tzinfo and not due.tzinfo:
            raise NetlabError(
                f"{printable(member.id)} handed in at {when}, and --due {due} does not say in which"
                f" time zone: write --due {due.isoformat(timespec='minutes')}+01:00 or the like"
            )
        if not (due and due.tzinfo):
            return when
        return when.astimezone(due.tzinfo) if when.tzinfo else when.replace(tzinfo=due.tzinfo)

    def days_late(self, when):
        """How many days have begun since the set was due."""
        return max(0, math.ceil((when - self.due) / timedelta(days=1)))

    def share_lost(self, days):
        return min(1.0, round(days * units.fraction(self.late), 6))


def of_options(work, file=None, due=None, late=None) -> Roster:
    """The roster of a grading: what is not given is as it was last time, in the folder `work`."""
    roster = Roster.kept(work)
    if file:
        roster = roster.but(members=tuple(read(file)))
    for name, text, read_as in (("due", due, moment), ("late", late, units.tc_text)):
        try:
            roster = roster.but(**{name: read_as(text)}) if text else roster
        except ValueError as error:
            raise NetlabError(f"--{name} {printable(text)}: {error}") from None
    if late and not roster.due:
        raise NetlabError(f"--late {late} counts from when the set is due: give --due, too")
    if roster.due and not [roster.at(one) for one in roster.members if one.handed_in]:
        heading = " or ".join(map(repr, COLUMNS["handed_in"]))
        raise NetlabError(
            f"--due: the roster says of no student when the work came: add a column {heading}"
        )
    return roster


@dataclass(frozen=True)
class Sheet:
    """A CSV file with a row for each student, as it is."""

    where: str  # the option and the file, for messages
    head: list[str]
    rows: list[tuple[int, list[str]]]  # with the number of the line on which each ends
    comma: str
    begins: str  # "" or a byte order mark

    def column(self, *names):
        """The number of the first column that has one of these headings, or None."""
        headings = [heading_of(one) for one in self.head]
        return next((headings.index(one) for one in names if one in headings), None)

    def members(self):
        """The `Member` of each row; a `NetlabError` names the line of what cannot be one."""
        places = {field: self.column(*names) for field, names in COLUMNS.items()}
        if places["id"] is None:
            names, there = ", ".join(COLUMNS["id"]), ", ".join(map(printable, self.head))
            raise NetlabError(
                f"{self.where}: no column with ids; call one of its columns `id` (allowed"
                f" are {names}). It has {there}"
            )
        mails = heading_of(self.head[places["id"]]) in MAILS
        places = {field: at for field, at in places.items() if at is not None}
        found, lines = [], {}
        for number, row in self.rows:
            said = {field: row[at].strip() for field, at in places.items() if at < len(row)}
            try:
                member = member_of(said, mails)
                same = ids.normalised(member.id)
            except ValueError as error:
                raise NetlabError(f"{self.where}, line {number}: {error}") from None
            if same in lines:
                raise NetlabError(
                    f"{self.where}: lines {lines[same]} and {number} are the same id, {same!a}:"
                    " capital and small letters do not count; give one of the two students another"
                )
            lines[same] = number
            found.append(member)
        for one in found:
            if ids.compared(one.group) in lines:
                why = "it is a student's id; give the group another name"
                raise NetlabError(f"{self.where}: group {printable(one.group)!r}: {why}")
        return found


def read(path) -> list[Member]:
    """The members of a class, from a CSV file, or from text with an id on each line."""
    return sheet(path, "--roster").members()


def sheet(path, option) -> Sheet:
    """Read a CSV file with headings; lines of one text each, and no heading, are ids."""
    where = f"{option} {path}"
    try:
        text = read_file(Path(path)).decode("utf-8")
        begins, text = text[: text.startswith("\ufeff")], text.removeprefix("\ufeff")
        first = text.partition("\n")[0]
        comma = max(",;\t", key=first.count)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=comma)
        rows = [(reader.line_num, row) for row in reader if any(map(str.strip, row))]
    except (OSError, ValueError, csv.Error) as error:
        raise NetlabError(f"{where} cannot be read: {error}; save it as CSV in UTF-8") from None
    known = {name for names in COLUMNS.values() for name in names}
    if rows and (len(rows[0][1]) > 1 or heading_of(first) in known):
        return Sheet(where, rows[0][1], rows[1:], comma, begins)
    return Sheet(where, ["id"], rows, comma, begins)


def heading_of(text):
    """A heading as it is compared."""
    return " ".join(text.casefold().replace("_", " ").split())


def member_of(said, mails):
    """A `Member` from the texts of a row; `mails` tells that its id is of an e-mail address."""
    when, number = said.get("handed_in", ""), said.get("number", "").split()
    return Member(
        id=said.get("id", "").partition("@")[0] if mails else said.get("id", ""),
        group=said.get("group", ""),
        handed_in=moment(when) if when not in ("", "-") else None,
        number=number[-1] if number else "",
    )


def moment(text) -> datetime:
    """A day and a time, as ISO 8601 or as Moodle writes them in English.

    Examples
    --------
    >>> moment("Monday, 1 March 2027, 11:59 PM") == moment("2027-03-01 23:59")
    True
    """
    plain = " ".join(text.split())
    for form in TIMES:
        try:
            return datetime.strptime(plain, form)
        except ValueError:
            continue
    try:
        if ":" in plain:  # a day alone could be its begin or its end
            return datetime.fromisoformat(plain)
    except ValueError:
        pass
    raise SpecificationError(f"{printable(text)!r} cannot be read as a time: {WRITE_TIME}")
