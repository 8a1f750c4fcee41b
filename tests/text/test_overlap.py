"""Shared words as a share of each side."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text.overlap import Overlap, bag_overlap

bags = st.lists(st.sampled_from("abcd"), max_size=6)


@pytest.mark.parametrize(
    ("predicted", "expected", "overlap"),
    [
        ("a b c", "a b", (2 / 3, 1, 0.8)),
        ("a a b", "a b b b", (2 / 3, 1 / 2, 4 / 7)),
        ("a", "b", (0, 0, 0)),
        ("", "", (1, 1, 1)),
        ("", "a", (0, 0, 0)),
        ("a", "", (0, 0, 0)),
    ],
)
def test_by_hand(predicted, expected, overlap):
    assert bag_overlap(predicted.split(), expected.split()) == pytest.approx(overlap)


@given(bags, bags)
def test_laws(left, right):
    there, back = bag_overlap(left, right), bag_overlap(right, left)
    assert there == (back.recall, back.precision, pytest.approx(back.f1))
    assert all(0 <= value <= 1 for value in there)
    assert (there == Overlap(1, 1, 1)) == (Counter(left) == Counter(right))
    assert min(there[:2]) - 1e-12 <= there.f1 <= max(there[:2]) + 1e-12


@given(bags, bags, st.randoms(use_true_random=False))
def test_order_does_not_matter(left, right, random):
    shuffled = random.sample(left, len(left))
    assert bag_overlap(shuffled, right) == bag_overlap(left, right)
