"""One answer against another, by a judge who saw them in both orders (Zheng et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.data.types import PairVerdict
from ragstone.errors import Skip
from ragstone.registry import metric

_PLACE: dict[str, Any] = {
    "family": "pair",
    "judges": "answer",
    "against": "question",
    "source": "pairwise comparison with swapped positions (Zheng et al. 2023)",
    # Two calls of a model for each row: only who names it pays for it.
    "slow": True,
}
_WORTH = {"one": 1.0, "other": 0.0, "tie": 0.5}


@metric(
    "pair.win",
    **_PLACE,
    misleads="It says who is preferred, not by how much nor whether either is right. `ragstone audit` shows what else the judge prefers.",
)
def pair_win(pair_verdicts: Sequence[PairVerdict]) -> float:
    """Whether a judge prefers the answer to the other one, in whichever order it sees them.

    1 if it is preferred in every order that was asked, 0 if the other one is, 0.5 if they are equal or the orders disagree.
    Two answers that are the same are equal, and nobody is asked. Skipped where there is no other answer.
    """
    winners = {verdict.winner for verdict in pair_verdicts}
    return _WORTH[winners.pop()] if len(winners) == 1 else 0.5


@metric(
    "pair.consistency",
    **_PLACE,
    misleads="A judge that always says tie is consistent, and so is one that always prefers the longer.",
)
def pair_consistency(pair_verdicts: Sequence[PairVerdict]) -> float:
    """Whether the judge prefers the same answer when they change places.

    1 if both orders have the same winner, else 0. Skipped where one order was asked, or none since the answers are the same.
    """
    return float(len({verdict.winner for verdict in _both_orders(pair_verdicts)}) == 1)


@metric(
    "pair.first_seat",
    **_PLACE,
    better="none",
    misleads="One order alone says nothing about the judge: the better answer may have stood first.",
)
def pair_first_seat(pair_verdicts: Sequence[PairVerdict]) -> float:
    """How often the judge prefers what it sees first; a judge without preference for a seat is at one half.

    Mean over the orders of 1 for the first, 0 for the second, 0.5 for a tie. Skipped where one order was asked, or none since
    the answers are the same.
    """
    asked = _both_orders(pair_verdicts)
    return sum(0.5 if verdict.winner == "tie" else float(verdict.winner == verdict.first) for verdict in asked) / len(
        asked
    )


def _both_orders(verdicts: Sequence[PairVerdict]) -> Sequence[PairVerdict]:
    """The verdicts, if the judge was asked in both orders: what nobody was asked says nothing about the judge."""
    if any(verdict.first == "neither" for verdict in verdicts):
        raise Skip("both answers are the same, so nobody was asked")
    if len(verdicts) < 2:
        raise Skip("it was asked in one order only")
    return verdicts
