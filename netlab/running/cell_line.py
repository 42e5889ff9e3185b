"""A line under a notebook's cell that is written again and again, and leaves nothing behind."""

import itertools
import sys

_numbers = itertools.count(1)


def kernel_shell():
    """IPython's shell, where this process is the kernel of a notebook; else None."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    return shell if getattr(shell := get_ipython(), "kernel", None) else None


class CellLine:
    """A file for `tqdm` that shows what was written last, as an output of the cell.

    An output that exists can be changed, but only all outputs of a cell can be removed. They are
    removed where this line is the only one; else an empty output stays, which nobody sees.
    """

    def __init__(self):
        self.shell, self.text, self.name = kernel_shell(), "", f"netlab-line-{next(_numbers)}"

    def write(self, text):
        text = text.strip("\r\n ")
        if text and text != self.text:
            self.publish({"text/plain": text}, update=bool(self.text))
            self.text = text

    def flush(self):
        pass

    def publish(self, data, update):
        own = dict(transient=dict(display_id=self.name), update=update)
        self.shell.display_pub.publish(data, **own)

    def vanish(self):
        if not self.text:
            return
        if others is not None and not others.any():
            self.shell.display_pub.clear_output()
        else:
            self.publish({}, update=True)


class OtherOutputs:
    """Whether the cell that runs has shown anything but lines of ours.

    It watches what the kernel sends; what the cell sent before it began is not known.
    """

    def __init__(self, shell):
        self.seen = True  # of the cell that imports netlab
        shell.events.register("pre_run_cell", self._next_cell)
        shell.display_pub.register_hook(self._see)
        for stream in (sys.stdout, sys.stderr):  # another thread sends what is printed
            stream.pub_thread.schedule(lambda stream=stream: stream.register_hook(self._see))

    def any(self):
        sys.stdout.flush()
        sys.stderr.flush()
        return self.seen

    def _next_cell(self, *_):
        self.any()  # what the cell before printed is its own
        self.seen = False

    def _see(self, message):
        name = message["content"].get("transient", {}).get("display_id") or ""
        self.seen |= message["msg_type"] != "clear_output" and not name.startswith("netlab-line-")
        return message


def watched():
    """`OtherOutputs` of this kernel, where it is one that can be watched."""
    try:
        return OtherOutputs(kernel_shell()) if kernel_shell() else None
    except AttributeError:
        return None


others = watched()
