"""UMBRELA (Upadhyay et al. 2024): a judge grades each retrieved chunk from 0 to 3, as the assessors of TREC do.

0: nothing to do with the question; 1: related, but no answer; 2: some answer, unclear or among other things; 3: dedicated to
the question, with the exact answer. `ragstone pool --grades` writes these grades as qrels.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import Any

from ragstone.data.share import Items, Share
from ragstone.data.types import Chunk, Grade
from ragstone.registry import evidence, metric
from ragstone.storage.images import texts_with_images
from ragstone.tools.protocols import Judge

_COMMON: dict[str, Any] = {
    "family": "umbrela",
    "against": "question",
    "source": "UMBRELA (Upadhyay et al. 2024), after Thomas et al. 2023",
    # One model call per chunk: computed only if named.
    "slow": True,
}
_JUDGED = (
    "It depends on the judge. Judges tend to be more generous than people, more so with the words of the question."
)


@evidence(prompts=("relevance_grade",), images=True)
async def chunk_grades(question: str, contexts: list[Chunk], judge: Judge) -> list[Grade]:
    """The grade of each retrieved chunk from 0 to 3, with its steps: match of the intent and trustworthiness."""
    return await judge.grade_chunks(question, texts_with_images(contexts)) if contexts else []


@metric(
    "umbrela.grade",
    **_COMMON,
    judges="contexts",
    misleads=f"{_JUDGED} Fewer chunks raise it. It does not know what was not retrieved.",
)
def grade(chunk_grades: Sequence[Grade], k: int | None = None) -> float:
    """Mean grade of the first k retrieved chunks, as a share of the best grade.

    Sum of the grades (0 to 3) among the first k / (3 · min(k, retrieved)). Nothing retrieved: 0.
    """
    first = chunk_grades[:k]
    if not first:
        return Share(0.0)
    return Share.of("chunk", [one.value for one in first], [one.highest for one in first], of="possible")


@metric(
    "umbrela.ndcg",
    **_COMMON,
    judges="ranking",
    misleads=f"{_JUDGED} A retrieval that misses the best chunks can reach 1.",
)
def ndcg(chunk_grades: Sequence[Grade], k: int | None = None) -> float:
    """How close the order of the chunks is to their best order, by grade.

    Sum of grade / log2(rank + 1) over the first k, divided by the same sum for all retrieved chunks sorted by grade. No
    grade above 0: 0.
    """
    grades = [one.value for one in chunk_grades]
    orders = (grades, sorted(grades, reverse=True))
    added, best = ([value / log2(rank + 1) for rank, value in enumerate(order[:k], 1)] for order in orders)
    ideal = sum(best)
    return Share(sum(added) / ideal if ideal else 0.0, Items.counted("chunk", added, whole=ideal, of="the best order"))
