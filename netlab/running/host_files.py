"""The files of a network's hosts, by name."""

import base64
import posixpath
import shlex
from collections.abc import Mapping

from netlab.description import short
from netlab.engines.protocol import ignore
from netlab.errors import SpecificationError
from netlab.running.terminal import one_line

END = "END_OF_FILE"
PIECE = 24 << 10  # of a file, quoted in an argument, which has at most 128 KiB (MAX_ARG_STRLEN)


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

    ``folder[name]`` is a file's text. ``folder[name] = content`` writes one: a text as a person
    would with ``cat > name <<'END'`` on the terminal, where its lines can be typed as they are;
    bytes, such as a program of your own, as they are. Iterating gives the names.
    """

    def __init__(self, net, host):
        self.net, self.host = net, host

    def __getitem__(self, name):
        return self._said(f"cat -- {shlex.quote(self._checked(name))}", name)

    def __setitem__(self, name, content):
        place = shlex.quote(self._checked(name))
        if not isinstance(content, str | bytes):
            raise SpecificationError(
                f"files[{self.host!r}][{name!r}] = {short(content)}: a text or bytes, such as"
                " str(number), json.dumps(values) or path.read_bytes()"
            )
        if isinstance(content, str) and all(map(can_be_typed, lines_of(content))):
            for line in (f"cat >{place} <<'{END}'", *lines_of(content), END):
                self.net.type(self.host, line, show=ignore)
            return
        data = content.encode() if isinstance(content, str) else content
        if isinstance(content, str) and "\0" not in content and len(data) < PIECE:
            self._said(f"printf %s {shlex.quote(content)} >{place}", name)
            return
        for at in range(0, max(1, len(data)), PIECE):
            piece = base64.b64encode(data[at : at + PIECE]).decode()
            self._said(f"printf %s {piece} | base64 -d >{'>' * bool(at)}{place}", name)

    def __iter__(self):
        return iter(self._said("ls -A1 --quoting-style=literal", ".").splitlines())

    def _checked(self, name):
        if isinstance(name, str) and name and "\0" not in name:
            return name
        raise SpecificationError(
            f"files[{self.host!r}][{short(name)}]: the name of a file, as text"
        )

    def _said(self, command, name):
        folder = self.net.console(self.host).folder
        place = shlex.quote(folder) if folder else "~"
        job = self.net.run(self.host, f"cd {place} && {command}", echo=False)
        if job.status:
            name = posixpath.join(folder, name)
            raise FileNotFoundError(f"{name} on {self.host}: {job.text.strip()}")
        return job.raw


def lines_of(text):
    """The lines of a text; the last one is whole, or the text is one that cannot be typed."""
    lines = text.splitlines()
    return lines if "\n".join(lines) == text.removesuffix("\n") else [text]


def can_be_typed(line):
    """Can this be typed as a line of a file, and stays what it is?"""
    try:
        return one_line(line) == line and line not in (END, "^C")
    except SpecificationError:
        return False
