// Labels are sent without a reload: the page shows the new status, then goes on to the next row.
const form = document.getElementById("labelling");
const author = form.elements.author;
const say = (words) => { document.getElementById("said").textContent = words; };
const AUTHOR = "ragstone-author", LAST = "ragstone.lastlabel";
const store = (box, key, value) => { try { if (value === undefined) return box.getItem(key); box.setItem(key, value); } catch { /* Without storage nothing is remembered. */ } return null; };
author.value = store(localStorage, AUTHOR) || author.value;
form.querySelector("details").open ||= !author.value;
let busy = false;

const item = (one) => {
  const line = document.createElement("li"), name = document.createElement("b");
  name.dir = "auto";
  name.textContent = one.author;
  line.append(name, `: ${one.words}`);
  if (one.note) { const note = document.createElement("q"); note.dir = "auto"; note.textContent = one.note; line.append(", ", note); }
  return line;
};

function fail(words) {
  let box = document.getElementById("label-error");
  if (!box) { box = Object.assign(document.createElement("p"), { id: "label-error", className: "bad" }); form.append(box); }
  box.textContent = words;
  say(words);
}

async function post(fields) {
  const answer = await fetch("/labels/save.json", { method: "POST", body: new URLSearchParams(fields), headers: { "content-type": "application/x-www-form-urlencoded" } });
  const text = await answer.text();
  const isJson = (answer.headers.get("content-type") || "").startsWith("application/json");
  if (!answer.ok) throw new Error(isJson ? JSON.parse(text).words : text);
  return JSON.parse(text);
}

function show(data) {
  document.getElementById("given").replaceChildren(...data.labels.map(item));
  document.getElementById("divided").hidden = new Set(data.labels.map((one) => one.value).filter((value) => value !== "skipped")).size < 2;
  const tones = { wrong: "bad", look: "unsure", fine: "good" };
  let why = document.querySelector(".head .why");
  if (!why) { why = Object.assign(document.createElement("p"), { className: "why" }); document.querySelector("h1.asked").after(why); }
  const chip = Object.assign(document.createElement("span"), { className: `chip ${tones[data.sample.status] || "silent"}` });
  chip.textContent = data.sample.labelled ? `${data.sample.status}, ${data.sample.labelled}` : data.sample.wrong === null ? data.sample.status : data.sample.status === "wrong" ? `wrong ${Math.round(100 * data.sample.wrong)} %` : `${data.sample.status} (wrong: ${Math.round(100 * data.sample.wrong)} %)`;
  const rest = data.sample.cause ? [" ", Object.assign(document.createElement("span"), { className: "chip bad", textContent: data.sample.cause })] : [];
  why.replaceChildren(chip, ...rest);
}

async function send(label) {
  if (busy) return;
  busy = true;
  form.setAttribute("aria-busy", "true");
  const fields = { ...Object.fromEntries(new FormData(form)), label, by: "script" };
  store(localStorage, AUTHOR, author.value);
  try {
    const data = await post(fields);
    store(sessionStorage, LAST, JSON.stringify({ run: fields.run, row: fields.row, here: location.pathname + location.search, ...data.undo }));
    document.getElementById("label-error")?.remove();
    form.elements.note.value = "";
    // The list of a claim is drawn by the server.
    if (label.startsWith("claim ")) { location.reload(); return; }
    show(data);
    say(`Saved: ${label.replace("answer ", "")}${data.next ? "" : ". Undo with u"}`);
    if (data.next) location.assign(data.next);
    else if (fields.pick !== "stay") fail("Saved. That was the last row of this list.");
  } catch (error) {
    fail(`Not saved: ${error instanceof TypeError ? "the viewer does not answer" : error.message}`);
  } finally {
    busy = false;
    form.removeAttribute("aria-busy");
  }
}

async function undo() {
  let last = null;
  try { last = JSON.parse(store(sessionStorage, LAST)); } catch { /* Nothing was kept. */ }
  if (!last) return say("There is no label to undo in this tab.");
  try {
    await post({ token: form.elements.token.value, author: author.value, run: last.run, row: last.row, label: last.label, note: last.note, pick: "stay", by: "script" });
    store(sessionStorage, LAST, "null");
    if (last.here === location.pathname + location.search) location.reload();
    else location.assign(last.here);
  } catch (error) { fail(`Not undone: ${error instanceof TypeError ? "the viewer does not answer" : error.message}`); }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.submitter?.value) send(event.submitter.value);
});
// Enter and Escape leave the note, so that the next key labels the answer.
form.elements.note.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== "Escape") return;
  event.target.blur();
  event.preventDefault();
});
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.target.closest("input:not([type=checkbox]), select, textarea, dialog")) return;
  if (event.key === "u") { undo(); event.preventDefault(); }
  if (event.key !== "y" && event.key !== "x") return;
  const claim = document.activeElement.closest?.(".subjects > li") || document.querySelector(".subjects > li.lit");
  const target = claim?.querySelector(`[data-claim="${event.key}"]`);
  if (!target) return say("Choose a claim first, with n.");
  target.click();
  if (event.key === "x") target.parentElement.querySelector("button")?.focus();
  event.preventDefault();
});
