"""A real Jupyter server, a real browser, and a page with the explorers on it."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import nbformat
from selenium import webdriver
from selenium.common import StaleElementReferenceException, TimeoutException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "notebooks/explorers.ipynb"
PICTURES = ROOT / "out/explorers"
FLAGS = [
    *("headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run"),
    *("disable-background-networking", "disable-component-update", "disable-sync"),
]
JUPYTER = ["--ServerApp.ip=127.0.0.1", "--IdentityProvider.token=", "--allow-root"]
SERVERS = {
    "lab": (["jupyterlab", *JUPYTER], f"/lab/tree/{NOTEBOOK.name}"),
    "notebook": (["notebook", *JUPYTER], f"/notebooks/{NOTEBOOK.name}"),
    "voila": (["voila", NOTEBOOK.name, "--Voila.ip=127.0.0.1"], "/"),
}
# Extensions that fail where they do not belong: nbgrader's and Notebook's in Voila; and
# JupyterLab's question about its news
DENIED = ["@jupyter/nbgrader", "@jupyter-notebook/lab-extension"]
VOILA = {"VoilaConfiguration": {"extension_denylist": DENIED}}
LAB = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}


@contextlib.contextmanager
def server(kind, folder, notebook=None, theme="JupyterLab Light"):
    """Start a server on a free port, with settings of its own; -> the address of a notebook, which
    is that of the explorers, unless another is given.
    """
    (folder / "config/labconfig").mkdir(parents=True)
    (folder / "config/labconfig/page_config.json").write_text(json.dumps(LAB))
    (folder / "config/voila.json").write_text(json.dumps(VOILA))
    (folder / "work").mkdir()
    look = folder / "config/lab/user-settings/@jupyterlab/apputils-extension"
    look.mkdir(parents=True)
    (look / "themes.jupyterlab-settings").write_text(json.dumps({"theme": theme}))
    notebook = notebook or nbformat.read(NOTEBOOK, as_version=4)
    for cell in notebook.cells:  # as if nobody had run it yet
        if cell.cell_type == "code":
            cell.execution_count, cell.outputs = None, []
    nbformat.write(notebook, folder / "work" / NOTEBOOK.name)
    kinds = ("config", "runtime", "data")
    own = {f"JUPYTER_{name.upper()}_DIR": str(folder / name) for name in kinds}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    module, path = SERVERS[kind]
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", *module, "--no-browser", f"--port={port}"],
            cwd=folder / "work",
            env=os.environ | own | {"IPYTHONDIR": str(folder / "ipython")},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if process.poll() is not None or time.monotonic() > deadline:
                said = (folder / "server.log").read_text()[-3000:]
                raise RuntimeError(f"{kind} does not serve:\n{said}")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}{path}"
    finally:
        # it ends its kernels; should it not come to that, they miss it and end
        for how in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(process.pid, how)
                process.wait(5)


@contextlib.contextmanager
def browser(folder, width=1400, height=900):
    """Headless Chromium with a profile of its own."""
    programs = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    if missing := [name for name, path in programs.items() if not path]:
        raise RuntimeError(
            f"these tests drive a real browser, and there is no {' and no '.join(missing)} here:"
            " `binder/setup tests/apt.txt` installs both, as `make test` does (Debian's packages"
            " are chromium and chromium-driver)"
        )
    options = webdriver.ChromeOptions()
    options.binary_location = programs["chromium"]
    for flag in [*FLAGS, f"window-size={width},{height}", f"user-data-dir={folder / 'profile'}"]:
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options, webdriver.ChromeService(programs["chromedriver"]))
    try:
        yield chrome
    finally:
        chrome.quit()


class Notebook:
    """A notebook, open, and run from top to bottom."""

    def __init__(self, chrome, kind, address, wait_s=120):
        self.chrome, self.kind = chrome, kind
        chrome.get(address)
        if kind != "voila":
            self.until(self._is_idle, wait_s)
            self.until(self._run_all, wait_s)

    def _is_idle(self):
        # the server may answer with an error while it starts, which is no list of kernels
        kernels = "return fetch('/api/kernels').then(answer => answer.ok ? answer.json() : [])"
        found = self.script(kernels) or []
        return any(one["connections"] and one["execution_state"] == "idle" for one in found)

    def _run_all(self):
        """Choose Run All Cells, which a page that is not quite there yet may ignore; -> whether it
        has been heeded.
        """
        self.until(lambda: [one for one in self.all(".lm-MenuBar-item") if one.text == "Run"])[
            0
        ].click()
        self.until(lambda: self.all("[data-command='runmenu:run-all']"))[0].click()
        with contextlib.suppress(TimeoutException):
            return self.until(
                lambda: any(re.search(r"\d|\*", one.text) for one in self.all(".jp-InputPrompt")), 3
            )

    def until(self, found, seconds=30):
        """What `found` gives, as soon as it is true."""
        drawn_anew = [StaleElementReferenceException]
        return WebDriverWait(self.chrome, seconds, 0.05, drawn_anew).until(lambda _: found())

    def script(self, text, *arguments):
        return self.chrome.execute_script(text, *arguments)

    def all(self, selector, within=None):
        return (within or self.chrome).find_elements(By.CSS_SELECTOR, selector)

    def errors(self):
        """What the console shows in red."""
        told = self.chrome.get_log("browser")
        return [entry["message"] for entry in told if entry["level"] == "SEVERE"]


class Page(Notebook):
    """The notebook of explorers, open, and run from top to bottom."""

    def __init__(self, chrome, kind, address, wait_s=120):
        super().__init__(chrome, kind, address, wait_s)
        drawn = (
            "return [...document.querySelectorAll('.js-plotly-plot')].filter(one => one._fullLayout"
            " && one.data.length)"
        )
        self.figures = self.until(lambda: len(found := self.script(drawn)) == 4 and found, wait_s)
        box = "return arguments[0].closest('.widget-hbox')"
        self.explorers = [self.script(box, figure) for figure in self.figures]

    def traces(self, number):
        """What is drawn in a figure: name -> list of (x, y)."""
        text = (
            "return arguments[0].data.map(one => [one.name, Array.from(one.x || []),"
            " Array.from(one.y || [])])"
        )
        found = self.script(text, self.figures[number])
        return {name: list(zip(x, y, strict=True)) for name, x, y in found}

    def handle(self, number, slider):
        """The handle of an explorer's slider, by its name."""
        for box in self.all(".widget-inline-hbox", self.explorers[number]):
            if any(label.text == slider for label in self.all("label", box)):
                return self.all(".noUi-handle", box)[0]
        raise LookupError(slider)

    def press(self, number, slider, *keys):
        """Move a slider with the keyboard."""
        handle = self.handle(number, slider)

        def in_focus():  # a page that has just been drawn may still scroll, so that a click misses
            self.script(
                "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", handle
            )
            ActionChains(self.chrome).move_to_element(handle).click().perform()
            return self.script("return document.activeElement == arguments[0]", handle)

        self.until(in_focus)
        ActionChains(self.chrome).send_keys(*keys).perform()

    def button(self, number, text, seconds=30):
        """An explorer's button, as soon as this is written on it."""

        def found():
            buttons = self.all("button", self.explorers[number])
            return next((one for one in buttons if one.text.strip() == text), None)

        return self.until(found, seconds)

    def picture(self, name, number):
        """A screenshot with an explorer in the middle, as out/explorers/NAME.png."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.script("arguments[0].scrollIntoView({block: 'center'})", self.explorers[number])
        self.chrome.save_screenshot(str(PICTURES / f"{name}.png"))
