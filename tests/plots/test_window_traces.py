"""Windows over time are the traces', green and red."""

import pytest

from netlab import models, plots
from tests.plots.conventions import keeps_the_conventions

TRACES = {
    f"MSS {mss}": models.aimd_trace(mss, 0.02, 10, [4], start_bytes=1e6) for mss in (8760, 1460)
}


def test_keeps_the_conventions():
    keeps_the_conventions(plots.aimd, TRACES)


def test_aimd_draws_the_windows_green_and_red():
    fig = plots.aimd(TRACES)
    assert [trace.name for trace in fig.data] == list(TRACES)
    assert fig.layout.yaxis.title.text == "congestion window [MB]"
    for trace, frame in zip(fig.data, TRACES.values(), strict=True):
        assert trace.y == pytest.approx(frame.cwnd_bytes / 1e6) and trace.x == pytest.approx(
            frame.time_s
        )
    assert [trace.line.color for trace in fig.data] == ["#009E73", "#D55E00"]
    assert [trace.line.color for trace in plots.aimd(TRACES, colours=["navy"]).data] == [
        "navy",
        "navy",
    ]


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plots.aimd({}), "aimd: traces is empty"),
        (
            lambda: plots.aimd({"red": TRACES["MSS 1460"][["time_s"]]}),
            "aimd, 'red': the frame lacks cwnd_bytes",
        ),
    ],
)
def test_refuses_what_it_cannot_draw(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
