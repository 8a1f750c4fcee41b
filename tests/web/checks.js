// What axe would look for first, in a page as the browser shows it: a list of problems in words.
() => {
  const problems = [];
  const shown = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const name = (element) => element.outerHTML.slice(0, 90);
  if (!document.documentElement.lang) problems.push("the page names no language");
  if (document.querySelectorAll("main").length !== 1) problems.push("there is not one main part");
  if (document.querySelectorAll("h1").length !== 1) problems.push("there is not one h1");
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5")) {
    const own = Number(heading.tagName[1]);
    if (own > level + 1) problems.push(`a heading skips a level: ${name(heading)}`);
    level = own;
  }
  for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
    if (!field.labels.length && !field.getAttribute("aria-label")) problems.push(`a field without label: ${name(field)}`);
  }
  for (const target of document.querySelectorAll("a[href], button, summary")) {
    if (!target.textContent.trim() && !target.getAttribute("aria-label")) problems.push(`nothing to read out: ${name(target)}`);
  }
  for (const picture of document.querySelectorAll("svg:not([aria-hidden=true])")) {
    // A picture with links is a group.
    const role = picture.querySelector("a") ? "group" : "img";
    if (picture.getAttribute("role") !== role || !picture.getAttribute("aria-label")) problems.push(`a mute picture: ${name(picture)}`);
  }
  for (const table of document.querySelectorAll("table")) {
    for (const cell of table.querySelectorAll("th")) if (!cell.scope) problems.push(`a head without scope: ${name(cell)}`);
  }
  const ids = Array.from(document.querySelectorAll("[id]"), (element) => element.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) problems.push(`an id twice: ${id}`);
  for (const part of document.querySelectorAll("[aria-labelledby]")) {
    if (!document.getElementById(part.getAttribute("aria-labelledby"))) problems.push(`labelled by nothing: ${name(part)}`);
  }

  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return Array.from(canvas.getImageData(0, 0, 1, 1).data);
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let box = element; box; box = box.parentElement) {
      const found = rgba(getComputedStyle(box).backgroundColor);
      if (found[3] === 255) return found;
    }
    return [255, 255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const box = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(box) || !shown(box) || box.closest(".off, .skip, svg, :disabled, option")) continue;
    seen.add(box);
    const [front, back] = [light(rgba(getComputedStyle(box).color)), light(behind(box))];
    const contrast = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    if (contrast < 4.5) problems.push(`contrast ${contrast.toFixed(2)}: ${name(box)}`);
  }
  const beyond = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (beyond > 0) problems.push(`the page is ${beyond} px wider than the window`);
  return problems;
}
