"""Answer and reference compared by contextual token embeddings: BERTScore, MoverScore, Word Mover's Distance.

Optimal transport: the least cost of moving one set of weights onto another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

from ragstone.errors import MissingExtraError, Skip
from ragstone.registry import evidence, metric
from ragstone.tools.protocols import TokenEmbedder

_TINY = 1e-12


def transport_cost(supply: np.ndarray, demand: np.ndarray, costs: np.ndarray) -> float:
    """The exact least mean cost of moving the supplies onto the demands, both as shares of their sum.

    `costs` has one row per supply and one column per demand.
    """
    if not supply.sum() > 0 or not demand.sum() > 0:
        raise ValueError("supply and demand must each have a positive sum")
    try:
        from scipy import optimize, sparse  # noqa: PLC0415  (an extra)
    except ImportError:
        raise Skip(str(MissingExtraError("The cost of moving words", "metrics"))) from None

    supply, demand = supply / supply.sum(), demand / demand.sum()
    rows, columns = costs.shape
    if rows == columns and np.ptp(supply) < _TINY and np.ptp(demand) < _TINY:
        # With equal weights, each supply goes to exactly one demand.
        return float(costs[optimize.linear_sum_assignment(costs)].mean())
    leaving = sparse.kron(sparse.eye(rows), np.ones((1, columns)))
    arriving = sparse.kron(np.ones((1, rows)), sparse.eye(columns))
    # The last demand follows from the rest; with it, rounding could leave no solution.
    constraints = sparse.vstack([leaving, arriving.tocsr()[:-1]], format="csr")
    bounds = np.concatenate([supply, demand[:-1]])
    solution = optimize.linprog(costs.ravel(), A_eq=constraints, b_eq=bounds, method="highs")
    if solution.status != 0:
        raise ArithmeticError(f"linprog found no solution: {solution.message}")
    return float(solution.fun)


# The vectors of a text's tokens, and the rarity of each token.
Side = tuple[np.ndarray, np.ndarray]
Result = TypeVar("Result")
# The largest distance of two vectors of length 1.
FARTHEST = 2.0


@dataclass(frozen=True)
class TokenMatch:
    """Mean cosine of the best matches of the answer's and the reference's tokens, plain and weighted by rarity."""

    precision: float
    recall: float
    rare_precision: float
    rare_recall: float


@dataclass(frozen=True)
class TokenMoves:
    """Mean distance that tokens move to turn the answer into a reference, plain and weighted by rarity."""

    distance: float
    rare_distance: float


@evidence
async def token_matches(answer: str, references: list[str], token_embedder: TokenEmbedder) -> list[TokenMatch | None]:
    """For each reference, how well its tokens match those of the answer; None if it has no tokens."""
    return await _compare(answer, references, token_embedder, _match)


@evidence
async def token_moves(answer: str, references: list[str], token_embedder: TokenEmbedder) -> list[TokenMoves | None]:
    """For each reference, the optimal transport distance from the answer's tokens; None if it has no tokens."""
    return await _compare(answer, references, token_embedder, _move)


async def _compare(
    answer: str, references: Sequence[str], embedder: TokenEmbedder, compare: Callable[[Side, Side], Result]
) -> list[Result | None]:
    if not references:
        return []
    said, *expected = await embedder.embed_tokens([answer, *references])
    # In a thread, because optimal transport would block the event loop.
    return [await asyncio.to_thread(compare, said, side) if len(side[0]) else None for side in expected]


def _match(said: Side, expected: Side) -> TokenMatch:
    if not len(said[0]):
        return TokenMatch(0.0, 0.0, 0.0, 0.0)
    cosines = np.clip(said[0] @ expected[0].T, -1.0, 1.0)
    precision, recall = cosines.max(axis=1), cosines.max(axis=0)
    return TokenMatch(
        float(precision.mean()),
        float(recall.mean()),
        float(np.average(precision, weights=said[1])),
        float(np.average(recall, weights=expected[1])),
    )


def _move(said: Side, expected: Side) -> TokenMoves:
    if not len(said[0]):
        return TokenMoves(FARTHEST, FARTHEST)
    distances = np.sqrt(np.clip(2.0 - 2.0 * (said[0] @ expected[0].T), 0.0, FARTHEST**2))
    equal = np.ones(len(said[0])), np.ones(len(expected[0]))
    return TokenMoves(transport_cost(*equal, distances), transport_cost(said[1], expected[1], distances))


