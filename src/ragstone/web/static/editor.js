// The editor of one case. Every change is stored at once; citations are checked while the user types.
import { change, draft, edited, go, onChange, say, token, truth } from "/static/draft.js";
import { Passages } from "/static/passages.js";
import { safe, Sources } from "/static/sources.js";

const desk = document.getElementById("desk");
const { case: original, texts, kinds, new: isNew, run, addresses, checks: firstChecks } = JSON.parse(desk.dataset.case);
const name = original.id;
const blank = { question: "", references: [], facts: [], passages: [], answerable: null, standing: "accepted" };
const base = isNew ? blank : { ...original, passages: [] };
let checks = firstChecks;
let checked = base.facts.map((fact) => [fact.kind, fact.text]);
let checkedPassages = "[]";

const now = () => edited(name, base);
function set(fields, words, group = "") {
  change(name, base, isNew ? { added: true, ...fields } : fields, words, group);
}
function make(tag, settings = {}, ...children) {
  const { data = {}, aria = {}, ...rest } = settings;
  const box = Object.assign(document.createElement(tag), rest);
  Object.assign(box.dataset, data);
  for (const [key, value] of Object.entries(aria)) box.setAttribute(`aria-${key}`, value);
  box.append(...children);
  return box;
}
const button = (words, label, onclick, settings = {}) => make("button", { type: "button", onclick, ...settings, aria: { label, ...settings.aria } }, words);
function area(value, label, key, oninput) {
  const box = make("textarea", { value, dir: "auto", rows: 1, data: { key }, aria: { label } });
  box.addEventListener("input", () => { fit(box); oninput(box.value); });
  return box;
}
const grows = CSS.supports("field-sizing", "content");
function fit(box) {
  if (grows) return;
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight + 2}px`;
}
const hidden = (text) => /[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/.test(text);
const warning = (text) => (hidden(text) ? [make("p", { className: "warn" }, "This text contains control characters or bidirectional marks.")] : []);

const question = document.getElementById("question");
question.readOnly = false;
question.addEventListener("input", () => { fit(question); set({ question: question.value }, "edit the question", "question"); });
const answerable = document.getElementById("answerable");
answerable.disabled = false;
answerable.addEventListener("change", () => {
  const value = { true: true, false: false }[answerable.value] ?? null;
  // Without an answer the status is that of "unanswerable", and a person has just decided on it.
  const standing = now().references.length || value === null ? {} : { standing: "accepted" };
  set({ answerable: value, ...standing }, "change whether it can be answered");
});

const moved = (list, from, to) => { const next = list.filter((_, place) => place !== from); next.splice(to, 0, list[from]); return next; };
const without = (list, at) => list.filter((_, place) => place !== at);
const replaced = (list, at, item) => list.map((old, place) => (place === at ? item : old));

function drawAnswers({ references, standing, answerable: can }) {
  const many = references.length > 1;
  document.getElementById("answers").replaceChildren(...references.map((text, at) => make("li", {},
    area(text, `Reference answer ${at + 1}`, `answer-${at}`, (value) => set({ references: replaced(now().references, at, value) }, `edit answer ${at + 1}`, `answer-${at}`)),
    ...warning(text),
    make("p", { className: "tools" },
      ...(many ? [
        button("↑", `Move answer ${at + 1} up`, () => { set({ references: moved(now().references, at, at - 1) }, `move answer ${at + 1} up`); focusOn(`answer-${at - 1}`); }, { disabled: at === 0 }),
        button("↓", `Move answer ${at + 1} down`, () => { set({ references: moved(now().references, at, at + 1) }, `move answer ${at + 1} down`); focusOn(`answer-${at + 1}`); }, { disabled: at === references.length - 1 }),
      ] : []),
      button("Remove", `Remove answer ${at + 1}`, () => { set({ references: without(now().references, at) }, `remove answer ${at + 1}`); focusOn(`answer-${Math.max(0, at - 1)}`, "add-answer"); })))));
  const tools = [button("Add answer", "Add reference answer", () => { const { references: list } = now(); set({ references: [...list, ""] }, "add answer"); focusOn(`answer-${list.length}`); }, { data: { key: "add-answer" } })];
  const what = references.length ? "the answers" : can === false ? "that it is unanswerable" : "";
  if (what && (standing !== "accepted" || base.standing !== "accepted")) tools.push(...deciding(standing, what, (next) => set({ standing: next }, `${next} answers`)));
  document.getElementById("answer-tools").replaceChildren(...tools);
}

function deciding(standing, what, choose) {
  return [["accepted", "✓ Accept"], ["rejected", "✗ Reject"]].map(([value, words]) => button(standing === value ? words.replace(/t$/, "ted") : words, `${words.slice(2)} ${what}`, () => choose(standing === value ? "proposed" : value), { className: `decide ${value}`, data: { key: `${what}-${value}` }, aria: { pressed: String(standing === value) } }));
}

function drawFacts({ facts }) {
  const list = document.getElementById("facts");
  if (!facts.length) {
    list.replaceChildren(make("li", { className: "empty" }, texts.length ? "No facts yet. Select text in a source to create a fact, or write one." : "No facts yet."));
  } else list.replaceChildren(...facts.map(drawFact));
  document.getElementById("fact-tools").replaceChildren(button("Write fact", "Write fact", () => addFact("", null), { data: { key: "add-fact" } }));
}
const setFact = (at, fields, words, group) => set({ facts: replaced(now().facts, at, { ...now().facts[at], ...fields }) }, words, group);
function drawFact(fact, at) {
  const number = at + 1;
  const kind = make("select", { data: { key: `kind-${at}` }, aria: { label: `Kind of fact ${number}` } }, ...[...new Set([...kinds, fact.kind])].map((value) => make("option", { value, selected: value === fact.kind }, value)));
  kind.addEventListener("change", () => setFact(at, { kind: kind.value }, `change the kind of fact ${number}`));
  return make("li", { className: `hue${at % 8} ${fact.standing}`, data: { fact: at } },
    make("p", { className: "facthead" }, make("span", { className: "dot", ariaHidden: "true" }), make("b", {}, String(number)), " ", make("span", { className: "verdict" }), " ", make("small", { dir: "auto" }, [fact.provenance, fact.source, fact.confidence === null ? "" : `${Math.round(fact.confidence * 100)} % confidence`].filter(Boolean).map(safe).join(", "))),
    // A fact edited by a person is a manual fact.
    area(fact.text, `Fact ${number}`, `fact-${at}`, (text) => setFact(at, { text, provenance: "manual", confidence: null }, `edit fact ${number}`, `fact-${at}`)),
    ...warning(fact.text),
    make("div", { className: "mending" }),
    ...(fact.note ? [make("p", { className: "muted", dir: "auto" }, safe(fact.note))] : []),
    make("p", { className: "tools" }, ...deciding(fact.standing, `fact ${number}`, (standing) => setFact(at, { standing }, `${standing} fact ${number}`)), kind,
      button("Remove", `Remove fact ${number}`, () => { set({ facts: without(now().facts, at) }, `remove fact ${number}`); focusOn(`fact-${Math.max(0, at - 1)}`, "add-fact"); })));
}
function addFact(text, source) {
  const { facts } = now();
  if (text && facts.some((fact) => fact.text === text)) { say("This fact already exists"); return; }
  set({ facts: [...facts, { text, kind: kinds[0], source, provenance: "manual", standing: "accepted", confidence: null, note: null }] }, text ? "create a fact from a citation" : "write a fact");
  focusOn(`fact-${facts.length}`);
  if (text) say(`Fact ${facts.length + 1}: ${text}`);
}

// The verdict of a citation: where it was found, with which spelling, or that it was not found.
const SIGNS = { stands: ["good", "✓"], repaired: ["doubt", "≈"], absent: ["bad", "✗"], invalid: ["bad", "✗"] };
function words(check) {
  const text = texts[check.passage];
  const place = text ? `${text.kind} ${text.number}` : "";
  return { stands: `found in ${place}`, repaired: `different spelling in ${place}`, absent: "not found", invalid: "different meaning" }[check.verdict];
}
function drawChecks() {
  const { facts } = now();
  facts.forEach((fact, at) => {
    const box = document.querySelector(`#facts li[data-fact="${at}"]`);
    const check = valid(fact, at) ? checks[at] : null;
    const chip = box?.querySelector(".verdict");
    if (!chip) return;
    const [tone, sign] = SIGNS[check?.verdict] ?? ["silent", "·"];
    chip.className = `verdict chip ${tone}`;
    chip.replaceChildren(make("span", { ariaHidden: "true" }, sign), ` ${!fact.text.trim() ? "empty" : fact.kind !== "citation" ? "not checked" : !check ? "checking…" : SIGNS[check.verdict] ? words(check) : "no passages"}`);
    drawMending(box.querySelector(".mending"), check, at);
  });
  sources.mark(facts.map((fact, at) => (valid(fact, at) ? checks[at] : null)));
}
const passagesNow = () => JSON.stringify(now().passages);
const valid = (fact, at) => passagesNow() === checkedPassages && fact.kind === "citation" && checked[at]?.[0] === fact.kind && checked[at]?.[1] === fact.text && checks[at];
function drawMending(box, check, at) {
  if (check?.verdict === "repaired") {
    box.replaceChildren(make("p", { className: "prose diff", dir: "auto" }, ...check.diff.map(({ kind, text }) => (kind === "same" ? safe(text) : make(kind === "gone" ? "del" : "ins", {}, safe(text))))),
      button("Use the wording of the source", `Use the wording of the source for fact ${at + 1}`, () => { setFact(at, { text: check.text }, `use the wording of the source for fact ${at + 1}`); focusOn(`fact-${at}`); }));
  } else box.replaceChildren(...(check && SIGNS[check.verdict] && check.why ? [make("p", { className: "muted", dir: "auto" }, safe(check.why))] : []));
}

