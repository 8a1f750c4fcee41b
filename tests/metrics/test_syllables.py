"""Syllables as a dictionary divides words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.metrics.readability import count_syllables

DIVIDED = (
    "the cat make makes asked want-ed boxed box-es ta-ble cen-tre care-ful-ly state-ment be-ing fly-ing play-er played "
    "ra-di-o na-tion va-ri-ous so-ci-e-ty sci-ence u-su-al i-de-a a-re-a lan-guage league tech-nique peo-ple "
    "read-a-bil-i-ty or-gan-i-za-tion rhy-thm ev-ery-thing cre-ate crea-ture re-ac-tion through eye beau-ti-ful syl-la-ble"
)


@pytest.mark.parametrize("word", DIVIDED.split())
def test_examples(word):
    assert count_syllables(word.replace("-", "")) == word.count("-") + 1


@pytest.mark.parametrize(
    ("word", "syllables"),
    [
        ("don't", 1),
        ("they’re", 1),
        ("isn't", 2),
        ("couldn’t", 2),
        ("well-known", 2),
        ("Café", 2),
        ("MÜLLER", 2),
        ("1984", 4),
        ("b", 1),
        ("東京", 1),
        ("", 1),
    ],
)
def test_odd_words(word, syllables):
    """A digit is one syllable."""
    assert count_syllables(word) == syllables


@given(st.text())
def test_at_least_one(word):
    assert 1 <= count_syllables(word) <= max(1, 18 * len(word))
