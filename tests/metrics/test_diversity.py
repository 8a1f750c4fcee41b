"""Hashes of words: equal for equal words, in every process and on every machine.

Distinct-n of answers and of whole runs, by hand.
"""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragstone
from ragstone.data.types import Sample, Score
from ragstone.evidence_functions.tokens import answer_words
from ragstone.metrics.diversity import answer_word_hashes, distinct_share, self_bleu_of
from ragstone.registry import parse_metric
from tests.metrics.scoring import cell, score


def test_hashes():
    found = answer_word_hashes(answer_words(pa.array(["A cat, a dog.", "", "CAT"])))
    lists = [row.tolist() for row in found]
    assert [len(row) for row in lists] == [4, 0, 1]
    assert lists[0][0] == lists[0][2] != lists[0][1] == lists[2][0]


def test_the_same_everywhere():
    """`int.from_bytes(hashlib.blake2b(b"cat", digest_size=8).digest(), "little", signed=True)`."""
    assert answer_word_hashes(answer_words(pa.array(["cat"])))[0].tolist() == [3429664268601861939]


texts = st.lists(st.sampled_from(["a", "B", "b.", "é", "東京"]), max_size=9).map(" ".join)


@pytest.mark.parametrize(
    ("answer", "words", "pairs"),
    [
        ("the cat the dog", 3 / 4, 1),
        ("yes, yes! Yes; yes", 1 / 4, 1 / 3),
        ("a b a b a", 2 / 5, 2 / 4),
        ("one two", 1, 1),
        ("東京東京", 2 / 4, 2 / 3),
    ],
)
def test_an_answer(answer, words, pairs):
    assert cell(Sample("1", answer=answer), "distinct_1").value == pytest.approx(words)
    assert cell(Sample("1", answer=answer), "distinct_2").value == pytest.approx(pairs)


def test_skipped():
    assert cell(Sample("1", answer="..."), "distinct_1") == Score(None, "skipped", "the answer has no words")
    assert cell(Sample("1", answer="one"), "distinct_2") == Score(
        None, "skipped", "the answer has fewer than two words"
    )
    assert cell(Sample("1", question="?"), "distinct_1") == Score(None, "skipped", "no answer")


def test_a_run():
    """All answers together: 3 different words of 8, and of the pairs, which never reach into the next answer, 3 of 4."""
    rows = [{"answer": "I do not"}, {"answer": "..."}, {"answer": "I do"}, {"answer": "not"}, {"answer": "not I"}]
    summary = ragstone.evaluate(rows, ["distinct_1", "distinct_2"]).summary()
    words, pairs = summary["distinct_1"], summary["distinct_2"]
    assert (words.mean, words.n_ok, words.n_skipped) == (pytest.approx(3 / 8), 4, 1)
    assert (pairs.mean, pairs.n_ok, pairs.n_skipped) == (pytest.approx(3 / 4), 3, 2)
    assert words.ci_low <= words.mean <= words.ci_high


def test_a_system_that_always_says_the_same():
    rows = [{"answer": "I cannot answer that"}] * 50
    run = ragstone.evaluate(rows, ["distinct_1", "distinct_2"])
    assert [row.mean for row in run.summary()] == pytest.approx([4 / 200, 3 / 150])
    assert {row["value"] for row in run.scores.to_pylist()} == {1.0}


@given(st.lists(st.lists(st.sampled_from("abcdef"), min_size=2, max_size=6), min_size=1, max_size=6))
def test_all_rows_together(rows):
    hashes = answer_word_hashes(answer_words(pa.array([" ".join(f"word{letter}" for letter in row) for row in rows])))
    arrays = [np.asarray(row) for row in hashes]
    words = [word for row in rows for word in row]
    pairs = [pair for row in rows for pair in pairwise(row)]
    assert distinct_share(arrays, 1) == pytest.approx(len(set(words)) / len(words))
    assert distinct_share(arrays, 2) == pytest.approx(len(set(pairs)) / len(pairs))


@given(st.lists(texts, min_size=1, max_size=6))
def test_rows_do_not_mind_their_neighbours(answers):
    samples = [Sample("1", answer=answer) for answer in answers]
    for name in ("distinct_1", "distinct_2"):
        together = score(samples, name)[name]
        assert score(samples[::-1], name)[name] == together[::-1]
        assert [cell(sample, name) for sample in samples] == together
        assert all(found.value is None or 0 < found.value <= 1 for found in together)


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=5, max_size=9), min_size=2, max_size=6), st.integers(1, 5))
def test_any_n_and_self_bleu_as_in_nltk(rows, n):
    bleu = pytest.importorskip("nltk.translate.bleu_score")
    hashes = answer_word_hashes(answer_words(pa.array([" ".join(f"word{letter}" for letter in row) for row in rows])))
    arrays = [np.asarray(row) for row in hashes]
    runs = [tuple(row[at : at + n]) for row in rows for at in range(len(row) - n + 1)]
    assert distinct_share(arrays, n) == pytest.approx(len(set(runs)) / len(runs))
    smooth, weights = bleu.SmoothingFunction().method1, [1 / n] * n
    scores = [
        bleu.sentence_bleu([*rows[:at], *rows[at + 1 :]], row, weights, smoothing_function=smooth)
        for at, row in enumerate(rows)
    ]
    assert self_bleu_of(arrays, n) == pytest.approx(np.mean(scores))


def test_names_and_scores_of_a_run():
    for name in ("distinct5", "distinct_5", "distinct-5", "Distinct-5", "distinct_n(n=5)"):
        assert str(parse_metric(name)) == "distinct_n(n=5)"
    assert str(parse_metric("self-bleu3")) == str(parse_metric("self_bleu_3")) == "self_bleu_n(n=3)"
    rows = [{"answer": "I cannot answer that"}] * 3 + [{"answer": "the harbour opens at nine"}, {"answer": "no"}]
    summary = ragstone.evaluate(rows, ["distinct-3", "self_bleu2"]).summary()
    assert (summary["distinct_n"].mean, summary["distinct_n"].n_skipped) == (pytest.approx(5 / 9), 1)
    assert summary["self_bleu_n(n=2)"].mean == pytest.approx(3 / 4)
    assert cell(Sample("1", answer="go on go on go on"), "self_bleu2").value == pytest.approx(3 / 5)
    with pytest.raises(ragstone.errors.UsageError, match="n must be one of"):
        parse_metric("distinct_n(n=0)")
