"""The answer held against another one to the same question, which stands in the sample's metadata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.data.types import Chunk, PairVerdict
from ragstone.errors import Skip
from ragstone.evidence.tools import PairJudge
from ragstone.registry import evidence

# Where the other answer stands, and whether references are shown.
OTHER_ANSWER = "other_answer"
SHOW_REFERENCE = "pair_by_truth"


@evidence(prompts=("pair", "own_reference"), either=("answer", "contexts", "references"))
async def pair_verdicts(
    question: str,
    answer: str | None,
    contexts: Sequence[Chunk] | None,
    references: Sequence[str] | None,
    metadata: dict[str, Any],
    pair_judge: PairJudge,
) -> list[PairVerdict]:
    """Which answer the judge prefers, for each order in which it saw them."""
    other = metadata.get(OTHER_ANSWER)
    if not isinstance(other, str):
        raise Skip(f"there is no other answer (metadata.{OTHER_ANSWER})")
    if answer is None:
        raise Skip("there is no answer")
    if answer == other:
        return [PairVerdict("neither", "tie", "Both answers are the same.")]
    reference = references[0] if references and metadata.get(SHOW_REFERENCE) else None
    return await pair_judge.compare(question, answer, other, [chunk.text for chunk in contexts or ()], reference)
