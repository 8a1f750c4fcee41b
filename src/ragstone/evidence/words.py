"""The folded words of the texts: lower-case, one Unicode form, no punctuation; what ROUGE, METEOR and diversity count."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ragstone.data.tokens import Nested, Tokens
from ragstone.registry import evidence
from ragstone.text.folded import number_words


@evidence(columnar=True, transient=True)
def answer_words(answer: pa.StringArray) -> Tokens:
    """The folded words of the answer."""
    return Tokens(*number_words(answer))


@evidence(columnar=True, transient=True)
def reference_words(references: pa.ListArray) -> Nested[Tokens]:
    """The folded words of each reference answer."""
    offsets = np.concatenate([[0], np.cumsum(references.value_lengths().to_numpy())])
    return Nested(Tokens(*number_words(references.flatten())), offsets)
