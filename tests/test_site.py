"""The project's site: built once, read as files, and seen in a real browser."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import time
import tomllib
import zlib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from netlab import NetlabError
from tests.browser.pages import browser

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "docs/site/build.py"
SEEN = (
    *("index.html", "notebooks/02-parallel-streams.html", "notebooks/explorers.html"),
    *("reference/netlab.models.html", "docs/course.html", "search.html"),
)
ADDRESSES = {"href", "src", "srcset", "poster", "data", "action", "ping", "background"}
LIVE = "return document.querySelectorAll('figure.live .js-plotly-plot .main-svg').length"
# Texts whose contrast with what is behind them is too low: WCAG 2.2, 1.4.3
FAINT = """
const numbers = colour => (colour.match(/[\\d.]+/g) || []).map(Number);
const over = ([r, g, b, a = 1], below) => [r, g, b].map((one, n) => a * one + (1 - a) * below[n]);
const behind = one => {
  const layers = [];
  for (; one; one = one.parentElement) {
    const colour = numbers(getComputedStyle(one).backgroundColor);
    layers.push(colour);
    if ((colour[3] ?? 1) == 1) break;
  }
  return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
};
const light = colour => {
  const [r, g, b] = colour.map(one => one / 255)
    .map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const text = walk.currentNode.data.trim(), one = walk.currentNode.parentElement;
  if (!text || !one.checkVisibility({visibilityProperty: true}) || one.closest('svg')) continue;
  const style = getComputedStyle(one), size = parseFloat(style.fontSize);
  const back = behind(one), pair = [back, over(numbers(style.color), back)].map(light).sort();
  const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
  const large = size >= 24 || (size >= 18.6 && style.fontWeight >= 700);
  if (ratio < (large ? 3 : 4.5)) found.push(`${ratio.toFixed(2)}: ${text.slice(0, 40)}`);
}
return found;
"""

# What is beyond the right edge and cannot be scrolled to
WIDE = """
const scrolls = one => one && (/auto|scroll/.test(getComputedStyle(one).overflowX)
  || scrolls(one.parentElement != document.body && one.parentElement));
return [...document.querySelectorAll('article *')].filter(one => one.checkVisibility()
  && one.getBoundingClientRect().right > innerWidth + 1 && !scrolls(one)
).map(one => one.outerHTML.slice(0, 80)).concat(document.documentElement.scrollWidth == innerWidth
  ? [] : ['the page']);
"""


class Page(HTMLParser):
    """The addresses and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name"):
                self.anchors.add(value)
            elif name in ADDRESSES:
                self.links.append((tag, name, value))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "site"
    environment = os.environ | {"GITHUB_REPOSITORY": "ada/netlab"}
    done = subprocess.run(
        [sys.executable, BUILD, folder], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


@pytest.fixture(scope="module")
def chrome(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("chrome")) as chrome:
        yield chrome


def seen(chrome, address, width=1400, dark=False, scripts=True):
    """Open a page in a window of this width."""
    look = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [look]})
    size = dict(width=width, height=850, deviceScaleFactor=1, mobile=width < 500)
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    chrome.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})
    chrome.get(address)


def until(chrome, script, *arguments, seconds=60):
    """What a script gives, as soon as it is true."""
    end = time.monotonic() + seconds
    while not (found := chrome.execute_script(script, *arguments)):
        assert time.monotonic() < end, script
        time.sleep(0.05)
    return found


def scroll_through(chrome):
    """Bring each figure near the window, and wait until all are live; -> how many there are."""
    count = chrome.execute_script("return document.querySelectorAll('figure.live').length")
    for number in range(count):
        chrome.execute_script(
            "document.querySelectorAll('figure.live')[arguments[0]].scrollIntoView()", number
        )
        until(chrome, f"{LIVE.removesuffix('length')}length > arguments[0]", number)
    return count


def test_each_link_leads_to_a_page_and_an_anchor_that_there_are(site, pages):
    broken = []
    for path, page in pages.items():
        for tag, _, link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = path.parent / unquote(parts.path) if parts.path else path
            target = Path(os.path.normpath(target))
            anchors = pages[target].anchors if target in pages else {"", parts.fragment}
            inside = target.is_relative_to(site) and target.is_file()
            if not inside or unquote(parts.fragment) not in anchors:
                broken.append(f"{path.relative_to(site)}: <{tag}> {link}")
    assert broken == []
    assert len(pages) > 30 and sum(len(page.links) for page in pages.values()) > 2000


