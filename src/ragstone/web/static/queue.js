// The review queue: a accepts, r rejects, u undoes, j and k move. Decisions are stored as edits.
import { change, draft, edited, go, onChange, say, truth, undo } from "/static/draft.js";

const list = document.getElementById("queue");
if (list) {
  const cases = JSON.parse(list.dataset.cases);
  const cards = Array.from(list.children);
  const items = cards.map((card) => JSON.parse(card.dataset.item));

  // Finds a fact by its text, because facts before it may have been removed.
  function find([name, at]) {
    const { facts } = edited(name, cases[name]);
    const { text } = cases[name].facts[at];
    const nth = cases[name].facts.slice(0, at).filter((fact) => fact.text === text).length;
    return facts.map((fact, place) => [fact, place]).filter(([fact]) => fact.text === text)[nth]?.[1] ?? -1;
  }
  function standing([name, at]) {
    const found = edited(name, cases[name]);
    if (found.removed) return "gone";
    if (at < 0) return found.standing;
    const place = find([name, at]);
    return place < 0 ? "gone" : found.facts[place].standing;
  }
  function decide(at, wanted) {
    const [name, fact] = items[at];
    const was = standing(items[at]);
    if (was === "gone") { say("Edited or removed in your draft"); return; }
    const next = was === wanted ? "proposed" : wanted;
    if (fact < 0) change(name, cases[name], { standing: next }, `${next} answer`);
    else {
      const place = find(items[at]);
      const facts = edited(name, cases[name]).facts.map((old, number) => (number === place ? { ...old, standing: next } : old));
      change(name, cases[name], { facts }, `${next} fact`);
    }
    if (next === "proposed") return;
    const onward = cards.findIndex((_, place) => place > at && standing(items[place]) === "proposed");
    say(`${next}, ${left()} left on this page`);
    if (onward >= 0) focus(onward);
    else document.querySelector(".pager a[rel=next]")?.focus() ?? focus(at);
  }
  const left = () => items.filter((item) => standing(item) === "proposed").length;

  function show() {
    cards.forEach((card, at) => {
      const now = standing(items[at]);
      card.classList.toggle("accepted", now === "accepted");
      card.classList.toggle("rejected", now === "rejected");
      card.querySelectorAll("[data-do]").forEach((box) => { box.setAttribute("aria-pressed", String(box.dataset.do === now)); box.disabled = now === "gone"; });
      card.querySelector(".decided").textContent = { accepted: "accepted", rejected: "rejected", gone: "edited or removed in your draft" }[now] ?? "";
    });
    const open = left();
    document.getElementById("left").textContent = open ? `${open} of ${cards.length} on this page to review.` : "Everything on this page is reviewed.";
  }
  const here = () => cards.indexOf(document.activeElement?.closest("#queue > li"));
  function focus(at) {
    cards[at]?.focus();
    cards[at]?.scrollIntoView({ block: "nearest" });
  }

  list.addEventListener("click", (event) => {
    const wanted = event.target.dataset?.do;
    if (wanted) decide(cards.indexOf(event.target.closest("#queue > li")), wanted);
  });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
    const at = here();
    const first = Math.max(0, cards.findIndex((_, place) => standing(items[place]) === "proposed"));
    if (event.key === "j") focus(at < 0 ? first : Math.min(cards.length - 1, at + 1));
    else if (event.key === "k") focus(at < 0 ? first : Math.max(0, at - 1));
    else if (event.key === "a" || event.key === "r") decide(at < 0 ? first : at, event.key === "a" ? "accepted" : "rejected");
    else if (event.key === "u") {
      const last = undo();
      const back = last ? items.findIndex(([name], place) => name === last.name && standing(items[place]) === "proposed") : -1;
      if (back >= 0) focus(back);
    } else if (event.key === "e" && at >= 0) cards[at].querySelector("a.edit").click();
    else return;
    event.preventDefault();
  });
  onChange(show);
  const { base, cases: kept } = draft();
  if (Object.keys(kept).length && base !== truth.number) go(`${truth.home}/queue?${new URLSearchParams({ v: base })}`);
  else show();
}
