"""How soon a curve follows its slider, in JupyterLab in a real browser (`make bench`)."""

import numpy as np
import pytest
from selenium.webdriver.common.keys import Keys

from tests.browser import pages

WATCH = """
const figure = arguments[0], level = () => figure.data.find(trace => trace.name == 'loss').y[0];
window.samples = [];
let pressed = null, before = null;
const press = () => { pressed = performance.now(); before = level(); };
document.addEventListener('keydown', press, true);
figure.on('plotly_afterplot', () => {
    if (pressed === null || level() == before) return;
    window.samples.push(performance.now() - pressed);
    pressed = null;
});
"""
ECHO = """
const done = arguments[arguments.length - 1], start = performance.now();
requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
"""


@pytest.mark.parametrize("slower", [1, 6])
def test_from_the_slider_to_the_redrawn_curve(slower, tmp_path):
    """Against two frames of the browser alone: nothing that is drawn takes less. And with a browser
    six times slower.
    """
    with pages.server("lab", tmp_path) as address, pages.browser(tmp_path) as chrome:
        chrome.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": slower})
        page = pages.Page(chrome, "lab", address)
        page.script(WATCH, page.figures[0])
        for count in range(1, 101):
            page.press(
                0, "streams K", Keys.ARROW_LEFT if (count - 1) // 8 % 2 else Keys.ARROW_RIGHT
            )
            page.until(lambda count=count: page.script("return window.samples.length") == count)
        samples = page.script("return window.samples")
        frames = np.median([chrome.execute_async_script(ECHO) for _ in range(50)])
    middle, late = np.percentile(samples, [50, 95])
    where = f", browser {slower} times slower" if slower > 1 else ""
    print(
        f"\nslider to redrawn curve, {len(samples)} moves{where}: median {middle:.0f} ms, 95th"
        f" percentile {late:.0f} ms"
    )
    print(f"median / two frames of the browser ({frames:.0f} ms): {middle / frames:.1f}")
