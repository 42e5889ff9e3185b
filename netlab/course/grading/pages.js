
"use strict";
const find = (selector, within) => [...(within || document).querySelectorAll(selector)];
const byId = (id) => document.getElementById(id);
const on = (id, kind, act) => byId(id)?.addEventListener(kind, act);

function save(name, rows) {
  const quoted = (one) => (/[",]/.test(one) ? `"${one.replaceAll('"', '""')}"` : one);
  const text = rows.map((row) => row.map(quoted).join(",") + "\n").join("");
  const href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  Object.assign(document.createElement("a"), { href, download: name }).click();
}

// [student, exercise, points] of each row; a spreadsheet may have written semicolons and 2,5
async function points(file) {
  const lines = (await file.text()).replace(/^\ufeff/, "").split(/\r?\n/);
  const between = /^"?student"?;/.test(lines[0]) ? ";" : ",";
  const cell = new RegExp(`(?:^|${between})(?:"((?:[^"]|"")*)"|([^${between}]*))`, "g");
  const cells = (line) => [...line.matchAll(cell)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain);
  const [head, ...rows] = lines.map(cells);
  if (head.slice(0, 3).join() !== "student,exercise,points") return null;
  return rows.filter((row) => row[2]).map(([id, exercise, given]) => [id, exercise, given.replace(",", ".")]);
}

function classPage(table) {
  const body = table.tBodies[0], rows = find("tr", body), heads = find("th", table);
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
  on("search", "input", ({ target }) => {
    const words = target.value.toLowerCase().split(/\s+/);
    rows.forEach((row) => { row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word)); });
    byId("shown").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}.`;
  });
  const given = new Map(rows.map((row) => [row.dataset.id, new Map()]));  // by hand: exercise -> points
  on("by-hand", "change", async ({ target }) => {
    const strange = [], all = [], total = (list) => +list.reduce((a, b) => a + b, 0).toFixed(2);
    for (const file of target.files) {
      for (const [id, exercise, number] of (await points(file)) ?? [[file.name]]) {
        if (given.has(id) && number >= 0) given.get(id).set(exercise, +number);
        else strange.push(id);
      }
    }
    [2, 3].forEach((at) => find(`tr > :nth-child(${at + 1})`, table).forEach((one) => { one.hidden = false; }));
    for (const row of rows) {
      const own = value(row, 1), hand = [...given.get(row.dataset.id).values()], [, , byHand, sum] = row.cells;
      byHand.textContent = hand.length ? total(hand) : "";
      sum.dataset.value = own === "" ? "" : total([+own, ...hand]);
      sum.textContent = own === "" ? "" : `${sum.dataset.value} of ${row.dataset.most}`;
      if (hand.length && "counts" in row.dataset) all.push(+sum.dataset.value);
    }
    const mean = all.length ? `, on average ${total([total(all) / all.length])} in all` : "";
    byId("said").textContent = `${all.length} students have points by hand${mean}.` + (strange.length ? ` Not understood: ${strange.join(", ")}.` : "");
  });
  on("save", "click", () => {
    const cells = (row) => [row.dataset.id, value(row, 1), value(row, 2), row.cells[3].dataset.value ?? value(row, 1), row.dataset.most];
    save(`${table.dataset.name}-all.csv`, [["student", "points", "by hand", "in all", "max_points"], ...rows.map(cells)]);
  });
}

function textsPage(box) {
  const sections = find("section", box), field = (section) => find("input", section)[0], exercise = box.dataset.exercise;
  let saved = true;
  const tell = () => {
    sections.forEach((one) => one.classList.toggle("marked", field(one).value !== "" && field(one).validity.valid));
    const wrong = sections.filter((one) => !field(one).validity.valid).length;
    byId("said").textContent = `${find(".marked", box).length} of ${sections.length} have points.` + (wrong ? ` ${wrong} are above the most, or no number.` : "");
  };
  // as you leave a field, or its text would go while you type
  box.addEventListener("change", () => { saved = false; tell(); });
  on("hide", "change", ({ target }) => box.classList.toggle("hide", target.checked));
  on("open", "change", async ({ target }) => {
    const by = new Map(sections.map((one) => [one.dataset.id, one])), found = (await points(target.files[0])) ?? [];
    const mine = found.filter(([id, of]) => of === exercise && by.has(id));
    mine.forEach(([id, , number]) => { field(by.get(id)).value = number; });
    tell();
    if (!mine.length) byId("said").textContent = `${target.files[0].name} has no points of ${exercise}.`;
  });
  on("save", "click", () => {
    const marked = find(".marked", box).map((one) => [one.dataset.id, exercise, field(one).value]);
    save(`${exercise}.csv`, [["student", "exercise", "points"], ...marked]);
    saved = true;
  });
  addEventListener("beforeunload", (event) => { if (!saved) event.preventDefault(); });
  tell();
}

if (byId("class")) classPage(byId("class"));
if (byId("texts")) textsPage(byId("texts"));
