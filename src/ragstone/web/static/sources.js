// The sources of a case: marks the facts in them, and selects text by mouse or keyboard.
const UNSAFE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
// Replaces one character by one character, so that positions do not change.
export const safe = (text) => text.replace(UNSAFE, (sign) => (sign === "\r" ? " " : "\ufffd"));

// Converts a position in code points to a position in UTF-16 code units.
function units(text, place) {
  if (!/[\ud800-\udfff]/.test(text)) return place;
  let at = 0;
  for (let count = 0; count < place && at < text.length; count += 1) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}

// Splits a text into pieces, each with the numbers of the facts that cover it.
function pieces(text, spans) {
  const cuts = new Set([0, text.length]);
  spans.forEach(({ start, end }) => { cuts.add(start); cuts.add(end); });
  const places = Array.from(cuts).filter((place) => place <= text.length).sort((one, other) => one - other);
  return places.slice(1).map((end, at) => ({
    text: text.slice(places[at], end),
    facts: spans.filter((span) => span.start <= places[at] && span.end >= end).map((span) => span.fact),
  }));
}

export class Sources {
  constructor(texts, onCite, say) {
    this.texts = texts;
    this.onCite = onCite;
    this.say = say;
    this.boxes = texts.map((_, place) => document.getElementById(`text-${place + 1}`));
    this.drawn = [];
    // Marks that arrive while text is being selected by mouse: drawing them would clear the selection.
    this.waiting = null;
    this.dragging = false;
    this.boxes.forEach((box) => box.addEventListener("pointerdown", () => { this.dragging = true; }));
    ["pointerup", "pointercancel"].forEach((name) => document.addEventListener(name, () => this.#release()));
    this.button = document.getElementById("cite");
    this.boxes.forEach((box, place) => box.addEventListener("keydown", (event) => this.#key(event, place)));
    document.addEventListener("selectionchange", () => this.#offer());
    // Pressing the button must not clear the selection.
    this.button?.addEventListener("pointerdown", (event) => event.preventDefault());
    this.button?.addEventListener("click", () => this.cite());
  }

  // Replaces the text of a source; its marks are drawn again.
  setText(place, text) {
    if (this.texts[place].text === text) return;
    this.texts[place].text = text;
    this.drawn[place] = null;
  }

  // Marks the facts in the sources.
  mark(checks) {
    if (this.dragging) { this.waiting = checks; return; }
    this.boxes.forEach((box, place) => {
      const { text } = this.texts[place];
      const spans = checks.flatMap((check, fact) => (check?.passage === place && check.start !== null
        ? [{ fact: fact + 1, start: units(text, check.start), end: units(text, check.end) }] : []));
      const drawn = JSON.stringify(spans);
      if (this.drawn[place] === drawn) return;
      this.drawn[place] = drawn;
      const kept = this.#place(place);
      box.replaceChildren(...pieces(safe(text), spans).map((piece) => {
        if (!piece.facts.length) return document.createTextNode(piece.text);
        const mark = document.createElement("mark");
        mark.className = `fact hue${(piece.facts[0] - 1) % 8}`;
        mark.dataset.facts = piece.facts.join(", ");
        mark.textContent = piece.text;
        return mark;
      }));
      if (kept) this.#select(place, ...kept, false);
    });
  }

  #release() {
    this.dragging = false;
    if (!this.waiting) return;
    const checks = this.waiting;
    this.waiting = null;
    this.mark(checks);
  }

  // Returns the selected text and its source.
  selected() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    const place = this.boxes.findIndex((box) => box.contains(range.startContainer) && box.contains(range.endContainer));
    if (place < 0) return null;
    const before = document.createRange();
    before.selectNodeContents(this.boxes[place]);
    before.setEnd(range.startContainer, range.startOffset);
    const start = before.toString().length;
    const text = this.texts[place].text.slice(start, start + range.toString().length).trim();
    return text ? { place, text, range } : null;
  }

  cite() {
    const found = this.selected();
    if (!found) { this.say("Select some text first"); return; }
    const { id, source } = this.texts[found.place];
    getSelection().removeAllRanges();
    this.button.hidden = true;
    this.onCite(found.text, source || id || null);
  }

  #offer() {
    const found = this.selected();
    this.button.hidden = !found;
    if (!found) return;
    const box = found.range.getBoundingClientRect();
    const parent = this.button.offsetParent;
    const frame = parent.getBoundingClientRect();
    this.button.style.top = `${box.bottom - frame.top + parent.scrollTop + 6}px`;
    this.button.style.left = `${Math.max(0, Math.min(box.left - frame.left, frame.width - this.button.offsetWidth))}px`;
  }

  #key(event, place) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const selection = getSelection();
    if (event.key === "Enter") {
      event.preventDefault();
      this.cite();
    } else if (event.key === "Escape") selection.removeAllRanges();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.#sentence(place, event.key === "ArrowDown" ? 1 : -1, event.shiftKey);
    } else if (event.shiftKey && (event.key === "ArrowRight" || event.key === "ArrowLeft") && this.selected()) {
      event.preventDefault();
      selection.modify("extend", event.key === "ArrowRight" ? "forward" : "backward", "word");
      this.say(this.selected()?.text ?? "");
    }
  }

  // Selects the next or previous sentence; with Shift extends or shrinks the selection.
  #sentence(place, step, grow) {
    const text = this.boxes[place].textContent;
    const list = Array.from(new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text), (one) => {
      const start = one.index + one.segment.length - one.segment.trimStart().length;
      return [start, one.index + one.segment.trimEnd().length];
    }).filter(([start, end]) => end > start);
    if (!list.length) return;
    const [from, to] = this.#place(place) ?? [-1, -1];
    const at = list.findIndex(([start, end]) => from >= start && from < end);
    const last = list.findLastIndex(([start]) => start < to);
    const next = at < 0 ? (step > 0 ? 0 : list.length - 1) : Math.min(list.length - 1, Math.max(0, (grow ? last : at) + step));
    this.#select(place, grow && at >= 0 ? list[Math.min(at, next)][0] : list[next][0], list[next][1]);
    this.say(this.selected()?.text ?? "");
  }

  #place(place) {
    const found = this.selected();
    if (found?.place !== place) return null;
    const before = document.createRange();
    before.selectNodeContents(this.boxes[place]);
    before.setEnd(found.range.startContainer, found.range.startOffset);
    return [before.toString().length, before.toString().length + found.range.toString().length];
  }

  #select(place, start, end, scroll = true) {
    const walker = document.createTreeWalker(this.boxes[place], NodeFilter.SHOW_TEXT);
    let [at, from, to] = [0, null, null];
    while (walker.nextNode()) {
      const size = walker.currentNode.data.length;
      if (!from && start < at + size) from = [walker.currentNode, start - at];
      if (end <= at + size) { to = [walker.currentNode, end - at]; break; }
      at += size;
    }
    if (from && to) getSelection().setBaseAndExtent(...from, ...to);
    if (scroll) getSelection().getRangeAt(0).startContainer.parentElement.scrollIntoView({ block: "nearest" });
  }
}
