// Links a claim or fact to its sentences: what is under the pointer or the focus lights up on the other side.
const panes = Array.from(document.querySelectorAll(".pane"));
const keysOf = (element) => (element.dataset.keys || "").split(" ").filter(Boolean);
const all = Array.from(document.querySelectorAll("[data-keys]"));
const seen = (element) => element.getClientRects().length > 0;
const twoPanes = () => getComputedStyle(panes[0]).overflowY === "auto";
let pinned = [];
let ready = false;

function light(keys) {
  for (const element of all) element.classList.toggle("lit", keysOf(element).some((key) => keys.includes(key)));
}

// The first sentence of a claim, or the claim of a sentence, in the pane that the reader does not use.
function partner(element, key) {
  const here = element.closest(".pane");
  const anchor = element.dataset.go && document.getElementById(element.dataset.go);
  if (anchor && here !== anchor.closest(".pane")) return anchor.nextElementSibling?.matches("mark") && seen(anchor.nextElementSibling) ? anchor.nextElementSibling : firstSeen(anchor.closest("li"), key) || anchor;
  const other = all.filter((one) => !one.matches("tr") && one.closest(".pane") !== here && keysOf(one).includes(key));
  return other.find((one) => one.matches("li")) || other.find(seen) || other[0];
}
const firstSeen = (box, key) => all.find((one) => one.matches("mark") && box?.contains(one) && keysOf(one).includes(key) && seen(one));

function unfold(element) {
  for (let box = element.closest("details:not([open])"); box; box = box.parentElement.closest("details:not([open])")) box.open = true;
}

// Scrolls one pane only, and only if the place is not in view.
function bring(element) {
  unfold(element);
  const pane = element.closest(".pane");
  const frame = pane.getBoundingClientRect();
  const top = frame.top + (pane.querySelector(".ranks, h1")?.offsetHeight || 0) + 8;
  const box = (element.getClientRects()[0] ? element : element.closest("li")).getBoundingClientRect();
  const bottom = frame.bottom - (pane.querySelector(".labelbar")?.offsetHeight || 0);
  if (box.top >= top && box.bottom <= bottom - 8) return;
  const calm = !ready || matchMedia("(prefers-reduced-motion: reduce)").matches;
  const behavior = calm ? "instant" : "smooth";
  if (element.matches(".subjects > li")) {
    pane.scrollBy({ top: box.top < top ? box.top - top : box.bottom - bottom + 16, behavior });
    return;
  }
  // The whole chunk from its head, if its sentence is then in view.
  const head = element.closest(".chunks > li")?.getBoundingClientRect().top ?? box.top;
  const from = box.bottom - head < bottom - top - 8 ? head : box.top - (bottom - top) / 4;
  pane.scrollBy({ top: from - top, behavior });
}

// `c` and a digit: the chunk of that rank. Digits alone label the answer.
let ranked = 0;
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=checkbox]), select, textarea, dialog")) return;
  const digit = ranked && /^[1-9]$/.test(event.key);
  clearTimeout(ranked);
  ranked = event.key === "c" ? setTimeout(() => { ranked = 0; }, 2000) : 0;
  if (!digit) return;
  document.querySelector(`.ranks a[href="#chunk-${event.key}"]`)?.click();
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);

let waiting = 0;
function show(element, at) {
  const keys = keysOf(element);
  light(keys);
  clearTimeout(waiting);
  if (!twoPanes()) return;
  const found = partner(element, keys[0]);
  if (found) waiting = setTimeout(bring, at, found);
}
function rest() {
  clearTimeout(waiting);
  light(pinned);
}

