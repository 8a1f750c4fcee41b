"""METEOR's alignment: which words of the answer stand for which words of a reference, stage by stage as nltk does it.

First equal words, then equal stems, then synonyms where a WordNet is installed. Each stage sees what the one before left
over, and goes from the end of the answer to its beginning, taking the last free word of the reference. As in nltk the
synonym stage looks up the stems, not the words.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ragstone.data.columns import Ragged
from ragstone.data.tokens import Tokens
from ragstone.evidence.rouge import WordPairs
from ragstone.registry import evidence
from ragstone.text.folded import respell
from ragstone.text.porter import stem
from ragstone.text.wordnet import WordNet, find_wordnet


class _Matches(NamedTuple):
    """Which word of all answers stands for which word of all references."""

    said: np.ndarray
    expected: np.ndarray


def _stages() -> str:
    wordnet = find_wordnet()
    return f"exact,stem,{wordnet.signature}" if wordnet else "exact,stem"


@evidence(columnar=True, transient=True, yields=("aligned_words", "aligned_chunks"), signature=_stages)
def align_words(word_pairs: WordPairs) -> dict[str, Ragged]:
    """For each reference the number of aligned words, and of the runs that they form in both texts."""
    answers, references = word_pairs.sides
    number, stems = respell(answers.words, stem)
    matches = _align(answers, references, number, stems, find_wordnet())
    order = np.argsort(matches.said)
    said, expected = matches.said[order], matches.expected[order]
    pair = answers.row_of[said]
    follows = (np.diff(said) == 1) & (np.diff(expected) == 1) & (np.diff(pair) == 0)
    words = np.bincount(pair, minlength=len(references))
    chunks = words - np.bincount(pair[1:][follows], minlength=len(references))
    offsets = word_pairs.references.offsets
    return {"aligned_words": Ragged(words, offsets), "aligned_chunks": Ragged(chunks, offsets)}


def _align(
    answers: Tokens, references: Tokens, number: np.ndarray, stems: pa.Array, wordnet: WordNet | None
) -> _Matches:
    found: list[_Matches] = []
    rows = answers.row_of, references.row_of
    left = np.arange(len(answers.values)), np.arange(len(references.values))
    for words in (
        (answers.values, references.values),
        (number[answers.values], number[references.values]),
    ):
        keys = [row[free] * (len(answers.words) + 1) + word[free] for row, word, free in zip(rows, words, left, strict=True)]
        matched = _Matches(*(free[at] for free, at in zip(left, _match_from_the_end(*keys), strict=True)))
        found.append(matched)
        left = np.setdiff1d(left[0], matched.said), np.setdiff1d(left[1], matched.expected)
    if wordnet and len(left[0]) and len(left[1]):
        found.append(_match_synonyms(answers, references, left, number, stems, wordnet))
    return _Matches(*(np.concatenate(side) for side in zip(*found, strict=True)))


def _match_from_the_end(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places of equal keys, the last with the last, the one before it with the one before it, and so on."""
    sides = [_group_from_the_end(keys) for keys in (left, right)]
    (left_keys, left_first, left_order), (right_keys, right_first, right_order) = sides
    _, on_left, on_right = np.intersect1d(left_keys, right_keys, assume_unique=True, return_indices=True)
    counts = np.minimum(np.diff(left_first)[on_left], np.diff(right_first)[on_right])
    nth = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return (
        left_order[np.repeat(left_first[on_left], counts) + nth],
        right_order[np.repeat(right_first[on_right], counts) + nth],
    )


def _group_from_the_end(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct keys, where the group of each begins and the last one ends, and the places of all keys group by group."""
    order = len(keys) - 1 - np.argsort(keys[::-1], kind="stable")
    ordered = keys[order]
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    return ordered[first], np.append(first, len(keys)), order


def _match_synonyms(
    answers: Tokens,
    references: Tokens,
    left: tuple[np.ndarray, np.ndarray],
    number: np.ndarray,
    stems: pa.Array,
    wordnet: WordNet,
) -> _Matches:
    spelled: list[str] = stems.to_pylist()
    number_of = {word: place for place, word in enumerate(spelled)}
    synonyms: dict[int, list[int]] = {}
    free: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    row_of, stem_of = references.row_of[left[1]], number[references.values[left[1]]]
    for place, row, word in zip(left[1].tolist(), row_of.tolist(), stem_of.tolist(), strict=True):
        free[row][word].append(place)
    said, expected = [], []
    row_of, stem_of = answers.row_of[left[0]], number[answers.values[left[0]]]
    for place, row, word in zip(left[0][::-1].tolist(), row_of[::-1].tolist(), stem_of[::-1].tolist(), strict=True):
        there = free.get(row)
        if not there:
            continue
        if word not in synonyms:
            synonyms[word] = [number_of[name] for name in wordnet.synonyms(spelled[word]) if name in number_of]
        places = [there[other] for other in synonyms[word] if there.get(other)]
        if places:
            last = max(places, key=lambda free_places: free_places[-1])
            said.append(place)
            expected.append(last.pop())
    return _Matches(np.array(said, dtype=np.int64), np.array(expected, dtype=np.int64))
