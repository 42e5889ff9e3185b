"""plotly's `FigureWidget`, changed so that it works on slow machines.

In plotly's own version every figure sends the 5 MB of plotly.js to the browser, which evaluates
them again for each figure. anywidget gives up on a widget that is not ready after two seconds, so
on a slow laptop some figures would be drawn once and then never change. Here plotly.js is sent
once, compressed, and evaluated once per page, and a figure waits for it without a time limit.
"""

import functools
import gzip

import anywidget
import plotly.graph_objects as go
from ipywidgets import widget_serialization
from plotly.basewidget import BaseFigureWidget
from traitlets import Bytes, Instance, Unicode, default

# Without its kernel nothing of an explorer or a panel works any more
TELL_LOST = """
    function tellLost(el) {
        const lost = el.closest(".jupyter-widgets-disconnected") && el.closest(".netlab-explorer");
        if (!lost) return;
        lost.querySelectorAll("button, input, select").forEach((one) => { one.disabled = true; });
        lost.querySelectorAll(".progress").forEach((bar) => bar.remove());
        lost.querySelector(".netlab-status").textContent =
            "The kernel has been restarted, or has ended: run this cell again, or load the page.";
    }
"""


class Library(anywidget.AnyWidget):
    """A widget without a view that carries plotly.js to the browser."""

    _esm = "export default {}"
    packed = Bytes().tag(sync=True)


@functools.cache
def library():
    """The only `Library` of this Jupyter kernel."""
    return Library(packed=gzip.compress(str(BaseFigureWidget._esm).encode(), mtime=0))


class Figure(go.FigureWidget):
    """A `FigureWidget` that takes plotly.js from `library`, and uses the full width."""

    _esm = (
        TELL_LOST
        + """
    async function load(model) {
        const id = model.get("_library").replace("IPY_MODEL_", "");
        const packed = new Blob([(await model.widget_manager.get_model(id)).get("packed")]);
        const unpacked = packed.stream().pipeThrough(new DecompressionStream("gzip"));
        const headers = { "Content-Type": "text/javascript" };
        const code = await new Response(unpacked, { headers }).blob();
        return import(URL.createObjectURL(code));
    }

    // Notebook's shortcuts would take the arrow keys, which move sliders
    const shield = ({ target }) => target.setAttribute("data-lm-suppress-shortcuts", "");

    // A slider says its name, and its setting as it is written beside it
    function name(handle) {
        const box = handle.closest(".widget-inline-hbox");
        handle.setAttribute("aria-label", box.querySelector(".widget-label").textContent);
        const say = () => {
            const text = box.querySelector(".widget-readout").textContent;
            if (handle.getAttribute("aria-valuetext") !== text) {
                handle.setAttribute("aria-valuetext", text);
            }
        };
        const parts = { subtree: true, childList: true, characterData: true };
        const watch = { ...parts, attributes: true, attributeFilter: ["aria-valuetext"] };
        new MutationObserver(say).observe(box, watch);
        say();
    }

    // Names for buttons with a picture only, a voice for what is told, a place for the focus, which
    // a button that is switched off would lose to the page
    function tend(explorer) {
        explorer.querySelectorAll(".noUi-handle:not([aria-label])").forEach(name);
        explorer.querySelectorAll(".widget-play").forEach((play) => {
            ["play or pause", "stop", "repeat"].forEach((word, at) => {
                play.querySelectorAll("button")[at]?.setAttribute("aria-label", word);
            });
        });
        explorer.querySelector(".netlab-status")?.setAttribute("role", "status");
        const last = explorer.netlabFocus, now = document.activeElement;
        if (last?.disabled && (now === last || now === document.body)) {
            last.parentElement.querySelector("button:enabled")?.focus();
        }
    }
    const remember = ({ target, currentTarget }) => { currentTarget.netlabFocus = target; };

    export default () => {
        let figure;
        return {
            initialize({ model }) {  // returns at once; updates before plotly is ready are kept
                const missed = [];
                const keep = () => {
                    if (model.get("_py2js_update")) missed.push(model.get("_py2js_update"));
                };
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
                const describe = () => el.setAttribute("aria-label", model.get("description"));
                el.setAttribute("role", "figure");
                describe();
                model.on("change:description", describe);
                const changes = { subtree: true, childList: true, attributeFilter: ["disabled"] };
                const widgets = new MutationObserver(() => {  // they may come after the figure
                    const explorer = el.closest(".netlab-explorer");
                    if (explorer) tend(explorer);
                });
                const watch = new ResizeObserver(() => {
                    window.dispatchEvent(new Event("resize"));
                    el.closest(".jp-OutputArea-output")?.addEventListener("focusin", shield);
                    const explorer = el.closest(".netlab-explorer");
                    if (!explorer) return;
                    tend(explorer);
                    explorer.addEventListener("focusin", remember);
                    widgets.observe(explorer, changes);
                });
                watch.observe(el);
                const lost = () => setTimeout(() => tellLost(el), 100);
                model.on("comm_live_update", lost);
                return () => {
                    watch.disconnect();
                    widgets.disconnect();
                    model.off("change:description", describe);
                    model.off("comm_live_update", lost);
                    end();
                };
            },
        };
    };
    """
    )
    _library = Instance(Library).tag(sync=True, **widget_serialization)
    description = Unicode().tag(sync=True)

    @default("_library")
    def _the_library(self):
        return library()

    def get_state(self, key=None, drop_defaults=False):
        """The current state; with plotly's own method a page opened later gets the first state."""
        state = super().get_state(key, drop_defaults)
        if key is None and hasattr(self, "_data"):
            state["_widget_data"] = self.trait_metadata("_widget_data", "to_json")(self._data, self)
        return state

    def __init__(self, figure, description=""):
        super().__init__(figure)
        self.description = description
        self._config = dict(
            responsive=True,
            displaylogo=False,
            modeBarButtons=[["zoom2d", "pan2d", "resetScale2d", "toImage"]],
        )
