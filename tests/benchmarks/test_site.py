"""Pages of the site as a browser measures them (`make bench ARGS="-k site"`)."""

from tests.test_site import FAINT, LIVE, SEEN, WIDE, chrome, scroll_through, seen, site, until

__all__ = ["chrome", "site"]
PAINTED = "return Math.round(performance.getEntriesByName('first-contentful-paint')[0]?.startTime)"
# Tab's stops: how many, those without a name, and those that the page hides
STOPS = """
const all = [...document.querySelectorAll('a[href], button, input, summary, [tabindex="0"]')]
  .filter(one => one.checkVisibility({visibilityProperty: true}));
const name = one => (one.ariaLabel || one.title || one.textContent || one.placeholder
  || one.labels?.[0]?.textContent || one.querySelector('img')?.alt || '').trim();
return [all.length, all.filter(one => !name(one)).map(one => one.outerHTML.slice(0, 60))];
"""


def test_five_pages(chrome, site):
    print("\npage: kB of text, of pictures; ms to the first paint, to the first live figure; ...")
    for name in SEEN[:5]:
        page = site / name
        seen(chrome, page.as_uri())
        first_ms = until(chrome, PAINTED)
        live_ms = "-"
        if chrome.execute_script("return document.querySelector('figure.live')"):
            chrome.execute_script("document.querySelector('figure.live').scrollIntoView()")
            until(chrome, LIVE)
            live_ms = chrome.execute_script("return Math.round(performance.now())")
        figures = scroll_through(chrome)
        text = page.read_text(encoding="utf-8")
        used = [one for one in (site / "_pictures").iterdir() if one.name in text]
        stops, nameless = chrome.execute_script(STOPS)
        faint = [len(chrome.execute_script(FAINT))]
        seen(chrome, page.as_uri(), dark=True)
        faint.append(len(chrome.execute_script(FAINT)))
        seen(chrome, page.as_uri(), width=390)
        wide = chrome.execute_script(WIDE)
        errors = [one for one in chrome.get_log("browser") if one["level"] == "SEVERE"]
        print(
            f"{name}: {len(text.encode()) / 1e3:.0f} kB, {sum(map(size, used)) / 1e3:.0f} kB;"
            f" {first_ms} ms, {live_ms} ms, {figures} figures live; {len(errors)} errors in the"
            f" console; {faint[0]} texts too faint in light, {faint[1]} in dark; {stops} stops of"
            f" Tab, without a name {nameless}; too wide at 390 px: {wide}"
        )
    for one in ("_static/plotly.min.js", "_static/figures.js", "searchindex.js"):
        print(f"{one}: {size(site / one) / 1e3:.0f} kB")
    styles = (site / "_static").rglob("*.css")
    print(f"styles: {sum(map(size, styles)) / 1e3:.0f} kB")


def size(path):
    return path.stat().st_size
