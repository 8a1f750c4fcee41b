// Keeps an open page up to date without reloading it: fetches the page again and merges the differences.
// Nodes that stay keep what was typed, opened, selected or focused.
const PACE = [["[data-wait]", 1000], ["[data-live]", 2000], ["[data-partly], [data-watch]", 5000]];
// Set by scripts after the page was loaded.
const KEPT = "[data-copy], #show-keys, #compare, #chosen, #elsewhere, .beside, .where";
const OURS = { DETAILS: ["open"], INPUT: ["checked"], OPTION: ["selected"] };

function mergeAttributes(old, fresh) {
  const ours = OURS[old.nodeName] || [];
  for (const { name } of Array.from(old.attributes)) if (!fresh.hasAttribute(name) && !ours.includes(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value && !ours.includes(name)) old.setAttribute(name, value);
}

const alike = (one, other) => one.nodeType === other.nodeType && one.nodeName === other.nodeName && (one.id || "") === (other.id || "");

function mergeChildren(old, fresh) {
  const wanted = Array.from(fresh.childNodes);
  const ids = new Set(wanted.map((node) => node.id).filter(Boolean));
  const mine = new Map(Array.from(old.children).filter((node) => node.id).map((node) => [node.id, node]));
  let at = old.firstChild;
  for (const node of wanted) {
    while (at?.id && !ids.has(at.id)) { const gone = at; at = at.nextSibling; gone.remove(); }
    const match = mine.get(node.id) || (at && alike(at, node) ? at : null);
    if (!match) { old.insertBefore(document.importNode(node, true), at); continue; }
    if (match === at) at = at.nextSibling;
    else old.insertBefore(match, at);
    merge(match, node);
  }
  while (at) { const gone = at; at = at.nextSibling; gone.remove(); }
}

function merge(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  if (old.matches(KEPT) || old.isEqualNode(fresh)) return;
  mergeAttributes(old, fresh);
  mergeChildren(old, fresh);
}

// The page of a running evaluation becomes the page of a run, which may need other styles.
function mergeHead(fresh) {
  document.title = fresh.title;
  document.body.className = fresh.body.className;
  for (const link of fresh.querySelectorAll("link[rel=stylesheet]")) {
    if (!document.querySelector(`link[href="${link.getAttribute("href")}"]`)) document.head.append(document.importNode(link, true));
  }
}

function refocus(focused) {
  if (!focused || focused.isConnected || document.activeElement !== document.body) return;
  const href = focused.getAttribute("href");
  const same = href && Array.from(document.links).find((link) => link.getAttribute("href") === href);
  (same || document.getElementById("main")).focus({ preventScroll: true });
}

async function update() {
  const waited = document.querySelector("[data-wait]");
  try {
    const reply = await fetch(location.href);
    const fresh = new DOMParser().parseFromString(await reply.text(), "text/html");
    const focused = document.activeElement === document.body ? null : document.activeElement;
    mergeHead(fresh);
    for (const part of ["header.bar", "#main", "#keys dl"]) merge(document.querySelector(part), fresh.querySelector(part));
    refocus(focused);
    document.querySelector(".lost")?.remove();
    if (waited && !document.querySelector("[data-wait]")) document.getElementById("said").textContent = "The results are ready.";
    document.dispatchEvent(new Event("updated"));
  } catch {
    if (!document.querySelector(".lost")) {
      const lost = document.createElement("p");
      lost.className = "lost";
      lost.setAttribute("role", "alert");
      lost.textContent = "The viewer does not respond. Was it stopped?";
      document.body.append(lost);
    }
  }
  plan();
}

function plan() {
  const found = PACE.find(([selector]) => document.querySelector(selector));
  if (found) setTimeout(() => (document.hidden ? plan() : update()), found[1]);
}
plan();
