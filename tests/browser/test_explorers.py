"""The explorers as students see them: in JupyterLab, in Notebook and with Voila, in a real browser,
moved by real keys.
"""

import os

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.browser import pages

MATHIS, FAIRNESS, AIMD, RACE = range(4)
OVERLAPS = """
const [figure] = arguments, size = figure._fullLayout._size;
const box = one => one.getBoundingClientRect(), top = box(figure).top;
const kinds = '.legendtext, .legendtitletext, .xtick text, .ytick text, .xtitle, .ytitle';
const texts = [...figure.querySelectorAll(kinds)].filter(one => one.textContent.trim());
const boxes = texts.map(one => [one.textContent, box(one)]);
const legends = [...figure.querySelectorAll('.legend .bg, .legend2 .bg')].map(box);
const low = top + figure._fullLayout.height - size.b;  // below the plot
return boxes.flatMap(([one, a], n) => boxes.slice(n + 1).filter(([_, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1
).map(([other]) => one + ' / ' + other)).concat(legends.filter(one =>
    one.top < top || (one.bottom > top + size.t + 1 && one.top < low) ||
    one.bottom > box(figure).bottom + 1 || one.right > box(figure).right
).map(one => 'a legend and the plot, or the edge'));
"""
UNUSED = "return arguments[0].parentElement.clientWidth - arguments[0]._fullLayout.width"
NOT_OURS = (
    "favicon.ico",  # no page of theirs has one everywhere
    "cdn.jsdelivr.net/npm/@fortawesome",  # Voila's template loads icons; tests need none
    # Notebook 7.6 itself, with any notebook
    "Cannot read properties of undefined (reading 'schema')",
)


@pytest.fixture(scope="module")
def page(front_end, tmp_path_factory):
    folder = tmp_path_factory.mktemp(front_end)
    with pages.server(front_end, folder) as address, pages.browser(folder) as chrome:
        yield pages.Page(chrome, front_end, address)


@pytest.fixture
def lab(page):
    """For what is the same code everywhere: once is enough."""
    if page.kind != "lab":
        pytest.skip("tried in JupyterLab")
    return page


def curve(page, number, name):
    return page.traces(number)[name]


def test_all_are_drawn_as_wide_as_there_is_room_and_nothing_overlaps(page):
    for width in (1000, 1150, 1400):
        page.chrome.set_window_size(width, 900)
        for number, figure in enumerate(page.figures):
            page.until(lambda figure=figure: abs(page.script(UNUSED, figure)) < 2)
            assert page.script(OVERLAPS, figure) == []
            page.picture(f"{page.kind}-{width}-{number + 1}", number)
    assert len(curve(page, MATHIS, "measured")) == 27


def test_on_a_phone_nothing_overlaps(page):
    if page.kind != "voila":
        pytest.skip("JupyterLab and Notebook have no room for a phone")
    page.chrome.set_window_size(420, 900)
    try:
        for number, figure in enumerate(page.figures):
            page.until(lambda figure=figure: abs(page.script(UNUSED, figure)) < 2)
            assert page.script(OVERLAPS, figure) == []
            page.picture(f"{page.kind}-420-{number + 1}", number)
    finally:
        page.chrome.set_window_size(1400, 900)


def test_by_keyboard_the_focus_stays_with_the_buttons_and_all_have_names(lab):
    button = lab.button(FAIRNESS, "Measure here")
    focused = "return document.activeElement.textContent.trim()"
    lab.script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].focus()", button)
    ActionChains(lab.chrome).send_keys(Keys.SPACE).perform()
    lab.until(lambda: lab.script(focused) == "Stop")
    ActionChains(lab.chrome).send_keys(Keys.SPACE).perform()
    lab.until(lambda: lab.script(focused) == "Measure here", 60)
    play = lab.all(".widget-play button", lab.explorers[AIMD])
    told = [one.get_attribute("aria-label") for one in play]
    assert told == ["play or pause", "stop", "repeat"]
    named = "return arguments[0].textContent.trim() || arguments[0].getAttribute('aria-label')"
    for explorer in lab.explorers:
        assert all(lab.script(named, one) for one in lab.all("button", explorer))
        assert lab.all(".netlab-status[role=status]", explorer)


