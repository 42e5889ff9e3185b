"""The files of a network's hosts, as texts by name."""

import posixpath
import shlex
from collections.abc import Mapping

from netlab.engines.protocol import ignore

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
    ``cat > name <<'END'`` on the terminal; iterating gives the names.
    """

    def __init__(self, net, host):
        self.net, self.host = net, host

    def __getitem__(self, name):
        return self._said(f"cat -- {shlex.quote(name)}", name)

    def __setitem__(self, name, text):
        for line in (f"cat >{shlex.quote(name)} <<'{END}'", *text.splitlines(), END):
            self.net.type(self.host, line, show=ignore)

    def __contains__(self, name):
        return name in list(self)

    def __iter__(self):
        return iter(self._said("ls -A1 --quoting-style=literal", ".").splitlines())

    def _said(self, command, name):
        console = self.net.console(self.host)
        if console.job is None:
            self.net.edit(self.host, on=False)  # opens it, and a script does that again
        folder = console.folder
        job = self.net.run(self.host, f"cd {shlex.quote(folder)} && {command}", echo=False)
        if job.status:
            place = posixpath.join(folder, name)
            raise FileNotFoundError(f"{place} on {self.host}: {job.text.strip()}")
        return job.raw
