"""The answer's tokens against a reference's: the best partner of each, and the work of turning one text into the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ragstone.evidence.tools import TokenEmbedder
from ragstone.registry import evidence
from ragstone.stats.transport import transport_cost

# The vectors of a text's tokens and how rare each token is.
Side = tuple[np.ndarray, np.ndarray]
Found = TypeVar("Found")
# No two vectors of length 1 are farther from each other.
FARTHEST = 2.0


@dataclass(frozen=True)
class TokenMatch:
    """The mean cosine of the answer's tokens with their best partners, and of the reference's; plain and by rarity."""

    precision: float
    recall: float
    rare_precision: float
    rare_recall: float


@dataclass(frozen=True)
class TokenMoves:
    """How far tokens must move on average to turn the answer into a reference; all alike, and by rarity."""

    distance: float
    rare_distance: float


@evidence
async def token_matches(answer: str, references: list[str], token_embedder: TokenEmbedder) -> list[TokenMatch | None]:
    """For each reference how well its tokens and those of the answer find partners; nothing where it has no tokens."""
    return await _compare(answer, references, token_embedder, _match)


@evidence
async def token_moves(answer: str, references: list[str], token_embedder: TokenEmbedder) -> list[TokenMoves | None]:
    """For each reference how far the answer's tokens are from it by optimal transport; nothing where it has no tokens."""
    return await _compare(answer, references, token_embedder, _move)


async def _compare(
    answer: str, references: Sequence[str], embedder: TokenEmbedder, compare: Callable[[Side, Side], Found]
) -> list[Found | None]:
    if not references:
        return []
    said, *expected = await embedder.embed_tokens([answer, *references])
    # In a thread: transport takes long enough for others to notice.
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
    alike = np.ones(len(said[0])), np.ones(len(expected[0]))
    return TokenMoves(
        transport_cost(*alike, distances),
        transport_cost(said[1], expected[1], distances),
    )
