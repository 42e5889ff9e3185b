"""The class page and the page of texts in a real browser, from files: sorted and searched."""

import pytest
from selenium.webdriver.common.by import By

from netlab.course.grading import report
from tests.browser.pages import browser
from tests.course.test_adapters import ASSIGNMENT, HOSTILE, marks
from tests.course.test_report import CLASS

ODD = '=cmd, "x"'  # an id that needs quotes, and that a spreadsheet would compute
EVERYBODY = [*CLASS, marks(ODD, (2, 2), "It is full."), marks("__proto__", (0, 1), HOSTILE)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("marks")
    report.report(EVERYBODY, folder, ASSIGNMENT)
    return folder


@pytest.fixture(scope="module")
def chrome(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("chrome")) as chrome:
        yield chrome


def names(chrome):
    rows = chrome.find_elements(By.CSS_SELECTOR, "#class tbody tr")
    return [row.find_element(By.TAG_NAME, "a").text for row in rows if row.is_displayed()]


def one(chrome, selector):
    return chrome.find_element(By.CSS_SELECTOR, selector)


def heading(chrome, name):
    buttons = chrome.find_elements(By.CSS_SELECTOR, "#class th button")
    return next(button for button in buttons if button.text.startswith(name))


def test_the_class_is_sorted_and_searched(chrome, folder):
    chrome.get((folder / "class.html").as_uri())
    assert names(chrome)[:4] == ["bob", "dan", "eva", "fay"], "who has flags"
    heading(chrome, "points").click()
    assert names(chrome)[0] == "fay" and names(chrome)[-1] == "ada"
    heading(chrome, "points").click()
    assert names(chrome)[0] == "ada"
    assert one(chrome, "th[aria-sort]").get_attribute("aria-sort") == "descending"
    one(chrome, "#search").send_keys("COPIED bob")
    assert names(chrome) == ["bob"] and one(chrome, "#shown").text == "1 of 8."
    assert heading(chrome, "flags")


@pytest.mark.parametrize("page", ["class.html", "texts/ps0-explain.html"])
def test_nothing_but_our_script_runs(chrome, folder, tmp_path, page):
    """Also where the escaping failed."""
    text = (folder / page).read_text()
    evil = '<script>top.ran = 1</script><img src="x" onerror="top.ran = 1">'
    (tmp_path / "page.html").write_text(text.replace("<h1>", f"{evil}<h1>", 1))
    chrome.get_log("browser")
    chrome.get((tmp_path / "page.html").as_uri())
    assert chrome.execute_script("return top.ran") is None
    refused = [one["message"] for one in chrome.get_log("browser")]
    assert refused and all("Content Security Policy" in one for one in refused)
    chrome.get((folder / page).as_uri())
    assert chrome.get_log("browser") == []


def test_on_a_phone_nothing_but_tables_is_wider_than_the_page(chrome, folder):
    chrome.set_window_size(500, 900)
    try:
        for page in ("class.html", "texts/ps0-explain.html"):
            chrome.get((folder / page).as_uri())
            wide = "return document.documentElement.scrollWidth - document.body.clientWidth"
            assert chrome.execute_script(wide) <= 1
    finally:
        chrome.set_window_size(1400, 900)