def test_only_what_is_clicked_leads_elsewhere(site, pages):
    links = [link for page in pages.values() for link in page.links]
    outside = {
        (tag, name) for tag, name, link in links if urlsplit(link).scheme not in ("", "data")
    }
    assert outside == {("a", "href")}
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:@import|url\()[\s\"']*(?:https?:)?//", styles) == []


def test_each_public_name_is_in_the_reference(site):
    """In Sphinx's inventory, by which other projects link to it."""
    _, _, listed = (site / "objects.inv").read_bytes().partition(b"zlib.\n")
    names = {line.split()[0] for line in zlib.decompress(listed).decode().splitlines()}
    missing = []
    for module in re.findall(r'"(netlab[.\w]*)"', BUILD.read_text(encoding="utf-8")):
        for name in importlib.import_module(module).__all__:
            if not {f"{module}.{name}", f"netlab.{name}"} & names:
                missing.append(f"{module}.{name}")
    assert missing == []


def test_each_function_and_class_of_the_reference_has_an_example():
    lacking = []
    for module in re.findall(r'"(netlab[.\w]*)"', BUILD.read_text(encoding="utf-8")):
        found = importlib.import_module(module)
        for name in found.__all__:
            value = getattr(found, name)
            of_base = NetlabError in getattr(value, "__mro__", ())[1:]  # whose example is enough
            if callable(value) and not of_base and ">>>" not in (value.__doc__ or ""):
                lacking.append(f"{module}.{name}")
    assert lacking == []


def test_each_name_has_its_sentence_and_a_signature_without_riddles(site):
    riddles = "=&lt;|object at|<mi>&</mi>|Convert a string or number"
    for path in (site / "reference").glob("*.html"):
        _, _, table = (page := path.read_text(encoding="utf-8")).partition('<table class="names')
        rows = re.findall(r"<tr.*?</tr>", table.partition("</table>")[0], re.S)
        said = [re.sub("<[^>]*>", "", row.partition("</td>")[2]).strip() for row in rows]
        assert rows and min(map(len, said)) > 10, path
        assert not re.search(riddles, page), path
    first = (site / "reference/netlab.html").read_text(encoding="utf-8")
    assert "what the guide calls" in first


def test_each_page_says_the_version_and_where_the_repository_is(pages):
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    for path, page in pages.items():
        assert f"netlab {version}" in path.read_text(encoding="utf-8"), path
        assert ("a", "href", "https://github.com/ada/netlab") in page.links, path


def test_where_the_address_is_not_known_the_first_page_says_so(monkeypatch):
    monkeypatch.syspath_prepend(BUILD.parent)
    spec = importlib.util.spec_from_file_location("site_build", BUILD)
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)
    text = (BUILD.parent / "index.md").read_text(encoding="utf-8")
    monkeypatch.setattr(builder, "REPOSITORY", None)
    unknown = builder.addressed(text)
    assert "does not know its repository's address" in unknown
    assert "mybinder" not in unknown and "(ADDRESS" not in unknown
    monkeypatch.setattr(builder, "REPOSITORY", "ada/netlab")
    known = builder.addressed(text)
    assert "does not know" not in known and "ADDRESS" not in known and "known -->" not in known


