"""Rank metrics by hand: early relevant chunks count more."""

import math

import pytest

from ragstone.data.types import Sample
from tests.metrics.scoring import cell, chunks

GRADED = Sample("1", contexts=chunks("xaybz"), relevance={"a": 1, "b": 3, "c": 2, "y": 0, "z": -1})


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("mrr", 1 / 2),
        ("mrr@1", 0),
        ("mrr@2", 1 / 2),
        ("mrr(rel=2)", 1 / 4),
        ("map", (1 / 2 + 2 / 4) / 3),
        ("map@3", (1 / 2) / 3),
        ("map(over=retrieved)", (1 / 2 + 2 / 4) / 2),
        ("map(over=retrieved)@3", 1 / 2),
        ("map(over=retrieved)@1", 0),
        ("map(rel=2)", (1 / 4) / 2),
        ("ndcg", (1 / math.log2(3) + 3 / math.log2(5)) / (3 + 2 / math.log2(3) + 1 / 2)),
        ("ndcg@2", (1 / math.log2(3)) / (3 + 2 / math.log2(3))),
        ("ndcg@1", 0),
        ("ndcg(gain=exponential)", (1 / math.log2(3) + 7 / math.log2(5)) / (7 + 3 / math.log2(3) + 1 / 2)),
        ("ndcg_exp@2", (1 / math.log2(3)) / (7 + 3 / math.log2(3))),
        ("rbp", 0.2 * (0.8 + 0.8**3)),
        ("rbp(p=0.5)", 0.5 * (0.5 + 0.5**3)),
        ("rbp(p=0)", 0),
        ("rbp(p=1)", 0),
        ("rbp@2", 0.2 * 0.8),
        ("err", (1 / 16) / 2 + (15 / 16) * (7 / 16) / 4),
        ("err@3", (1 / 16) / 2),
        ("err(max_grade=3)", (1 / 8) / 2 + (7 / 8) * (7 / 8) / 4),
        ("err(max_grade=1)", (1 / 2) / 2 + (1 / 2) * (1 / 2) / 4),
        ("bpref", (1 + (1 - 1 / 1)) / 3),
        ("bpref(rel=2)", (1 - 2 / 2) / 2),
    ],
)
def test_by_hand(metric, expected):
    assert cell(GRADED, metric).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", ["mrr", "map", "ndcg", "rbp", "err"])
def test_an_earlier_relevant_chunk_scores_higher(metric):
    early, late = (Sample("1", contexts=chunks(ids), relevance={"a": 1}) for ids in ("axy", "xya"))
    assert cell(early, metric).value > cell(late, metric).value > 0
