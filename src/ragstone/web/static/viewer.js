// Optional features: keyboard shortcuts, filters that submit themselves and copied links.
const say = (words) => { document.getElementById("said").textContent = words; };
const typing = (target) => target.closest("input, select, textarea, [contenteditable]");

// Listeners are on the document: parts of a page are replaced while it is open (live.js).
addEventListener("change", (event) => {
  if (event.target.matches("form[data-submits] select")) event.target.form.requestSubmit();
  if (event.target.matches("form.choosing input[name=run]")) countChosen();
});
// Leaves empty fields out of the address.
addEventListener("formdata", (event) => {
  for (const [name, value] of Array.from(event.formData)) if (value === "") event.formData.delete(name);
});

function countChosen() {
  const compare = document.getElementById("compare");
  if (!compare) return;
  const chosen = document.querySelectorAll("form.choosing input[name=run]:checked").length;
  compare.disabled = chosen < 2;
  document.getElementById("chosen").textContent = chosen === 2 ? "The older one is A." : chosen > 2 ? `${chosen} runs in one table.` : "Select two runs or more. Of two, the older one is A.";
}

function walk(step) {
  const links = Array.from(document.querySelectorAll("table.samples tbody tr"), (row) => row.querySelector("a"));
  if (!links.length) return;
  const at = links.indexOf(document.activeElement);
  const next = at < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + step));
  links[next].focus();
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const step = { j: 1, k: -1 }[event.key];
  if (!step) return;
  const link = document.querySelector(step > 0 ? "a[data-key=j]" : "a[data-key=k]");
  if (link) link.click();
  else if (document.querySelector("table.samples tbody tr")) { walk(step); event.preventDefault(); }
});

addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "Copied";
    say("Link copied");
  } catch {
    button.textContent = "Copy the link from the address bar";
  }
  setTimeout(() => { button.textContent = "Copy link"; }, 2000);
});

function prepare() {
  for (const button of document.querySelectorAll("button[data-copy]")) button.hidden = false;
  countChosen();
}
document.addEventListener("updated", prepare);
prepare();

// A link to a folded part opens it.
function unfold() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target && target.closest("details");
  if (folded) folded.open = true;
}
addEventListener("hashchange", unfold);
unfold();

// Highlights the chunks that support or contradict the claim under the pointer or focus.
const claims = document.querySelectorAll("[data-says], [data-denies]");
const ranks = (text) => (text || "").split(" ").filter(Boolean);
function light(element, on) {
  for (const [name, list] of [["says", element.dataset.says], ["denies", element.dataset.denies]]) {
    for (const rank of ranks(list)) document.getElementById("chunk-" + rank)?.classList.toggle("lit-" + name, on);
  }
}
// Shows a chunk that is outside the window in a box. Screen readers read its number in the text.
const beside = document.createElement("aside");
beside.className = "beside";
beside.hidden = true;
beside.setAttribute("aria-hidden", "true");
document.body.append(beside);
const inSight = (box) => { const { top, bottom } = box.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; };
function showChunks(element) {
  const found = [["Supported", element.dataset.says], ["Contradicted", element.dataset.denies]]
    .flatMap(([words, list]) => ranks(list).map((rank) => [`${words} by chunk ${rank}`, document.getElementById("chunk-" + rank)]))
    .filter(([, chunk]) => chunk && !inSight(chunk));
  beside.replaceChildren(...found.slice(0, 2).flatMap(([words, chunk]) => {
    const [head, body] = [document.createElement("b"), document.createElement("p")];
    head.textContent = words;
    body.dir = "auto";
    body.textContent = chunk.querySelector(".prose").textContent.slice(0, 600);
    return [head, body];
  }));
  beside.hidden = !found.length;
}
for (const element of claims) {
  for (const name of ["mouseenter", "focusin"]) element.addEventListener(name, () => { light(element, true); showChunks(element); });
  for (const name of ["mouseleave", "focusout"]) element.addEventListener(name, () => { light(element, false); beside.hidden = true; });
}
addEventListener("keydown", (event) => { if (event.key === "Escape") beside.hidden = true; });
