"""What a panel shows that ipywidgets has not: a picture to press on, and a terminal's text."""

import anywidget
from traitlets import Bool, Int, Unicode

from netlab.explore._figure_widget import TELL_LOST


class Picture(anywidget.AnyWidget):
    """The picture of a network, whose nodes and links are buttons; they send ``{"target"}``."""

    svg = Unicode().tag(sync=True)
    pressed = Unicode().tag(sync=True)  # targets of which something is open, with spaces between

    _css = """
    .netlab-picture { overflow-x: auto; }
    .netlab-picture svg { display: block; min-width: 340px; }
    .netlab-picture [role=button] { cursor: pointer; outline: none; }
    .netlab-picture [role=button] > rect { stroke-width: 3px; }
    .netlab-picture [role=button]:hover > path { stroke: rgb(37 99 235 / 15%); }
    .netlab-picture [role=button]:hover > rect { fill: rgb(37 99 235 / 15%); }
    .netlab-picture [aria-expanded=true] > path { stroke: rgb(37 99 235 / 22%); }
    .netlab-picture [aria-expanded=true] > rect { stroke: #1d4ed8; }
    .netlab-picture [role=button]:focus-visible > path { stroke: rgb(217 119 6 / 45%); }
    .netlab-picture [role=button]:focus-visible > rect { stroke: #b45309; stroke-width: 4px; }
    """
    _esm = (
        TELL_LOST
        + """
    export default { render({ model, el }) {
        el.classList.add("netlab-picture");
        el.setAttribute("data-lm-suppress-shortcuts", "");
        const mark = () => {
            const open = model.get("pressed").split(" ");
            for (const one of el.querySelectorAll("[data-target]")) {
                one.setAttribute("aria-expanded", open.includes(one.dataset.target));
            }
        };
        const draw = () => {
            const before = el.querySelector(":focus")?.dataset.target;
            el.innerHTML = model.get("svg");
            mark();
            if (before) el.querySelector(`[data-target="${before}"]`)?.focus();
        };
        const press = (event) => {
            const target = event.target.closest("[data-target]")?.dataset.target;
            if (!target || !["click", " ", "Enter"].includes(event.key ?? event.type)) return;
            event.preventDefault();
            model.send({ target });
        };
        el.addEventListener("click", press);
        el.addEventListener("keydown", press);
        const lost = () => setTimeout(() => tellLost(el), 100);
        const heard = { "change:svg": draw, "change:pressed": mark, comm_live_update: lost };
        for (const [name, act] of Object.entries(heard)) model.on(name, act);
        draw();
        return () => {
            for (const [name, act] of Object.entries(heard)) model.off(name, act);
        };
    } };
    """
    )


class Terminal(anywidget.AnyWidget):
    """The text of a node's terminal and a line to type; it sends ``{"line", "stays"}``, where ^C is
    a line, too, or ``{"close"}``.
    """

    host = Unicode().tag(sync=True)
    text = Unicode().tag(sync=True)
    busy = Bool().tag(sync=True)
    cursor = Int().tag(sync=True)  # each new number puts the cursor into the line

    _css = """
    .netlab-terminal {
        display: flex; flex-direction: column; gap: 4px; box-sizing: border-box; padding: 6px;
        width: 100%; border: 1px solid var(--jp-border-color1, #bbb); border-radius: 6px;
        color: var(--jp-ui-font-color1, #111); font: 14px system-ui, sans-serif;
    }
    .netlab-terminal pre {
        height: 15em; margin: 0; padding: 6px; overflow: auto; white-space: pre-wrap;
        overflow-wrap: anywhere; font: 13px/1.35 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono",
        monospace; color: #e6edf3; background: #10161f; border-radius: 4px;
    }
    .netlab-terminal form, .netlab-terminal header, .netlab-terminal .line {
        display: flex; flex-wrap: wrap; gap: 6px; align-items: center;
    }
    .netlab-terminal header { justify-content: space-between; }
    .netlab-terminal .line { flex: 1 1 200px; flex-wrap: nowrap; }
    .netlab-terminal input[type=text], .netlab-terminal button {
        padding: 4px 8px; border: 1px solid var(--jp-border-color0, #888); border-radius: 4px;
        font: inherit; color: inherit; background: var(--jp-layout-color2, #eee);
    }
    .netlab-terminal input[type=text] {
        flex: 1; min-width: 0; font-family: monospace; background: var(--jp-layout-color0, #fff);
    }
    .netlab-terminal :focus-visible { outline: 3px solid #d97706; outline-offset: 1px; }
    """
    _esm = """
    const html = (host) => `
        <header>
            <b></b><button class="close" aria-label="Close the terminal of ${host}">Close</button>
        </header>
        <pre tabindex="0" role="log" aria-label="What the terminal of ${host} shows"></pre>
        <form>
            <label class="line">${host}# <input type="text" aria-label="Line to type on ${host}"
                autocomplete="off" autocapitalize="off" spellcheck="false"></label>
            <button>Type</button>
            <button type="button" class="stop" aria-label="Ctrl-C on ${host}">Ctrl-C</button>
            <label><input type="checkbox"> leave it running</label>
        </form>`;
    export default { render({ model, el }) {
        const host = model.get("host"), typed = [];
        let at = 0;
        el.classList.add("netlab-terminal");
        el.setAttribute("data-lm-suppress-shortcuts", "");
        el.innerHTML = html(host);
        const find = (what) => el.querySelector(what);
        const screen = find("pre"), line = find("[type=text]"), stays = find("[type=checkbox]");
        const show = () => {
            const text = model.get("text"), before = screen.textContent;
            if (before && text.startsWith(before)) screen.append(text.slice(before.length));
            else screen.textContent = text;
            screen.scrollTop = screen.scrollHeight;
        };
        const state = () => { find("b").textContent = host + (model.get("busy") ? ", busy" : ""); };
        const focus = () => { if (model.get("cursor")) line.focus(); };
        const stop = () => model.send({ line: "^C", stays: false });
        find("form").addEventListener("submit", (event) => {
            event.preventDefault();
            if (line.value && typed.at(-1) !== line.value) typed.push(line.value);
            at = typed.length;
            model.send({ line: line.value, stays: stays.checked });
            line.value = "";
        });
        find(".stop").addEventListener("click", stop);
        find(".close").addEventListener("click", () => model.send({ close: true }));
        line.addEventListener("keydown", (event) => {
            const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
            const chosen = line.selectionStart !== line.selectionEnd;  // Ctrl-C copies it
            const ends = event.key === "c" && event.ctrlKey && !chosen;
            if (step) {
                at = Math.min(Math.max(at + step, 0), typed.length);
                line.value = typed[at] ?? "";
            }
            if (ends) stop();
            if (ends || step) event.preventDefault();
            event.stopPropagation();
        });
        const all = [["text", show], ["busy", state], ["cursor", focus]];
        for (const [name, act] of all) model.on(`change:${name}`, act);
        show(); state();
        const soon = setTimeout(focus, 50);  // it is not in the page yet
        return () => {
            clearTimeout(soon);
            for (const [name, act] of all) model.off(`change:${name}`, act);
        };
    } };
    """
