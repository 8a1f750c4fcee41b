// Unsaved edits, stored in this browser until a version contains them.
// An edit contains the fields of a case that differ from its base version. Undo works per tab and session.
const bar = document.getElementById("draft");
export const truth = JSON.parse(bar.dataset.truth);
const key = `ragstone-draft:${truth.store}:${truth.name}`;
const undoKey = key.replace("draft", "undo");
const TYPING_MS = 1000;
const MOST_STEPS = 200;
const MOST_HISTORY = 1_000_000;
// Edits that do not fit into the storage of the browser; they are lost when the page is closed.
let unstored = null;
let unstoredSteps = null;

export const say = (words) => { document.getElementById("said").textContent = words; };
const shown = (text) => text.replace(/[^\S ]|[\p{Cc}\p{Cf}]/gu, "\ufffd");
export const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
export const token = () => bar.elements.token.value;

// The browser may forbid storage.
function stored(where, name) {
  try { return window[where].getItem(name); } catch { return null; }
}
function parse(text, otherwise) {
  try { return JSON.parse(text) ?? otherwise; } catch { return otherwise; }
}
// No prototype: case ids may be __proto__ or constructor.
export function draft() {
  const found = unstored ?? parse(stored("localStorage", key), null) ?? { base: truth.number, mark: "", cases: {} };
  return { ...found, cases: Object.assign(Object.create(null), found.cases) };
}
const steps = () => unstoredSteps ?? parse(stored("sessionStorage", undoKey), { done: [], undone: [] });

function keep(found) {
  try {
    if (Object.keys(found.cases).length) {
      localStorage.setItem(key, JSON.stringify({ ...found, mark: `${Date.now()}-${Math.random().toString(36).slice(2, 8)}` }));
    } else localStorage.removeItem(key);
    unstored = null;
  } catch {
    unstored = found;
  }
}
function keepSteps(found) {
  found.done = found.done.slice(-MOST_STEPS);
  let text = JSON.stringify(found);
  while (text.length > MOST_HISTORY && found.done.length > 1) {
    found.done.splice(0, Math.ceil(found.done.length / 2));
    text = JSON.stringify(found);
  }
  try {
    sessionStorage.setItem(undoKey, text);
    unstoredSteps = null;
  } catch {
    unstoredSteps = found;
  }
}

const listeners = [];
export const onChange = (listener) => listeners.push(listener);
function notify(name) {
  show();
  listeners.forEach((listener) => listener(name));
}

// The current state of a case: the version with the edits applied.
export const edited = (name, original) => ({ ...original, ...draft().cases[name] });

// Applies new field values; values equal to the version are not edits. Consecutive changes of one group within a second
// are one undo step, so that undo removes a word and not a letter.
export function change(name, original, fields, words, group = "") {
  const found = draft();
  const before = found.cases[name] ?? {};
  const after = { ...before, ...fields };
  for (const field of Object.keys(fields)) if (!after.added && same(after[field], original[field])) delete after[field];
  if (same(before, after)) return;
  put(found, name, after);
  keep(found);
  const history = steps();
  const last = history.done.at(-1);
  if (group && last?.group === group && last.name === name && Date.now() - last.time < TYPING_MS) {
    Object.assign(last, { after, time: Date.now() });
  } else history.done.push({ name, before, after, words, group, time: Date.now() });
  history.undone = [];
  keepSteps(history);
  bar.querySelector(".last").textContent = "";
  notify(name);
}
function put(found, name, patch) {
  if (Object.keys(patch).length) found.cases[name] = patch;
  else delete found.cases[name];
}

function step(from, to, side) {
  const history = steps();
  const last = history[from].pop();
  if (!last) return null;
  const found = draft();
  if (last.all) found.cases = last[side];
  else put(found, last.name, last[side]);
  keep(found);
  history[to].push(last);
  keepSteps(history);
  notify(last.name);
  return last;
}
// Announced and shown, because the change may be on another page.
function note(words, last) {
  const message = `${words}: ${last.words}${last.name ? ` (${shown(last.name).slice(0, 40)})` : ""}`;
  say(message);
  bar.querySelector(".last").textContent = `${message}.`;
}
export function undo() {
  const last = step("done", "undone", "before");
  if (last) note("Undone", last);
  else say("Nothing to undo");
  return last;
}
export function redo() {
  const last = step("undone", "done", "after");
  if (last) note("Redone", last);
  else say("Nothing to redo");
  return last;
}
function discard() {
  const found = draft();
  const history = steps();
  history.done.push({ all: true, before: found.cases, after: {}, words: "discard all", time: Date.now() });
  history.undone = [];
  found.cases = {};
  keep(found);
  keepSteps(history);
  notify(null);
  say("All edits discarded. Undo restores them.");
}

