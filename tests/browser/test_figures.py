"""Figures in a real browser, on pages as wide as JupyterLab leaves them: beside the file list, and
magnified.
"""

from itertools import product

import pandas as pd
import plotly.io
import pytest

import netlab as nl
from tests.browser import pages

CUT = """
const texts = '.legendtext, .xtick text, .ytick text, .xtitle, .ytitle, .gtitle, .annotation-text,'
    + '.gtitle-subtitle, .cbtitle text, .cbaxis text, .x2title, .y2title, .x2tick text';
return [...document.querySelectorAll('.js-plotly-plot')].flatMap(figure => {
    const page = figure.getBoundingClientRect(), size = figure._fullLayout._size;
    const boxes = [...figure.querySelectorAll(texts)].filter(one => one.textContent.trim())
        .map(one => [one.textContent, one.getBoundingClientRect()]);
    const cut = boxes.filter(([_, box]) => box.left < page.left - 1 || box.right > page.right + 1
        || box.top < page.top - 1 || box.bottom > page.bottom + 1).map(([text]) => text + ': cut');
    const over = boxes.flatMap(([one, a], n) => boxes.slice(n + 1).filter(([_, b]) =>
        Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 &&
        Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3
    ).map(([other]) => one + ' / ' + other));
    const small = size.w < 0.38 * page.width || size.h < 0.35 * page.height ? ['a stripe'] : [];
    return [...cut, ...over, ...small];
})
"""


@pytest.fixture(scope="module")
def figures():
    """Every kind of figure, with much to show."""
    path = nl.wan("10gbit", "20ms", pairs=2)
    duel = [nl.Iperf3(*ends, parallel=8, time=2) for ends in (("h1", "h2"), ("h3", "h4"))]
    two, one = nl.run(path, *duel), nl.run(path, duel[0])
    names = ["reno", "cubic", "htcp", "illinois", "vegas", "bbr"]
    rivals = [
        (own, other, queue, (k + 1) / (k + n + 2), 1)
        for (k, own), (n, other), queue in product(enumerate(names), enumerate(names), (0.5, 4))
    ]
    matrix = pd.DataFrame(rivals, columns=["own", "other", "queue", "share", "seed"])
    units = dict(unit=["bit/s", "bit/s", "s"], predicted=[4.5e9, 9.6e9, 0.02])
    told = dict(quantity=["one stream, of which the name is long", "8 streams", "RTT"], **units)
    table = pd.DataFrame(dict(told, measured=[4.7e9, 9.4e9, 0.02], published=[3.2e9, 9.5e9, None]))
    grid = product((1e-4, 1e-3, 1e-2), (1, 4, 8), (1, 2))
    loss = pd.DataFrame(grid, columns=["loss_rate", "streams", "seed"])
    bps = loss.streams * (1 + loss.seed / 9) * 7e5 / loss.loss_rate**0.5
    loss = loss.assign(received_bps=bps, mss_bytes=1448, base_rtt_s=0.02, bottleneck_bps=1e9)
    loss["congestion"] = "reno"
    models = [nl.models.mathis, nl.models.mathis_labs, nl.models.padhye]
    return [
        nl.plots.throughput(one),
        nl.plots.throughput(two),
        nl.plots.streams(two),
        nl.plots.comparison(table),
        nl.plots.matrix(matrix, "own", "other", facet="queue", labels={"queue": "queue [BDP]"}),
        nl.plots.matrix(matrix, "own", "queue"),
        nl.plots.distribution(matrix, "other", "share", marks={"reno": 0.5}),
        nl.plots.distribution(matrix.assign(own=matrix.own + " alone"), "own", "share"),
        nl.plots.prediction(loss, models),
    ]


def test_nothing_is_cut_or_covered_whatever_the_width(figures, tmp_path):
    script, parts = "directory", []
    for figure in figures:
        parts.append(plotly.io.to_html(figure, include_plotlyjs=script, full_html=False))
        script = False
    page = tmp_path / "figures.html"
    page.write_text(f"<!DOCTYPE html><meta charset='utf-8'><body>{''.join(parts)}")
    (tmp_path / "plotly.min.js").write_text(plotly.offline.get_plotlyjs())
    overflow = "return document.documentElement.scrollWidth - window.innerWidth"
    with pages.browser(tmp_path) as chrome:
        for width in (570, 700, 850, 1040):
            chrome.set_window_size(width, 900)
            chrome.get(f"file://{page}")
            assert not chrome.execute_script(CUT), width
            assert chrome.execute_script(overflow) <= 0, "no figure is wider than the page"
