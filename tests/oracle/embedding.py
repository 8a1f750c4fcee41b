"""Embeddings whose cosines anybody can compute: how often each word occurs, by the word's place in the vector."""

from __future__ import annotations

import hashlib
import re

DIMENSIONS = 256
_WORD = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+")


def embed(text: str) -> list[float]:
    """Counts of words; a text without words is not nothing, it has a place of its own."""
    vector = [0.0] * DIMENSIONS
    for word in _WORD.findall(text.lower()) or [""]:
        vector[int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "big") % DIMENSIONS] += 1.0
    return vector
