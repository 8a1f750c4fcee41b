"""Metrics of citations; the definitions with a worked example are in tests/golden/test_alce.py."""

import pytest

from ragstone.data.types import CitedPart
from ragstone.errors import Skip
from ragstone.metrics.citations import (
    citation_f1,
    citation_precision,
    citation_recall,
    uncited_claims,
    unresolved_citations,
    wrongly_cited_claims,
)
from tests.metrics.claims import matrix, verdicts

ALL = (citation_recall, citation_precision, citation_f1, wrongly_cited_claims)


def part(*chunks):
    return CitedPart(0, 1, 0, 1, list(chunks))


@pytest.mark.parametrize("metric", ALL)
def test_an_answer_without_claims_is_skipped(metric):
    with pytest.raises(Skip, match="makes no claims"):
        metric([], [], [part(0)], [])


def test_shares_of_nothing_are_skipped():
    with pytest.raises(Skip, match="makes no claims"):
        uncited_claims([])
    with pytest.raises(Skip, match="no citations"):
        unresolved_citations([])


def test_nothing_retrieved():
    evidence = ([[]], verdicts("n"), [part()], [[0]])
    assert [metric(*evidence) for metric in ALL] == [0.0, 0.0, 0.0, 0.0]
    assert unresolved_citations([part()]) == 1.0


@pytest.mark.parametrize(
    ("rows", "cited", "values"),
    [
        ("en", [[0]], [1.0, 1.0, 1.0, 0.0]),
        ("ne", [[0]], [0.0, 0.0, 0.0, 1.0]),
        ("ee", [[0, 1]], [1.0, 1.0, 1.0, 0.0]),
        ("en", [[0, 1]], [1.0, 0.5, 2 / 3, 0.0]),
        ("en", [[]], [0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_one_claim(rows, cited, values):
    evidence = (matrix(rows), verdicts("e"), [part(0), part(1)], cited)
    assert [metric(*evidence) for metric in ALL] == pytest.approx(values)
    assert uncited_claims(cited) == float(cited == [[]])
