"""The class page and the page of texts in a real browser, from files: sorted, searched, marked, and
the points saved as CSV and read again.
"""

import time

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
    report.feedback(EVERYBODY, folder, ASSIGNMENT)
    return folder


@pytest.fixture(scope="module")
def chrome(folder, tmp_path_factory):
    with browser(tmp_path_factory.mktemp("chrome")) as chrome:
        where = {"behavior": "allow", "downloadPath": str(folder)}
        chrome.execute_cdp_cmd("Browser.setDownloadBehavior", where)
        yield chrome


def names(chrome):
    rows = chrome.find_elements(By.CSS_SELECTOR, "#class tbody tr")
    return [row.find_element(By.TAG_NAME, "a").text for row in rows if row.is_displayed()]


def one(chrome, selector):
    return chrome.find_element(By.CSS_SELECTOR, selector)


def saved(path):
    """The lines of a file that the browser writes."""
    deadline = time.monotonic() + 20
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return path.read_text().splitlines()


def heading(chrome, name):
    buttons = chrome.find_elements(By.CSS_SELECTOR, "#class th button")
    return next(button for button in buttons if button.text.startswith(name))


def test_points_given_on_the_page_of_texts_are_added_on_the_class_page(chrome, folder):
    chrome.get((folder / "texts/ps0-explain.html").as_uri())
    assert one(chrome, "#said").text == "3 of 8 have points."
    fields = chrome.find_elements(By.CSS_SELECTOR, "section input")
    for field, points in zip(fields[:5], ("2", "0.5", "1", "1.5", "99"), strict=True):
        field.send_keys(points)
    one(chrome, "#hide").click()
    assert one(chrome, "#said").text.startswith("7 of 8 have points. 1 are above the most")
    assert sum(field.is_displayed() for field in fields) == 1
    one(chrome, "#save").click()
    lines = saved(folder / "ps0-explain.csv")
    assert lines[0] == "student,exercise,points" and len(lines) == 8
    assert "ada,ps0-explain,2" in lines and "cem,ps0-explain,0" in lines
    assert '"\'=cmd, ""x""",ps0-explain,1.5' in lines
    chrome.get((folder / "texts/ps0-explain.html").as_uri())
    one(chrome, "#open").send_keys(str(folder / "ps0-explain.csv"))
    fields = chrome.find_elements(By.CSS_SELECTOR, "section input")
    until(lambda: [field.get_attribute("value") for field in fields[:3]] == ["2", "0.5", "1"])

    chrome.get((folder / "class.html").as_uri())
    one(chrome, "#by-hand").send_keys(str(folder / "ps0-explain.csv"))
    until(lambda: "have points by hand" in one(chrome, "#said").text)
    assert one(chrome, "#said").text.startswith("5 students have points by hand")
    assert "Not understood" not in one(chrome, "#said").text
    rows = {row.text.split()[0]: row.text for row in chrome.find_elements(By.TAG_NAME, "tr")}
    assert rows["ada"].startswith("ada 6.5 of 6.5 2 8.5 of ")
    one(chrome, "#save").click()
    lines = saved(folder / "ps0-all.csv")
    assert lines[0] == "student,points,by hand,in all,max_points"
    assert lines[1].startswith("bob,4.5,0.5,5,")
    assert any(line.startswith("fay,,") for line in lines), "who is pending has no points"


def test_a_file_with_semicolons_and_one_of_something_else(chrome, folder, tmp_path):
    good, other = tmp_path / "good.csv", tmp_path / "other.csv"
    good.write_text(
        "\ufeffstudent;exercise;points\r\nada;ps0-explain;2,5\r\nnobody;ps0-explain;1\r\n"
    )
    other.write_text("a,b\n1,2\n")
    chrome.get((folder / "class.html").as_uri())
    one(chrome, "#by-hand").send_keys(f"{good}\n{other}")
    until(lambda: "have points" in one(chrome, "#said").text)
    said = one(chrome, "#said").text
    assert said.startswith("1 students have points by hand, on average 9 in all")
    assert "Not understood: nobody, other.csv" in said


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


def until(found):
    deadline = time.monotonic() + 20
    while not found():
        assert time.monotonic() < deadline
        time.sleep(0.05)
