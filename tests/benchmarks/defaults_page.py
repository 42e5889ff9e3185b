"""The tables and the figure of docs/defaults.md, out of defaults.csv: ``python -m
tests.benchmarks.defaults_page``.
"""

from pathlib import Path
from statistics import median
from xml.sax.saxutils import escape

from tests.benchmarks import defaults

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, FIGURE = DOCS / "defaults.md", DOCS / "images/defaults.svg"
COLOUR, GREY = "#0072b2", "#666666"


def write(rows):
    """Put the tables between their marks, and write the figure."""
    FIGURE.parent.mkdir(exist_ok=True)
    FIGURE.write_text(figure(rows), encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")


def filled(text, rows):
    """The page's text with its tables."""
    for table in (acks, conclusions, counts):
        begin = f"<!-- {table.__name__}: written by tests/benchmarks/defaults_page.py -->"
        before, _, rest = text.partition(begin)
        _, end, after = rest.partition("<!-- end -->")
        assert end, f"{begin} and its end are missing"
        text = "\n".join([before + begin, "", *table(rows), "", end + after])
    return text


def values(rows, name, option):
    """By seed."""
    return [rows[key] for key in sorted(rows) if key[:2] == (name, option)]


def span(found):
    low, high = f"{min(found):.3g}", f"{max(found):.3g}"
    return low if low == high else f"{low} to {high}"


def measured(rows):
    """The options that are measured."""
    return [option for option in defaults.OPTIONS if any(key[1] == option for key in rows)]


def written(option):
    given = ", ".join(f"{name}={value!r}" for name, value in defaults.OPTIONS[option].items())
    return f"`{given.replace(chr(39), chr(34))}`" if given else "nothing"


def acks(rows):
    shares = "larger share of two of the kernel's DCTCP | of two `nl.algorithms.DCTCP`"
    yield f"| option | `nl.wan` is given | segments per ACK | {shares} |"
    yield "|---|---|---|---|---|"
    for option in measured(rows):
        cells = [values(rows, name, option) for name in ("acks", "dctcp-alike", defaults.OWN)]
        shown = [span(found) if found else "" for found in cells]
        yield f"| {option} | {written(option)} | {' | '.join(shown)} |"


def conclusions(rows):
    options = measured(rows)
    yield f"| | notebook: conclusion | holds from, to | {' | '.join(options)} |"
    yield "|---" * (len(options) + 3) + "|"
    for number, (name, one) in enumerate(defaults.CONCLUSIONS.items(), 1):
        limits = f"{one.least:g}, {one.most:g}" if one.most < defaults.INF else f"{one.least:g}"
        cells = [cell(one, values(rows, name, option)) for option in options]
        yield f"| {number} | {one.notebook}: {one.sentence} | {limits} | {' | '.join(cells)} |"
    yield ""
    for number, one in enumerate(defaults.CONCLUSIONS.values(), 1):
        yield f"{number}. {one.where}."


def cell(one, found):
    """The median, and in how many seeds the conclusion holds where that is not all."""
    if not found:
        return ""
    holds, middle = sum(map(one.holds, found)), f"{median(found):.3g}"
    return middle if holds == len(found) else f"**{middle}: {holds} of {len(found)}**"


def counts(rows):
    yield "| option | seeds | conclusions that hold with all of its seeds | with none |"
    yield "|---|---|---|---|"
    for option in measured(rows):
        found = {
            name: [one.holds(value) for value in values(rows, name, option)]
            for name, one in defaults.CONCLUSIONS.items()
        }
        found = {name: held for name, held in found.items() if held}
        seeds = {len(held) for held in found.values()}
        every = sum(map(all, found.values()))
        never = sum(not any(held) for held in found.values())
        yield f"| {option} | {span(seeds)} | {every} of {len(found)} | {never} |"
    yield ""
    yield f"Measured with the engine `{defaults.engine()}`."


WIDTH, LEFT, ROW, PANEL, GAP = 760, 110, 26, 280, 60


def figure(rows):
    """Segments per ACK, and the larger share of two flows of DCTCP: a dot for each seed."""
    options = measured(rows)
    height = ROW * (len(options) + 2)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
        ' font-family="sans-serif" font-size="12">',
        "<title>Segments per ACK, and the larger of two equal shares, under each option</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    for index, option in enumerate(options):
        y = 28 + ROW * (index + 0.5)
        parts.append(f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(option)}</text>')
    panels = (
        ("acks", 0, 6, 1, "segments per ACK, eight streams"),
        ("dctcp-alike", 0.5, 1, 0.1, "larger share, two of the kernel's DCTCP"),
    )
    for number, (name, low, high, step, title) in enumerate(panels):
        left = LEFT + number * (PANEL + GAP)
        parts += panel(rows, options, name, (left, low, high, step), title)
    return "\n".join([*parts, "</svg>"]) + "\n"


def panel(rows, options, name, axis, title):
    left, low, high, step = axis
    bottom = 28 + ROW * len(options)
    yield f'<text x="{left + PANEL / 2}" y="16" text-anchor="middle">{escape(title)}</text>'
    for tick in range(round((high - low) / step) + 1):
        x = left + PANEL * tick * step / (high - low)
        yield f'<path d="M{x:.1f} 28V{bottom}" stroke="#dddddd"/>'
        yield (
            f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle" fill="{GREY}">'
            f"{low + tick * step:g}</text>"
        )
    for index, option in enumerate(options):
        for value in values(rows, name, option):
            x = left + PANEL * (value - low) / (high - low)
            y = 28 + ROW * (index + 0.5)
            yield f'<circle cx="{x:.1f}" cy="{y}" r="5" fill="{COLOUR}" fill-opacity="0.5"/>'


if __name__ == "__main__":
    write(defaults.stored())
