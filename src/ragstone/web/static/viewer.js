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

