"""Google's rouge-score: the best of the references, F1, with its stemmer."""

from __future__ import annotations

from importlib import import_module
from typing import Any

TITLE = "rouge-score with stemmer"
_NAMES = {
    f"{name}(stem=true)": theirs
    for name, theirs in (("rouge_1", "rouge1"), ("rouge_2", "rouge2"), ("rouge_l", "rougeL"))
}


def prepare(rows: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    return [(row["answer"], row["references"]) for row in rows]


def work(prepared: list[tuple[str, list[str]]]) -> dict[str, list[float]]:
    scorer = import_module("rouge_score.rouge_scorer").RougeScorer(list(_NAMES.values()), use_stemmer=True)
    found = [[scorer.score(reference, answer) for reference in references] for answer, references in prepared]
    return {
        ours: [max(score[theirs].fmeasure for score in scores) for scores in found] for ours, theirs in _NAMES.items()
    }
