// Optional features: keyboard shortcuts, filters that submit themselves, copied links and automatic reloads.
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

export function countChosen() {
  const compare = document.getElementById("compare");
  if (!compare) return;
  const chosen = document.querySelectorAll("form.choosing input[name=run]:checked").length;
  compare.disabled = chosen < 2;
  document.getElementById("chosen").textContent = chosen === 2 ? "The older one is A." : chosen > 2 ? `${chosen} runs in one table.` : "Select two runs or more. Of two, the older one is A.";
}
countChosen();

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

for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = "Copied";
      say("Link copied");
    } catch {
      button.textContent = "Copy the link from the address bar";
    }
    setTimeout(() => { button.textContent = "Copy link"; }, 2000);
  });
}

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

// Reloads the page while a result is not ready.
if (document.querySelector("[data-wait]")) setTimeout(() => location.reload(), 1500);

// Reports when all samples are diagnosed, without reloading the page.
const partly = document.querySelector("[data-partly]");
async function look() {
  try {
    const { diagnosis } = await (await fetch(partly.dataset.partly)).json();
    if (diagnosis.looked_at < diagnosis.samples) { setTimeout(look, 3000); return; }
    partly.firstChild.textContent = `All ${diagnosis.samples.toLocaleString("en")} samples are diagnosed. `;
    partly.querySelector("a").textContent = "Show the results";
  } catch { setTimeout(look, 10000); }
}
if (partly) setTimeout(look, 3000);

async function watch(box) {
  try {
    const found = await (await fetch(box.dataset.live)).json();
    if (found.page !== "live") { location.reload(); return; }
    const { done, total, working } = found.progress;
    const bar = box.querySelector("progress");
    bar.max = total || 1;
    bar.value = done;
    box.querySelector(".told").textContent = `${done.toLocaleString("en")} of ${total.toLocaleString("en")} samples${working ? "" : ", interrupted"}`;
    const body = document.getElementById("metrics");
    if (found.metrics.length && document.body.classList.contains("page-live") && !body) { location.reload(); return; }
    if (body) fill(body, found.metrics);
  } catch {
    box.querySelector(".told").textContent = "The viewer does not respond. Was it stopped?";
  }
  setTimeout(watch, 2000, box);
}
const show = (value) => (value === null ? "–" : value.toFixed(3));
function fill(body, metrics) {
  metrics.forEach((item, place) => {
    const cells = body.rows[place]?.cells;
    if (!cells) return;
    cells[1].textContent = show(item.mean);
    cells[2].textContent = item.low === null ? "–" : `${show(item.low)} – ${show(item.high)}`;
    cells[3].textContent = item.rows.toLocaleString("en");
    cells[4].textContent = item.failed.toLocaleString("en");
  });
}
document.querySelectorAll("[data-live]").forEach((box) => setTimeout(watch, 1000, box));
