"""One line of progress while time passes: virtual seconds of total, wall seconds, rate. NETLAB_PROGRESS=off is quiet."""

import contextlib
import os
import sys

from tqdm import tqdm

LAYOUT = "{desc} {n:.0f} of {total:.0f} virtual s |{bar:24}| {elapsed_s:.0f} s on the wall, {rate_fmt}"


@contextlib.contextmanager
def progress(total_s, title="Experiment:"):
    """A function to be told how many virtual seconds have passed. [s]"""
    if total_s is None or os.environ.get("NETLAB_PROGRESS") == "off" or not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield lambda seconds: None
        return
    with tqdm(total=total_s, desc=title, bar_format=LAYOUT, unit=" virtual s/s", leave=False) as bar:
        yield lambda seconds: bar.update(min(seconds, total_s) - bar.n)
