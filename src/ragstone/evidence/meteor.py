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

# Of the words that are left over: their places, rows and stems.
_Left = tuple[np.ndarray, np.ndarray, np.ndarray]


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
    rows = answers.row_of, references.row_of
    words = answers.values, references.values
    stemmed = number[answers.values], number[references.values]
    free = np.arange(len(words[0])), np.arange(len(words[1]))
    found: list[_Matches] = []
    for compared in (words, stemmed):
        keys = [
            row[left] * len(answers.words) + word[left] for row, word, left in zip(rows, compared, free, strict=True)
        ]
        places = _match_from_the_end(*keys)
        found.append(_Matches(*(left[at] for left, at in zip(free, places, strict=True))))
        free = np.delete(free[0], places[0]), np.delete(free[1], places[1])
    if wordnet:
        left = [(places, row[places], stem[places]) for places, row, stem in zip(free, rows, stemmed, strict=True)]
        found.append(_match_synonyms(left[0], left[1], _synonyms(np.unique(left[0][2]), stems, wordnet)))
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


def _synonyms(wanted: np.ndarray, stems: pa.Array, wordnet: WordNet) -> dict[int, list[int]]:
    """For each stem the numbers of its synonyms among the stems, where it has any."""
    spelled: list[str] = stems.to_pylist()
    number_of = {word: place for place, word in enumerate(spelled)}
    found = {}
    for number in wanted.tolist():
        names = wordnet.synonyms(spelled[number])
        if others := [number_of[name] for name in names if name in number_of and name != spelled[number]]:
            found[number] = others
    return found


def _match_synonyms(said: _Left, expected: _Left, synonyms: dict[int, list[int]]) -> _Matches:
    """The last word of the answer first, with the last word of the reference that means the same."""
    free: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place, row, stem_number in _only(expected, [number for others in synonyms.values() for number in others]):
        free[row, stem_number].append(place)
    pairs: list[tuple[int, int]] = []
    for place, row, stem_number in reversed(_only(said, list(synonyms))):
        places = [there for other in synonyms[stem_number] if (there := free.get((row, other)))]
        if places:
            last = max(places, key=lambda there: there[-1])
            pairs.append((place, last.pop()))
    return _Matches(*np.array(pairs, dtype=np.int64).reshape(-1, 2).T)


def _only(left: _Left, stems: list[int]) -> list[tuple[int, int, int]]:
    """Place, row and stem of the words with one of these stems."""
    chosen = np.isin(left[2], stems)
    return list(zip(*(side[chosen].tolist() for side in left), strict=True))
