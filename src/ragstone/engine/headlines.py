"""The metrics that most people want to know first; the rest is variants and parts of them."""

from __future__ import annotations

import re
from collections.abc import Collection

# With fewer there is not enough to leave anything out for.
_FEWEST = 4
# First of what was retrieved, then of what was answered.
HEADLINES = (
    *(
        "fact_recall",
        "fact_precision",
        "recall",
        "ndcg",
        "mrr",
        "ragchecker.claim_recall",
        "ragchecker.context_precision",
    ),
    *("answer_match", "token_f1", "token_recall", "k_precision", "semantic_similarity", "ragchecker.f1"),
    *(
        "ragchecker.faithfulness",
        "ragchecker.hallucination",
        "ragchecker.context_utilization",
        "ragas.answer_correctness",
    ),
    *("ragas.answer_relevancy", "refusal", "answerability_accuracy"),
)


def is_headline(name: str) -> bool:
    """Whether a metric is one of them, with any cut-off or settings."""
    return re.split(r"[@(]", name)[0] in HEADLINES


def pick_headlines(names: Collection[str]) -> set[str]:
    """The headlines among metrics; all of them where that would be too few."""
    found = {name for name in names if is_headline(name)}
    return found if len(found) >= _FEWEST else set(names)


def say_more(count: int) -> str:
    """How to see the metrics that were left out."""
    return f"{count} more metric{'s' if count != 1 else ''} with --full"
