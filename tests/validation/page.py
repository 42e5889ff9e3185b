"""The page of known answers: docs/validation.md and its figures, out of docs/validation.json."""

import json
from pathlib import Path
from statistics import median
from xml.sax.saxutils import escape

from tests.validation import TOPICS, answers, state

DOCS = Path(__file__).resolve().parents[2] / "docs"
JSON, PAGE, IMAGES = DOCS / "validation.json", DOCS / "validation.md", DOCS / "images"
COLUMNS = {"engine": "this engine", "second": "second kernel", "ns3": "ns-3"}
COLOURS = {"engine": "#0072b2", "second": "#d55e00", "ns3": "#009e73"}
HEAD = """# Known answers

<!-- Written by `make validation`, out of docs/validation.json. -->

How right is the engine? For each row, arithmetic, an RFC, a paper or a manual says what must \
come out. Where they leave it open, Linux's source says it. \
The row has that value, how near is near enough, and what ten runs with ten seeds gave: \
their median, and the lowest and the highest where these look different.

{counts}

- **This engine**: {engine}.
- **Second kernel**: {second}. The same recipe with another series of Linux: \
three seeds. What both agree on is no fault of one series.
- **ns-3**: {ns3}. One run. A simulator with its own TCP and queues, where it can \
say something; its CoDel, CUBIC and Reno are modelled on Linux's.

**Within**: all ten runs are within the margin. **Outside**: at least one is not. Bold is what is \
not within; the reason stands below the table, as far as it is known. **Open**: not measured.

A timer of Linux is never early, and late by some ticks. Where one decides, expected is the \
source's time and half of the largest lateness, and the margin is that half.

In the figures a row's dots are its runs, and the grey band is its margin; \
a dot beyond three margins stands at the edge.
"""


def stored():
    """docs/validation.json: the engines, and for each answer its columns."""
    if not JSON.exists():
        return {"engines": {}, "answers": {}}
    return json.loads(JSON.read_text(encoding="utf-8"))


def write(results):
    """The page and a figure for each topic."""
    IMAGES.mkdir(exist_ok=True)
    for topic in TOPICS:
        svg = figure(topic, results["answers"])
        (IMAGES / f"validation-{topic}.svg").write_text(svg, encoding="utf-8")
    PAGE.write_text(page(results), encoding="utf-8")


def page(results):
    rows = results["answers"]
    states = [state(one, rows.get(name, {}).get("engine")) for name, one in answers().items()]
    counts = (
        f"**{len(states)} answers: {states.count('within')} within their margin,"
        f" {states.count('outside')} outside, {states.count('open')} open.**"
    )
    engines = {
        column: f"Linux {about['kernel']}, digest `{about['digest']}`"
        for column, about in results["engines"].items()
        if column != "ns3"
    }
    parts = [
        HEAD.format(
            counts=counts,
            engine=engines.get("engine", "not measured"),
            second=engines.get("second", "not measured"),
            ns3=results["engines"].get("ns3", "not measured").removeprefix("ns-3 "),
        )
    ]
    for topic, (title, text) in TOPICS.items():
        parts += [f"## {title}\n", f"{text}\n", *table(topic, rows)]
    return "\n".join(parts)


def table(topic, rows):
    ours = [one for one in answers().values() if one.topic == topic]
    yield "| answer | who says so | expected | this engine | second kernel | ns-3 | |"
    yield "|---|---|---|---|---|---|---|"
    for one in ours:
        row = rows.get(one.name, {})
        name = one.name.split("/")[1]
        expected = f"{one.expected:.6g} ± {one.margin:.3g} {one.unit}".strip()
        cells = [shown(one, row.get(column)) for column in COLUMNS]
        told = state(one, row.get("engine"))
        cells = [f"`{name}`: {one.about}", one.source, expected, *cells, told]
        yield f"| {' | '.join(cells)} |"
    yield ""
    alt = f"{TOPICS[topic][0]}: how far each run is from what is expected"
    yield f"![{alt}](images/validation-{topic}.svg)"
    yield ""
    for one in ours:
        if one.cause:
            yield f"- `{one.name.split('/')[1]}`: {one.cause}"
    yield ""


def shown(one, values):
    """The median, and the lowest and the highest where these look different; bold if outside."""
    if not values:
        return ""
    low, mid, high = (f"{value:.4g}" for value in (min(values), median(values), max(values)))
    text = low if low == high else f"{mid} ({low} to {high})"
    return f"**{text}**" if state(one, values) == "outside" else text


WIDTH, HALF, LEFT, ROW, EDGE = 760, 240, 240, 22, 3


def figure(topic, rows):
    """One line for each answer: its runs, in margins from what is expected."""
    ours = [one for one in answers().values() if one.topic == topic]
    height = ROW * (len(ours) + 2)
    middle_x = LEFT + HALF + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<rect x="{middle_x - HALF / EDGE:.1f}" y="4" width="{2 * HALF / EDGE:.1f}"'
        f' height="{ROW * len(ours)}" fill="#dddddd"/>',
        f'<path d="M{middle_x} 4v{ROW * len(ours)}" stroke="#666666"/>',
    ]
    for index, one in enumerate(ours):
        y = ROW * index + ROW / 2 + 4
        name = escape(one.name.split("/")[1])
        parts.append(f'<text x="{LEFT}" y="{y + 4}" text-anchor="end">{name}</text>')
        for column, colour in COLOURS.items():
            for value in rows.get(one.name, {}).get(column, []):
                off = max(-EDGE, min(EDGE, (value - one.expected) / one.margin))
                x = middle_x + off * HALF / EDGE
                parts.append(
                    f'<circle cx="{x:.1f}" cy="{y}" r="4" fill="{colour}" fill-opacity="0.5"/>'
                )
    y = ROW * len(ours) + 4
    for off in range(-EDGE, EDGE + 1):
        x = middle_x + off * HALF / EDGE
        parts.append(f'<text x="{x:.1f}" y="{y + 14}" text-anchor="middle">{off}</text>')
    legend = "margins from what is expected; " + ", ".join(
        f'<tspan fill="{COLOURS[column]}">{title}</tspan>' for column, title in COLUMNS.items()
    )
    parts.append(f'<text x="{middle_x}" y="{y + 30}" text-anchor="middle">{legend}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
