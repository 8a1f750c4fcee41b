"""Edits with moves: by hand, and as sacrebleu counts them."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.lib_ter import translation_edit_rate

from ragstone.text.edit_rate import count_edits


@pytest.mark.parametrize(
    ("text", "reference", "edits"),
    [
        ("", "", 0),
        ("a b", "", 2),
        ("", "a b c", 3),
        ("a b c", "a b c", 0),
        ("a x c", "a b c", 1),
        ("a c", "a b c", 1),
        ("a b b c", "a b c", 1),
        ("d e f a b c", "a b c d e f", 1),
        ("b c a", "a b c", 1),
        ("c b a", "a b c", 2),
        ("this week the saudis denied information published in the new york times",
         "saudi arabia denied this week information published in the american new york times", 4),
    ],
)  # fmt: skip
def test_by_hand(text, reference, edits):
    """The last is the example of Snover et al. 2006."""
    assert count_edits(text.split(), reference.split()) == edits


@given(st.lists(st.sampled_from("abcdef"), max_size=30), st.lists(st.sampled_from("abcdef"), max_size=30))
def test_as_sacrebleu_counts(text, reference):
    assert count_edits(text, reference) == translation_edit_rate(text, reference)[0]


SLOW = pytest.mark.slow


@pytest.mark.parametrize("seed", [0, 2, 4, 5, *(pytest.param(seed, marks=SLOW) for seed in (1, 3, 9))])
def test_as_sacrebleu_counts_beyond_its_limits(seed):
    """Long enough for the beam, for moves that are too far, and for more moves than are tried."""
    pick = random.Random(seed)
    words = [str(number) for number in range(pick.choice([3, 12, 60]))]
    text = pick.choices(words, k=pick.choice([5, 30, 60]))
    block = pick.randint(0, len(text))
    reference = [word for word in text[block:] + text[:block] if pick.random() < 0.8]
    reference += pick.choices(words, k=pick.choice([0, 10, 40]))
    assert count_edits(text, reference) == translation_edit_rate(text, reference)[0]
    assert count_edits(reference, text) == translation_edit_rate(reference, text)[0]


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_laws(text, reference):
    edits = count_edits(text, reference)
    assert count_edits(text, text) == 0
    assert (edits == 0) == (text == reference)
    assert abs(len(text) - len(reference)) <= edits <= max(len(text), len(reference))