let asked = 0;
let waiting = null;
function checkSoon() {
  clearTimeout(waiting);
  waiting = setTimeout(check, 300);
}
async function check() {
  const { facts } = now();
  const wanted = facts.map((fact) => [fact.kind, fact.text]);
  const passages = passagesNow();
  if (JSON.stringify(wanted) === JSON.stringify(checked) && passages === checkedPassages) { drawChecks(); return; }
  const mine = ++asked;
  try {
    const answer = await fetch(addresses.check, { method: "POST", body: new URLSearchParams({ token: token(), id: name, v: truth.number, run, passages, texts: JSON.stringify(facts.map((fact) => fact.text)) }) });
    if (!answer.ok) throw new Error((await answer.json()).words);
    const found = await answer.json();
    if (mine !== asked) return;
    [checks, checked, checkedPassages] = [found.checks, wanted, passages];
    drawChecks();
  } catch (error) {
    document.querySelectorAll("#facts .verdict").forEach((chip) => { chip.textContent = "check failed"; });
    say(error.message || "The viewer does not respond. Your edits are kept in the browser.");
  }
}

function focusOn(...keys) {
  for (const key of keys) {
    const found = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (found) { found.focus(); return; }
  }
}
// Redraws everything except the field in which the user types, and restores the focus.
let drawn = "";
function shape(found) {
  return JSON.stringify([found.references.length, found.standing, found.answerable, found.removed, found.facts.map(({ text, ...rest }) => rest)]);
}
function draw(force = false) {
  const found = now();
  const active = document.activeElement;
  document.getElementById("heading").textContent = safe(found.question) || (isNew ? "New case" : "(no question)");
  if (active !== question || question.value !== found.question) { if (question.value !== found.question) question.value = found.question; fit(question); }
  answerable.value = found.answerable === null ? "" : String(found.answerable);
  const fields = Array.from(document.querySelectorAll("#answers textarea, #facts textarea"), (box) => box.value);
  const wanted = [...found.references, ...found.facts.map((fact) => fact.text)];
  if (force || drawn !== shape(found) || JSON.stringify(fields) !== JSON.stringify(wanted.map((text) => text.replace(/\r\n?/g, "\n")))) {
    const key = active?.dataset?.key;
    const [start, end] = active?.tagName === "TEXTAREA" ? [active.selectionStart, active.selectionEnd] : [0, 0];
    drawAnswers(found);
    drawFacts(found);
    drawTools(found);
    document.querySelectorAll("#desk textarea").forEach(fit);
    if (key) {
      focusOn(key);
      if (document.activeElement?.tagName === "TEXTAREA") document.activeElement.setSelectionRange(start, end);
    }
    drawn = shape(found);
  }
  passages.draw();
  drawChecks();
  checkSoon();
}
function drawTools(found) {
  const box = document.getElementById("case-tools");
  box.hidden = false;
  desk.classList.toggle("gone", Boolean(found.removed));
  box.replaceChildren(found.removed
    ? button("Restore this case", "Restore this case", () => set({ removed: undefined }, "restore the case"))
    : button("Remove this case", "Remove this case", () => set({ removed: true }, "remove the case"), { className: "danger" }),
  make("p", { className: "muted" }, found.removed ? "This case will not be in the next version." : ""));
}

const sources = new Sources(texts, addFact, say);
const passages = new Passages(texts, make, () => now().passages, (edits, words, group) => set({ passages: edits }, words, group), sources);
// Editing continues on the base version of the draft. Saving merges it with newer versions.
const { base: begun, cases } = draft();
if (Object.keys(cases).length && begun !== truth.number) {
  const there = await fetch(`${addresses.at.replace("?", ".json?")}&v=${begun}`);
  if (there.ok) go(`${addresses.at}&v=${begun}`);
  else refuse(`This case was added in v${truth.number}, but your edits are based on v${begun}. Save or discard them before you edit this case.`);
} else {
  onChange((changed) => { if (changed === name || changed === null || changed === undefined) draw(); });
  draw(true);
  const [, wanted] = location.hash.match(/^#fact-(\d+)$/) ?? [];
  if (wanted) focusOn(`fact-${wanted - 1}`);
}
function refuse(message) {
  question.readOnly = true;
  answerable.disabled = true;
  document.querySelector(".head").append(make("p", { className: "notice" }, message));
  onChange(() => { if (!Object.keys(draft().cases).length) location.reload(); });
}
