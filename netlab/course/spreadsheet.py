"""CSV whose texts a spreadsheet shows and does not compute, whoever wrote them."""

import csv
import io
import re

from netlab.course.checks.verdicts import printable

# What makes a spreadsheet compute, in full width, too: some take that for the same.
COMPUTES = "-=+@|%\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}"
COMPUTES += "\N{FULLWIDTH COMMERCIAL AT}\N{SMALL EQUALS SIGN}\N{SMALL PLUS SIGN}"
COMPUTES += "\N{SMALL HYPHEN-MINUS}\N{SMALL COMMERCIAL AT}\N{MINUS SIGN}"
# At the start, or where a spreadsheet may begin another cell: it splits at semicolons where a comma
# is the decimal mark, whatever the quotes say.
FORMULA = re.compile(rf"""(^|[;,"'\uff0c\uff1b])(\s*)(?=[{COMPUTES}])""")


def text(rows):
    """Rows of texts and numbers as CSV; a text in which a cell of a spreadsheet could compute has
    an apostrophe before that place.
    """
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([cell(one) for one in row] for row in rows)
    return file.getvalue()


def cell(value):
    """A number without zeros at the end, so that all of a column look alike; or a plain text."""
    return plain(value) if isinstance(value, str) else f"{value:.10g}"


def plain(text):
    """A text that a spreadsheet shows, and does not compute.

    Examples
    --------
    >>> plain("=1+1"), plain("ended; =1+1")
    ("'=1+1", "ended; '=1+1")
    """
    return FORMULA.sub(r"\1\2'", printable(text))
