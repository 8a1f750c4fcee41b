"""Columns of fact matches: rows as plain values, chosen rows, and the stored form."""

import numpy as np
import pytest

from ragstone.data.types import FactMatch
from ragstone.evidence_functions.fact_matches import Counts, FactMatches, Ranks

LISTS = [[(0, 1, 2, 5, 1.0), (1, 0, 0, 3, 0.9)], [], [(0, 0, 4, 8, 1.0)]]


@pytest.fixture
def matches():
    return FactMatches.from_lists(LISTS, "citation")


def test_rows(matches):
    assert len(matches) == 3
    assert matches[0] == [FactMatch(0, 1, 2, 5, 1.0, "citation"), FactMatch(1, 0, 0, 3, 0.9, "citation")]
    assert matches[1] == []
    assert matches.lengths.tolist() == [2, 0, 1]
    assert matches.row_of.tolist() == [0, 0, 2]


def test_take_and_concat(matches):
    assert list(matches.take(np.array([2, 0]))) == [matches[2], matches[0]]
    assert list(FactMatches.concat([matches, matches])) == [*matches, *matches]


def test_stored_form(matches):
    stored = matches.to_arrow().to_pylist()
    assert [[FactMatch(**match) for match in row] for row in stored] == list(matches)


def test_no_match():
    assert FactMatches.from_lists([[], []], "exact").to_arrow().to_pylist() == [[], []]


def test_counts_and_ranks():
    values, offsets = np.array([2, 0, 1]), np.array([0, 2, 3])
    assert Counts(values, offsets)[0] == [2, 0]
    assert Ranks(values, offsets)[0] == [2, None]
    assert Counts(values, offsets).to_arrow().to_pylist() == [[2, 0], [1]]
    assert Ranks(values, offsets).to_arrow().to_pylist() == [[2, None], [1]]
