"""Fuzzy facts: `partial_ratio_alignment` of rapidfuzz, told to give up below 90."""

from __future__ import annotations

from typing import Any

TITLE = "rapidfuzz with cutoff"
_LEAST = 90
Prepared = list[tuple[list[str], list[str]]]


def prepare(rows: list[dict[str, Any]]) -> Prepared:
    return [(row["facts"], [chunk["text"] for chunk in row["contexts"]]) for row in rows]


def work(prepared: Prepared) -> dict[str, list[float]]:
    return score(prepared, cutoff=_LEAST)


def score(prepared: Prepared, cutoff: int | None) -> dict[str, list[float]]:
    """The values, with rapidfuzz told to give up below the cutoff or not."""
    values: dict[str, list[float]] = {
        name: [] for name in ("fact_recall", "fact_precision", "fact_f1", "fact_mrr_mean")
    }
    for facts, chunks in prepared:
        places = _places([_fold(fact) for fact in facts], [_fold(chunk) for chunk in chunks], cutoff)
        found = [[place is not None for place in row] for row in places]
        recall = sum(map(any, found)) / len(facts)
        precision = sum(map(any, zip(*found, strict=True))) / len(chunks)
        values["fact_recall"].append(recall)
        values["fact_precision"].append(precision)
        values["fact_f1"].append(2 * recall * precision / (recall + precision) if recall and precision else 0.0)
        values["fact_mrr_mean"].append(sum(1 / (row.index(True) + 1) for row in found if any(row)) / len(facts))
    return values


def _places(facts: list[str], chunks: list[str], cutoff: int | None) -> list[list[tuple[int, int] | None]]:
    """For each fact and chunk the characters of the folded chunk that are nearest, if they are near enough."""
    from rapidfuzz.fuzz import partial_ratio_alignment

    places: list[list[tuple[int, int] | None]] = []
    for fact in facts:
        found = [partial_ratio_alignment(fact, chunk, score_cutoff=cutoff) for chunk in chunks]
        places.append([(one.dest_start, one.dest_end) if one and one.score >= _LEAST else None for one in found])
    return places


def _fold(text: str) -> str:
    """rapidfuzz's own folding, with one space between words."""
    from rapidfuzz.utils import default_process

    return " ".join(default_process(text).split())
