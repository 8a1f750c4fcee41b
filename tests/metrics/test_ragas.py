"""RAGAS' metrics: literals worked out by hand, textbook loops, and what has no value."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import Skip, UsageError
from ragstone.metrics import ragas, ragchecker
from ragstone.metrics.ragchecker import self_consistency
from ragstone.metrics.semantic import semantic_similarity
from ragstone.registry import parse_metric, resolve_metrics
from tests.metrics.claims import ledgers, matrix, verdicts

cosines = st.lists(st.floats(-1, 1), min_size=1, max_size=5)
words = st.lists(st.sampled_from(["entailment", "neutral", "contradiction"]), max_size=8)


def test_faithfulness_and_context_recall():
    assert ragas.faithfulness(verdicts("eenc")) == 0.5
    assert ragas.context_recall(verdicts("enn")) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("similarities", "noncommittal", "expected"),
    [([0.5, 0.7, 0.9], False, 0.7), ([-0.2, 0.1], False, -0.05), ([0.9, 0.9], True, 0), ([], True, 0)],
)
def test_answer_relevancy(similarities, noncommittal, expected):
    assert ragas.answer_relevancy(similarities, noncommittal) == pytest.approx(expected)


def test_a_cosine_in_single_precision_may_pass_one():
    assert ragas.answer_relevancy([1.0000001, 1.0000002], noncommittal=False) == 1
    assert semantic_similarity([1.0000001]) == 1
    assert semantic_similarity([-1.0000001]) == -1


def test_context_relevance():
    sentences = [["One.", "Two."], [], ["Three.", "Four.", "Five."]]
    assert ragas.context_relevance([1, 4], sentences) == pytest.approx(2 / 5)
    assert ragas.context_relevance([1, 4, 4], sentences) == pytest.approx(2 / 5)
    assert ragas.context_relevance([], sentences) == 0


@pytest.mark.parametrize(
    ("useful", "expected"),
    [
        ([True], 1),
        ([False], 0),
        ([True, False, True], (1 + 2 / 3) / 2),
        ([False, True, True, False], (1 / 2 + 2 / 3) / 2),
        ([False, False, False, True], 1 / 4),
        ([True, True, False, False], 1),
    ],
)
def test_context_precision(useful, expected):
    assert ragas.context_precision(useful) == pytest.approx(expected)


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_context_precision_of_the_textbook(useful):
    """Sum over all ranks of precision at the rank × usefulness there, over the number of useful chunks."""
    total = sum((sum(useful[: rank + 1]) / (rank + 1)) * useful[rank] for rank in range(len(useful)))
    assert ragas.context_precision(useful) == pytest.approx(total / sum(useful) if any(useful) else 0)


def test_context_entity_recall():
    assert ragas.context_entity_recall([True, False, True, True]) == 0.75


def test_answer_correctness_by_hand():
    """TP 2, FP 1, FN 2: F1 = 2 / (2 + 1.5) = 4/7; the similarity is that of the first reference."""
    right, said = verdicts("een"), verdicts("enc")
    assert ragas.answer_correctness(right, said, [0.8, 1.0]) == pytest.approx(0.75 * 4 / 7 + 0.25 * 0.8)
    assert ragas.answer_correctness(right, said, [0.8], weight=1) == pytest.approx(4 / 7)
    assert ragas.answer_correctness(right, said, [0.8], weight=0) == pytest.approx(0.8)
    assert ragas.answer_correctness(right, said, [-0.8], weight=0) == 0


@given(words, words, st.floats(0, 1))
def test_answer_correctness_is_a_balance_of_precision_and_recall(right, said, similarity):
    """F1 from precision TP / (TP + FP) and recall TP / (TP + FN), which is RAGAS' way to count."""
    hits = right.count("entailment")
    missed = len(said) - said.count("entailment")
    if not right and not said:
        with pytest.raises(Skip, match=r"^neither the answer nor the reference makes a claim$"):
            ragas.answer_correctness(right, said, [similarity])
        return
    precision = hits / len(right) if right else 0
    recall = hits / (hits + missed) if hits else 0
    f1 = 2 * precision * recall / (precision + recall) if hits else 0
    assert ragas.answer_correctness(right, said, [similarity]) == pytest.approx(0.75 * f1 + 0.25 * similarity)


