"""A line under a notebook's cell that is written again and again, and leaves nothing behind."""

import itertools
import sys
import threading

OURS = "netlab-line-"
SHOWN = {"stream", "display_data", "update_display_data", "execute_result", "error"}
_numbers = itertools.count(1)


def kernel_shell():
    """IPython's shell, where this process is the kernel of a notebook; else None."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    return shell if getattr(shell := get_ipython(), "kernel", None) else None


class CellLine:
    """A file for `tqdm` that shows what was written last, as an output of the cell.

    Only all outputs of a cell can be removed: beside others, an empty one stays. Where outputs are
    kept (`%%capture`, a widget for outputs) nothing is shown.
    """

    def __init__(self):
        self.shell, self.text, self.name = kernel_shell(), "", f"{OURS}{next(_numbers)}"
        self.publisher = self.cell = None  # of the first text

    def write(self, text):
        text, publisher = text.strip("\r\n "), self.shell.display_pub
        cell = _cell(publisher)
        if not text or text == self.text or cell is None or (sent and sent.kept(cell)):
            return
        if not self.text:
            self.publisher, self.cell = publisher, cell
        self._publish({"text/plain": text}, update=bool(self.text))
        self.text = text

    def flush(self):
        pass

    def vanish(self):
        if self.text and self._alone():
            self.publisher.clear_output(wait=True)  # by what comes next, as the line of a next run
            self.shell.events.register("post_run_cell", self._at_end)
        elif self.text:
            self._publish({}, update=True)

    def _at_end(self, result):
        """Of the cell: nothing came."""
        self.shell.events.unregister("post_run_cell", self._at_end)
        if self._alone():
            self.publisher.clear_output()

    def _publish(self, data, update):
        own = dict(transient=dict(display_id=self.name), update=update)
        self.publisher.publish(data, **own)

    def _alone(self):
        """Whether clearing would remove this line and nothing else. In doubt it is not alone."""
        return (
            sent is not None
            and threading.current_thread() is threading.main_thread()
            and _cell(self.shell.display_pub) == self.cell
            # else the click on a widget, whose cell shows the widget
            and self.publisher.parent_header.get("msg_type") == "execute_request"
            and sent.only_ours(self.cell)
        )


class Sent:
    """What this kernel has sent since netlab was imported: all of it passes `Session.send`."""

    def __init__(self, shell):
        self.session, self.send = shell.kernel.session, shell.kernel.session.send
        self.others = {shell.get_parent()["header"]["msg_id"]}  # cells that show something else
        self.keepers = {}  # widgets for outputs -> the cell whose outputs each keeps now
        self.session.send = self._send

    def only_ours(self, cell):
        streams = sys.stdout, sys.stderr
        if any(getattr(stream, "session", None) is not self.session for stream in streams):
            return False  # redirected: what was printed earlier may not have been sent yet
        for stream in streams:
            stream.flush()
        return cell not in self.others and not self.kept(cell)

    def kept(self, cell):
        return cell in list(self.keepers.values())

    def _send(self, *arguments, **named):
        if message := self.send(*arguments, **named):
            self._see(message["msg_type"], message["content"], message["parent_header"])
        return message

    def _see(self, kind, content, parent):
        if kind in SHOWN:
            name = (content.get("transient") or {}).get("display_id") or ""
            if not str(name).startswith(OURS):
                self.others.add(parent.get("msg_id"))
        elif kind == "comm_msg":
            state = content["data"].get("state") or {}
            if "msg_id" in state:
                self.keepers[content["comm_id"]] = state["msg_id"]


def _cell(publisher):
    """The message that started the cell which shows what is published; None: it is captured."""
    return getattr(publisher, "parent_header", {}).get("msg_id")


def running_cell():
    """That of this kernel's cell that runs."""
    return _cell(kernel_shell().display_pub)


def watched():
    """What this kernel has `Sent`, where it is one that can be watched."""
    try:
        return Sent(kernel_shell()) if kernel_shell() else None
    except (AttributeError, KeyError):
        return None


sent = watched()
