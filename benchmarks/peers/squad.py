"""The way of SQuAD's evaluation script (v1.1): each function takes two texts and normalises both."""

from __future__ import annotations

import re
import string
from collections import Counter
from typing import Any

TITLE = "SQuAD's script"


def prepare(rows: list[dict[str, Any]]) -> list[tuple[str, list[str], str | None]]:
    return [(row["answer"], row["references"], _joined(row)) for row in rows]


def _joined(row: dict[str, Any]) -> str | None:
    return " ".join(chunk["text"] for chunk in row["contexts"]) if "contexts" in row else None


def work(prepared: list[tuple[str, list[str], str | None]]) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {
        name: [] for name in ("exact_match", "token_precision", "token_recall", "token_f1", "k_precision")
    }
    for answer, references, contexts in prepared:
        overlaps = [_overlap(answer, reference) for reference in references]
        values["exact_match"].append(max(_exact_match(answer, reference) for reference in references))
        for position, name in enumerate(("token_precision", "token_recall", "token_f1")):
            values[name].append(max(overlap[position] for overlap in overlaps))
        if contexts is not None:
            values["k_precision"].append(_overlap(answer, contexts)[0])
    return values


def _normalise(text: str) -> str:
    without_punctuation = "".join(character for character in text.lower() if character not in _PUNCTUATION)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", without_punctuation).split())


def _exact_match(answer: str, reference: str) -> float:
    return float(_normalise(answer) == _normalise(reference))


def _overlap(answer: str, reference: str) -> tuple[float, float, float]:
    found, wanted = _normalise(answer).split(), _normalise(reference).split()
    shared = sum((Counter(found) & Counter(wanted)).values())
    if not shared:
        return 0.0, 0.0, 0.0
    precision, recall = shared / len(found), shared / len(wanted)
    return precision, recall, 2 * precision * recall / (precision + recall)


_PUNCTUATION = set(string.punctuation)
