"""The style that all figures share."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from netlab import plots
from netlab.plots._style import COLOURS, INK

# G. M. Machado et al., "A physiologically-based model for simulation of color vision deficiency",
# IEEE TVCG 15, 2009: what is seen of linear RGB without the one or the other kind of cones
SEEN = {
    "by most": np.eye(3),
    "without red": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "without green": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour):
    parts = np.array([int(colour[n : n + 2], 16) for n in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    xyz = XYZ @ np.clip(rgb, 0, 1) / XYZ.sum(axis=1)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("whose", SEEN)
def test_colour_blind_people_can_tell_the_colours_apart(whose):
    seen = {colour: lab(np.array(SEEN[whose]) @ linear(colour)) for colour in (*COLOURS, INK)}
    near = {pair: np.linalg.norm(seen[pair[0]] - seen[pair[1]]) for pair in combinations(seen, 2)}
    assert min(near.values()) > 20, min(near, key=near.get)


def test_colours_stand_out_from_the_page():
    light = [XYZ[1] @ linear(colour) for colour in COLOURS]
    assert min(1.05 / (one + 0.05) for one in light) > 2


def test_a_figure_says_in_words_what_it_shows():
    trace = pd.DataFrame(dict(time_s=[0, 1], cwnd_bytes=[1e5, 2e5]))
    fig = plots.aimd({"one": trace, "two": trace})
    assert fig.layout.meta["description"] == "time [s], congestion window [kB]. one, two"


def test_no_figure_has_a_width_of_its_own():
    trace = pd.DataFrame(dict(x_bps=[1e6, 2e6], y_bps=[1e6, 2e6]))
    for fig in (plots.plane({"one": trace}, 4e6), plots.plane({"one": trace}, 4e6, stepper=True)):
        assert fig.layout.width is None