def test_the_weight_is_a_share():
    with pytest.raises(ValueError, match=r"^weight must be from 0 to 1, got 1\.5$"):
        ragas.answer_correctness(verdicts("e"), verdicts("e"), [1.0], weight=1.5)


def test_noise_sensitivity_by_hand():
    """Of four wrong claims one stands in a relevant chunk, two in the irrelevant one only, one in none."""
    ledger = (verdicts("nnnn"), matrix("ee", "ne", "ce", "nn"), matrix("en", "nn"))
    assert ragas.noise_sensitivity(*ledger) == 0.25
    assert ragas.noise_sensitivity(*ledger, mode="irrelevant") == 0.5


@given(ledgers(least_answer=1))
def test_noise_sensitivity_is_ragcheckers(ledger):
    ledger = {name: ledger[name] for name in ledger if name != "reference_claims_in_answer"}
    assert ragas.noise_sensitivity(**ledger) == ragchecker.noise_sensitivity_in_relevant(**ledger)
    irrelevant = ragas.noise_sensitivity(**ledger, mode="irrelevant")
    assert irrelevant == ragchecker.noise_sensitivity_in_irrelevant(**ledger)


@given(cosines)
def test_semantic_similarity_is_that_of_the_best_reference(similarities):
    assert semantic_similarity(similarities) == max(similarities)


def test_self_consistency():
    assert self_consistency([1.0, 0.6, 0.8]) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: ragas.faithfulness([]), "the answer makes no claims"),
        (lambda: ragas.noise_sensitivity([], [], matrix("e")), "the answer makes no claims"),
        (lambda: ragas.context_recall([]), "the reference makes no claims"),
        (lambda: ragas.answer_relevancy([], noncommittal=False), "no question could be derived"),
        (lambda: ragas.context_relevance([], []), "nothing was retrieved"),
        (lambda: ragas.context_relevance([], [[], []]), "the retrieved chunks have no sentences"),
        (lambda: ragas.context_precision([]), "nothing was retrieved"),
        (lambda: ragas.context_entity_recall([]), "the reference names no entities"),
        (lambda: ragas.answer_correctness([], [], [1.0]), "neither the answer nor the reference makes a claim"),
        (lambda: ragas.answer_correctness(["neutral"], [], []), "compare with"),
        (lambda: semantic_similarity([]), "compare with"),
        (lambda: self_consistency([]), "there are no claims to give verdicts on"),
    ],
)
def test_an_empty_whole_has_no_share(call, reason):
    with pytest.raises(Skip) as skipped:
        call()
    assert reason in str(skipped.value)


def test_an_answer_without_claims_misses_all_of_the_reference():
    assert ragas.answer_correctness([], verdicts("nn"), [0.4]) == pytest.approx(0.1)


def test_sets():
    chosen = [str(metric) for metric in resolve_metrics(["ragas"])]
    assert len(chosen) == 9
    assert "semantic_similarity" in chosen
    triad = {str(metric) for metric in resolve_metrics(["triad"])}
    assert triad == {"ragas.context_relevance", "ragas.faithfulness", "ragas.answer_relevancy"}
    assert triad | {"ragchecker.faithfulness"} <= {str(metric) for metric in resolve_metrics(["reference_free"])}


def test_names():
    assert str(parse_metric("ragas.context_precision_sentences")) == "ragas.context_relevance"
    assert str(parse_metric("ragas.noise_sensitivity_irrelevant")) == "ragas.noise_sensitivity(mode=irrelevant)"
    assert str(parse_metric("ragas.answer_similarity")) == "semantic_similarity"
    for name, other in (("faithfulness", "unitxt.faithfulness (unitxt), "), ("context_precision", "")):
        choices = f"say which of {other}ragas.{name} (RAGAS), ragchecker.{name} (RAGChecker)."
        with pytest.raises(UsageError, match=re.escape(choices)):
            parse_metric(name)
