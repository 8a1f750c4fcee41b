"""Hashes of words: equal for equal words, in every process and on every machine."""

import pyarrow as pa

from ragstone.evidence.diversity import answer_word_hashes
from ragstone.evidence.words import answer_words


def test_hashes():
    found = answer_word_hashes(answer_words(pa.array(["A cat, a dog.", "", "CAT"])))
    lists = [row.tolist() for row in found]
    assert [len(row) for row in lists] == [4, 0, 1]
    assert lists[0][0] == lists[0][2] != lists[0][1] == lists[2][0]


def test_the_same_everywhere():
    """`int.from_bytes(hashlib.blake2b(b"cat", digest_size=8).digest(), "little", signed=True)`."""
    assert answer_word_hashes(answer_words(pa.array(["cat"])))[0].tolist() == [3429664268601861939]
