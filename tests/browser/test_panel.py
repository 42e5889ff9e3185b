"""The panel of a network in a real browser: by the mouse, by the keyboard, on a small screen."""

import re

import nbformat
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.browser import pages
from tests.browser.test_explorers import NOT_OURS

CELLS = """
import netlab as nl
from netlab import explore
net = nl.Network(nl.wan('100mbit', '20ms', burst=15_000))
---
explore.panel(net)
"""
WIDER = """
const [panel] = arguments, right = panel.getBoundingClientRect().right + 1;
return [...panel.querySelectorAll('button, input, select, pre, .js-plotly-plot')].filter(one =>
    one.getBoundingClientRect().right > right).map(one => one.outerHTML.slice(0, 99))
"""


class Panel(pages.Notebook):
    """The notebook with a panel, and what a person does with it."""

    def __init__(self, *place):
        super().__init__(*place)
        self.target("host h1")
        self.panel = self.all(".netlab-explorer")[0]
        if self.kind == "lab":  # its folder would take the whole of a small screen
            self.with_key(Keys.CONTROL, "b")

    def target(self, name):
        """A node or a link of the picture."""
        found = f".netlab-picture [aria-label^='{name}']"
        (one,) = self.until(lambda: self.all(found), 120)
        return one

    def click(self, one):
        self.script("arguments[0].scrollIntoView({block: 'center'})", one)
        ActionChains(self.chrome).move_to_element(one).click().perform()

    def keys(self, *keys):
        ActionChains(self.chrome).send_keys(*keys).perform()

    def with_key(self, modifier, *keys):
        ActionChains(self.chrome).key_down(modifier).send_keys(*keys).key_up(modifier).perform()

    @property
    def here(self):
        """What the focus is on, as a screen reader names it."""
        return self.chrome.switch_to.active_element.accessible_name

    def button(self, text):
        (found,) = self.until(
            lambda: [one for one in self.all("button", self.panel) if one.text.strip() == text]
        )
        return found

    def field(self, name):
        return self.until(lambda: self.script(
            "return [...arguments[0].querySelectorAll('label')].find("
            "one => one.textContent == arguments[1])?.parentElement.querySelector('input')",
            self.panel, name,
        ))  # fmt: skip

    def line(self, host):
        """The line of a terminal, once the cursor is in it."""
        return self.until(lambda: self.here == f"Line to type on {host}" and self.here)

    def shows(self, host, text, times=1):
        """Wait until a terminal shows a text so many times."""

        def found():
            (screen,) = self.all(f"pre[aria-label='What the terminal of {host} shows']")
            return screen.text.count(text) >= times

        return self.until(found, 60)

    @property
    def clock(self):
        return float(re.search(r"at (\d+\.\d{3}) s", self.panel.text)[1])


@pytest.fixture(scope="module")
def page(front_end, tmp_path_factory):
    folder = tmp_path_factory.mktemp(front_end)
    new = nbformat.v4
    notebook = new.new_notebook(cells=[new.new_code_cell(one) for one in CELLS.split("---\n")])
    notebook.metadata.kernelspec = dict(name="python3", display_name="Python 3")
    with (
        pages.server(front_end, folder, notebook) as address,
        pages.browser(folder) as chrome,
    ):
        yield Panel(chrome, front_end, address)


