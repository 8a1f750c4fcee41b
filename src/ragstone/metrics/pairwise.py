"""One answer compared with another by a judge that sees them in both orders (Zheng et al. 2023).

The other answer to the same question is in the sample's metadata.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.data.types import Chunk, PairVerdict
from ragstone.errors import Skip
from ragstone.registry import evidence, metric
from ragstone.tools.protocols import PairJudge

# Metadata keys: the other answer, and whether the judge sees the reference.
OTHER_ANSWER = "other_answer"
SHOW_REFERENCE = "pair_by_truth"
_COMMON: dict[str, Any] = {
    "family": "pair",
    "judges": "answer",
    "against": "question",
    "source": "pairwise comparison with swapped positions (MT-Bench, Zheng et al. 2023)",
    # Two model calls per row: computed only if named.
    "slow": True,
}
# The verdict of both orders together, next to one per order.
_BOTH = "both"
_WORTH = {"one": 1.0, "other": 0.0, "tie": 0.5}


@evidence(prompts=("pair", "own_reference"), either=("answer", "contexts", "references"))
async def pair_verdicts(
    question: str,
    answer: str | None,
    contexts: Sequence[Chunk] | None,
    references: Sequence[str] | None,
    metadata: dict[str, Any],
    pair_judge: PairJudge,
) -> list[PairVerdict]:
    """The judge's preferred answer, one verdict per order."""
    other = metadata.get(OTHER_ANSWER)
    if not isinstance(other, str):
        raise Skip(f"there is no other answer (metadata.{OTHER_ANSWER})")
    if answer is None:
        raise Skip("there is no answer")
    if answer == other:
        return [PairVerdict("neither", "tie", "Both answers are the same.")]
    reference = references[0] if references and metadata.get(SHOW_REFERENCE) else None
    return await pair_judge.compare(question, answer, other, [chunk.text for chunk in contexts or ()], reference)


@metric(
    "pair.win",
    **_COMMON,
    misleads="It does not show by how much, or whether either is right. `ragstone audit` tests the judge for bias.",
)
def pair_win(pair_verdicts: Sequence[PairVerdict]) -> float:
    """Whether the judge prefers the answer to the other one.

    1 if it is preferred in every order, 0 if the other one is, 0.5 for a tie or if the orders disagree; by token
    probabilities, the mean log-odds of both orders decide. Identical answers tie without a call. Skipped if there is no other answer.
    """
    # A judge with probabilities decides by both orders together.
    together = [verdict for verdict in pair_verdicts if verdict.first == _BOTH]
    winners = {verdict.winner for verdict in together or pair_verdicts}
    return _WORTH[winners.pop()] if len(winners) == 1 else 0.5


@metric(
    "pair.consistency",
    **_COMMON,
    misleads="A judge that always answers tie, or always prefers the longer answer, is consistent.",
)
def pair_consistency(pair_verdicts: Sequence[PairVerdict]) -> float:
    """Whether the judge prefers the same answer after they swap positions.

    1 if both orders have the same winner, else 0. Skipped if the answers are identical or only one order was judged.
    """
    return float(len({verdict.winner for verdict in _both_orders(pair_verdicts)}) == 1)


@metric(
    "pair.first_seat",
    **_COMMON,
    better="none",
    misleads="A single row does not show bias: the better answer may have come first.",
)
def pair_first_seat(pair_verdicts: Sequence[PairVerdict]) -> float:
    """How often the judge prefers the answer it sees first; 0.5 for a judge without position bias.

    Mean over the orders of 1 for the first, 0 for the second, 0.5 for a tie. Skipped if the answers are identical or only
    one order was judged.
    """
    worths = [
        0.5 if verdict.winner == "tie" else float(verdict.winner == verdict.first)
        for verdict in _both_orders(pair_verdicts)
    ]
    return sum(worths) / len(worths)


def _both_orders(verdicts: Sequence[PairVerdict]) -> Sequence[PairVerdict]:
    """The verdict of each order if the judge saw both; otherwise they contain nothing about the judge."""
    verdicts = [verdict for verdict in verdicts if verdict.first != _BOTH]
    if any(verdict.first == "neither" for verdict in verdicts):
        raise Skip("both answers are the same, so the judge was not called")
    if len(verdicts) < 2:
        raise Skip("the judge saw one order only")
    return verdicts