function show() {
  const found = draft();
  const names = Object.keys(found.cases);
  const history = steps();
  bar.hidden = !names.length && !history.done.length && !history.undone.length;
  bar.querySelector(".told b").textContent = names.length ? `${names.length} ${names.length === 1 ? "case" : "cases"} edited, not saved.` : "No unsaved edits.";
  bar.querySelector(".told .muted").hidden = !names.length;
  const behind = names.length && truth.newest > found.base;
  bar.querySelector(".warn").textContent = unstored ? "The browser storage is full: save before you leave this page." : (behind ? `v${truth.newest} was saved after your base version v${found.base}. You can merge both when you save.` : "");
  bar.querySelector("[data-do=undo]").disabled = !history.done.length;
  bar.querySelector("[data-do=redo]").disabled = !history.undone.length;
  bar.querySelector("[data-do=discard]").hidden = !names.length;
  bar.querySelector("button.primary").hidden = !names.length;
  document.body.classList.toggle("drafting", !bar.hidden);
  mark(found);
}
// Marks the rows of edited cases and lists the cases that exist only in the draft.
function mark(found) {
  for (const row of document.querySelectorAll("tr[data-case]")) {
    const [name] = JSON.parse(row.dataset.case);
    const patch = found.cases[name];
    let chip = row.querySelector(".edited");
    if (!patch) { chip?.remove(); row.classList.remove("removed"); continue; }
    if (!chip) {
      chip = document.createElement("span");
      chip.className = "chip doubt edited";
      row.querySelector("th").append(" ", chip);
    }
    chip.textContent = patch.removed ? "removed" : "edited";
    row.classList.toggle("removed", Boolean(patch.removed));
  }
  const box = document.getElementById("new-cases");
  if (!box) return;
  const added = Object.entries(found.cases).filter(([, patch]) => patch.added && !patch.removed);
  box.hidden = !added.length;
  box.querySelector("span").replaceChildren(...added.flatMap(([name, patch]) => {
    const link = document.createElement("a");
    link.href = `${truth.home}/new?${new URLSearchParams({ id: name })}`;
    link.dir = "auto";
    link.textContent = shown(patch.question ? `${name}: ${patch.question.slice(0, 80)}` : name);
    return [link, " "];
  }));
}

// Leaving the pages of this ground truth with unsaved edits shows a warning.
let inside = false;
const isHome = (url) => url.origin === location.origin && (url.pathname === truth.home || url.pathname.startsWith(`${truth.home}/`));
export function go(address) {
  inside = true;
  location.replace(address);
}
addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (link) inside = (isHome(new URL(link.href)) && !unstored) || link.hasAttribute("download");
}, true);
addEventListener("submit", (event) => {
  const url = new URL(event.target.getAttribute("action") ?? "", location.href);
  inside = isHome(url);
}, true);
addEventListener("beforeunload", (event) => {
  if (!inside && Object.keys(draft().cases).length) event.preventDefault();
});
addEventListener("pageshow", (event) => {
  inside = false;
  if (event.persisted) notify(null);
});

bar.addEventListener("submit", (event) => {
  const found = draft();
  if (!Object.keys(found.cases).length) { event.preventDefault(); return; }
  bar.elements.v.value = found.base;
  bar.elements.edits.value = JSON.stringify(found.cases);
  bar.elements.mark.value = found.mark;
});
bar.addEventListener("click", (event) => {
  ({ undo, redo, discard })[event.target.dataset?.do]?.();
});
addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
  const name = event.key.toLowerCase();
  if (name === "z" || name === "y") {
    event.preventDefault();
    (name === "y" || event.shiftKey ? redo : undo)();
  } else if (name === "s") {
    event.preventDefault();
    if (Object.keys(draft().cases).length) bar.requestSubmit();
    else say("Nothing to save");
  }
});
addEventListener("storage", (event) => { if (event.key === key) notify(null); });

// Checks whether another user has saved a version.
async function look() {
  if (document.hidden || !Object.keys(draft().cases).length) return;
  try {
    const { newest } = await (await fetch(`${truth.home}/newest.json`)).json();
    if (newest > truth.newest) { truth.newest = newest; show(); say(`Version ${newest} was saved by another user`); }
  } catch { /* the viewer was stopped; the edits are stored here */ }
}
setInterval(look, 15_000);
addEventListener("focus", look);

const query = new URLSearchParams(location.search);
if (query.has("saved")) {
  if (query.get("mark") && draft().mark === query.get("mark")) {
    localStorage.removeItem(key);
    sessionStorage.removeItem(undoKey);
  }
  const words = `Saved as version ${query.get("saved")}`;
  setTimeout(() => say(words), 100);
  const note = document.createElement("p");
  note.className = "notice";
  note.textContent = `${words}.`;
  document.querySelector(".head").append(note);
  query.delete("saved");
  query.delete("mark");
  history.replaceState(null, "", `${location.pathname}${query.size ? `?${query}` : ""}${location.hash}`);
}
show();
