"""A stranger's notebook as a page, in a real browser: it runs nothing, and fetches nothing."""

import http.server
import re
import threading
import time
import warnings
from pathlib import Path

import nbformat
import pytest

from netlab.cli import pages as module
from netlab.cli.pages import pages
from tests.browser.pages import browser

PAYLOADS = (Path(__file__).with_name("payloads.txt")).read_text().splitlines()
# Clicks on what pings, and gives the kinds of all addresses
LINKS = """
document.querySelectorAll('a[ping]').forEach(one => one.click());
return [...document.querySelectorAll('*')].filter(one => [...one.attributes].some(
    other => other.localName == 'href')).map(one => one.protocol || one.tagName)
"""
TOGETHER = 8  # payloads in a notebook
RUN = "(top.ran=top.ran||[]).push({})"
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)


@pytest.fixture(scope="module")
def listener():
    """-> an address, and the paths that were asked for there."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        do_POST = do_HEAD = do_OPTIONS = do_GET

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


@pytest.fixture(scope="module")
def chrome(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("chrome")) as chrome:
        yield chrome


def cells(number, payload):
    """A payload in every place that a cell has for it."""
    new = nbformat.v4
    kinds = ("text/html", "text/markdown", "text/latex", "image/svg+xml", "text/plain")
    outputs = [new.new_output("display_data", {kind: payload}) for kind in kinds]
    for data in (
        {"application/javascript": RUN.format(number)},
        {"application/vnd.jupyter.widget-view+json": {"model_id": payload}},
        {"image/jpeg": f'"/>{payload}'},
        {"image/png": PICTURE},
    ):
        alt = {"image/png": {"alt": f'">{payload}'}}
        outputs.append(new.new_output("display_data", data, metadata=alt))
    outputs.append(new.new_output("stream", text=payload))
    outputs.append(new.new_output("error", ename=payload, evalue=payload, traceback=[payload]))
    attached = new.new_markdown_cell(f"{payload}\n\n![a](attachment:a.svg)")
    attached.attachments = {"a.svg": {"image/svg+xml": f'"/>{payload}'}}
    tags = {"tags": [f'">{payload}'.replace(",", ";")]}
    raw = new.new_raw_cell(payload, metadata={"raw_mimetype": "text/html"})
    return [attached, new.new_code_cell(payload, outputs=outputs, metadata=tags), raw]


def notebook(payloads):
    """Number -> payload: as a notebook."""
    text = "".join(payloads.values())
    state = {"application/vnd.jupyter.widget-state+json": {"state": {text: {}}}}
    language = {"name": text, "pygments_lexer": text}
    metadata = {"title": f"</title>{text}", "language_info": language, "widgets": state}
    every = [cell for number, payload in payloads.items() for cell in cells(number, payload)]
    return nbformat.v4.new_notebook(cells=every, metadata=metadata)


# Which of the two walls stand: the sanitizer, the policy
WALLS = {
    "both": (True, True),
    "the sanitizer": (True, False),
    "the policy": (False, True),
    "neither": (False, False),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory, listener):
    """-> pages of some payloads each, before they are made harmless."""
    folder = tmp_path_factory.mktemp("pages")
    texts = [
        payload.replace("@URL@", f"{listener[0]}/{number}").replace("@RUN@", RUN.format(number))
        for number, payload in enumerate(PAYLOADS)
    ]
    paths = []
    for first in range(0, len(texts), TOGETHER):
        some = dict(enumerate(texts[first : first + TOGETHER], first))
        paths.append(folder / f"{first}<b onclick={RUN.format(first)}>.ipynb")
        nbformat.write(notebook(some), paths[-1])
    with pytest.MonkeyPatch.context() as patched, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nbconvert's, about odd languages
        patched.setattr(module, "harmless", lambda page, warn: page)
        *written, _ = pages(paths, folder, print)  # the last is their index
        return [path.read_text() for path in written]


@pytest.fixture(scope="module")
def seen(tmp_path_factory, chrome, listener, written):
    """Walls -> the numbers of the payloads that ran, those that sent a request, and all links."""
    file, asked, found = tmp_path_factory.mktemp("page") / "a.html", listener[1], {}
    for walls, (sanitizer, policy) in WALLS.items():
        ran, links = set(), set()
        asked.clear()
        for text in written:
            if sanitizer:
                text = module.harmless(text, lambda _: None)
            else:  # which a policy in a page cannot forbid
                text = text.replace('http-equiv="refresh"', "")
            if not policy:
                text, count = re.subn('<meta [^>]*"Content-Security-Policy"/>', "", text)
                assert count == 1
            file.write_text(text)
            chrome.get(file.as_uri())
            links |= set(chrome.execute_script(LINKS))
            ran |= set(chrome.execute_script("return top.ran || []"))
        time.sleep(0.5)
        found[walls] = ran, {path.strip("/") for path in asked}, links
    return found


def test_a_page_runs_nothing_asks_for_nothing_and_links_only_to_pages(seen):
    ran, asked, links = seen["both"]
    assert not ran and not asked
    assert {"http:", "file:"} <= links <= {"http:", "https:", "mailto:", "file:"}


def test_each_wall_alone_keeps_everything_from_running(seen):
    assert not seen["the sanitizer"][0] and not seen["the policy"][0]


def test_without_walls_the_payloads_do_harm(seen):
    ran, asked, _ = seen["neither"]
    assert len(ran) > 40 and len(asked) > 15


def test_what_is_folded_opens_by_a_click_and_on_paper(chrome, tmp_path):
    """Its markdown is markdown, as on GitHub."""
    text = "<details><summary>Read on</summary>\n\nA *quarter*\n\n- $x^2$\n\n</details>\n\n## Next"
    path = tmp_path / "a.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)]), path)
    (page,) = pages([path], tmp_path / "out", pytest.fail)
    chrome.get(page.as_uri())

    def seen():
        at = (
            "return [...document.querySelectorAll('em, li math, h2')].map(e => e.checkVisibility())"
        )
        return chrome.execute_script(at)

    def media(name):
        chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": name})

    assert seen() == [False, False, True]
    media("print")
    assert seen() == [True, True, True]
    media("")
    chrome.find_element("css selector", "details:has(em) summary").click()
    assert seen() == [True, True, True]
