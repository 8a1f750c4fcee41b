"""Facts in chunks as one writes it in an afternoon: fold case and punctuation, look for the one in the other."""

from __future__ import annotations

import re
from typing import Any

TITLE = "a plain loop"


def prepare(rows: list[dict[str, Any]]) -> list[tuple[list[str], list[str]]]:
    return [(row["facts"], [chunk["text"] for chunk in row["contexts"]]) for row in rows]


def work(prepared: list[tuple[list[str], list[str]]]) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {
        name: [] for name in ("fact_recall", "fact_precision", "fact_f1", "fact_mrr_mean")
    }
    for facts, chunks in prepared:
        found = [[_fold(fact) in _fold(chunk) for chunk in chunks] for fact in facts]
        recall = sum(map(any, found)) / len(facts)
        precision = sum(map(any, zip(*found, strict=True))) / len(chunks)
        values["fact_recall"].append(recall)
        values["fact_precision"].append(precision)
        values["fact_f1"].append(2 * recall * precision / (recall + precision) if recall and precision else 0.0)
        values["fact_mrr_mean"].append(sum(1 / (row.index(True) + 1) for row in found if any(row)) / len(facts))
    return values


def _fold(text: str) -> str:
    return f" {' '.join(re.findall(r'[a-z0-9]+', text.lower()))} "
