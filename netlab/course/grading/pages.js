
"use strict";
const find = (selector, within) => [...(within || document).querySelectorAll(selector)];
const byId = (id) => document.getElementById(id);

const table = byId("class"), body = table.tBodies[0], rows = find("tr", body), heads = find("th", table);
const value = (row, at) => row.cells[at].dataset.value ?? row.cells[at].textContent;
heads.forEach((head, at) => {
  const button = Object.assign(document.createElement("button"), { textContent: head.textContent });
  head.replaceChildren(button);
  button.addEventListener("click", () => {
    const down = head.ariaSort === "ascending" ? -1 : 1;
    heads.forEach((one) => { one.ariaSort = one === head ? (down < 0 ? "descending" : "ascending") : null; });
    const compare = (a, b) => (head.className === "number" ? (a || -1) - (b || -1) : a.localeCompare(b, undefined, { numeric: true }));
    body.append(...rows.sort((a, b) => down * compare(value(a, at), value(b, at))));
  });
});
byId("search").addEventListener("input", ({ target }) => {
  const words = target.value.toLowerCase().split(/\s+/);
  rows.forEach((row) => { row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word)); });
  byId("shown").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}.`;
});
