"""plotly's `FigureWidget`, for slow machines too.

As plotly ships it, every figure brings the 5 MB of plotly.js along and has them evaluated anew.
What takes longer than two seconds anywidget gives up for good, so that on a slow laptop some of
several figures would be drawn and then stay still. Here plotly.js arrives once, packed, and is
evaluated once for the whole page; a figure waits for it as long as it takes.
"""

import functools
import gzip

import anywidget
import plotly.graph_objects as go
from ipywidgets import widget_serialization
from plotly.basewidget import BaseFigureWidget
from traitlets import Bytes, Instance, default


class Library(anywidget.AnyWidget):
    """plotly's part that runs in the browser; it shows nothing."""

    _esm = "export default {}"
    packed = Bytes().tag(sync=True)


@functools.cache
def library():
    """The one of this kernel."""
    return Library(packed=gzip.compress(str(BaseFigureWidget._esm).encode(), mtime=0))


class Figure(go.FigureWidget):
    """A `FigureWidget` that takes plotly.js from `library`, and all the width there is."""

    _esm = """
    async function load(model) {
        const library = await model.widget_manager.get_model(model.get("_library").replace("IPY_MODEL_", ""));
        const unpacked = new Blob([library.get("packed")]).stream().pipeThrough(new DecompressionStream("gzip"));
        const code = await new Response(unpacked, { headers: { "Content-Type": "text/javascript" } }).blob();
        return import(URL.createObjectURL(code));
    }

    // Notebook's shortcuts would take the arrow keys, which move sliders
    const shield = ({ target }) => target.setAttribute("data-lm-suppress-shortcuts", "");

    export default () => {
        let figure;
        return {
            initialize({ model }) {  // ends at once; what changes until plotly is there is kept, and told to it
                const missed = [];
                const keep = () => model.get("_py2js_update") && missed.push(model.get("_py2js_update"));
                model.on("change:_py2js_update", keep);
                figure = (globalThis.netlabPlotly ??= load(model)).then((plotly) => {
                    const own = plotly.default();
                    own.initialize({ model });
                    model.off("change:_py2js_update", keep);
                    for (const update of [...missed, null]) model.set("_py2js_update", update);
                    return own;
                });
            },
            async render({ model, el }) {
                const end = (await figure).render({ model, el });
                const watch = new ResizeObserver(() => {
                    window.dispatchEvent(new Event("resize"));
                    el.closest(".jp-OutputArea-output")?.addEventListener("focusin", shield);
                });
                watch.observe(el);
                return () => { watch.disconnect(); end(); };
            },
        };
    };
    """
    _library = Instance(Library).tag(sync=True, **widget_serialization)

    @default("_library")
    def _the_library(self):
        return library()

    def get_state(self, key=None, drop_defaults=False):
        """As it is now. Plotly's own tells a page that comes later, or anew, how the figure was in
        the beginning.
        """
        state = super().get_state(key, drop_defaults)
        if key is None and hasattr(self, "_data"):
            state["_widget_data"] = self.trait_metadata("_widget_data", "to_json")(self._data, self)
        return state

    def __init__(self, figure):
        super().__init__(figure)
        self._config = dict(
            responsive=True,
            displaylogo=False,
            modeBarButtons=[["zoom2d", "pan2d", "resetScale2d", "toImage"]],
        )
