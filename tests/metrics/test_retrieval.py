"""What was retrieved against what should have been: cases by hand, edges, laws, and a plain reimplementation."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.types import Chunk, Sample, Score
from ragstone.registry import CATALOGUE, parse_metric
from tests.metrics.judging import METRICS, METRICS_FROM_2, plain, ranked
from tests.metrics.scoring import cell, chunks, score

GRADED = Sample("1", contexts=chunks("xaybz"), relevance={"a": 1, "b": 3, "c": 2, "y": 0, "z": -1})
NOTHING = "no grade in relevance is above 0"


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
        ("precision(rel=2)@4", 1 / 4),
        ("recall", 2 / 3),
        ("recall@1", 0),
        ("recall@2", 1 / 3),
        ("recall@100", 2 / 3),
        ("recall(rel=2)", 1 / 2),
        ("recall(rel=3)", 1),
        ("f1", 2 * (2 / 5) * (2 / 3) / (2 / 5 + 2 / 3)),
        ("f1@2", 2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3)),
        ("f1@10", 2 * (2 / 10) * (2 / 3) / (2 / 10 + 2 / 3)),
        ("f1(over=retrieved)@10", 2 * (2 / 5) * (2 / 3) / (2 / 5 + 2 / 3)),
        ("f1@1", 0),
        ("complete", 0),
        ("complete(rel=3)@3", 0),
        ("complete(rel=3)@4", 1),
        ("hit", 1),
        ("hit@1", 0),
        ("hit@2", 1),
        ("hit(rel=2)@3", 0),
        ("hit(rel=2)@4", 1),
        ("r_precision", 1 / 3),
        ("r_precision(rel=2)", 0),
    ],
)
def test_by_hand(metric, expected):
    assert cell(GRADED, metric).value == pytest.approx(expected, abs=1e-12)


def test_complete_says_whether_nothing_needed_is_missing():
    """a, b and c are needed; the third comes at rank 4. Twice the same chunk is not two chunks."""
    row = ranked("axbc", "abc")
    assert [cell(row, f"complete@{k}").value for k in range(1, 6)] == [0, 0, 0, 1, 1]
    assert cell(ranked("aab", "abc"), "complete@3").value == 0
    by_text = Sample("1", contexts=[Chunk("One two."), Chunk("x")], reference_contexts=["one", "two"])
    assert cell(by_text, "complete@1").value == 1, "one chunk may contain both"
    assert cell(ranked("ab", ""), "complete@1").status == "skipped"


def test_a_perfect_ranking():
    perfect = Sample("1", contexts=chunks("bcaxy"), relevance=GRADED.relevance)
    for metric in METRICS:
        value = cell(perfect, metric).value
        cannot_be_1 = metric.startswith(("err", "rbp", "precision@9", "recall@2", "complete@2"))
        assert cannot_be_1 or metric in ("precision", "f1") or value == pytest.approx(1, abs=1e-12), metric


def test_a_chunk_retrieved_twice_counts_once():
    twice, once = ranked("xaaxb", "ab"), ranked("xab", "ab")
    for metric in METRICS:
        assert cell(twice, metric) == cell(once, metric)


def test_nothing_relevant():
    row = Sample("1", contexts=chunks("ab"), relevance={"a": 0, "b": -1})
    for metric in METRICS:
        assert cell(row, metric) == Score(None, "skipped", NOTHING)
    assert cell(ranked("ab", "a"), "recall(rel=2)") == Score(None, "skipped", "no grade in relevance is 2 or more")


def test_nothing_retrieved():
    assert {name: cells[0] for name, cells in score([ranked("", "a")], *METRICS).items()} == dict.fromkeys(
        METRICS, Score(0.0)
    )


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (ranked("a", ""), "no relevance and no reference contexts"),
        (Sample("1", contexts=chunks("a")), "no relevance and no reference contexts"),
        (Sample("1", relevance={"a": 1}), "no contexts"),
        (Sample("1", reference_contexts=["a"]), "no contexts"),
        (ranked(["a", None, "b", None], "a"), "retrieved chunk 2 has no id"),
        (Sample("1", contexts=[Chunk("a")], reference_contexts=["?"]), "the reference contexts contain no words"),
    ],
)
def test_skipped(row, reason):
    assert {cells[0] for cells in score([row], "retrieval").values()} == {Score(None, "skipped", reason)}


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ("rbp(p=1.5)", "ValueError: p must be from 0 to 1, got 1.5"),
        ("err(max_grade=0)", "ValueError: max_grade must be above 0, got 0"),
    ],
)
def test_a_setting_that_makes_no_sense(metric, reason):
    assert cell(GRADED, metric) == Score(None, "failed", reason)


def test_very_large_grades():
    row = Sample("1", contexts=chunks("ab"), relevance={"a": 5000.0, "b": 4000.0})
    assert {cell(row, metric).value for metric in ("ndcg", "ndcg_exp", "map", "recall")} == {1.0}


def test_judged_by_the_texts_of_reference_contexts():
    """Two references in one chunk, one found twice, one not at all."""
    texts = ["Noise.", "One two. Three four!", "one two", "five"]
    references = ["one two", "three four", "five", "six"]
    row = Sample("1", contexts=[Chunk(text) for text in texts], reference_contexts=references)
    expected = {
        "precision": 2 / 4,
        "precision@2": 1 / 2,
        "recall": 3 / 4,
        "recall@2": 2 / 4,
        "hit@1": 0,
        "complete": 0,
        "r_precision": 3 / 4,
        "mrr": 1 / 2,
        "map": (1 / 2 + 1 / 2 + 2 / 4) / 4,
        "ndcg@2": (2 / math.log2(3)) / (1 + 1 / math.log2(3)),
        "rbp": 0.2 * (0.8 + 0.8**3),
        "bpref": 3 / 4,
    }
    assert {name: cell(row, name).value for name in expected} == pytest.approx(expected, abs=1e-12)


def test_several_references_in_the_first_chunk_are_no_better_than_the_ideal():
    row = Sample("1", contexts=[Chunk("one two")], reference_contexts=["one", "two"])
    assert {cell(row, metric).value for metric in ("ndcg", "map", "recall", "precision", "r_precision")} == {1.0}


def test_ids_come_before_texts():
    row = Sample("1", contexts=[Chunk("one", "a"), Chunk("two", "b")], relevance={"b": 1}, reference_contexts=["one"])
    assert cell(row, "mrr") == Score(0.5)


NAMES = {
    "P": "precision",
    "P@5": "precision@5",
    "SetP": "precision",
    "R@5": "recall@5",
    "set_recall": "recall",
    "Rprec": "r_precision",
    "RR": "mrr",
    "MRR@10": "mrr@10",
    "recip_rank": "mrr",
    "AP": "map",
    "MAP": "map",
    "nDCG@10": "ndcg@10",
    "NDCG": "ndcg",
    "ndcg_cut@5": "ndcg@5",
    "ndcg_exp@5": "ndcg(gain=exponential)@5",
    "Success@5": "hit@5",
    "hit_rate@5": "hit@5",
    "Bpref": "bpref",
    "RBP(p=0.9)": "rbp(p=0.9)",
    "ERR@20": "err@20",
    "AP(rel=2)@100": "map(rel=2.0)@100",
    "SetF": "f1",
    "map_cut@5": "map@5",
    "context_correctness": "mrr",
    "unitxt.context_correctness": "mrr",
    "context_correctness.mrr": "mrr",
    "context_correctness.map": "map(over=retrieved)",
    "unitxt.context_correctness.map": "map(over=retrieved)",
    "context_correctness.precision@5": "precision(over=retrieved)@5",
    "context_correctness.match@1": "hit@1",
}


@pytest.mark.parametrize(("theirs", "ours"), NAMES.items())
def test_the_names_of_other_systems(theirs, ours):
    assert str(parse_metric(theirs)) == ours


def test_sets():
    family = {preset.spec.name for preset in CATALOGUE.sets()["retrieval"]}
    assert family == {
        *("precision", "recall", "f1", "hit", "complete", "r_precision", "judged"),
        *("mrr", "map", "ndcg", "rbp", "err", "bpref"),
    }
    unitxt = {preset.spec.name: preset.settings for preset in CATALOGUE.sets()["unitxt"] if preset.spec.name in family}
    assert unitxt == {
        "hit": {"k": 1},
        "map": {"over": "retrieved"},
        "mrr": {},
        "precision": {"over": "retrieved", "k": 5},
        "recall": {"k": 5},
    }
    traditional = {preset.spec.name for preset in CATALOGUE.sets()["traditional"]}
    assert traditional & family == {"precision", "recall", "mrr", "map", "ndcg"}


ids = st.sampled_from("abcdef")
rows = st.builds(
    lambda retrieved, relevance: Sample("1", contexts=chunks(retrieved), relevance=relevance),
    st.lists(ids, max_size=8),
    st.dictionaries(ids, st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 4.0, 5.0]), max_size=5),
)
batches = st.lists(rows, min_size=1, max_size=6)


@pytest.mark.parametrize(("metrics", "rel"), [(METRICS, None), (METRICS_FROM_2, 2.0)])
@given(batches)
def test_equals_the_plain_reimplementation(metrics, rel, batch):
    found = score(batch, *metrics)
    for number, row in enumerate(batch):
        cells = {name: column[number] for name, column in found.items()}
        if not row.relevance:
            assert {cell.reason for cell in cells.values()} == {"no relevance and no reference contexts"}
        else:
            assert {name: cell.value for name, cell in cells.items()} == pytest.approx(plain(row, rel), abs=1e-12)


texts = st.sampled_from(["one", "two", "one two", "Two three four five", "…", ""])
by_text = st.builds(
    lambda chunks, references: Sample("1", contexts=[Chunk(text) for text in chunks], reference_contexts=references),
    st.lists(texts, max_size=5),
    st.lists(texts, min_size=1, max_size=4),
)
mixed = st.lists(rows | by_text, min_size=1, max_size=6)


@given(mixed, st.randoms(use_true_random=False))
def test_a_row_does_not_know_its_neighbours(batch, random):
    found = score(batch, *METRICS)
    order = random.sample(range(len(batch)), len(batch))
    shuffled = score([batch[row] for row in order], *METRICS)
    alone = [score([row], *METRICS) for row in batch]
    for name, cells in found.items():
        assert [cells[row] for row in order] == shuffled[name]
        assert cells == [single[name][0] for single in alone]


@given(rows | by_text, st.integers(1, 9))
def test_bounds_and_order(row, k):
    cut = ("precision", "recall", "f1", "hit", "complete", "mrr", "map", "ndcg", "rbp", "err")
    names = [*cut, "r_precision", "bpref", *(f"{name}@{at}" for name in cut for at in (k, k + 1))]
    cells = score([row], *names)
    values = {name: cells[name][0].value for name in cells if cells[name][0].status == "ok"}
    assert all(cells[name][0].status != "failed" for name in cells)
    assert all(0 <= value <= 1 for value in values.values())
    for name in ("recall", "hit", "complete", "mrr", "map", "rbp", "err"):
        if name in values:
            assert values[f"{name}@{k}"] <= values[f"{name}@{k + 1}"] <= values[name]


@given(rows, ids)
def test_what_comes_after_the_cut_does_not_matter(row, name):
    shorter = [*chunks("x"), *row.contexts]
    k = len({chunk.id for chunk in shorter})
    both = [Sample("1", contexts=listed, relevance=row.relevance) for listed in (shorter, [*shorter, *chunks(name)])]
    metrics = [
        f"{metric}@{k}"
        for metric in ("precision", "recall", "f1", "hit", "complete", "mrr", "map", "ndcg", "rbp", "err")
    ]
    for first, second in score(both, *metrics).values():
        assert first == second
