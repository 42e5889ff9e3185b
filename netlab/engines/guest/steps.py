"""Steps of a build that other programs do: with a progress bar, and with the end of what they
printed where they fail.
"""

import subprocess
import sys

from tqdm import tqdm

from netlab.errors import EngineError


def output_of(*command):
    """What a command prints, whether it succeeds or not."""
    return subprocess.run(command, capture_output=True, text=True).stdout


def bar(title, total=None):
    """A progress bar, in a terminal; a line now and then in a log."""
    return tqdm(
        desc=title,
        total=total,
        bar_format="{desc:<28} "
        + ("{percentage:3.0f}%|{bar:30}| {elapsed}" if total else "{elapsed}"),
        mininterval=0.1 if sys.stderr.isatty() else 30,
    )


def step(title, command, expected_lines=None, **options):
    """Run one step of the build with a progress bar; raise with the end of its output when it
    fails.
    """
    process = subprocess.Popen(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        **options,
    )
    tail = []
    with process, bar(title, expected_lines) as progress:
        try:
            for line in process.stdout:
                tail = [*tail[-30:], line]
                progress.update(not progress.total or progress.n < progress.total)
        except BaseException:
            process.kill()
            raise
        if expected_lines:
            progress.update(expected_lines - progress.n)
    if process.returncode:
        raise EngineError(
            f"{title} failed (status {process.returncode}):"
            f" {' '.join(map(str, command))}\n{''.join(tail)}"
        )
