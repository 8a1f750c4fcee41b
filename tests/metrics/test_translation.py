"""BLEU, chrF and TER: values by hand, edges, laws. The numbers of sacrebleu are in tests/golden."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.types import Sample, Score
from ragstone.metrics.translation import bleu_of, chrf_of, ter_of
from tests.metrics.scoring import cell, score

METRICS = ("bleu", "chrf", "ter")
texts = st.text("ab .9東ไ", max_size=15)


def values(answer, references):
    row = Sample("1", answer=answer, references=references)
    return [cells[0].value for cells in score([row], *METRICS).values()]


@pytest.mark.parametrize(
    ("answer", "references", "expected"),
    [
        ("Blue Lantern", ["Blue Lantern"], (1, 1, 0)),
        ("Blue Lantern", ["Red", "Blue Lantern"], (1, 1, 0)),
        ("😀", ["😀"], (1, 1, 0)),
        ("ab", ["xy"], (0, 0, 1)),
        ("", ["xy z"], (0, 0, 1)),
        ("", [""], (0, 0, 0)),
        ("x y", [""], (0, 0, 1)),
        ("a b c d e f", ["x y"], (0, 0, 3)),
        # Both words, not the pair: the pair counts as half of one. Characters: 4 of 4, 2 of 3, none of 2 and 1.
        ("aa bb", ["bb aa"], (0.5**0.5, (1 + 2 / 3) / 4, 1 / 2)),
        # Two of three words and one of two pairs match, no triple does (half a match); as long as the reference.
        ("a b c", ["a b d"], ((2 / 3 * 1 / 2 * 1 / 2) ** (1 / 3), (2 / 3 + 1 / 2) / 3, 1 / 3)),
        # Every word is right, half of them are missing: the brevity penalty is e^(1 - 4/2); chrF recall (2/4 + 1/3) / 2.
        ("a b", ["a b c d"], (np.exp(-1), 25 / 53, 1 / 2)),
    ],
)
def test_by_hand(answer, references, expected):
    assert values(answer, references) == pytest.approx(expected)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (Sample("1", answer="x"), "no references"),
        (Sample("1", answer="x", references=[]), "no references"),
        (Sample("1", references=["x"]), "no answer"),
    ],
)
def test_skipped(name, row, reason):
    assert cell(row, name) == Score(None, "skipped", reason)


def test_a_very_long_answer():
    row = Sample("1", answer="word " * 20_000, references=["word"])
    assert cell(row, "ter").status == "skipped"
    assert cell(row, "bleu").value < 0.01


@given(texts, st.lists(texts, min_size=1, max_size=3))
def test_laws(answer, references):
    bleu, chrf, ter = values(answer, references)
    assert 0 <= bleu <= 1
    assert 0 <= chrf <= 1
    assert ter >= 0
    assert values(answer, references[::-1]) == pytest.approx([bleu, chrf, ter])
    same = values(answer, [answer])
    assert same == pytest.approx([1, 1, 0] if answer.strip() else [0, 0, 0])


@given(texts, st.lists(texts, min_size=1, max_size=3), texts)
def test_another_reference_never_lowers_chrf(answer, references, other):
    assert values(answer, [*references, other])[1] >= values(answer, references)[1] - 1e-12


@pytest.mark.parametrize(("score_of", "size"), [(bleu_of, 10), (chrf_of, 18), (ter_of, 2)])
def test_sums_are_scored_one_by_one_or_many_at_once(score_of, size):
    """A bootstrap scores a thousand sums at once."""
    numbers = np.random.default_rng(1).integers(0, 5, (50, size)).astype(float)
    assert score_of(numbers).tolist() == [float(score_of(row)) for row in numbers]
    assert float(score_of(np.zeros(size))) == 0
