
"use strict";
const find = (selector, within) => [...(within || document).querySelectorAll(selector)];
const byId = (id) => document.getElementById(id);

function save(name, rows) {
  const quoted = (one) => (/[",\n]/.test(one) ? `"${String(one).replaceAll('"', '""')}"` : one);
  const text = rows.map((row) => row.map(quoted).join(",") + "\n").join("");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
}

// [student, exercise, points] of each row; a spreadsheet may have written semicolons and 2,5
async function points(file) {
  const text = (await file.text()).replace(/^\ufeff/, ""), rows = [[]];
  const between = /^"?student"?;/.test(text) ? ";" : ",";
  const cell = new RegExp(`"((?:[^"]|"")*)"|[^${between}\r\n]+|${between}|\r?\n`, "g");
  let field = "";
  for (const [whole, quoted] of text.matchAll(cell)) {
    if (/^\r?\n$/.test(whole)) { rows.at(-1).push(field); rows.push([]); field = ""; }
    else if (whole === between) { rows.at(-1).push(field); field = ""; }
    else field = quoted === undefined ? whole : quoted.replaceAll('""', '"');
  }
  rows.at(-1).push(field);
  const [head, ...found] = rows.filter((row) => row.length > 2);
  if (String(head).slice(0, 23) !== "student,exercise,points") return null;
  return found.map(([id, exercise, given]) => [id, exercise, given.replace(",", ".")]).filter((row) => row[2] !== "");
}

function classPage(table) {
  const body = table.tBodies[0], rows = find("tr", body), heads = find("th", table);
  const value = (row, at) => row.cells[at].dataset.value ?? row.cells[at].textContent;
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending" ? -1 : 1, numeric = head.className === "number";
      heads.forEach((one) => one.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down < 0 ? "descending" : "ascending");
      const compare = (a, b) => (numeric ? (a === "" ? -1 : a) - (b === "" ? -1 : b) : a.localeCompare(b, undefined, { numeric: true }));
      body.append(...rows.sort((a, b) => down * compare(value(a, at), value(b, at))));
    });
  });
  byId("search").addEventListener("input", ({ target }) => {
    const words = target.value.toLowerCase().split(/\s+/);
    rows.forEach((row) => { row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word)); });
    byId("shown").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}.`;
  });
  if (!byId("save")) return;
  const given = Object.create(null);  // by hand: student -> exercise -> points
  const sum = (row) => Object.values(given[row.dataset.id] ?? {}).reduce((a, b) => a + b, 0);
  const whole = (one) => +one.toFixed(2);
  byId("by-hand").addEventListener("change", async ({ target }) => {
    const known = new Set(rows.map((row) => row.dataset.id)), strange = [];
    for (const file of target.files) {
      const found = await points(file);
      if (!found) strange.push(file.name);
      for (const [id, exercise, number] of found ?? []) {
        if (!known.has(id) || !(number >= 0)) strange.push(id);
        else (given[id] ??= {})[exercise] = +number;
      }
    }
    const all = [];
    for (const row of rows) {
      const automatic = value(row, 1), hand = given[row.dataset.id] && sum(row);
      [2, 3].forEach((at) => { heads[at].hidden = row.cells[at].hidden = false; });
      row.cells[2].textContent = row.cells[2].dataset.value = hand === undefined ? "" : whole(hand);
      row.cells[3].dataset.value = automatic === "" ? "" : whole(+automatic + (hand ?? 0));
      row.cells[3].textContent = automatic === "" ? "" : `${row.cells[3].dataset.value} of ${row.dataset.most}`;
      if (hand !== undefined && "counts" in row.dataset) all.push(+row.cells[3].dataset.value);
    }
    const mean = all.length ? `, on average ${whole(all.reduce((a, b) => a + b) / all.length)} in all` : "";
    byId("said").textContent = `${all.length} students have points by hand${mean}.` + (strange.length ? ` Not understood: ${strange.join(", ")}.` : "");
  });
  byId("save").addEventListener("click", () => {
    const cells = (row) => [row.dataset.id, value(row, 1), row.cells[2].textContent, row.cells[3].dataset.value ?? value(row, 1), row.dataset.most];
    save(`${table.dataset.name}-all.csv`, [["student", "points", "by hand", "in all", "max_points"], ...rows.map(cells)]);
  });
}

function textsPage(box) {
  const sections = find("section", box), field = (section) => find("input", section)[0];
  let saved = true;
  const tell = () => {
    sections.forEach((one) => one.classList.toggle("marked", field(one).value !== "" && field(one).validity.valid));
    const wrong = sections.filter((one) => !field(one).validity.valid).length;
    byId("said").textContent = `${find(".marked", box).length} of ${sections.length} have points.` + (wrong ? ` ${wrong} are above the most, or no number.` : "");
  };
  // as you leave a field, or its text would go while you type
  box.addEventListener("change", () => { saved = false; tell(); });
  byId("hide").addEventListener("change", ({ target }) => box.classList.toggle("hide", target.checked));
  byId("open").addEventListener("change", async ({ target }) => {
    const found = await points(target.files[0]), by = Object.fromEntries(sections.map((one) => [one.dataset.id, one]));
    const mine = (found ?? []).filter(([id, exercise]) => exercise === box.dataset.exercise && by[id]);
    mine.forEach(([id, , number]) => { field(by[id]).value = number; });
    tell();
    if (!mine.length) byId("said").textContent = `${target.files[0].name} has no points of ${box.dataset.exercise}.`;
  });
  byId("save").addEventListener("click", () => {
    const marked = find(".marked", box).map((one) => [one.dataset.id, box.dataset.exercise, field(one).value]);
    save(`${box.dataset.exercise}.csv`, [["student", "exercise", "points"], ...marked]);
    saved = true;
  });
  addEventListener("beforeunload", (event) => { if (!saved) event.preventDefault(); });
  tell();
}

if (byId("class")) classPage(byId("class"));
if (byId("texts")) textsPage(byId("texts"));
