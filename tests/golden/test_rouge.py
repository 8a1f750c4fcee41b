"""Against Google's rouge-score, which must be installed: equal for ASCII text, different on purpose beyond it."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.types import Sample
from tests.metrics.scoring import cell, score

scorers = pytest.importorskip("rouge_score.rouge_scorer")

NAMES = {
    "rouge_1": "rouge1",
    "rouge_2": "rouge2",
    "rouge_n": "rouge3",
    "rouge_n(n=5)": "rouge5",
    "rouge_l": "rougeL",
    "rouge_lsum": "rougeLsum",
}
PARTS = {"f1": "fmeasure", "precision": "precision", "recall": "recall"}
LISTED = (
    "the a of cat cats dog running runner runs quickly quick flies flying nationally national x1 9 42 relational news"
)
WORDS = LISTED.split()
GAPS = [*[" "] * 8, ", ", ". ", "\n", "\n\n", " - ", "_", "\t", "\x00"]


def text(chance):
    words = chance.choices(WORDS, k=chance.choice((0, 1, 2, 5, 12, 30, 70)))
    return "".join(chance.choice((word, word.title())) + chance.choice(GAPS) for word in words)


@pytest.fixture(scope="module")
def samples():
    chance = random.Random(20_240_229)
    return [
        Sample(str(row), answer=text(chance), references=[text(chance) for _ in range(chance.choice((1, 1, 2, 4)))])
        for row in range(400)
    ]


def spelled(name, **settings):
    inside = ", ".join([name.partition("(")[2].strip(")"), *(f"{key}={value}" for key, value in settings.items())])
    return f"{name.partition('(')[0]}({inside.strip(', ')})"


@pytest.mark.slow
@pytest.mark.parametrize("stem", [False, True])
@pytest.mark.parametrize("part", PARTS)
def test_the_reference_with_the_best_f1(samples, stem, part):
    """rouge-score's `score_multi`."""
    scorer = scorers.RougeScorer(list(NAMES.values()), use_stemmer=stem)
    expected = [scorer.score_multi(sample.references, sample.answer) for sample in samples]
    found = score(samples, *(spelled(name, score=part, stem=str(stem).lower()) for name in NAMES))
    for cells, theirs in zip(found.values(), NAMES.values(), strict=True):
        values = [getattr(scores[theirs], PARTS[part]) for scores in expected]
        assert [cell.value for cell in cells] == pytest.approx(values, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("stem", [False, True])
@pytest.mark.parametrize("part", PARTS)
def test_the_mean_of_the_references(samples, stem, part):
    scorer = scorers.RougeScorer(list(NAMES.values()), use_stemmer=stem)
    expected = [[scorer.score(reference, sample.answer) for reference in sample.references] for sample in samples]
    found = score(samples, *(spelled(name, score=part, stem=str(stem).lower(), references="mean") for name in NAMES))
    for cells, theirs in zip(found.values(), NAMES.values(), strict=True):
        values = [np.mean([getattr(one[theirs], PARTS[part]) for one in scores]) for scores in expected]
        assert [cell.value for cell in cells] == pytest.approx(values, abs=1e-9)


ascii_texts = st.one_of(
    st.text(st.characters(codec="ascii"), max_size=30),
    st.lists(st.sampled_from([*"abc", "\n", "cats", "running", ". "]), max_size=25).map(" ".join),
)


@given(ascii_texts, ascii_texts)
def test_any_ascii_text(answer, reference):
    found = scorers.RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"], use_stemmer=True).score(reference, answer)
    sample = Sample("1", answer=answer, references=[reference])
    for name, theirs in (
        ("rouge_1", "rouge1"),
        ("rouge_2", "rouge2"),
        ("rouge_l", "rougeL"),
        ("rouge_lsum", "rougeLsum"),
    ):
        for part, attribute in PARTS.items():
            ours = cell(sample, f"{name}(score={part}, stem=true)").value
            assert ours == pytest.approx(getattr(found[theirs], attribute), abs=1e-9)


@pytest.mark.parametrize(
    ("answer", "reference", "theirs", "ours"),
    [
        ("naïve art", "na ve art", 1, 0.4),  # rouge-score: na ve art
        ("Müller", "Miller", 0, 0),
        ("M\u00fcller", "Mu\u0308ller", 0.5, 1),  # ü in one character and in two
        ("東京", "東京", 0, 1),  # Chinese has no letters for rouge-score
        ("it’s “so”", "it's so", 1, 1),
    ],
)
def test_beyond_ascii(answer, reference, theirs, ours):
    expected = scorers.RougeScorer(["rouge1"]).score(reference, answer)["rouge1"].fmeasure
    assert expected == pytest.approx(theirs)
    assert cell(Sample("1", answer=answer, references=[reference]), "rouge_1").value == pytest.approx(ours)