def test_a_slider_moves_the_curve_and_what_was_measured_stays(page):
    before = page.traces(MATHIS)
    page.press(MATHIS, "streams K", Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    page.until(lambda: curve(page, MATHIS, "loss")[0][1] == pytest.approx(4 * before["loss"][0][1]))
    after = page.traces(MATHIS)
    assert [x for x, _ in after["loss"]] == [x for x, _ in before["loss"]]
    assert after["measured"] == before["measured"]
    assert set(after["same settings"]) < set(before["measured"])
    assert set(after["same settings"]).isdisjoint(before["same settings"])
    assert after["sliders"] == [(0.1, pytest.approx(4 * before["sliders"][0][1]))]


def test_shares_follow_the_rtt(page):
    assert curve(page, FAIRNESS, "sliders") == [(4, pytest.approx(80))]
    page.press(FAIRNESS, "RTT h3 / h1", Keys.HOME)
    page.until(lambda: curve(page, FAIRNESS, "sliders") == [(1, pytest.approx(50))])


def test_the_plane_walks_by_hand_and_by_itself(page):
    measured = curve(page, AIMD, "measured")
    for _ in range(3):
        page.button(AIMD, "Step").click()
    page.until(lambda: curve(page, AIMD, "model") == [(70, 10), (72, 12), (74, 14), (76, 16)])
    page.button(AIMD, "Back").click()
    page.until(lambda: len(curve(page, AIMD, "model")) == 3)
    play = "button.fa-play, .jupyter-widget-play button, .widget-play button"
    page.all(play, page.explorers[AIMD])[0].click()
    page.until(lambda: len(curve(page, AIMD, "model")) > 20)
    page.picture(f"{page.kind}-plane-walked", AIMD)
    page.button(AIMD, "Reset").click()
    assert measured == curve(page, AIMD, "measured") and len(measured) > 15


def test_the_button_measures_while_sliders_move(lab):
    before = curve(lab, MATHIS, "measured")
    lab.press(MATHIS, "streams K", Keys.HOME, *[Keys.ARROW_RIGHT] * 3)
    lab.press(MATHIS, "loss rate", *[Keys.ARROW_LEFT] * 6)
    lab.until(lambda: curve(lab, MATHIS, "sliders")[0][0] == 0.01)
    lab.button(MATHIS, "Measure here").click()
    assert not lab.button(MATHIS, "Measuring ...").is_enabled()
    least = curve(lab, MATHIS, "loss")[0][1]
    lab.press(MATHIS, "streams K", Keys.ARROW_RIGHT)
    lab.until(lambda: curve(lab, MATHIS, "loss")[0][1] > 1.1 * least)
    lab.picture("lab-measuring", MATHIS)
    assert lab.button(MATHIS, "Measuring ...", 0)
    lab.press(MATHIS, "streams K", Keys.ARROW_LEFT)
    assert lab.button(MATHIS, "Measure here", 120).is_enabled()
    *same, (loss, mbps) = curve(lab, MATHIS, "measured")
    assert same == before and loss == 0.01
    assert 0.6 < mbps / curve(lab, MATHIS, "sliders")[0][1] < 1.5
    said = "4 streams, loss 0.01 %, RTT 20 ms, MSS 1448 byte, link 1 Gbit/s, window no limit, seed "
    assert f"{said}4:" in lab.explorers[MATHIS].text
    lab.until(lambda: (loss, mbps) in curve(lab, MATHIS, "same settings"))
    lab.picture("lab-measured", MATHIS)


@pytest.mark.long
def test_a_race_is_drawn_while_it_runs(lab):
    """The class is one of the notebook's cell."""
    lab.press(RACE, "time [s]", *[Keys.ARROW_RIGHT] * 8)
    lab.button(RACE, "Measure here").click()
    lab.until(lambda: "They race: Mine (yours)" in lab.explorers[RACE].text, 60)
    lab.until(lambda: len(curve(lab, RACE, "h1")) > 20, 60)
    lab.picture("lab-racing", RACE)
    assert lab.button(RACE, "Measure here", 120).is_enabled()
    lab.until(lambda: "h1 with Mine (yours) got" in lab.explorers[RACE].text)
    assert min(len(curve(lab, RACE, host)) for host in ("h1", "h3")) > 50
    assert lab.script(OVERLAPS, lab.figures[RACE]) == []
    lab.picture("lab-raced", RACE)


def test_sliders_and_figures_have_names_that_a_screen_reader_reads(page):
    handle = page.handle(MATHIS, "loss rate")
    page.until(lambda: handle.get_attribute("aria-label") == "loss rate")
    page.until(lambda: handle.get_attribute("aria-valuetext").endswith(" %"))
    page.press(MATHIS, "RTT", Keys.HOME)
    rtt = page.handle(MATHIS, "RTT")
    page.until(lambda: rtt.get_attribute("aria-valuetext") == "1 ms")
    figures = [page.all("[role=figure]", one)[0] for one in page.explorers]
    told = [figure.get_attribute("aria-label") for figure in figures]
    assert "is the limit" in told[MATHIS] and "h1 gets" in told[FAIRNESS] and "Step" in told[AIMD]
    assert "Mine (yours)" in told[RACE]


def test_tracks_are_long_enough_to_drag_on(page):
    for width in (1000, 1400):
        page.chrome.set_window_size(width, 900)
        for explorer in page.explorers:
            assert min(one.size["width"] for one in page.all(".noUi-target", explorer)) > 120


def test_the_console_shows_no_errors_of_the_page(page):
    errors = page.errors()
    assert [error for error in errors if not any(known in error for known in NOT_OURS)] == []


def test_a_panel_whose_kernel_was_restarted_says_so(lab):
    """The last one: afterwards nothing works."""
    lab.button(FAIRNESS, "Measure here").click()
    lab.button(FAIRNESS, "Measuring ...")
    next(one for one in lab.all(".lm-MenuBar-item") if one.text == "Kernel").click()
    lab.until(lambda: lab.all("[data-command='kernelmenu:restart']"))[0].click()
    lab.until(lambda: lab.all(".jp-Dialog .jp-mod-accept"))[0].click()
    lab.until(lambda: "run this cell again" in lab.explorers[FAIRNESS].text, 120)
    # what it says hangs on whether the run was over before its kernel was
    buttons = lab.all("button", lab.explorers[FAIRNESS])
    assert buttons and not any(button.is_enabled() for button in buttons)


def test_without_a_browser_it_is_said_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(os.environ, "PATH", str(tmp_path))
    with (
        pytest.raises(RuntimeError, match="no chromium and no chromedriver here: `binder/setup"),
        pages.browser(tmp_path),
    ):
        pass