def test_by_the_mouse_a_host_is_typed_on_a_link_changed_and_time_stepped(page):
    page.click(page.target("host h1"))
    page.line("h1")
    page.keys("ping -c 2 10.0.0.2", Keys.ENTER)
    page.shows("h1", "time=20.0 ms")
    page.click(page.target("link s1 to s2"))
    delay = page.field("delay")
    page.click(delay)
    page.with_key(Keys.CONTROL, "a")
    page.keys("50ms")
    page.until(lambda: "s1# tc qdisc change dev s1-eth2 root" in page.panel.text)
    page.click(page.button("Apply"))
    page.until(lambda: "100 Mbit/s · 50 ms" in page.all(".netlab-picture svg")[0].text)
    page.click(page.all("input[aria-label='Line to type on h1']")[0])
    page.keys("ping -c 2 10.0.0.2", Keys.ENTER)
    page.shows("h1", "time=50.0 ms", times=2)
    page.shows("h1", "rtt min", times=2)
    before = page.until(lambda: page.clock)
    page.click(page.button("Step 0.1 s"))
    page.until(lambda: page.clock == pytest.approx(before + 0.1, abs=0.01))
    page.click(page.button("Run"))
    page.until(lambda: page.clock > before + 1)
    page.click(page.button("Pause"))
    page.button("Run")
    stands = page.clock
    assert page.until(lambda: page.clock == stands)


def test_by_the_keyboard(page):
    page.script("arguments[0].focus()", page.target("link h1 to s1"))
    seen = []
    while page.here != "host h2":
        page.keys(Keys.TAB)
        seen.append(page.here)
        assert len(seen) < 20, seen
    page.keys(Keys.ENTER)
    page.line("h2")
    page.keys("ping -c 1 10.0.0.1", Keys.ENTER)
    page.shows("h2", "1 received")
    page.keys(Keys.ARROW_UP, Keys.ENTER)
    page.shows("h2", "1 received", times=2)
    page.keys("ping 10.0.0.1", Keys.TAB, Keys.TAB, Keys.TAB, Keys.SPACE)  # it is left running
    page.with_key(Keys.SHIFT, Keys.TAB, Keys.TAB)
    assert page.here == "Type"
    page.keys(Keys.ENTER)
    page.shows("h2", "icmp_seq=1", times=3)
    page.keys(Keys.TAB)
    assert page.here == "Ctrl-C on h2"
    page.keys(Keys.SPACE)
    page.shows("h2", "^C")
    page.shows("h2", "packets transmitted", times=3)


def test_everything_that_can_be_pressed_has_a_name_and_fits_whatever_the_width(page):
    page.click(page.button("Figures"))
    page.until(lambda: len(page.all(".js-plotly-plot", page.panel)) == 3, 60)
    page.click(page.button("Step 1 s"))
    kinds = "button, input, select, pre[tabindex], [role=button], [role=figure]"
    nameless = [one for one in page.all(kinds, page.panel) if not one.accessible_name]
    assert [one.get_attribute("outerHTML")[:99] for one in nameless] == []
    pages.PICTURES.mkdir(parents=True, exist_ok=True)
    for width in (420, 1400):
        metrics = dict(width=width, height=900, deviceScaleFactor=1, mobile=False)
        page.chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        page.until(lambda: page.script(WIDER, page.panel) == [])
        page.script("arguments[0].scrollIntoView()", page.panel)
        page.chrome.save_screenshot(str(pages.PICTURES / f"panel-{page.kind}-{width}.png"))
    page.click(page.button("Figures"))
    page.until(lambda: not page.all(".js-plotly-plot", page.panel))


def test_nothing_is_red_in_the_console(page):
    # the server may answer with an error while it starts
    known = (*NOT_OURS, "/api/kernels - Failed to load resource: the server responded")
    assert [one for one in page.errors() if not any(text in one for text in known)] == []


def test_without_its_kernel_it_says_so(page):
    """The last one: afterwards nothing works."""
    if page.kind != "lab":
        pytest.skip("tried in JupyterLab")
    next(one for one in page.all(".lm-MenuBar-item") if one.text == "Kernel").click()
    page.until(lambda: page.all("[data-command='kernelmenu:restart']"))[0].click()
    page.until(lambda: page.all(".jp-Dialog .jp-mod-accept"))[0].click()
    page.until(lambda: "The kernel has been restarted" in page.panel.text, 120)
    assert not any(one.is_enabled() for one in page.all("button", page.panel))
