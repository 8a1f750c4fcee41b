"""How far the local judge can be trusted: the figures of its card for people, in the terminal and in docs/trust.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.models.judge_card import Card

_TASKS = {
    "match": "Answer match: does the answer say what the reference says",
    "support": "Claim support: does the evidence support the claim",
    "fraction": "Support fraction: how much of a text another one supports",
}


def card_lines(card: Card) -> Iterator[str]:
    """The card as Markdown: a table a task with intervals and baselines, how sure it must be, and what it cannot do."""
    if card.what:
        yield from (card.what, "")
    for task, title in _TASKS.items():
        figures = [figure for figure in card.figures if figure["task"] == task]
        if figures:
            yield from (f"{title}.", "", *_table(figures), "")
    for task, steps in card.ladder.items():
        told = ", ".join(f"{confidence:.0%} sure: right {agreement:.0%}" for agreement, confidence in steps)
        yield from (f"How often it is right when it is sure, {task}: {told}.", "")
    if card.limits:
        yield from ("Limits:", "", *(f"- {limit}" for limit in card.limits))


def _table(figures: list[Mapping[str, Any]]) -> Iterator[str]:
    others = {"overlap": "token overlap", "cosine": "cosine"}
    if any("contained" in figure for figure in figures):
        others = {"contained": "reference contained", **others}
    yield f"| data | rows | measure | local judge (95 % interval) | {' | '.join(others.values())} |"
    yield f"|---|--:|---|---|{'--:|' * len(others)}"
    for figure in figures:
        judged = f"{figure['judge']:.3f} ({figure['low']:.3f} – {figure['high']:.3f})"
        told = " | ".join(_number(figure.get(name)) for name in others)
        yield f"| {figure['data']} | {figure['rows']:,} | {figure['measure']} | {judged} | {told} |"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
