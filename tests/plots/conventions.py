"""What every figure keeps, and how its tests find their way in it."""

from types import SimpleNamespace

import pandas as pd


def named(fig, name):
    return next(trace for trace in fig.data if trace.name == name)


def keeps_the_conventions(plot, *arguments, plain=(), **options):
    """A light figure that says its units, but on axes titled in `plain`; and frames that it left
    alone.
    """
    before = [frame.copy() for argument in arguments for frame in frames(argument)]
    fig = plot(*arguments, **options)
    for was, now in zip(
        before, [frame for argument in arguments for frame in frames(argument)], strict=True
    ):
        pd.testing.assert_frame_equal(was, now)
    titles = {axis.title.text for axis in (*fig.select_xaxes(), *fig.select_yaxes())} - {
        None,
        *plain,
    }
    titles |= {fig.layout.coloraxis.colorbar.title.text} - {None}
    assert titles and all(title.endswith("]") for title in titles)
    assert type(fig).__name__ == "Figure" and len(fig.to_json()) < 60_000
    assert "$" not in fig.to_json(), "MathJax does not render in JupyterLab"
    assert fig.layout.paper_bgcolor is None and fig.layout.template.layout.paper_bgcolor == "white"


def frames(value):
    """Every frame in an argument."""
    parts = (
        vars(value)
        if isinstance(value, SimpleNamespace)
        else value
        if isinstance(value, dict)
        else {"it": value}
    )
    return [part for part in parts.values() if isinstance(part, pd.DataFrame)]
