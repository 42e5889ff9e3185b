"""Strangers' texts made safe to show: on a terminal, in Markdown, in a spreadsheet."""

import csv
import html
import io
import re
import textwrap

LONGEST = 500  # characters of a line
WIDTH = 100  # characters of a line of a block of code
# What makes a spreadsheet compute, in full width, too: some take that for the same.
COMPUTES = "-=+@|%\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}"
COMPUTES += "\N{FULLWIDTH COMMERCIAL AT}\N{SMALL EQUALS SIGN}\N{SMALL PLUS SIGN}"
COMPUTES += "\N{SMALL HYPHEN-MINUS}\N{SMALL COMMERCIAL AT}\N{MINUS SIGN}"
# At the start, or where a spreadsheet may begin another cell: it splits at semicolons where a comma
# is the decimal mark, whatever the quotes say.
FORMULA = re.compile(rf"""(^|[;,"'\uff0c\uff1b])(\s*)(?=[{COMPUTES}])""")


CELL = re.compile(
    r"<ipython-input-[^<>]{1,40}>, | \(<string>\)$"
)  # a cell's text, as IPython names it
ZEROS = "leading zeros in decimal integer literals are not permitted"
POINT = "for a number with a comma, write 0.05 and not 0,05, 1050 and not 1,050"


def of_python(said):
    """Python's words on an error, for people.

    Examples
    --------
    >>> of_python("SyntaxError: invalid syntax (<ipython-input-1-b518796e2a28>, line 4)")
    'SyntaxError: invalid syntax (line 4)'
    """
    return CELL.sub("", said) + f"; {POINT}" * (ZEROS in said)


def printable(text, most=LONGEST):
    """A text of one line without anything that a terminal would obey, shortened."""
    text = " ".join(without_controls(text[: 4 * most]).split())
    return text if len(text) <= most else f"{text[: most - 4]} ..."


def without_controls(text):
    return "".join(one if one.isprintable() else " " for one in text)


def as_markdown(text):
    """A text as it is, wherever Markdown is shown."""
    return re.sub(r"([\\`*_{}\[\]()#!|$~])", r"\\\1", html.escape(text, quote=False))


def in_a_cell(text):
    """A text as it is, in a cell of a Markdown table."""
    return html.escape(" ".join(text.split()), quote=False).replace("|", "&#124;")


def as_code(text):
    """A text as a block of code in Markdown, where nothing is marked up; long lines are broken."""
    keep = dict.fromkeys(("drop_whitespace", "expand_tabs", "replace_whitespace"), False)
    wrapper = textwrap.TextWrapper(WIDTH, break_on_hyphens=False, **keep)
    lines = [wrapper.wrap(without_controls(line)) or [""] for line in text.split("\n")]
    return "\n".join(f"    {piece}" for line in lines for piece in line)


def as_csv(rows):
    """Rows of texts and numbers as CSV: texts are `shown`, numbers have no zeros at their end."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    for row in rows:
        writer.writerow(shown(one) if isinstance(one, str) else f"{one:.10g}" for one in row)
    return file.getvalue()


def shown(text):
    """A text with an apostrophe where a spreadsheet would begin to compute.

    Examples
    --------
    >>> shown("=1+1"), shown("ended; =1+1")
    ("'=1+1", "ended; '=1+1")
    """
    return FORMULA.sub(r"\1\2'", printable(text))
