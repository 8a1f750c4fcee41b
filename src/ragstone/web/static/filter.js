// Completes the names in the row filter. Without this script it is a plain text field.
const field = () => document.getElementById("where");
const list = () => document.getElementById("where-names");
const options = () => Array.from(list().children);
const shown = () => options().filter((option) => !option.hidden);
const selected = () => shown().find((option) => option.ariaSelected === "true");

// The name that is being typed: the characters before the cursor.
const typed = (input) => /[^\s()<>=!"'`]*$/.exec(input.value.slice(0, input.selectionStart))[0];
// Not within quotes.
const within = (input) => (input.value.slice(0, input.selectionStart).match(/"/g) || []).length % 2 === 1;

function close() {
  list().hidden = true;
  field().ariaExpanded = "false";
  field().removeAttribute("aria-activedescendant");
  for (const option of options()) option.ariaSelected = "false";
}

function select(option) {
  for (const one of options()) one.ariaSelected = String(one === option);
  field().setAttribute("aria-activedescendant", option.id);
  option.scrollIntoView({ block: "nearest" });
}

function offer(input) {
  const word = typed(input).toLowerCase();
  for (const option of options()) option.hidden = !word || !option.textContent.toLowerCase().includes(word) || option.textContent.toLowerCase() === word;
  if (within(input) || !shown().length) { close(); return; }
  list().hidden = false;
  input.ariaExpanded = "true";
  for (const option of options()) option.ariaSelected = "false";
  input.removeAttribute("aria-activedescendant");
}

function take(option) {
  const input = field();
  const start = input.selectionStart - typed(input).length;
  input.setRangeText(`${option.textContent} `, start, input.selectionStart, "end");
  close();
  input.focus();
}

addEventListener("input", (event) => { if (event.target === field()) offer(event.target); });
addEventListener("focusout", (event) => { if (event.target === field()) close(); });
addEventListener("mousedown", (event) => {
  const option = event.target.closest("#where-names [role=option]");
  if (option) { event.preventDefault(); take(option); }
});
addEventListener("keydown", (event) => {
  if (event.target !== field() || list().hidden) return;
  const all = shown();
  const at = all.indexOf(selected());
  if (event.key === "ArrowDown") select(all[(at + 1) % all.length]);
  else if (event.key === "ArrowUp") select(all[(at <= 0 ? all.length : at) - 1]);
  else if (event.key === "Escape") close();
  else if ((event.key === "Enter" || event.key === "Tab") && at >= 0) take(all[at]);
  else if (event.key === "Tab") { close(); return; } else return;
  event.preventDefault();
}, true);

function prepare() {
  const input = field();
  if (!input) return;
  for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-controls", "where-names"], ["aria-expanded", "false"]]) input.setAttribute(name, value);
}
document.addEventListener("updated", prepare);
prepare();
