"""Nuggets (TREC RAG 2024, AutoNuggetizer; Pradeep et al. 2024): which facts the answer contains.

A nugget is a fact of the sample. It is `vital` (a good answer must contain it) or `okay` (it may); a fact without importance
counts as vital. The checker labels each nugget as `support`, `partial_support` or `not_support`. Support counts 1 and
partial support 0.5; in the strict variants it counts 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.data.share import Share
from ragstone.data.types import Fact
from ragstone.data.verdict import SUPPORT, Verdict
from ragstone.errors import Skip
from ragstone.registry import evidence, metric
from ragstone.text.cited_parts import without_marks
from ragstone.tools.nugget_labels import worth_of
from ragstone.tools.protocols import Checker, Labelled, check_text

VITAL, OKAY = "vital", "okay"
# What a nugget that is merely okay counts in the weighted scores.
OKAY_WEIGHT = 0.5
_COMMON: dict[str, Any] = {
    "family": "nugget",
    "judges": "answer",
    "against": "facts",
    "source": "AutoNuggetizer, TREC RAG 2024 (Pradeep et al. 2024)",
    # Fast with the local judge, but most data has no nuggets.
    "slow": True,
}
_JUDGED = "It depends on the judge. What no nugget names does not count, right or wrong."
_LONG = "Long answers contain more nuggets."
_STRICT = f"{_JUDGED} {_LONG} Judges rarely agree on what is partial; here partial support counts as none."


@evidence(prompts=("nuggets",), version=2)
async def nugget_support(question: str, answer: str, facts: list[Fact], checker: Checker) -> list[Verdict]:
    """How far the answer contains each fact: support, partial_support or not_support."""
    return await check_text(checker, question, [fact.text for fact in facts], Labelled(without_marks(answer)))


def _score(labels: Sequence[str], facts: Sequence[Fact], okay: float, strict: bool) -> Share:
    """Sum of weight · worth / sum of weights. A nugget weighs `okay` if it is okay, otherwise 1; partial support is worth 0.5."""
    weights = [okay if fact.importance == OKAY else 1.0 for fact in facts]
    if not sum(weights):
        raise Skip("no nugget is vital")
    worths = [float(label == SUPPORT) if strict else worth_of(label) for label in labels]
    return Share.of("fact", [weight * worth for weight, worth in zip(weights, worths, strict=True)], weights)


@metric("nugget.all", **_COMMON, misleads=f"{_JUDGED} {_LONG} Unimportant nuggets count as much as vital ones.")
def all_score(nugget_support: Sequence[str], facts: Sequence[Fact]) -> float:
    """Share of all nuggets that the answer contains.

    Sum over nuggets of 1 for support and 0.5 for partial support / nuggets. TREC calls it A.
    """
    return _score(nugget_support, facts, 1.0, strict=False)


@metric("nugget.all_strict", **_COMMON, misleads=f"{_STRICT} Unimportant nuggets count as much as vital ones.")
def all_strict(nugget_support: Sequence[str], facts: Sequence[Fact]) -> float:
    """Share of all nuggets that the answer contains in full.

    Nuggets with support / nuggets. TREC calls it A_strict.
    """
    return _score(nugget_support, facts, 1.0, strict=True)


@metric("nugget.vital", **_COMMON, misleads=f"{_JUDGED} {_LONG}", aliases=("nugget.vital_recall",))
def vital(nugget_support: Sequence[str], facts: Sequence[Fact]) -> float:
    """Share of the vital nuggets that the answer contains.

    Sum over vital nuggets of 1 for support and 0.5 for partial support / vital nuggets. TREC calls it V. Skipped if no
    nugget is vital.
    """
    return _score(nugget_support, facts, 0.0, strict=False)


@metric("nugget.vital_strict", **_COMMON, misleads=_STRICT)
def vital_strict(nugget_support: Sequence[str], facts: Sequence[Fact]) -> float:
    """Share of the vital nuggets that the answer contains in full: the main score of TREC RAG 2024.

    Vital nuggets with support / vital nuggets. TREC calls it V_strict. Skipped if no nugget is vital.
    """
    return _score(nugget_support, facts, 0.0, strict=True)


@metric("nugget.weighted", **_COMMON, misleads=f"{_JUDGED} {_LONG}", aliases=("nugget.weighted_recall",))
def weighted(nugget_support: Sequence[str], facts: Sequence[Fact]) -> float:
    """Share of the nuggets that the answer contains, those that are okay by half.

    (Sum over vital nuggets + 0.5 · sum over okay nuggets) / (vital nuggets + 0.5 · okay nuggets), where support adds 1 and
    partial support 0.5. TREC calls it W.
    """
    return _score(nugget_support, facts, OKAY_WEIGHT, strict=False)


@metric("nugget.weighted_strict", **_COMMON, misleads=_STRICT)
def weighted_strict(nugget_support: Sequence[str], facts: Sequence[Fact]) -> float:
    """Share of the nuggets that the answer contains in full, those that are okay by half.

    As `nugget.weighted`, but partial support adds 0. TREC calls it W_strict.
    """
    return _score(nugget_support, facts, OKAY_WEIGHT, strict=True)
