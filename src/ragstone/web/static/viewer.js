// Optional features: keyboard shortcuts, filters that submit themselves and copied links.
const say = (words) => { document.getElementById("said").textContent = words; };
const typing = (target) => target.closest("input, select, textarea, [contenteditable]");

// Listeners are on the document: parts of a page are replaced while it is open (live.js).
addEventListener("change", (event) => {
  if (event.target.matches("form[data-submits] select")) event.target.form.requestSubmit();
  const box = event.target;
  if (box.matches("form.choosing input[type=checkbox]")) choose(box.value, box.checked && box.closest("tr").querySelector("a").textContent);
});
// Leaves empty fields out of the address.
addEventListener("formdata", (event) => {
  for (const [name, value] of Array.from(event.formData)) if (value === "") event.formData.delete(name);
});

// The selected runs are remembered in this tab: the table has pages, filters and orders.
const CHOSEN = "ragstone.chosen";
const boxes = () => Array.from(document.querySelectorAll("form.choosing input[type=checkbox]"));
let chosen = {};
try { chosen = JSON.parse(sessionStorage.getItem(CHOSEN)) || {}; } catch { /* Without storage the selection is that of this page. */ }

function choose(id, name) {
  if (name) chosen[id] = name;
  else delete chosen[id];
  try { sessionStorage.setItem(CHOSEN, JSON.stringify(chosen)); } catch { /* As above. */ }
  showChosen();
}

// Runs that were selected on another page of the table, each with a button that removes it.
function showChosen() {
  if (!document.getElementById("compare")) return;
  for (const box of boxes()) box.checked = box.value in chosen;
  const here = new Set(boxes().map((box) => box.value));
  const elsewhere = Object.entries(chosen).filter(([id]) => !here.has(id));
  document.getElementById("elsewhere").replaceChildren(...elsewhere.map(([id, name]) => {
    const part = document.createElement("span");
    const field = Object.assign(document.createElement("input"), { type: "hidden", name: "run", value: id });
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: `${name} ×` });
    button.setAttribute("aria-label", `Remove ${name}, ${id}, from the selection`);
    button.dataset.remove = id;
    part.className = "picked";
    part.append(field, button);
    return part;
  }));
  const count = Object.keys(chosen).length;
  document.getElementById("compare").disabled = count < 2;
  const words = count === 2 ? "The older one is A." : count > 2 ? `${count} runs in one table.` : "Select two runs or more. Of two, the older one is A.";
  document.getElementById("chosen").textContent = elsewhere.length ? `${words} Also selected:` : words;
}

addEventListener("click", (event) => {
  const button = event.target.closest("button[data-remove]");
  if (!button) return;
  choose(button.dataset.remove);
  document.querySelector("#elsewhere button, form.choosing input[type=checkbox]")?.focus();
});

// Keys. The list of a page is in its dialog #keys.
const keys = document.getElementById("keys");
const ROWS = "table.samples tbody tr, table.runs tbody tr, table.leaders tbody tr, table.truths tbody tr";

function walk(step) {
  const links = Array.from(document.querySelectorAll(ROWS), (row) => row.querySelector("a")).filter((link) => link?.checkVisibility());
  if (!links.length) return false;
  const row = document.activeElement.closest?.(ROWS);
  const at = row ? links.indexOf(row.querySelector("a")) : -1;
  const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + step));
  links[next].focus();
  return true;
}

function toggleKeys() {
  if (keys.open) keys.close();
  else keys.showModal();
  return true;
}

// Clicks the link, button, check box or summary that has the key.
function press(key) {
  const target = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (!target || target.disabled) return false;
  target.click();
  if (target.matches("summary, input")) target.focus();
  return true;
}

const ACTIONS = {
  "?": toggleKeys,
  "/": () => { const field = document.querySelector("#main input[type=search]"); field?.focus(); field?.select(); return Boolean(field); },
  h: () => { location.href = "/runs"; return true; },
  p: () => { const above = Array.from(document.querySelectorAll(".crumbs a")).at(-1); above?.click(); return Boolean(above); },
  x: () => { const box = document.activeElement.closest?.("table.runs tr")?.querySelector("input[type=checkbox]"); box?.click(); return Boolean(box); },
  j: () => walk(1),
  k: () => walk(-1),
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  // A check box takes no letters.
  if (typing(event.target) && !event.target.matches("input[type=checkbox]")) return;
  if (keys.open && event.key !== "?") return;
  // In a conversation the arrows choose the turn; in its evidence they scroll.
  const turns = document.querySelector(".transcript") && !event.target.closest("#evidence, .scroll");
  const key = (turns && { ArrowDown: "j", ArrowUp: "k" }[event.key]) || event.key;
  if (press(key) || ACTIONS[key]?.()) event.preventDefault();
});
document.getElementById("hide-keys").addEventListener("click", () => keys.close());

// A button copies the address of the page or a text of the server; a link next to a claim or chunk, the address of that place.
addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy], button[data-copy-from]");
  if (!button || button.dataset.words) return;
  const from = button.dataset.copyFrom;
  const address = button.dataset.copy ? new URL(button.dataset.copy, location.href).href : location.href;
  button.dataset.words = button.textContent;
  try {
    await navigator.clipboard.writeText(from ? await (await fetch(from)).text() : address);
    button.textContent = button.matches("a") ? "✓" : "Copied";
    say(from ? "Copied as Markdown" : "Link copied");
  } catch {
    if (!button.matches("a")) button.textContent = from ? "Not copied: use the file" : "Copy the link from the address bar";
  }
  setTimeout(() => { button.textContent = button.dataset.words; delete button.dataset.words; }, 2000);
});

function prepare() {
  for (const button of document.querySelectorAll("button[data-copy], button[data-copy-from], #show-keys")) button.hidden = false;
  showChosen();
}
addEventListener("click", (event) => { if (event.target.closest("#show-keys")) toggleKeys(); });
document.addEventListener("updated", prepare);
// The browser may restore check boxes of an earlier visit; the selection of this tab counts.
addEventListener("pageshow", showChosen);
prepare();

// A link to a folded part opens it.
function unfold() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target && target.closest("details");
  if (folded) folded.open = true;
}
addEventListener("hashchange", unfold);
unfold();