const nearest = (target) => (target instanceof Element ? target.closest("[data-keys]") : null);
addEventListener("mouseover", (event) => { const element = nearest(event.target); if (element) show(element, 180); });
addEventListener("mouseout", (event) => { if (nearest(event.target) && !nearest(event.relatedTarget)) rest(); });
addEventListener("focusin", (event) => { const element = nearest(event.target); if (element) show(element, 0); });
addEventListener("focusout", (event) => { if (nearest(event.target)) rest(); });
addEventListener("keydown", (event) => {
  if (event.key === "Escape") { pinned = []; rest(); }
  const step = { n: 1, b: -1 }[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=checkbox]), select, textarea, dialog")) return;
  const rows = Array.from(document.querySelectorAll(".subjects > li"));
  const at = rows.findIndex((row) => row.contains(document.activeElement) || (document.activeElement === document.body && row.classList.contains("lit")));
  const next = rows[Math.min(rows.length - 1, Math.max(0, at + step))];
  if (!next) return;
  pinned = keysOf(next);
  next.focus({ preventScroll: twoPanes() });
  if (twoPanes()) bring(next);
  event.preventDefault();
});

// A click keeps the light on, so that the reader can move the pointer to the other side.
document.querySelector(".panes")?.addEventListener("click", (event) => {
  const element = nearest(event.target);
  const link = event.target.closest("a[href^='#']");
  if (element) { pinned = keysOf(element); light(pinned); }
  if (link && twoPanes()) { const target = document.getElementById(link.hash.slice(1)); if (target) { event.preventDefault(); history.pushState(null, "", link.hash); go(); } } else if (link) setTimeout(go);
});

// The place in the address: a claim, a sentence or a chunk. A sentence in the hidden view has its mark in the other one.
function pin() {
  const id = decodeURIComponent(location.hash.slice(1));
  const target = id && document.getElementById(id);
  if (!target || !target.closest(".pane")) return {};
  const key = id.match(/^at-\d+-(.+)$/)?.[1] || (target.dataset.keys ? id : "");
  if (key) { pinned = [key]; light(pinned); }
  for (const one of document.querySelectorAll(".at")) one.classList.remove("at");
  target.closest("li")?.classList.add("at");
  return { id, target, key };
}
function go() {
  const { id, target, key } = pin();
  if (!target) return false;
  unfold(target);
  const mark = key && id.startsWith("at-") ? firstSeen(target.closest("li"), key) : null;
  if (target.matches("li") && target.querySelector(":scope > details")) target.querySelector(":scope > details").open = true;
  if (twoPanes()) bring(mark || target);
  else (mark || target).scrollIntoView({ block: "center" });
  return true;
}
addEventListener("hashchange", go);
addEventListener("popstate", go);

// At first, the claim or fact that went wrong.
function begin() {
  if (go() || !twoPanes()) return;
  const rows = Array.from(document.querySelectorAll(".subjects > li"));
  const wrong = rows.find((row) => row.querySelector(".chip.bad")) || rows.find((row) => row.querySelector(".chip.unsure"));
  if (!wrong) return;
  pinned = keysOf(wrong);
  light(pinned);
  bring(wrong);
  // The cause at the head quotes the claim: the reader begins there if both are not in view together.
  const [head, why] = ["h1", ".why"].map((one) => panes[0].querySelector(one)?.getBoundingClientRect());
  if (why && why.top < head.bottom) panes[0].scrollTop = 0;
  const found = partner(wrong, pinned[0]);
  if (found) bring(found);
}

// Scores by their names.
document.getElementById("find-score")?.addEventListener("input", (event) => {
  const wanted = event.target.value.trim().toLowerCase();
  for (const part of document.querySelectorAll("#other-scores .score-part")) {
    for (const score of part.querySelectorAll(".score")) score.hidden = !score.querySelector(".metric").textContent.toLowerCase().includes(wanted);
    part.hidden = !part.querySelector(".score:not([hidden])");
  }
});
document.querySelector(".turn.chosen")?.scrollIntoView({ block: "nearest" });

// The panes scroll by themselves: their places are kept for the back button.
const kept = history.state?.panes;
addEventListener("pagehide", () => history.replaceState({ ...history.state, panes: panes.map((pane) => pane.scrollTop) }, ""));
if (kept) { pin(); panes.forEach((pane, at) => { pane.scrollTop = kept[at] || 0; }); } else begin();
ready = true;
