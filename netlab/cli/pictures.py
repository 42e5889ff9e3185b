"""A static picture beside each figure that is stored in a notebook, for where no plotly runs: on
GitHub, in a page or a PDF, with a screen reader.
"""

import base64
import contextlib
import hashlib
import html
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd

from netlab.cli.notebook_file import read, write
from netlab.errors import NetlabError, needs_notebooks
from netlab.plots._words import short_number

FIGURE, PICTURE = "application/vnd.plotly.v1+json", "image/png"
# 800 pixels, which JupyterLab's column has on a small screen: it shows stored pictures as they are
WIDTH_PX, SCALE = 640, 1.25
# In the page that draws: a figure, which may be a stranger's, asks the network for nothing
POLICY = (
    "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; script-src file:"
    " 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:\">"
)
# plotly's; not a < b
TAG = re.compile(r"</?(?:a|b|br|em|i|s|span|strong|sub|sup|u)(?:\s[^<>]*|/)?>")


def renew(notebooks):
    """Draw the picture of each stored figure that has none, or that of another figure; renew its
    words.

    Yields per notebook its path, how many figures it stores, and how many pictures are new.
    """
    for path in map(Path, notebooks):
        notebook, before = (read(path) for _ in range(2))
        new = complete(notebook)
        if notebook != before:
            if read(path) != before:
                raise NetlabError(
                    f"{path} was changed while its pictures were drawn: none is stored in it; draw"
                    " them again"
                )
            write(notebook, path)
        yield path, len(figures(notebook)), new


def complete(notebook):
    """Draw what is missing in a notebook, and describe all; -> the number of new pictures."""
    missing = [output for output in figures(notebook) if not has_picture(output)]
    pictures = drawn([output.data[FIGURE] for output in missing]) if missing else []
    for output, picture in zip(missing, pictures, strict=True):
        put(output, picture)
    for output in figures(notebook):  # an old picture may have an old description
        output.metadata[PICTURE]["alt"] = description(output.data[FIGURE])
    return len(missing)


def figures(notebook):
    """The outputs of a notebook that are figures."""
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", ()))
    stored = (output for output in outputs if FIGURE in output.get("data", ()))
    return [output for output in stored if isinstance(output.data[FIGURE], dict)]


def carry_over(old, new):
    """Give the figures of one notebook the pictures that another has of the same figures."""
    known = {digest(o.data[FIGURE]): o.data[PICTURE] for o in figures(old) if has_picture(o)}
    for output in figures(new):
        if picture := known.get(digest(output.data[FIGURE])):
            put(output, base64.b64decode(picture))


def digest(figure):
    """Digest of a figure and of the size of its picture."""
    text = json.dumps([WIDTH_PX, SCALE, figure], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def has_picture(output):
    """Whether an output has a picture that was drawn from its figure."""
    drawn_from = output.metadata.get("netlab", {}).get("picture_of")
    return PICTURE in output.data and drawn_from == digest(output.data[FIGURE])


def put(output, picture):
    """Put a picture, and a text for those who cannot see it, beside the figure of an output."""
    figure = output.data[FIGURE]
    output.data[PICTURE] = base64.b64encode(picture).decode()
    output.metadata[PICTURE] = {"alt": description(figure), "width": round(WIDTH_PX * SCALE)}
    output.metadata["netlab"] = {"picture_of": digest(figure)}


def spread(trace, axis):
    """From where to where the values of a trace on an axis go, in words."""
    with contextlib.suppress(KeyError, TypeError, ValueError):  # whatever a stranger stores
        values = trace.get(axis)
        if isinstance(values, dict):  # as plotly stores arrays
            values = np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])
        numbers = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce").dropna()
        if len(numbers):
            ends = dict.fromkeys(map(short_number, (numbers.min(), numbers.max())))
            return f" ({' to '.join(ends)})"
    return ""


def description(figure):
    """A figure in words: its title or its axes, what is drawn, and how far each of it goes."""
    layout = figure.get("layout") or {}

    def text(title):  # as plotly stores it, or in the short form: the text alone
        title = title if isinstance(title, dict) else {"text": title}
        parts = [title.get("text"), (title.get("subtitle") or {}).get("text")]
        plain = (html.unescape(TAG.sub(" ", str(part))) for part in parts if part not in (None, ""))
        return [part.strip() for part in plain]

    scenes = [layout[name] or {} for name in layout if re.fullmatch("scene[0-9]*", name)]  # in 3D

    def axes(letters):
        for letter in letters:
            for place in (layout, *scenes):
                names = [name for name in place if re.fullmatch(f"{letter}axis[0-9]*", name)]
                for name in sorted(names, key=lambda name: int(name[len("xaxis") :] or 1)):
                    yield from text((place[name] or {}).get("title"))

    shown = [trace for trace in figure.get("data") or () if trace.get("showlegend") is not False]
    measured = None if scenes else "y" if any(axes("y")) else "x"
    told = {
        "Across": axes("xy" if scenes else "x"),
        "Upward": axes("z" if scenes else "y"),
        "Drawn": (
            name + spread(trace, measured) for trace in shown for name in text(trace.get("name"))
        ),
    }
    parts = text(layout.get("title")) or ["Figure"]
    for words, names in told.items():
        if names := ", ".join(dict.fromkeys(names)):  # each once, in their order
            parts.append(f"{words}: {names}")
    return ". ".join(parts) + "."


def drawn(figures):
    """Draw figures, as PNG, in a headless browser."""
    with needs_notebooks("store", "what draws the pictures of stored figures"):
        import asyncio

        import kaleido
        from choreographer.errors import BrowserFailedError, ChromeNotFoundError
        from kaleido.errors import KaleidoError

    async def draw():
        page = kaleido.PageGenerator(mathjax=False)  # which it would fetch from the network
        page.header = page.header.replace("<head>", f"<head>{POLICY}")
        size = {"format": "png", "width": WIDTH_PX, "scale": SCALE}
        async with kaleido.Kaleido(n=1, timeout=300, page_generator=page) as browser:
            parts = (
                {"data": figure.get("data") or [], "layout": figure.get("layout") or {}}
                for figure in figures
            )
            return [await browser.calc_fig(part, opts=size) for part in parts]

    try:
        return asyncio.run(draw())
    except KaleidoError as error:
        said = " ".join(str(error).split())
        raise NetlabError(f"a figure cannot be drawn without the network ({said})") from error
    except (BrowserFailedError, ChromeNotFoundError, TimeoutError) as error:
        raise NetlabError(
            "the pictures of stored figures need a browser, Chromium or Chrome, and none works"
            " here: install one (`apt-get install chromium`), then `netlab pictures` draws what is"
            f" missing. What kaleido says: {' '.join(str(error).split())}"
        ) from error
