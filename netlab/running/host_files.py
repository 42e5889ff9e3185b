"""The files of a network's hosts, as texts by name."""

import posixpath
import shlex
from collections.abc import Mapping

from netlab.engines.protocol import ignore
from netlab.errors import SpecificationError
from netlab.running.typed import one_line

END = "END_OF_FILE"


class Files(Mapping):
    """By host, a `Folder`: ``net.files["h1"]["out.json"]``."""

    def __init__(self, net):
        self.net = net

    def __getitem__(self, host):
        return Folder(self.net, host)

    def __iter__(self):
        return iter(self.net.topology.node_names)

    def __len__(self):
        return len(self.net.topology.node_names)


class Folder:
    """The folder that a host's terminal is in; the hosts of a network share their files.

    ``folder[name]`` is a file's text; ``folder[name] = text`` writes one, as a person would with
    ``cat > name <<'END'`` on the terminal, where its lines can be typed as they are; iterating
    gives the names.
    """

    def __init__(self, net, host):
        self.net, self.host = net, host

    def __getitem__(self, name):
        return self._said(f"cat -- {shlex.quote(name)}", name)

    def __setitem__(self, name, text):
        lines = text.splitlines()
        if "\n".join(lines) != text.removesuffix("\n") or not all(map(can_be_typed, lines)):
            self._said(f"printf %s {shlex.quote(text)} >{shlex.quote(name)}", name)
            return
        for line in (f"cat >{shlex.quote(name)} <<'{END}'", *lines, END):
            self.net.type(self.host, line, show=ignore)

    def __iter__(self):
        return iter(self._said("ls -A1 --quoting-style=literal", ".").splitlines())

    def _said(self, command, name):
        folder = self.net.console(self.host).folder
        place = shlex.quote(folder) if folder else "~"
        job = self.net.run(self.host, f"cd {place} && {command}", echo=False)
        if job.status:
            name = posixpath.join(folder, name)
            raise FileNotFoundError(f"{name} on {self.host}: {job.text.strip()}")
        return job.raw


def can_be_typed(line):
    """Can this be typed as a line of a file, and stays what it is?"""
    try:
        return one_line(line) == line and line not in (END, "^C")
    except SpecificationError:
        return False