_NO_TOKENS = "no reference has a word to compare with"
_COMMON: dict[str, Any] = {"family": "semantic", "judges": "answer", "against": "references", "slow": True}


@metric(
    "bert_score",
    **_COMMON,
    bounds=(-1.0, 1.0),
    source="BERTScore (Zhang et al. 2020), on the last layer of all-MiniLM-L6-v2",
    misleads=(
        "Values depend on the model and differ from BERTScore on RoBERTa. Unrelated English sentences score 0.14 on "
        "average. A changed number costs little."
    ),
    aliases={
        "bert_score.precision": {"part": "precision"},
        "bert_score.recall": {"part": "recall"},
        "bert_score.f1": {},
    },
)
def bert_score(
    token_matches: Sequence[TokenMatch | None],
    part: Literal["f1", "precision", "recall"] = "f1",
    idf: bool = False,
    baseline: float = 0.0,
) -> float:
    """Similarity of answer and reference by their best matching tokens.

    Precision: mean over the answer's tokens of the best cosine with a reference token; recall: the reverse; F1: harmonic
    mean; for the reference with the best F1. `idf=true` weights tokens by the logarithm of their rank in the
    vocabulary (the original: by counts in the data). `baseline=b` rescales s to
    (s − b) / (1 − b), at least −1; 0.14 puts unrelated sentences at 0. Empty answer: 0 before rescaling. At most 508
    tokens per text. Skipped if no reference has words.
    """
    if not 0 <= baseline < 1:
        raise ValueError(f"the baseline must be from 0 to below 1, got {baseline}")
    pairs = [
        (match.rare_precision, match.rare_recall) if idf else (match.precision, match.recall)
        for match in token_matches
        if match is not None
    ]
    if not pairs:
        raise Skip(_NO_TOKENS)
    f1, precision, recall = max((_f1(*pair), *pair) for pair in pairs)
    score = {"f1": f1, "precision": precision, "recall": recall}[part]
    return max((score - baseline) / (1 - baseline), -1.0)


@metric(
    "mover_score",
    **_COMMON,
    source="MoverScore (Zhao et al. 2019), on single tokens",
    misleads="Unrelated sentences score about 0.43; the minimum is 1/3, as no two tokens are farther apart than 2.",
)
def mover_score(token_moves: Sequence[TokenMoves | None]) -> float:
    """How little the answer's tokens must move to become the reference's.

    1 / (1 + d), where d is the smallest mean distance that turns the answer's tokens into the reference's, weighted by
    rarity; best over references. Empty answer: 1/3. Skipped if no reference has words. Needs `pip install 'ragstone[metrics]'`.
    """
    return 1.0 / (1.0 + min(move.rare_distance for move in _known(token_moves)))


@metric(
    "wmd",
    **_COMMON,
    bounds=(0.0, 2.0),
    better="lower",
    source="Word Mover's Distance (Kusner et al. 2015), on contextual tokens",
    misleads=("A right answer longer than the reference is far from it. Unrelated sentences are about 1.34 apart."),
    aliases=("word_movers_distance",),
)
def wmd(token_moves: Sequence[TokenMoves | None]) -> float:
    """Distance that the answer's tokens must move in embedding space to become the reference's.

    Optimal transport between the tokens of both texts, with equal weights and the Euclidean distance of unit vectors;
    smallest over references. Empty answer: 2, the maximum. Skipped if no reference has words. Needs
    `pip install 'ragstone[metrics]'`.
    """
    return min(move.distance for move in _known(token_moves))


def _known(moves: Sequence[TokenMoves | None]) -> list[TokenMoves]:
    known = [move for move in moves if move is not None]
    if not known:
        raise Skip(_NO_TOKENS)
    return known


def _f1(precision: float, recall: float) -> float:
    """The harmonic mean; if one side is not positive, the smaller one and at most 0."""
    if precision <= 0 or recall <= 0:
        return min(precision, recall, 0.0)
    return 2 * precision * recall / (precision + recall)
