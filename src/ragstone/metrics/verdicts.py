"""What the claim metrics count in verdicts: only entailment is support, and an empty whole has no share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragstone.errors import Skip

# Verdicts of claims (rows) by chunks (columns); with no chunk every row is empty.
Matrix = Sequence[Sequence[str]]
SUPPORT = "entailment"
NO_ANSWER_CLAIMS = "the answer makes no claims"
NO_REFERENCE_CLAIMS = "the reference makes no claims"
NOTHING_RETRIEVED = "nothing was retrieved"


def supported(verdicts: Iterable[str]) -> list[bool]:
    """Whether each claim is entailed by the one text that it was held against."""
    return [verdict == SUPPORT for verdict in verdicts]


def supported_somewhere(matrix: Matrix) -> list[bool]:
    """Whether each claim is entailed by at least one chunk."""
    return [SUPPORT in row for row in matrix]


def relevant_chunks(reference_matrix: Matrix) -> set[int]:
    """The positions of the chunks that entail at least one claim of the reference."""
    return {chunk for row in reference_matrix for chunk, verdict in enumerate(row) if verdict == SUPPORT}


def share(counted: Sequence[bool], if_empty: str) -> float:
    """True ones / all; skipped for the reason given when there are none."""
    if not counted:
        raise Skip(if_empty)
    return sum(counted) / len(counted)


def misled(correct: Sequence[bool], answer_matrix: Matrix, reference_matrix: Matrix, by_relevant: bool) -> list[bool]:
    """Whether each answer claim is wrong and comes from a relevant chunk, or else from irrelevant ones only."""
    relevant = relevant_chunks(reference_matrix)
    found = []
    for right, row in zip(correct, answer_matrix, strict=True):
        origins = [chunk in relevant for chunk, verdict in enumerate(row) if verdict == SUPPORT]
        found.append(not right and bool(origins) and any(origins) == by_relevant)
    return found
