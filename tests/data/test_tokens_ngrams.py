"""Runs of words, counted for all rows at once, against counting them one row at a time."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data import tokens as ngrams
from ragstone.data.columns import Ragged
from ragstone.data.tokens import Tokens, distinct_ngrams, ngram_counts, shared_ngrams

texts = st.lists(st.lists(st.sampled_from("abcde"), max_size=8), max_size=5)
orders = st.integers(1, 9)


def tokens(lists):
    words = pa.array([word for row in lists for word in row], type=pa.string()).dictionary_encode()
    return Tokens(words.indices.to_numpy(), np.cumsum([0, *map(len, lists)]), words.dictionary)


def runs(words, n):
    return Counter(tuple(words[start : start + n]) for start in range(len(words) - n + 1))


@given(st.lists(st.tuples(*[st.lists(st.sampled_from("abcde"), max_size=8)] * 2), max_size=5), orders)
def test_shared(pairs, n):
    left, right = ([pair[side] for pair in pairs] for side in (0, 1))
    expected = [sum((runs(one, n) & runs(other, n)).values()) for one, other in pairs]
    assert shared_ngrams(tokens(left), tokens(right), n).tolist() == expected


@given(texts, orders)
def test_distinct(rows, n):
    numbers = Ragged.from_lists([[ord(word) * 10**15 - 10**17 for word in row] for row in rows], dtype=np.int64)
    assert distinct_ngrams(numbers, n).tolist() == [len(runs(row, n)) for row in rows]
    assert ngram_counts(numbers, n).tolist() == [runs(row, n).total() for row in rows]


@pytest.mark.parametrize("largest", [2**62, 2**33, 50])
def test_numbers_that_would_be_too_large(largest, monkeypatch):
    """With many rows and words runs are numbered anew, and nothing else changes."""
    monkeypatch.setattr(ngrams, "_LARGEST", largest)
    random = np.random.default_rng(1)
    lists = [[str(number) for number in random.integers(0, 30, 40)] for _ in range(20)]
    others = [row[5:30] + row[:9] for row in lists]
    for n in (1, 2, 3, 6):
        expected = [sum((runs(one, n) & runs(other, n)).values()) for one, other in zip(lists, others, strict=True)]
        assert shared_ngrams(tokens(lists), tokens(others), n).tolist() == expected


def test_no_rows():
    assert shared_ngrams(tokens([]), tokens([]), 2).tolist() == []
    assert distinct_ngrams(tokens([]), 2).tolist() == []


@given(
    st.lists(st.tuples(*[st.lists(st.sampled_from("ab"), max_size=60)] * 2), max_size=6),
    st.integers(1, 3),
    st.sampled_from([3, 5, 8]),
)
def test_the_grid_counts_like_the_sorted_keys(pairs, n, most):
    """Words that both sides repeat, rows of very different lengths, and more repeats than the grid counts."""
    left, right = (tokens([pair[side] for pair in pairs]) for side in (0, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ngrams, "_MOST_REPEATS", most)
        in_grid = shared_ngrams(left, right, n).tolist()
    assert in_grid == ngrams._shared_by_keys(*ngrams.same_numbers(left, right), n).tolist()


def test_too_many_words_for_a_grid():
    lists = [[str(number) for number in range(50_000)], ["1", "2", "1", "2"]]
    others = [[str(number) for number in range(40_000, 60_000)], ["1", "2", "3", "1"]]
    assert shared_ngrams(tokens(lists), tokens(others), 2).tolist() == [9_999, 1]
