"""pytrec_eval: trec_eval's own C code."""

from __future__ import annotations

from importlib import import_module
from typing import Any

TITLE = "pytrec_eval"
_NAMES = {"precision@5": "P_5", "recall@5": "recall_5", "mrr": "recip_rank", "ndcg@5": "ndcg_cut_5"}
_MEASURES = {"P.5", "recall.5", "recip_rank", "ndcg_cut.5"}

Prepared = tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]


def prepare(rows: list[dict[str, Any]]) -> Prepared:
    grades = {row["id"]: row["relevance"] for row in rows}
    scores = {row["id"]: {chunk["id"]: -float(at) for at, chunk in enumerate(row["contexts"])} for row in rows}
    return grades, scores


def work(prepared: Prepared) -> dict[str, list[float]]:
    grades, scores = prepared
    found = import_module("pytrec_eval").RelevanceEvaluator(grades, _MEASURES).evaluate(scores)
    return {ours: [found[name][theirs] for name in grades] for ours, theirs in _NAMES.items()}
