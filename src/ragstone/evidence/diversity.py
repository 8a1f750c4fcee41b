"""The words of the answers in a form that can be kept and compared across all rows, and across runs: a hash a word."""

from __future__ import annotations

import hashlib
from typing import cast

import numpy as np

from ragstone.data.columns import Ragged
from ragstone.data.tokens import Tokens
from ragstone.registry import evidence


@evidence(columnar=True)
def answer_word_hashes(answer_words: Tokens) -> list[int]:
    """The words of the answer in their order, each as 8 bytes of its BLAKE2 hash; two words never meet by chance."""
    digests = b"".join(
        hashlib.blake2b(word.encode(), digest_size=8).digest() for word in answer_words.words.to_pylist()
    )
    hashes = np.frombuffer(digests, dtype="<i8")[answer_words.values]
    # Whoever declares a column declares what is in a row of it.
    return cast("list[int]", Ragged(hashes, answer_words.offsets))
