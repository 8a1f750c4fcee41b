// A rectangle that is dragged over the scatter plot becomes a row filter. Without this script the links below it do this.
const LEAST = 6;
let drag = null;

// The place of the pointer in the units of the drawing.
function place(plot, event) {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(plot.getScreenCTM().inverse());
  return [point.x, point.y];
}

const far = () => drag && Math.hypot(drag.to[0] - drag.from[0], drag.to[1] - drag.from[1]) > LEAST;

// The values between two places of an axis, rounded to a thousandth of it.
function range([left, right, low, high], from, to) {
  const value = (at) => low + Math.min(1, Math.max(0, (at - left) / (right - left))) * (high - low);
  const digits = Math.min(12, Math.max(0, 3 - Math.floor(Math.log10(high - low))));
  return [value(from), value(to)].sort((a, b) => a - b).map((one) => Number(one.toFixed(digits)));
}

addEventListener("pointerdown", (event) => {
  const plot = event.target.closest?.(".scatter");
  if (!plot || event.button || event.pointerType === "touch") return;
  const from = place(plot, event);
  drag = { plot, from, to: from };
});
addEventListener("pointermove", (event) => {
  if (!drag) return;
  drag.to = place(drag.plot, event);
  const [x, y] = [0, 1].map((at) => Math.min(drag.from[at], drag.to[at]));
  const sizes = { x, y, width: Math.abs(drag.to[0] - drag.from[0]), height: Math.abs(drag.to[1] - drag.from[1]) };
  for (const [name, size] of Object.entries(sizes)) drag.plot.querySelector(".brush").setAttribute(name, size);
});
addEventListener("pointerup", () => {
  if (far()) {
    const { plot, from, to } = drag;
    const axes = plot.dataset.axes.split(" ").map(Number);
    const terms = [[plot.dataset.x, range(axes.slice(0, 4), from[0], to[0])], [plot.dataset.y, range(axes.slice(4), from[1], to[1])]];
    const words = terms.map(([name, [low, high]]) => `${name} >= ${low} and ${name} <= ${high}`).join(" and ");
    location.href = `${plot.dataset.start}${encodeURIComponent(words)}#samples`;
  }
  // The click that follows must not open a sample.
  setTimeout(() => { drag = null; });
});
addEventListener("click", (event) => { if (far()) event.preventDefault(); }, true);
// A link under the pointer would be dragged itself.
addEventListener("dragstart", (event) => { if (event.target.closest?.(".scatter")) event.preventDefault(); });

const prepare = () => { for (const words of document.querySelectorAll("[data-brush]")) words.hidden = false; };
document.addEventListener("updated", prepare);
prepare();
