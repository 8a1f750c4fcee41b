"""Retrieval judged by facts: the values that METRICS.md gives, cases by hand, laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.types import Chunk, Fact, Sample, Score
from ragstone.evidence_functions.fact_matches import Counts
from ragstone.metrics import facts as metrics
from tests.metrics.scoring import cell, score


def of_one_row(metric):
    """A columnar metric as a function of one row's lists."""

    def score_one(*lists, k=None):
        columns = [Counts.from_lists([[value or 0 for value in row]], dtype=np.int64) for row in lists]
        return metric(*columns, k=k)[0].value

    return score_one


fact_recall, fact_precision, fact_f1 = map(of_one_row, (metrics.fact_recall, metrics.fact_precision, metrics.fact_f1))
fact_complete = of_one_row(metrics.fact_complete)
fact_mrr, fact_mrr_mean, fact_ndcg = map(of_one_row, (metrics.fact_mrr, metrics.fact_mrr_mean, metrics.fact_ndcg))


# METRICS.md has ranks from 0 with -1 for a fact that is not found: [1, 2, 3, -1].
RANKS = [2, 3, 4, None]
RELEVANCE = [1, 0, 1, 0, 1]

ranks = st.lists(st.none() | st.integers(1, 6), min_size=1, max_size=5)
counts = st.lists(st.integers(0, 3), max_size=6)
cuts = st.integers(1, 8)


def test_values_of_the_catalogue():
    assert fact_recall(RANKS) == 0.75
    assert fact_mrr_mean(RANKS) == pytest.approx((1 / 2 + 1 / 3 + 1 / 4) / 4)
    assert fact_precision(RELEVANCE) == 0.6
    assert fact_f1(RANKS, RELEVANCE) == pytest.approx(2 / 3)


def test_example_of_the_slides():
    """Three facts, two of them in the first chunk and one in the second: relevance [2, 1], ranks [1, 1, 2]."""
    sample = Sample(
        "slide",
        facts=[Fact("the sky is blue"), Fact("grass is green"), Fact("snow is white")],
        contexts=[Chunk("The sky is blue and grass is green."), Chunk("Snow is white.")],
    )
    values = {name: cells[0].value for name, cells in score([sample], "facts").items()}
    assert values == {
        "fact_recall": 1,
        "fact_complete": 1,
        "fact_precision": 1,
        "fact_f1": 1,
        "fact_mrr": 1,
        "fact_mrr_mean": pytest.approx((1 + 1 + 1 / 2) / 3),
        "fact_ndcg": 1,
    }


@pytest.mark.parametrize(
    ("k", "recall", "mean", "precision", "first"),
    [
        (1, 0, 0, 1, 1),
        (2, 1 / 4, 1 / 8, 1 / 2, 1),
        (3, 2 / 4, 5 / 24, 2 / 3, 1),
        (9, 3 / 4, 13 / 48, 3 / 5, 1),
    ],
)
def test_cut_off(k, recall, mean, precision, first):
    assert fact_recall(RANKS, k=k) == recall
    assert fact_complete([1, 2], k=k) == (k >= 2)
    assert fact_mrr_mean(RANKS, k=k) == pytest.approx(mean)
    assert fact_precision(RELEVANCE, k=k) == pytest.approx(precision)
    assert fact_mrr(RELEVANCE, k=k) == first


def test_first_useful_chunk():
    assert fact_mrr([0, 0, 2, 1]) == pytest.approx(1 / 3)
    assert fact_mrr([0, 0, 2, 1], k=2) == fact_mrr([]) == fact_mrr([0]) == 0


def test_nothing_retrieved():
    sample = Sample("1", facts=[Fact("x")], contexts=[])
    assert {cells[0] for cells in score([sample], "facts").values()} == {Score(0.0)}


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (Sample("1", facts=[], contexts=[Chunk("x")]), "no facts"),
        (Sample("1", contexts=[Chunk("x")]), "no facts"),
        (Sample("1", facts=[Fact("x")]), "no contexts"),
        (Sample("1", facts=[Fact("x"), Fact("—!")], contexts=[Chunk("x")]), "fact 2 ('—!') has no letter or digit"),
    ],
)
def test_skipped(sample, reason):
    assert {cells[0] for cells in score([sample], "facts").values()} == {Score(None, "skipped", reason)}


def test_a_fact_in_several_chunks_counts_at_its_first():
    sample = Sample("1", facts=[Fact("nine")], contexts=[Chunk("19"), Chunk("at nine"), Chunk("Nine, nine")])
    assert cell(sample, "fact_mrr_mean").value == 0.5
    assert cell(sample, "fact_precision").value == pytest.approx(2 / 3)


@given(ranks, counts, cuts)
def test_laws(fact_ranks, chunk_relevance, k):
    recall, precision = fact_recall(fact_ranks, k=k), fact_precision(chunk_relevance, k=k)
    f1 = fact_f1(fact_ranks, chunk_relevance, k=k)
    values = [recall, precision, f1, fact_mrr(chunk_relevance, k=k), fact_mrr_mean(fact_ranks, k=k)]
    assert all(0 <= value <= 1 for value in values)
    assert fact_mrr_mean(fact_ranks, k=k) <= recall
    assert fact_complete(fact_ranks, k=k) == (recall == 1)
    assert f1 == pytest.approx(2 * recall * precision / (recall + precision) if recall and precision else 0)


@given(ranks, counts, cuts)
def test_looking_further_never_finds_less(fact_ranks, chunk_relevance, k):
    assert fact_recall(fact_ranks, k=k) <= fact_recall(fact_ranks, k=k + 1) <= fact_recall(fact_ranks)
    assert fact_mrr(chunk_relevance, k=k) <= fact_mrr(chunk_relevance, k=k + 1) <= fact_mrr(chunk_relevance)


@given(ranks, st.randoms(use_true_random=False))
def test_the_order_of_the_facts_does_not_matter(fact_ranks, random):
    shuffled = random.sample(fact_ranks, len(fact_ranks))
    assert fact_recall(shuffled, k=3) == fact_recall(fact_ranks, k=3)
    assert fact_mrr_mean(shuffled) == pytest.approx(fact_mrr_mean(fact_ranks))


def test_fact_ndcg_by_hand():
    """Relevance [0, 2, 1]: (2 / log2 3 + 1 / 2) / (2 + 1 / log2 3); the first two of them against the best two."""
    from math import log2

    assert fact_ndcg([0, 2, 1]) == pytest.approx((2 / log2(3) + 1 / 2) / (2 + 1 / log2(3)))
    assert fact_ndcg([0, 2, 1], k=2) == pytest.approx((2 / log2(3)) / (2 + 1 / log2(3)))
    assert fact_ndcg([0, 0]) == fact_ndcg([]) == 0


@given(st.lists(st.tuples(ranks, counts), max_size=5), st.none() | cuts)
def test_a_row_does_not_depend_on_its_neighbours(rows, k):
    columns = [
        Counts.from_lists([[value or 0 for value in row[side]] for row in rows], dtype=np.int64) for side in (0, 1)
    ]
    expected = [fact_f1(*row, k=k) for row in rows]
    assert metrics.fact_f1(*columns, k=k).values.tolist() == expected
    assert metrics.fact_ndcg(columns[1], k=k).values.tolist() == pytest.approx([fact_ndcg(row[1], k=k) for row in rows])
    assert metrics.fact_mrr(columns[1], k=k).values.tolist() == [fact_mrr(row[1], k=k) for row in rows]
