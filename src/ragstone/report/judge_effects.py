"""Effects of irrelevant changes on verdicts and grades, in the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.agreement.effects import LEAST_ITEMS, Effect
from ragstone.report.table import Cell, Column, Table, columns
from ragstone.report.text import p_value, signed, signed_interval, title

_TONES = {"effect": "bad", "none seen": "green", "too few": "unsure"}
_MARKS = {"effect": "✗", "none seen": "✓", "too few": "?"}
METHOD = (
    "Each item is scored as it is and with one change that must not matter. Change: mean difference of the score (0 to 1). "
    "p: paired sign-flip test, corrected for all effects of the task."
)


def effects_report(effects: Sequence[Effect]) -> RenderableType:
    """One row per effect, with counts, and what was or was not seen."""
    parts: list[RenderableType] = []
    for task in dict.fromkeys(effect.task for effect in effects):
        mine = [effect for effect in effects if effect.task == task]
        parts += [title(f"effects on {task}"), _table(mine)]
    return Group(*parts, Text(f"\n{METHOD}", style="dim"))


def _table(effects: Sequence[Effect]) -> Table:
    numbers = columns("change", "95 % interval", "p", "up", "same", "down")
    table = Table([Column(), Column("effect"), *numbers, Column("result", wrap="words")])
    for effect in effects:
        tone = _TONES[effect.verdict]
        table.add(
            Cell(_MARKS[effect.verdict], tone=tone),
            Cell(effect.name, tone=tone),
            "–" if effect.value is None else signed(effect.value),
            signed_interval(*effect.interval) if effect.interval else "–",
            "–" if effect.p is None else p_value(effect.p),
            *(str(count) for count in effect.counts),
            Cell(effect_words(effect), tone="muted"),
        )
    return table


def effect_words(effect: Effect) -> str:
    """The result in words, with the size of an effect that could have been missed."""
    if effect.verdict == "too few":
        return f"{effect.words}: only {effect.n} items, at least {LEAST_ITEMS} are needed"
    if effect.verdict == "effect":
        return f"{effect.words}: {'raises' if (effect.value or 0) > 0 else 'lowers'} scores in {effect.n} items"
    possible = "" if effect.possible is None else f" (an effect below {effect.possible:.2f} is possible)"
    return f"{effect.words}: no effect seen in {effect.n} items{possible}"


def effect_dict(effect: Effect) -> dict[str, Any]:
    """The effect as JSON."""
    return {
        "task": effect.task,
        "effect": effect.name,
        "change": effect.words,
        "items": effect.n,
        **effect.counts._asdict(),
        "value": effect.value,
        "interval": list(effect.interval) if effect.interval else None,
        "p": effect.p,
        "verdict": effect.verdict,
        "possible": effect.possible,
        "words": effect_words(effect),
    }
