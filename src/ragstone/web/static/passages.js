// Corrects the passages of a case: an edit contains the position and the new text of each corrected passage.
export class Passages {
  // `read` returns the current edits; `write` stores new ones.
  constructor(texts, make, read, write, sources) {
    Object.assign(this, { texts, make, read, write, sources });
    this.original = texts.map(({ text }) => text);
    this.open = new Set();
    this.tools = texts.map((text, at) => {
      if (text.kind !== "passage" || !text.whole) return null;
      const box = this.make("span", { className: "passage-tools" });
      sources.boxes[at].parentElement.querySelector("h3").append(" ", box);
      return box;
    });
  }

  text(at) {
    return this.read().find((edit) => edit.at === at)?.text ?? this.original[at];
  }

  // Shows the edited text of every passage; the field in which the user types is not replaced.
  draw() {
    this.tools.forEach((tools, at) => {
      if (!tools) return;
      const now = this.text(at);
      this.sources.setText(at, now);
      const field = this.#field(at);
      if (field && field.value !== now.replace(/\r\n?/g, "\n")) field.value = now;
      const state = JSON.stringify([this.open.has(at), now === this.original[at], !now.trim()]);
      if (tools.dataset.state === state) return;
      tools.dataset.state = state;
      this.#drawTools(tools, at, now);
    });
  }

  #drawTools(tools, at, now) {
    const number = this.texts[at].number;
    const isOpen = this.open.has(at);
    const focused = tools.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const button = (words, label, onclick) => this.make("button", { type: "button", onclick, data: { key: `passage-${at}-${words}` }, aria: { label } }, words);
    tools.replaceChildren(
      ...(now === this.original[at] ? [] : [this.make("span", { className: "chip doubt" }, now.trim() ? "corrected" : "removed"), " "]),
      isOpen ? button("Done", `Finish the correction of passage ${number}`, () => this.#close(at)) : button("Correct", `Correct passage ${number}`, () => this.#edit(at)),
      ...(now === this.original[at] ? [] : [" ", button("Restore", `Restore passage ${number}`, () => { this.#set(at, this.original[at], "restore"); this.#focus(at); })]),
    );
    if (focused) (tools.querySelector(`[data-key="${CSS.escape(focused)}"]`) ?? tools.querySelector("button")).focus();
  }

  #field(at) {
    return document.getElementById(`passage-field-${at}`);
  }
  #focus(at) {
    (this.#field(at) ?? this.tools[at].querySelector("button")).focus();
  }
  #set(at, text, verb) {
    const others = this.read().filter((edit) => edit.at !== at);
    const edits = text === this.original[at] ? others : [...others, { at, text }].sort((one, other) => one.at - other.at);
    this.write(edits, `${verb} passage ${this.texts[at].number}`, verb === "correct" ? `passage-${at}` : "");
  }
  #edit(at) {
    const field = this.make("textarea", { id: `passage-field-${at}`, value: this.text(at), dir: "auto", rows: 4, className: "passage-field", data: { key: `passage-field-${at}` }, aria: { label: `Text of passage ${this.texts[at].number}; an empty text removes it` } });
    field.addEventListener("input", () => this.#set(at, field.value, "correct"));
    field.addEventListener("keydown", (event) => { if (event.key === "Escape") this.#close(at); });
    this.open.add(at);
    this.sources.boxes[at].hidden = true;
    this.sources.boxes[at].after(field);
    this.draw();
    field.focus();
  }
  #close(at) {
    this.open.delete(at);
    this.#field(at)?.remove();
    this.sources.boxes[at].hidden = false;
    this.draw();
    this.tools[at].querySelector("button").focus();
  }
}
