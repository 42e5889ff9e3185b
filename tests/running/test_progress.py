"""What is shown while time passes: in a notebook a line that vanishes, and nothing that is stored;
on a terminal a bar.
"""

import nbclient
import nbformat
import pytest

from netlab.running.progress import Count, line, progress, stepping

SETUP = """
import threading, time
import netlab as nl
from IPython.core.interactiveshell import InteractiveShell
from netlab.running.progress import line
InteractiveShell.ast_node_interactivity = "all"
def lossy(loss, parallel):
    path = nl.wan("1gbit", "20ms", loss)
    return nl.Experiment(path, nl.Iperf3("h1", "h2", parallel=parallel, time=8))
long = nl.wan(buffers="50mb"), nl.Iperf3("h1", "h2", parallel=8, time=4)
def wait(desc="steps", steps=2):
    with line(total=steps, desc=desc) as bar:
        for _ in range(steps):
            time.sleep(0.8)
            bar.update()
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
        cells = [nbformat.v4.new_code_cell(source) for source in (SETUP, *cells)]
        client = Watched(nbformat.v4.new_notebook(cells=cells), kernel_name="python3")
        client.seen = {}
        client.execute()
        return [cell.outputs for cell in cells[1:]], [*client.seen.values()][1:]

    return execute


def lines(seen):
    """The texts of outputs that are written again and again."""
    own = [content for kind, content in seen if kind in ("display_data", "update_display_data")]
    return [content["data"]["text/plain"] for content in own if content["data"]]


@pytest.mark.long
def test_in_a_notebook_a_line_is_updated_and_nothing_of_it_is_stored(executed):
    sweep = "grid = nl.sweep(lossy, loss=['0.01%', '0.1%'], parallel=[8], seeds=[1, 2])"
    beside = "print('before')\nrun = nl.run(*long)\nprint('after')"
    (nothing, alone, beside, steps), seen = executed(
        sweep, "nl.run(*long)", beside, "wait(steps=4)"
    )
    assert nothing == [] and steps == []
    assert [output.output_type for output in alone] == ["execute_result"]
    said = [output.text for output in beside if output.output_type == "stream"]
    assert "".join(said) == "before\nafter\n"
    assert not [output for output in beside if output.get("data")], "at most an empty place"
    assert len(lines(seen[3])) >= 2 and all(one.startswith("steps") for one in lines(seen[3]))
    assert all("Experiments: " in one and " left" in one for one in lines(seen[0]))
    assert all("virtual s" in one for one in lines(seen[1]))
    assert not [one for cell in seen for _, one in cell if one.get("name") == "stderr"]


@pytest.mark.long
def test_a_loop_of_runs_and_a_search_have_one_line_and_leave_nothing(executed):
    """Runs of less than a second, too, have a line once the first second has passed."""
    loop = "for seed in range(1, 4): _ = nl.run(lossy('0.1%', 1), seed=seed)"
    search = "onset = nl.loss_onset(nl.wan('30mbit', '20ms'), 'h1', 'h2', '20mbit', 0.5, time=1)"
    stored, seen = executed(loop, f"{loop}\nprint('mine')", search)
    assert stored[0] == stored[2] == []
    assert [one.text for one in stored[1] if one.get("text")] == ["mine\n"]
    for cell in seen[:2]:
        assert any(one.startswith("Experiment 3 of this cell: ") for one in lines(cell))
        assert not any("Experiment 4" in one for one in lines(cell)), "each cell counts anew"
    assert len({one.split(",")[0] for one in lines(seen[2])}) > 1, "its steps"
    assert all(one.startswith("loss_onset h1 → h2: step ") for one in lines(seen[2]))


@pytest.mark.long
def test_what_is_captured_is_kept(executed):
    capture = "%%capture cap {}\ndisplay('mine')\nprint('printed')\nwait()"
    show = "[one.data for one in cap.outputs], cap.stdout"
    fill = "import ipywidgets; o = ipywidgets.Output()\nwith o: print('mine')"
    (_, shown, some, _, _, _, held, after), seen = executed(
        *(capture.format(""), show, capture.format("--no-display"), show),
        *(fill, "with o: wait()", "print(o.outputs)", "wait()"),
    )
    assert shown[0].data["text/plain"] == r"""([{'text/plain': "'mine'"}], 'printed\n')"""
    assert some[0].data["text/plain"] == "'mine'"
    assert not lines(seen[0]), "nobody asked for a bar among the captured outputs"
    assert "mine" in held[0].text and held[0].text.count("output_type") == 1
    assert after == [] and lines(seen[-1]), "and a bar is shown again"


OTHERS = [
    "5\nwait()",
    "print(5)\nwait()",
    "get_ipython().run_cell('display(5)')\nget_ipython().run_cell('wait()')",
    "t = threading.Thread(target=display, args=(5,)); t.start(); t.join(); wait()",
    "import contextlib, io\nprint(5)\nwith contextlib.redirect_stdout(io.StringIO()): wait()",
]


@pytest.mark.long
def test_what_a_cell_shows_in_another_way_is_kept(executed):
    for other, shown, seen in zip(OTHERS, *executed(*OTHERS), strict=True):
        texts = [one.get("text") or one.data.get("text/plain") for one in shown]
        assert [text.strip() for text in texts if text][:1] == ["5"] and lines(seen), other


CLICK = """
shell, kinds = get_ipython(), []; own = shell.get_parent()
shell.display_pub.register_hook(lambda sent: kinds.append(sent["msg_type"]) or sent)
shell.set_parent({"header": {"msg_id": "click", "msg_type": "comm_msg"}})
wait()
shell.set_parent(own)
"""


def test_a_click_on_a_widget_does_not_clear_the_widget_s_cell(executed):
    (*_, kinds), _ = executed(CLICK, "print(*kinds)")
    assert set(kinds[0].text.split()) == {"display_data", "update_display_data"}


@pytest.mark.long
def test_bars_of_threads_leave_each_other_and_later_cells_alone(executed):
    start = "for name in 'ab':\n    threading.Thread(target=wait, args=(name, 3)).start()\n"
    start += "time.sleep(1.7)"
    (begun, later), seen = executed(start, "display('mine'); time.sleep(2)")
    assert not [one for one in begun if one.data], "at most an empty place"
    assert [one.data["text/plain"] for one in later if one.data] == ["'mine'"]
    texts = lines(seen[0])
    assert {text[0] for text in texts} == {"a", "b"} and not any("\x1b" in one for one in texts)


@pytest.mark.long
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


def test_steps_of_a_long_call_stand_on_one_line(monkeypatch, capsys):
    monkeypatch.setattr("netlab.running.progress.shown", lambda: True)
    with stepping() as step:
        for number in (1, 2):
            with step(f"search: step {number}"), progress(10) as on_tick:
                on_tick(5)
    said = capsys.readouterr().err
    assert "search: step 1, 00:0" in said and "search: step 2, 00:0" in said
    assert "Experiment" not in said


def test_parts_of_experiments_count_only_where_they_are_told():
    with line(total=4, desc="") as bar:
        count = Count(bar, 1)
        with count.covering(1), progress(10) as on_tick:
            on_tick(5)
        assert bar.n == 0, "each has a bar of its own on a terminal"
        count._draw(1, 0.5)
        assert bar.n == 1.5 and count.done == 1
        count.ended(1)
        assert bar.n == 2 and count.done == 2 and bar.desc == "Experiments: 2"
