// A figure of a page is a picture. When it comes near the window, plotly draws it in its place, as wide as
// the page and in the page's colours; the library is loaded once, from this folder. Sliders show states
// that were computed when the site was built.
"use strict";
const here = document.currentScript.src;
const NARROW_PX = 560;
const DARK = {
  "#222222": "#E6E6E6", "#6E6E6E": "#A8A8A8", "#E3E3E3": "#3A3D42", "white": "#131416", "#8A8A8A": "#9A9A9A",
  "#C9C9C9": "#55585E", "#0072B2": "#3D9BD9", "#882CDB": "#B07CF0", "#8A3414": "#D07A52", "#6A5470": "#A68FAD",
  "black": "#E6E6E6", "#000": "#E6E6E6", "#000000": "#E6E6E6", "rgb(0,0,0)": "#E6E6E6", "rgb(0, 0, 0)": "#E6E6E6",
};
const system = matchMedia("(prefers-color-scheme: dark)");
let library;

function isDark() {
  const theme = document.body.dataset.theme;
  return theme == "dark" || (theme != "light" && system.matches);
}

function plotly() {
  library ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = new URL("plotly.min.js", here);
    script.onload = () => done(window.Plotly);
    script.onerror = failed;
    document.head.append(script);
  });
  return library;
}

function made(kind, properties, ...children) {
  const element = Object.assign(document.createElement(kind), properties);
  element.append(...children);
  return element;
}

class Live {
  constructor(figure) {
    this.figure = figure;
    this.picture = figure.querySelector("img");
    this.text = figure.querySelector("script").textContent;
    this.values = [];
  }

  parts() {
    let text = this.text;
    if (isDark())
      for (const [light, dark] of Object.entries(DARK)) text = text.replaceAll(`"${light}"`, `"${dark}"`);
    const { data, layout = {}, grid } = JSON.parse(text);
    const width = this.figure.clientWidth, narrow = width < NARROW_PX;
    const title = layout.title ?? {}, subtitle = title.subtitle?.text ?? "";
    const lines = subtitle.split("<br>").filter(Boolean).length;
    let height = (layout.height ?? 450) - (title.text ? 50 : 0) - 28 * lines;
    layout.title = { text: "" };
    layout.autosize = true;
    delete layout.width;
    if (narrow) {
      const shown = new Set(data.filter(one => one.showlegend !== false && one.name).map(one => one.name));
      const room = [...shown].reduce((sum, name) => sum + 45 + 7 * name.length, 0);
      const rows = Math.ceil(room / (width - 40)), entries = Object.entries(layout);
      height += 20 * (rows - Math.ceil(room / 520));
      if (entries.some(([name, one]) => name.startsWith("yaxis") && one.scaleanchor)) // a square
        height = Math.min(height, width + 20 * rows + (layout.sliders ? 150 : 50));
      layout.font = { ...layout.font, size: 12 };
      for (const name of ["legend", "legend2"])
        if (layout[name] || name == "legend") layout[name] = { ...layout[name], font: { size: 12 } };
      const above = (layout.annotations ?? []).some(one => one.yref == "paper" && one.y >= 1);
      layout.margin = { ...(above ? {} : { t: 12 }), ...layout.margin, l: 45, r: 10 };
    }
    if (matchMedia("(pointer: coarse)").matches) layout.dragmode = false; // a finger scrolls the page
    layout.height = height;
    return { data, layout, grid, words: [title.text, subtitle].filter(Boolean), narrow };
  }

  async draw() {
    const { data, layout, grid, words, narrow } = this.parts();
    const Plotly = await plotly();
    if (!this.place) {
      this.place = made("div", { role: "img", ariaLabel: this.picture.alt });
      const caption = made("figcaption", {}, ...words.map((text, n) =>
        made(n ? "span" : "strong", { innerHTML: text.replaceAll("<br>", " ") })));
      this.picture.replaceWith(caption, this.place);
      if (grid) this.addSliders(grid);
    }
    const config = { responsive: true, displaylogo: false, displayModeBar: narrow ? false : "hover",
      modeBarButtons: [["zoom2d", "pan2d", "resetScale2d", "toImage"]] }; // none that leads elsewhere
    await Plotly.react(this.place, data, layout, config);
    if (grid) this.show(grid);
  }

  addSliders(grid) {
    this.said = made("output", {});
    const rows = grid.sliders.map(({ name, labels, at }, n) => {
      this.values[n] = at;
      const value = made("span", { textContent: labels[at] });
      const input = made("input", { type: "range", min: 0, max: labels.length - 1, value: at });
      input.setAttribute("aria-valuetext", labels[at]);
      input.addEventListener("input", () => {
        this.values[n] = +input.value;
        value.textContent = labels[input.value];
        input.setAttribute("aria-valuetext", labels[input.value]);
        this.show(grid);
      });
      return made("label", {}, made("span", { textContent: name }), input, value);
    });
    this.place.before(made("div", { className: "sliders" }, ...rows), this.said);
  }

  show(grid) {
    const number = grid.sliders.reduce((sum, { labels }, n) => sum * labels.length + this.values[n], 0);
    const { traces, said } = grid.states[number];
    const names = this.place.data.map(one => one.name), found = Object.keys(traces);
    const update = { x: found.map(name => traces[name][0]), y: found.map(name => traces[name][1]) };
    window.Plotly.restyle(this.place, update, found.map(name => names.indexOf(name)));
    this.said.textContent = said;
    this.place.ariaLabel = `${this.picture.alt} ${said}`;
  }
}

const figures = [...document.querySelectorAll("figure.live")].map(figure => new Live(figure));
const near = new IntersectionObserver(entries => {
  for (const { target, isIntersecting } of entries)
    if (isIntersecting) {
      near.unobserve(target);
      figures.find(one => one.figure == target).draw().catch(() => {}); // without plotly the picture stays
    }
}, { rootMargin: "400px" });
for (const one of figures) near.observe(one.figure);

const redraw = () => figures.forEach(one => one.place && one.draw());
system.addEventListener("change", redraw);
new MutationObserver(redraw).observe(document.body, { attributeFilter: ["data-theme"] });
