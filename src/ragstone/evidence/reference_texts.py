"""Which reference contexts were retrieved, told by their words: for data without chunk ids."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ragstone.data.matching import Matches
from ragstone.text.folded import fold_texts

# A chunk that is a part of a reference context stands for it if it holds at least this share of its letters: else a page
# number or a heading would do.
_LEAST_SHARE = 0.5


class Found(NamedTuple):
    """The reference contexts that were found, how many each row has, and why some rows have no answer."""

    matches: Matches
    counts: np.ndarray
    reasons: dict[int, str]


def find_references(contexts: pa.ListArray, reference_contexts: pa.ListArray) -> Found:
    """The first chunk that stands for each reference context; a reference found twice counts once.

    Case, punctuation and white space do not matter, words are whole. A chunk stands for a reference if both are the
    same, if it contains the reference, or if it is a part of it and at least half as long.
    """
    hits: list[tuple[int, int, int]] = []
    lengths: list[int] = []
    counts: list[int] = []
    reasons: dict[int, str] = {}
    chunks = _fold_lists(contexts, contexts.flatten().field("text"))
    wanted = _fold_lists(reference_contexts, reference_contexts.flatten())
    entries = itertools.count()
    for row, (listed, needed) in enumerate(zip(chunks, wanted, strict=True)):
        references = [text for text in dict.fromkeys(needed) if text]
        texts = list(dict.fromkeys(listed))
        if not references:
            reasons[row] = "the reference contexts hold no words"
        elif texts and not any(texts):
            reasons[row] = "the retrieved chunks hold no words"
        places = [(row, _first(texts, reference), next(entries)) for reference in references]
        hits += sorted(place for place in places if place[1])
        lengths.append(len(texts))
        counts.append(len(references))
    rows, ranks, numbers = np.array(hits, dtype=np.int64).reshape(-1, 3).T
    matches = Matches(rows, ranks, numbers, np.array(lengths, dtype=np.int64))
    return Found(matches, np.array(counts, dtype=np.int64), reasons)


def _first(texts: Sequence[str], reference: str) -> int:
    """The rank of the first text that stands for the reference, 0 if none does."""
    return next((rank for rank, text in enumerate(texts, start=1) if _stands_for(text, reference)), 0)


def _stands_for(text: str, reference: str) -> bool:
    return bool(text) and (reference in text or (len(text) >= _LEAST_SHARE * len(reference) and text in reference))


def _fold_lists(lists: pa.ListArray, texts: pa.Array) -> Iterator[list[str]]:
    """Each row's texts as folded words with a space on both sides of every word; empty where there are none.

    Each distinct text is folded once: the same chunk is retrieved for many questions.
    """
    distinct = texts.dictionary_encode()
    folded = [text.folded if text else "" for text in fold_texts(distinct.dictionary)]
    codes = distinct.indices.to_pylist()
    start = 0
    for length in lists.value_lengths().to_pylist():
        yield [folded[code] for code in codes[start : start + length]]
        start += length
