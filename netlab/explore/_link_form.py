"""The form of a link that is up: its fields, and the line that changes it."""

import html
import re

import ipywidgets as widgets

from netlab.errors import NetlabError, SpecificationError
from netlab.explore import _explorer
from netlab.explore._explorer import TEXT
from netlab.topology.picture import svg
from netlab.topology.retyping import holding, retyped

ROW = dict(flex_flow="row wrap", align_items="center", width="100%")
# to be read on dark pages, too
WRONG = f"{_explorer.WRONG}; background: #FFF0F0; padding: 4px 8px; border-radius: 4px"
LIKE = [("rate", "100mbit"), ("delay", "20ms"), ("loss", "0%"), ("queue", "250kb, 100 packets")]
LIKE += [("discipline", "fq_codel limit 1000")]


class LinkForm(widgets.VBox):
    """The fields of a link, and the line that changes it: `fields`, `line`, `apply`."""

    def __init__(self, panel, number):
        self.panel, self.number = panel, number
        self.own = panel.net.topology.links[number]
        self.fields = {
            name: widgets.Text(
                description=name, placeholder=like, layout=dict(width="260px", max_width="100%"),
                style=dict(description_width="75px"),
            )
            for name, like in LIKE
        }  # fmt: skip
        self.line, self._lines, self._after = widgets.HTML(), {}, None
        self.apply = widgets.Button(description="Apply", icon="check", button_style="primary")
        self.apply.on_click(self._press)
        self._show(panel.states[number])
        for field in self.fields.values():
            field.observe(lambda _: self.preview(), "value")
        title = widgets.HTML(f'<b style="{TEXT}">Link {self.own.a} - {self.own.b}</b>')
        row = widgets.Box([*self.fields.values()], layout=ROW)
        super().__init__([title, row, self.line, self.apply])
        self.preview()

    def _show(self, link):
        queue = f"{link.queue_packets} packets" if link.queue_packets else ""
        if link.rate and not (queue or link.qdisc or link.tclink):
            queue = f"{link.limit}"
        values = link.rate, link.delay, link.loss, queue, link.qdisc
        for field, value in zip(self.fields.values(), values, strict=True):
            field.value = value or ""

    def wanted(self):
        """The link as the fields have it; a SpecificationError where it cannot be."""
        rate, delay, loss, queue, discipline = (one.value.strip() for one in self.fields.values())
        packets = re.fullmatch(r"(\d{1,9}) ?p(?:ackets?)?", queue)
        return self.own.but(
            rate=rate or None, delay=delay or None, loss=loss or "0%", qdisc=discipline or None,
            queue_packets=int(packets[1]) if packets and not discipline else None,
            limit=queue if queue and rate and not packets and not discipline else None,
        )  # fmt: skip

    def preview(self):
        """Show the line that would be typed."""
        self._lines, said, look = {}, "Nothing changes.", TEXT
        states, topology = [*self.panel.states], self.panel.net.topology
        before = states[self.number]
        try:
            self._after = holding(topology, self.own, before, self.wanted())
            states[self.number] = self._after
            topology.but(links=states)
            self._lines = retyped(topology, self.own, before, self._after)
        except SpecificationError as error:
            said, look = html.escape(str(error)), WRONG
        shown = "\n".join(f"{node}# {line}" for node, line in self._lines.items())
        if shown:
            said = "What waits there is lost, as the disciplines are made anew." * (
                " del " in shown
            )
            if self._after.counts_packets and not topology.meets_segments(self.own):
                said += " Hosts hand over up to 64 KB at once (offload): so much is lost at once."
        code = f'<pre style="white-space: pre-wrap">{html.escape(shown)}</pre>'
        self.line.value = f'{code}<div style="{look}">{said}</div>'
        self.apply.disabled = not self._lines

    def _press(self, _):
        lines, after = self._lines, self._after  # as they are shown now
        self.panel._do(lambda: self._change(lines, after))

    def _change(self, lines, after):
        for node, line in lines.items():
            typed = self.panel._type(node, line)
            if typed.status:
                raise NetlabError(f"{node} refused `{line}`: {typed.output.strip()}")
        self.panel.states[self.number] = after
        now = self.panel.net.topology.but(links=self.panel.states)
        self.panel.picture.svg = svg(now, buttons=True)
        self.preview()
