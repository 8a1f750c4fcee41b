"""Retrieval by chunk ids: cases by hand, edges, laws, and a plain reimplementation."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.data.types import Sample, Score
from tests.metrics.scoring import cell, chunks, score

GRADED = Sample("1", contexts=chunks("xaybz"), relevance={"a": 1, "b": 3, "c": 2, "y": 0, "z": -1})
NOTHING = "no grade in relevance is above 0"


def ranked(ids, relevant):
    return Sample("1", contexts=chunks(ids), relevance=dict.fromkeys(relevant, 1.0))


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("precision", 2 / 5),
        ("precision@1", 0),
        ("precision@2", 1 / 2),
        ("precision@4", 2 / 4),
        ("precision@10", 2 / 10),
        ("precision(over=retrieved)@10", 2 / 5),
        ("precision(over=retrieved)@4", 2 / 4),
        ("precision(over=retrieved)", 2 / 5),
        ("recall", 2 / 3),
        ("recall@1", 0),
        ("recall@2", 1 / 3),
        ("recall@100", 2 / 3),
        ("mrr", 1 / 2),
        ("mrr@1", 0),
        ("mrr@2", 1 / 2),
        ("ndcg", (1 / math.log2(3) + 3 / math.log2(5)) / (3 + 2 / math.log2(3) + 1 / 2)),
        ("ndcg@2", (1 / math.log2(3)) / (3 + 2 / math.log2(3))),
        ("ndcg@1", 0),
        ("ndcg(gain=exponential)", (1 / math.log2(3) + 7 / math.log2(5)) / (7 + 3 / math.log2(3) + 1 / 2)),
        ("ndcg(gain=exponential)@2", (1 / math.log2(3)) / (7 + 3 / math.log2(3))),
    ],
)
def test_by_hand(metric, expected):
    assert cell(GRADED, metric).value == pytest.approx(expected, abs=1e-12)


def test_a_perfect_ranking():
    perfect = Sample("1", contexts=chunks("bcaxy"), relevance=GRADED.relevance)
    for metric in ("recall", "recall@3", "precision@3", "mrr", "ndcg", "ndcg@2", "ndcg(gain=exponential)@5"):
        assert cell(perfect, metric) == Score(1.0)


def test_a_chunk_retrieved_twice_counts_once():
    twice, once = ranked("xaaxb", "ab"), ranked("xab", "ab")
    for metric in ("precision", "precision@3", "recall@3", "mrr", "ndcg", "ndcg@2"):
        assert cell(twice, metric) == cell(once, metric)


def test_nothing_relevant():
    row = Sample("1", contexts=chunks("ab"), relevance={"a": 0, "b": -1})
    for metric in ("recall", "recall@1", "ndcg", "ndcg(gain=exponential)@1"):
        assert cell(row, metric) == Score(None, "skipped", NOTHING)
    for metric in ("precision", "precision@1", "mrr"):
        assert cell(row, metric) == Score(0.0)


def test_nothing_retrieved():
    for metric in ("precision", "precision@5", "precision(over=retrieved)@5", "recall", "mrr", "ndcg@3"):
        assert cell(ranked("", "a"), metric) == Score(0.0)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (ranked("a", ""), "no relevance"),
        (Sample("1", contexts=chunks("a")), "no relevance"),
        (Sample("1", relevance={"a": 1}), "no contexts"),
        (ranked(["a", None, "b", None], "a"), "retrieved chunk 2 has no id"),
    ],
)
def test_skipped(row, reason):
    assert {cells[0] for cells in score([row], "retrieval").values()} == {Score(None, "skipped", reason)}


ids = st.sampled_from("abcdef")
rows = st.builds(
    lambda retrieved, relevance: Sample("1", contexts=chunks(retrieved), relevance=relevance),
    st.lists(ids, max_size=8),
    st.dictionaries(ids, st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 4.0]), max_size=5),
)
batches = st.lists(rows, min_size=1, max_size=6)
METRICS = [
    *("precision", "precision@3", "precision@9", "precision(over=retrieved)@3"),
    *("recall", "recall@2", "mrr", "mrr@2"),
    *("ndcg", "ndcg@3", "ndcg(gain=exponential)", "ndcg(gain=exponential)@3"),
]


def plain(row: Sample) -> dict[str, float | None]:
    """All metrics of one row in the plainest words, with the definitions of trec_eval."""
    retrieved = list(dict.fromkeys(chunk.id for chunk in row.contexts))
    gains = [max(row.relevance.get(name, 0), 0) for name in retrieved]
    ideal = sorted((grade for grade in row.relevance.values() if grade > 0), reverse=True)

    def hits(k):
        return sum(gain > 0 for gain in gains[:k])

    def mrr(k=None):
        return next((1 / (at + 1) for at, gain in enumerate(gains[:k]) if gain > 0), 0.0)

    def ndcg(worth, k=None):
        dcg, best = (
            sum(worth(gain) / math.log2(at + 2) for at, gain in enumerate(listed[:k])) for listed in (gains, ideal)
        )
        return dcg / best if ideal else None

    def linear(gain):
        return gain

    def exponential(gain):
        return 2**gain - 1

    return {
        "precision": hits(None) / len(gains) if gains else 0.0,
        "precision@3": hits(3) / 3,
        "precision@9": hits(9) / 9,
        "precision(over=retrieved)@3": hits(3) / min(3, len(gains)) if gains else 0.0,
        "recall": hits(None) / len(ideal) if ideal else None,
        "recall@2": hits(2) / len(ideal) if ideal else None,
        "mrr": mrr(),
        "mrr@2": mrr(2),
        "ndcg": ndcg(linear),
        "ndcg@3": ndcg(linear, 3),
        "ndcg(gain=exponential)": ndcg(exponential),
        "ndcg(gain=exponential)@3": ndcg(exponential, 3),
    }


@given(batches)
def test_equals_the_plain_reimplementation(batch):
    found = score(batch, *METRICS)
    for number, row in enumerate(batch):
        cells = {name: column[number] for name, column in found.items()}
        if not row.relevance:
            assert set(cells.values()) == {Score(None, "skipped", "no relevance")}
        else:
            assert {name: cell.value for name, cell in cells.items()} == pytest.approx(plain(row), abs=1e-12)
            assert {cell.reason for cell in cells.values()} <= {None, NOTHING}


@settings(max_examples=15)
@given(batches, st.randoms(use_true_random=False))
def test_a_row_does_not_know_its_neighbours(batch, random):
    found = score(batch, *METRICS)
    order = random.sample(range(len(batch)), len(batch))
    shuffled = score([batch[row] for row in order], *METRICS)
    alone = [score([row], *METRICS) for row in batch]
    for name, cells in found.items():
        assert [cells[row] for row in order] == shuffled[name]
        assert cells == [single[name][0] for single in alone]


@given(rows, st.integers(1, 9))
def test_bounds_and_order(row, k):
    names = ("recall", f"recall@{k}", f"recall@{k + 1}", "mrr", f"mrr@{k}", f"precision@{k}", f"ndcg@{k}")
    cells = score([row], *names)
    values = {name: cells[name][0].value for name in cells if cells[name][0].status == "ok"}
    assert all(0 <= value <= 1 for value in values.values())
    if "recall" in values:
        assert values[f"recall@{k}"] <= values[f"recall@{k + 1}"] <= values["recall"]
    if "mrr" in values:
        assert values[f"mrr@{k}"] <= values["mrr"]
