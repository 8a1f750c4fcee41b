"use strict";
// The page is readable without this script. It sorts and filters tables and opens the targets of links.

function cellValue(row, column) {
  const cell = row.cells[column];
  const value = cell.dataset.value;
  if (value === undefined) return cell.textContent.trim().toLocaleLowerCase();
  return value === "" ? null : Number(value);
}

function compareCells(one, other, sign) {
  // Empty cells stay at the end in both directions.
  if (one === null || other === null) return (one === null) - (other === null);
  const order = typeof one === "number" ? one - other : one.localeCompare(other, undefined, { numeric: true });
  return sign * order;
}

function sortRows(table, head, column) {
  const numeric = head.classList.contains("n");
  const before = head.getAttribute("aria-sort");
  const first = numeric ? "descending" : "ascending";
  const second = numeric ? "ascending" : "descending";
  const order = before === first ? second : first;
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row) => ({ row, value: cellValue(row, column) }));
  rows.sort((a, b) => compareCells(a.value, b.value, sign));
  body.append(...rows.map((item) => item.row));
}

function makeSortable(table) {
  Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
    if (head.hasAttribute("data-plain")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    // The button takes the focus, and its term is explained then.
    button.querySelector("abbr")?.removeAttribute("tabindex");
    head.append(button);
    button.addEventListener("click", () => {
      sortRows(table, head, column);
      if (table.refresh) table.refresh();
    });
  });
}

function makeFilterable(table) {
  const page = Number(table.dataset.page || 0);
  const tools = document.createElement("div");
  tools.className = "tools";
  const label = document.createElement("label");
  const input = document.createElement("input");
  const count = document.createElement("span");
  const more = document.createElement("button");
  label.append("Filter ", input);
  input.type = "search";
  input.setAttribute("aria-label", "Filter " + table.dataset.filter);
  count.setAttribute("role", "status");
  more.type = "button";
  more.textContent = "show more";
  tools.append(label, count, more);
  const box = table.closest(".scroll") || table;
  box.before(tools);
  let shown = page;
  table.refresh = () => {
    const words = input.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    const rows = Array.from(table.tBodies[0].rows);
    let matching = 0;
    for (const row of rows) {
      const text = row.textContent.toLocaleLowerCase();
      const fits = words.every((word) => text.includes(word));
      matching += fits;
      row.hidden = !fits || (page > 0 && matching > shown);
    }
    const seen = page > 0 ? Math.min(shown, matching) : matching;
    count.textContent = words.length
      ? matching + " of " + rows.length + " match" + (seen < matching ? ", " + seen + " shown" : "")
      : seen + " of " + rows.length + " shown";
    more.hidden = seen >= matching;
  };
  input.addEventListener("input", () => { shown = page; table.refresh(); });
  more.addEventListener("click", () => { shown += page; table.refresh(); });
  table.refresh();
}

function openTarget() {
  const name = decodeURIComponent(location.hash.slice(1));
  const target = name && document.getElementById(name);
  if (!target) return;
  for (let box = target; box; box = box.parentElement) {
    if (box.tagName === "DETAILS") box.open = true;
  }
  const part = target.querySelector(":scope > details.part");
  if (part) part.open = true;
  if (target.tagName === "DETAILS") {
    target.scrollIntoView();
    target.querySelector("summary").focus({ preventScroll: true });
  }
}

document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll("table[data-filter]").forEach(makeFilterable);
addEventListener("hashchange", openTarget);
openTarget();

// Older browsers do not unfold for print by style alone.
const everything = document.getElementById("print-all");
let closed = [];
addEventListener("beforeprint", () => {
  const wanted = everything && !everything.checked ? "details.printed:not([open])" : "details:not([open])";
  closed = Array.from(document.querySelectorAll(wanted));
  closed.forEach((box) => { box.open = true; });
});
addEventListener("afterprint", () => closed.forEach((box) => { box.open = false; }));
function offer(name, action) {
  const button = document.getElementById(name);
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", action);
}
offer("print", () => print());

// Keys; the page lists its own in the dialog.
const keys = document.getElementById("keys");
const toggleKeys = () => { if (keys.open) keys.close(); else keys.showModal(); };
offer("show-keys", toggleKeys);
offer("hide-keys", () => keys.close());

function walk(step) {
  const samples = Array.from(document.querySelectorAll("details.sample > summary"));
  const at = samples.findIndex((head) => head.parentElement.contains(document.activeElement));
  const next = samples[at < 0 ? (step > 0 ? 0 : samples.length - 1) : Math.min(samples.length - 1, Math.max(0, at + step))];
  if (next) next.focus();
}

function filter() {
  const field = document.querySelector("#samples .tools input") || document.querySelector(".tools input");
  if (!field) return;
  for (let box = field.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  field.focus();
}

const actions = { "?": toggleKeys, "/": filter, j: () => walk(1), k: () => walk(-1) };
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=checkbox])")) return;
  if (!actions[event.key] || (keys.open && event.key !== "?")) return;
  actions[event.key]();
  event.preventDefault();
});