def test_each_notebook_is_a_page_with_three_ways_in(pages, site):
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        links = [link for _, _, link in pages[site / f"notebooks/{path.stem}.html"].links]
        binder = "https://mybinder.org/v2/gh/ada/netlab/HEAD?urlpath=lab/tree/notebooks/"
        assert links.count(binder + path.name) == 1
        assert "../docs/guide.html#an-engine-on-another-machine" in links
        assert "<code" in (text := (site / f"notebooks/{path.stem}.html").read_text())
        assert "make lab" in re.sub("<[^>]*>", "", text)


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").touch()
    done = subprocess.run([sys.executable, BUILD, tmp_path], capture_output=True, text=True)
    assert done.returncode == 2 and "not a site" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_figures_come_to_life_and_no_page_asks_for_anything_outside(chrome, site):
    for name in SEEN:
        seen(chrome, (site / name).as_uri())
        live = scroll_through(chrome)
        assert bool(live) == (name in SEEN[:3])
    log = [json.loads(entry["message"])["message"] for entry in chrome.get_log("performance")]
    asked = [
        one["params"]["request"]["url"]
        for one in log
        if one["method"] == "Network.requestWillBeSent"
    ]
    assert len(asked) > 20
    own = site.as_uri(), "data:", "blob:", "chrome:"  # the last: the browser's own first page
    assert [url for url in asked if not url.startswith(own)] == []
    errors = [entry for entry in chrome.get_log("browser") if entry["level"] == "SEVERE"]
    assert errors == []


def test_a_figure_takes_the_colours_of_its_page(chrome, site):
    seen(chrome, (site / "index.html").as_uri())
    scroll_through(chrome)
    ink = "return document.querySelector('.js-plotly-plot')._fullLayout.font.color"
    assert chrome.execute_script(ink) == "#222222"
    chrome.execute_script("document.body.dataset.theme = 'dark'")
    until(chrome, f"{ink} == '#E6E6E6'")
    black = "return figures[0].parts().data[0].line.color"  # as a trace may be
    chrome.execute_script('figures[0].text = \'{"data": [{"line": {"color": "black"}}]}\'')
    assert chrome.execute_script(black) == "#E6E6E6"


def test_words_are_found(chrome, site):
    results = "return [...document.querySelectorAll('#search-results a')].map(String)"
    seen(chrome, (site / "search.html").as_uri() + "?q=nl.run")
    assert "reference/netlab.html#" in until(chrome, results)[0]
    seen(chrome, (site / "search.html").as_uri() + "?q=mathis_bps")
    found = until(chrome, results)
    assert any(link.endswith("netlab.models.html#netlab.models.mathis_bps") for link in found)
    assert [one for one in chrome.get_log("browser") if one["level"] == "SEVERE"] == []


def test_without_scripts_the_pictures_are_there(chrome, site):
    seen(chrome, (site / SEEN[1]).as_uri(), scripts=False)
    until(chrome, "const [one] = document.images; one.scrollIntoView(); return one.naturalWidth")
    assert chrome.execute_script(LIVE) == 0
    pictures = chrome.execute_script("return [...document.images].map(one => one.alt)")
    assert len(pictures) == 5 and all(pictures)


@pytest.mark.parametrize("dark", [False, True])
def test_texts_have_contrast_in_light_and_in_dark(chrome, site, dark):
    for name in SEEN:
        seen(chrome, (site / name).as_uri(), dark=dark)
        assert chrome.execute_script(FAINT) == [], name
    seen(chrome, (site / SEEN[0]).as_uri(), dark=dark)
    chrome.execute_script("document.querySelector('h1').style = 'color: #777; background: #888'")
    assert len(chrome.execute_script(FAINT)) == 1, "it sees what cannot be read"


def test_no_page_is_wider_than_a_phone(chrome, site, pages):
    for path in pages:
        seen(chrome, path.as_uri(), width=390)
        if path.name in ("index.html", "explorers.html"):
            scroll_through(chrome)
        assert chrome.execute_script(WIDE) == [], path


def test_sliders_of_a_page_are_moved_by_keys(chrome, site):
    seen(chrome, (site / "notebooks/explorers.html").as_uri())
    scroll_through(chrome)
    said = "return document.querySelector('figure.live output').textContent"
    assert chrome.execute_script(said).startswith("1 stream gets 22.3 Mbit/s: the loss is")
    slider = chrome.find_element("css selector", "figure.live input")
    assert slider.accessible_name.startswith("streams K")
    slider.send_keys("\ue014")  # the right arrow
    assert chrome.execute_script(said).startswith("2 streams get 44.7 Mbit/s")
    drawn = (
        "const [one] = document.querySelectorAll('.js-plotly-plot');"
        "return one.data.find(trace => trace.name == 'sliders').y[0]"
    )
    assert chrome.execute_script(drawn) == pytest.approx(44.7, rel=0.01)
