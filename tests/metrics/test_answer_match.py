"""The whole answer compared with whole references."""

import asyncio
from types import SimpleNamespace

import pytest

from ragstone.metrics.answer_match import (
    answer_match,
    reference_matches,
    support_f1,
    support_precision,
    support_recall,
    support_shares,
)


class _Judge:
    async def matches(self, question, answer, references):
        return [float(answer == reference) for reference in references]

    async def shares(self, question, answer, references):
        return SimpleNamespace(of_answer=[0.5] * len(references), of_references=[1.0] * len(references))


def test_the_best_reference_counts():
    assert answer_match([0.2, 0.9]) == 0.9
    assert support_precision([0.5, 0.25]) == 0.5
    assert support_recall([0.0, 0.75]) == 0.75


def test_f1_is_computed_per_reference():
    assert support_f1([1.0, 0.5], [0.0, 0.5]) == 0.5
    assert support_f1([0.0], [0.0]) == 0.0


def test_evidence_has_one_entry_per_reference():
    judge = _Judge()
    assert asyncio.run(reference_matches("q", "b", ["a", "b"], judge)) == [0.0, 1.0]
    shares = asyncio.run(support_shares("q", "b", ["a", "b"], judge))
    assert shares == {"answer_supported": [0.5, 0.5], "references_supported": [1.0, 1.0]}
    assert support_f1(**shares) == pytest.approx(2 / 3)
