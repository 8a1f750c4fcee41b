"""Retrieval metrics as one writes them in an afternoon: a loop over the rows, the formulas as in a textbook."""

from __future__ import annotations

import math
from typing import Any

TITLE = "a plain loop"
_K = 5


def prepare(rows: list[dict[str, Any]]) -> list[tuple[list[str], dict[str, float]]]:
    return [([chunk["id"] for chunk in row["contexts"]], row["relevance"]) for row in rows]


def work(prepared: list[tuple[list[str], dict[str, float]]]) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {f"precision@{_K}": [], f"recall@{_K}": [], "mrr": [], f"ndcg@{_K}": []}
    for ids, grades in prepared:
        gains = [grades.get(name, 0) for name in ids]
        hits = sum(gain > 0 for gain in gains[:_K])
        values[f"precision@{_K}"].append(hits / _K)
        values[f"recall@{_K}"].append(hits / sum(grade > 0 for grade in grades.values()))
        values["mrr"].append(next((1 / rank for rank, gain in enumerate(gains, start=1) if gain > 0), 0.0))
        ideal = sorted(grades.values(), reverse=True)
        values[f"ndcg@{_K}"].append(_discounted(gains[:_K]) / _discounted(ideal[:_K]))
    return values


def _discounted(gains: list[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
