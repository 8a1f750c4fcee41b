"""Texts as numbered words."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.tokens import Nested, Tokens, shared_ngrams
from ragstone.text import squad

texts = st.lists(st.text("ab c.東é", max_size=12), max_size=5)


def tokens(lines):
    return Tokens(*squad.number_tokens(pa.array(lines, type=pa.string())))


@given(texts)
def test_the_same_words_as_one_text_at_a_time(lines):
    assert list(tokens(lines)) == [squad.tokens(line) for line in lines]


@given(
    texts.flatmap(
        lambda left: st.tuples(
            st.just(left), st.lists(st.text("ab c", max_size=12), min_size=len(left), max_size=len(left))
        )
    )
)
def test_shared_words_are_those_of_two_bags(pair):
    from collections import Counter

    left, right = pair
    expected = [(Counter(squad.tokens(a)) & Counter(squad.tokens(b))).total() for a, b in zip(left, right, strict=True)]
    assert shared_ngrams(tokens(left), tokens(right), 1).tolist() == expected


@given(texts, texts)
def test_concatenated(first, second):
    assert list(Tokens.concat([tokens(first), tokens(second)])) == [squad.tokens(line) for line in first + second]


def test_nested_rows_taken_joined_and_concatenated():
    nested = Nested(tokens(["one two", "three", "four"]), np.array([0, 2, 2, 3]))
    assert [nested[row] for row in range(3)] == [[["one", "two"], ["three"]], [], [["four"]]]
    taken = nested.take(np.array([2, 0]))
    assert [taken[0], taken[1]] == [[["four"]], [["one", "two"], ["three"]]]
    assert list(nested.joined()) == [["one", "two", "three"], [], ["four"]]
    assert Nested.concat([nested, taken])[4] == [["one", "two"], ["three"]]
