"""The words of the texts, as the SQuAD script counts them; made once, shared by all lexical metrics.

The folded words of the texts: lower-case, one Unicode form, no punctuation; what ROUGE, METEOR and diversity count.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ragstone.data.columns import Ragged
from ragstone.data.tokens import Nested, Tokens, shared_ngrams
from ragstone.registry import evidence
from ragstone.text import squad
from ragstone.text.word_columns import number_words


@evidence(columnar=True, transient=True)
def answer_words(answer: pa.StringArray) -> Tokens:
    """The folded words of the answer."""
    return Tokens(*number_words(answer))


@evidence(columnar=True, transient=True)
def reference_words(references: pa.ListArray) -> Nested[Tokens]:
    """The folded words of each reference answer."""
    return Nested(Tokens(*number_words(references.flatten())), list_offsets(references))


def list_offsets(lists: pa.ListArray) -> np.ndarray:
    """The position of the first item of each list among all items, and at the end their number."""
    return np.concatenate([[0], np.cumsum(lists.value_lengths().to_numpy(), dtype=np.int64)])


@evidence(columnar=True, transient=True, version=2)
def answer_tokens(answer: pa.StringArray) -> Tokens:
    """The words of the answer."""
    return Tokens(*squad.number_tokens(answer))


@evidence(columnar=True, transient=True, version=2)
def reference_tokens(references: pa.ListArray) -> Nested[Tokens]:
    """The words of each reference answer."""
    return _nested(references, references.flatten())


@evidence(columnar=True, transient=True, version=2)
def context_tokens(contexts: pa.ListArray) -> Nested[Tokens]:
    """The words of each retrieved chunk."""
    return _nested(contexts, contexts.flatten().field("text"))


@evidence(columnar=True, transient=True)
def shared_with_references(answer_tokens: Tokens, reference_tokens: Nested[Tokens]) -> Ragged:
    """How many words the answer shares with each reference."""
    single = bool((reference_tokens.lengths == 1).all())
    answers = answer_tokens if single else answer_tokens.take(reference_tokens.row_of)
    shared = shared_ngrams(answers, reference_tokens.inner, 1)
    return Ragged(shared, reference_tokens.offsets)


def _nested(lists: pa.ListArray, texts: pa.Array) -> Nested[Tokens]:
    """Each distinct text is cut into words once: the same chunk is retrieved for many questions."""
    distinct = texts.dictionary_encode()
    tokens = Tokens(*squad.number_tokens(distinct.dictionary))
    every = tokens if len(tokens) == len(texts) else tokens.take(distinct.indices.to_numpy())
    return Nested(every, list_offsets(lists))
