"""Alignment by hand."""

import pyarrow as pa
import pytest

from ragstone.data.types import Sample
from ragstone.engine.planning import make_plan
from ragstone.evidence import meteor
from ragstone.evidence.meteor import align_words
from ragstone.evidence.rouge import word_pairs
from ragstone.evidence.words import answer_words, reference_words
from ragstone.registry import resolve_metrics


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
