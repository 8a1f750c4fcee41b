"""Letters, words, syllables and sentences, counted by hand.

Readability: published examples, the formulas by hand, edges.
"""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.types import Sample, Score
from ragstone.metrics.readability import answer_size
from ragstone.registry import parse_metric
from tests.metrics.scoring import cell, score


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat sat on the mat.", (17, 6, 6, 1)),
        ("It's well-known. Isn't it?", (18, 4, 6, 2)),
        ("Pi is 3.14, not 3,000.", (14, 5, 10, 1)),
        ("one_two", (6, 2, 2, 1)),
        ("Cafe\u0301 NAÏVE", (9, 2, 3, 1)),
        ("東京", (2, 2, 2, 1)),
        ("", (0, 0, 0, 0)),
        ("... !", (0, 0, 0, 0)),
        ("x\x00y", (2, 2, 2, 1)),
    ],
)
def test_counts(text, expected):
    assert answer_size(pa.array([text])).tolist() == [list(expected)]


def test_no_rows():
    assert answer_size(pa.array([], type=pa.string())).shape == (0, 4)


METRICS = ("ari", "flesch_kincaid", "flesch_ease")
PLATYPUS = "The Australian platypus is seemingly a hybrid of a mammal and reptilian creature."


def values(text):
    return [cells[0].value for cells in score([Sample("1", answer=text)], *METRICS).values()]


@pytest.mark.parametrize(
    ("text", "ease"),
    [
        # The examples of Wikipedia's "Flesch-Kincaid readability tests"; of the last it says 24 syllables, 13 words, 37.5.
        ("The cat sat on the mat.", 116),
        ("This sentence, taken as a reading passage unto itself, is being used to prove a point.", 69),
        (PLATYPUS, 37.5),
    ],
)
def test_published_examples(text, ease):
    assert cell(Sample("1", answer=text), "flesch_ease").value == pytest.approx(ease, abs=0.5)


@pytest.mark.parametrize(
    ("text", "letters", "words", "syllables", "sentences"),
    [
        ("The cat sat on the mat.", 17, 6, 6, 1),
        (PLATYPUS, 68, 13, 24, 1),
        ("It works. Does it? It does!", 19, 6, 6, 3),
        ("Dr. Smith paid 3.50 for it.", 19, 6, 8, 1),
    ],
)
def test_formulas(text, letters, words, syllables, sentences):
    assert values(text) == pytest.approx(
        [
            4.71 * letters / words + 0.5 * words / sentences - 21.43,
            0.39 * words / sentences + 11.8 * syllables / words - 15.59,
            206.835 - 1.015 * words / sentences - 84.6 * syllables / words,
        ]
    )


def test_long_words_and_sentences_are_hard():
    easy = "We go home. We eat. It is late. The dog is old."
    hard = "Organizational considerations necessitated comprehensive administrative restructuring, " * 4 + "reportedly."
    (ari, grade, ease), (harder_ari, harder_grade, harder_ease) = values(easy), values(hard)
    assert harder_ari > ari + 10
    assert harder_grade > grade + 10
    assert harder_ease < ease - 50


@pytest.mark.parametrize("name", METRICS)
def test_skipped(name):
    assert cell(Sample("1", answer=" ?! "), name) == Score(None, "skipped", "the answer has no words")
    assert cell(Sample("1", question="?"), name) == Score(None, "skipped", "no answer")


def test_direction():
    assert [parse_metric(name).spec.better for name in METRICS] == ["none", "none", "none"]
    assert str(parse_metric("flesch_kincaid_grade_level")) == "flesch_kincaid"


@given(st.lists(st.text(max_size=20), min_size=1, max_size=5))
def test_rows_do_not_mind_their_neighbours(answers):
    samples = [Sample("1", answer=answer) for answer in answers]
    for name in METRICS:
        together = score(samples, name)[name]
        assert score(samples[::-1], name)[name] == together[::-1]
        assert [cell(sample, name) for sample in samples] == together
