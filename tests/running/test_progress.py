"""What is shown while time passes: in a notebook a line that vanishes, and nothing that is stored;
on a terminal a bar.
"""

import nbclient
import nbformat
import pytest

from netlab.running.progress import Count, line

SWEEP = """
import netlab as nl
def lossy(loss, parallel):
    path = nl.wan("1gbit", "20ms", loss)
    return nl.Experiment(path, nl.Iperf3("h1", "h2", parallel=parallel, time=8))
long = nl.wan(buffers="50mb"), nl.Iperf3("h1", "h2", parallel=8, time=4)
"""


class Watched(nbclient.NotebookClient):
    """Keeps what the kernel sends, so that tests know what somebody saw meanwhile."""

    def process_message(self, message, cell, cell_index):
        self.seen.setdefault(cell_index, []).append((message["msg_type"], message["content"]))
        return super().process_message(message, cell, cell_index)


@pytest.fixture
def executed(monkeypatch, tmp_path):
    """Run cells in a kernel; -> the outputs that are stored of each, and what was seen of each."""
    monkeypatch.setenv("NETLAB_PROGRESS", "on")
    monkeypatch.setenv("NETLAB_ENGINE", "guest")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))

    def execute(*cells):
        cells = [nbformat.v4.new_code_cell(source) for source in (SWEEP, *cells)]
        client = Watched(nbformat.v4.new_notebook(cells=cells), kernel_name="python3")
        client.seen = {}
        client.execute()
        return [cell.outputs for cell in cells[1:]], [*client.seen.values()][1:]

    return execute


def lines(seen):
    """The texts of outputs that are written again and again."""
    own = [content for kind, content in seen if kind in ("display_data", "update_display_data")]
    return [content["data"]["text/plain"] for content in own if content["data"]]


def test_in_a_notebook_a_line_is_updated_and_nothing_of_it_is_stored(executed):
    sweep = "grid = nl.sweep(lossy, loss=['0.01%', '0.1%'], parallel=[8], seeds=[1, 2])"
    slow = "from netlab.running.progress import line; import time\n"
    slow += "with line(total=4, desc='steps') as bar:\n    for _ in range(4):\n"
    slow += "        time.sleep(0.6); bar.update()"
    (nothing, alone, beside, steps), seen = executed(
        sweep, "nl.run(*long)", "print('before')\nrun = nl.run(*long)\nprint('after')", slow
    )
    assert nothing == [] and steps == []
    assert [output.output_type for output in alone] == ["execute_result"]
    said = [output.text for output in beside if output.output_type == "stream"]
    assert "".join(said) == "before\nafter\n"
    assert not [output for output in beside if output.get("data")], "at most an empty place"
    assert len(lines(seen[3])) >= 2 and all(one.startswith("steps") for one in lines(seen[3]))
    assert all("Experiments: " in one and " left" in one for one in lines(seen[0]))
    assert all("virtual s" in one for one in lines(seen[1]))
    assert not [
        kind for kinds in seen for kind, content in kinds if content.get("name") == "stderr"
    ]


def test_a_cell_that_sweeps_again_takes_what_this_notebook_measured(executed):
    grid = "nl.sweep(lossy, loss=['1%'], parallel=[1], seeds=[{}]).received_bps.tolist()"
    (first, again, more), _ = executed(grid.format(1), grid.format(1), grid.format("1, 2"))
    assert [output.output_type for output in first] == ["execute_result"]
    said, numbers = again
    assert said.text.startswith("sweep: 1 of 1 runs are this notebook's own of before")
    assert numbers.data == first[0].data
    assert more[0].text.startswith("sweep: 1 of 2 runs") and "[" in more[-1].data["text/plain"]


def test_outside_of_notebooks_a_bar_stands_on_stderr(capsys):
    with line(total=2, desc="Experiment:") as bar:
        bar.update(2)
    assert "Experiment:" in capsys.readouterr().err


def test_parts_of_experiments_count_only_where_they_are_told():
    with line(total=4, desc="") as bar:
        count = Count(bar, 1)
        assert count.covering(1, print) is print, "each has a bar of its own on a terminal"
        count._draw(1, 0.5)
        assert bar.n == 1.5 and count.done == 1
        count.ended(1)
        assert bar.n == 2 and count.done == 2
