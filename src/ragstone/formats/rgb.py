"""RGB's files (Chen et al. 2024): questions with passages that contain the answer, passages that do not, and false ones.

`refine` files have passages with and without the answer, `int` files one group of passages per part of the answer, `fact`
files passages with a replaced answer. They contain no answers of a system: `ragstone stress` collects them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.formats.base import RowFormat, name_pairs
from ragstone.formats.common_fields import unpack
from ragstone.formats.values import Unfit

# The metadata key for the parts of a row that have no field.
PARTS = "rgb"
_OWN = ("answer", "positive", "negative", "positive_wrong", "fakeanswer")


def _convert(row: dict[str, Any]) -> dict[str, Any]:
    parts = {name: unpack(row[name]) for name in _OWN if row.get(name) is not None}
    rest = {name: value for name, value in row.items() if name not in _OWN}
    needed, about = _needed(parts.get("answer")), rest.get("metadata")
    if isinstance(needed, Unfit):
        return {**rest, "references": needed}
    positive = parts.get("positive")
    groups = positive if isinstance(positive, list) else []
    flat = [text for group in groups for text in (group if isinstance(group, list) else [group])]
    # Spellings of the one answer or, if several answers are needed, the first spelling of each in one line.
    references = needed[0] if len(needed) == 1 else [", ".join(spellings[0] for spellings in needed if spellings)]
    return {
        **rest,
        "references": references if needed else None,
        "reference_contexts": flat or None,
        "metadata": {**(about if isinstance(about, Mapping) else {}), PARTS: {**parts, "answer": needed}},
    }


def _needed(answer: Any) -> list[list[str]] | Unfit:
    """The needed answers, each with its spellings, from a text, a list of needed texts or a list of lists."""
    if answer is None:
        return []
    entries = answer if isinstance(answer, list) else [answer]
    found = [entry if isinstance(entry, list) else [entry] for entry in entries]
    if any(not isinstance(spelling, str | int | float) for spellings in found for spelling in spellings):
        return Unfit("must be a text, a list of texts, or a list of lists of texts")
    return [[str(spelling) for spelling in spellings] for spellings in found]


FORMAT = RowFormat(
    name="rgb",
    title="RGB's files: refine, int and fact, English and Chinese",
    columns=name_pairs("id query:question question references reference_contexts metadata"),
    marks=[frozenset({"query", "answer", "positive", "negative"})],
    convert=_convert,
    names={"references": "answer", "reference_contexts": "positive"},
)
