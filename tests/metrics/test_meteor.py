"""Alignment by hand.

METEOR: cases by hand, edges, laws. Equality with nltk is in tests/golden.
"""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.types import Sample, Score
from ragstone.engine.plan import make_plan
from ragstone.evidence_functions.tokens import answer_words, reference_words
from ragstone.metrics import meteor
from ragstone.metrics.meteor import align_words
from ragstone.metrics.rouge import word_pairs
from ragstone.registry import resolve_metrics
from tests.metrics.scoring import cell, score


class SmallWordNet:
    """Knows two meanings."""

    signature = "wordnet/0"

    @staticmethod
    def synonyms(word):
        meanings = ({"car", "auto", "Wagon"}, {"auto", "automat"})
        return frozenset().union(*(meaning for meaning in meanings if word in meaning))


@pytest.fixture(params=[None, SmallWordNet], ids=["exact,stem", "exact,stem,wordnet/0"])
def wordnet(request, monkeypatch):
    monkeypatch.setattr(meteor, "find_wordnet", lambda: request.param)
    return request.param


def align(answer, *references):
    found = align_words(word_pairs(answer_words(pa.array([answer])), reference_words(pa.array([list(references)]))))
    return [piece.values.tolist() for piece in (found["aligned_words"], found["aligned_chunks"])]


@pytest.mark.parametrize(
    ("answer", "reference", "words", "chunks"),
    [
        ("the cat sat", "the cat sat", 3, 1),
        ("the cat sat", "sat the cat", 3, 2),
        ("the cat", "the dog", 1, 1),
        ("runs fast", "fast running", 2, 2),
        ("a b", "", 0, 0),
        ("", "", 0, 0),
        # The last with the last: "the" of the answer is the second one of the reference, so that there is one chunk.
        ("the mat", "the cat on the mat", 2, 1),
        ("x y", "y x", 2, 2),
    ],
)
def test_words_and_stems(answer, reference, words, chunks, wordnet):
    assert align(answer, reference) == [[words], [chunks]]


def test_each_reference_on_its_own(wordnet):
    assert align("one two", "two", "one two", "three") == [[1, 2, 0], [1, 1, 0]]


def test_synonyms(wordnet):
    found = 1 if wordnet else 0
    assert align("my car", "an auto") == [[found], [found]]
    assert align("automat", "auto auto") == [[found], [found]]
    assert align("car car", "auto") == [[found], [found]]


def test_the_signature_says_which_stages_ran(wordnet):
    plan = make_plan(resolve_metrics(["meteor"]), ("answer", "references"), {})
    stages = "exact,stem,wordnet/0" if wordnet else "exact,stem"
    assert f"align_words/1({stages})" in plan.metrics[0].signature


def test_rows_do_not_touch(wordnet):
    """The last word of one row and the first of the next are no chunk."""
    samples = [Sample("1", answer="a", references=["a"]), Sample("2", answer="b", references=["b"])]
    answers, references = (
        answer_words(pa.array([sample.answer for sample in samples])),
        reference_words(pa.array([sample.references for sample in samples])),
    )
    assert align_words(word_pairs(answers, references))["aligned_chunks"].values.tolist() == [1, 1]


texts = st.lists(st.sampled_from(["a", "b", "cats", "Cat", ".", "é", "東京", "9"]), max_size=9).map(" ".join)


@pytest.fixture(autouse=True)
def no_wordnet(monkeypatch):
    """What is installed on this machine must not decide a test."""
    monkeypatch.setattr(meteor, "find_wordnet", lambda: None)


def value(answer, *references):
    return cell(Sample("1", answer=answer, references=list(references)), "meteor").value


def formula(aligned, said, expected, chunks):
    precision, recall = aligned / said, aligned / expected
    return precision * recall / (0.9 * precision + 0.1 * recall) * (1 - 0.5 * (chunks / aligned) ** 3)


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("The cat sat.", "the cat sat", 1 - 0.5 / 27),
        ("word", "word", 0.5),
        ("the cat sat", "sat the cat", formula(3, 3, 3, 2)),
        ("a b c d", "a x b y z", formula(2, 4, 5, 2)),
        ("runs", "running", 0.5),
        ("one two", "three", 0),
        ("", "three", 0),
        ("...", "", 0),
    ],
)
def test_by_hand(answer, reference, expected):
    assert value(answer, reference) == pytest.approx(expected)


def test_the_example_of_nltk():
    """From its documentation; there with synonyms, which change nothing here: `round(meteor_score(…), 4)` is 0.6944."""
    answer = "It is a guide to action which ensures that the military always obeys the commands of the party"
    references = (
        "It is a guide to action that ensures that the military will forever heed Party commands",
        "It is the guiding principle which guarantees the military forces always being under the command of the Party",
        "It is the practical guide for the army always to heed the directions of the party",
    )
    assert value(answer, *references) == pytest.approx(0.6944, abs=5e-5)


def test_the_best_reference():
    assert value("one two", "three", "one two", "one") == value("one two", "one two")


@pytest.mark.parametrize(
    ("row", "reason"),
    [(Sample("1", answer="x"), "no references"), (Sample("1", references=["x"]), "no answer")],
)
def test_skipped(row, reason):
    assert cell(row, "meteor") == Score(None, "skipped", reason)


# The fixture lasts for all examples of a test, and none changes it.
@pytest.mark.usefixtures("no_wordnet")
def test_laws():
    @given(texts, st.lists(texts, min_size=1, max_size=3), texts)
    def check(answer, references, other):
        found = value(answer, *references)
        assert 0 <= found < 1
        assert value(answer, *references, other) >= found
        assert value(answer, answer) >= found - 1e-12

    check()


@pytest.mark.slow
def test_rows_do_not_mind_their_neighbours():
    @given(st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=1, max_size=6))
    def check(rows):
        samples = [Sample("1", answer=answer, references=references) for answer, references in rows]
        together = score(samples, "meteor")["meteor"]
        assert score(samples[::-1], "meteor")["meteor"] == together[::-1]
        assert [cell(sample, "meteor") for sample in samples] == together

    check()
