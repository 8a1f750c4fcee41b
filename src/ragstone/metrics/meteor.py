"""METEOR (Banerjee & Lavie 2005; Lavie & Agarwal 2007) as nltk computes it, on folded words.

Words of the answer and of a reference are aligned in stages: equal words, equal stems, then synonyms if a WordNet is
installed. Each stage takes the words that the previous one left over. It goes through the answer from the end and takes
the last free word of the reference. Like nltk, the synonym stage looks up stems.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ragstone.data.columns import Ragged
from ragstone.data.tokens import Tokens
from ragstone.metrics.lexical import best_per_row
from ragstone.metrics.retrieval import divide
from ragstone.metrics.rouge import WordPairs
from ragstone.registry import evidence, metric
from ragstone.text.porter import stem
from ragstone.text.word_columns import respell
from ragstone.text.wordnet import WordNet, find_wordnet

_ALPHA, _BETA, _GAMMA = 0.9, 3, 0.5


# The words that are left over: positions, rows and stems.
_Left = tuple[np.ndarray, np.ndarray, np.ndarray]


class _Matches(NamedTuple):
    """Positions of aligned words: among the words of all answers, and of all references."""

    said: np.ndarray
    expected: np.ndarray


def _stages() -> str:
    wordnet = find_wordnet()
    return f"exact,stem,{wordnet.signature}" if wordnet else "exact,stem"


@evidence(columnar=True, transient=True, yields=("aligned_words", "aligned_chunks"), signature=_stages)
def align_words(word_pairs: WordPairs) -> dict[str, Ragged]:
    """For each reference, the number of aligned words and of the runs that they form in both texts."""
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
    stages: list[_Matches] = []
    for compared in (words, stemmed):
        keys = [
            row[left] * len(answers.words) + word[left] for row, word, left in zip(rows, compared, free, strict=True)
        ]
        matched = _match_from_the_end(*keys)
        stages.append(_Matches(*(left[at] for left, at in zip(free, matched, strict=True))))
        free = np.delete(free[0], matched[0]), np.delete(free[1], matched[1])
    if wordnet:
        left = [(at, row[at], stem[at]) for at, row, stem in zip(free, rows, stemmed, strict=True)]
        stages.append(_match_synonyms(left[0], left[1], _synonyms(np.unique(left[0][2]), stems, wordnet)))
    return _Matches(*(np.concatenate(side) for side in zip(*stages, strict=True)))


def _match_from_the_end(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions of equal keys, paired from the end: the last with the last, the second last with the second last."""
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
    """Distinct keys, the start of each group (and the end of the last), and the positions of all keys by group."""
    order = len(keys) - 1 - np.argsort(keys[::-1], kind="stable")
    ordered = keys[order]
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    return ordered[first], np.append(first, len(keys)), order


def _synonyms(wanted: np.ndarray, stems: pa.Array, wordnet: WordNet) -> dict[int, list[int]]:
    """The synonyms of each stem among the stems, by number; stems without any are left out."""
    spelled: list[str] = stems.to_pylist()
    number_of = {word: number for number, word in enumerate(spelled)}
    synonyms = {}
    for number in wanted.tolist():
        names = wordnet.synonyms(spelled[number])
        if others := [number_of[name] for name in names if name in number_of and name != spelled[number]]:
            synonyms[number] = others
    return synonyms


def _match_synonyms(said: _Left, expected: _Left, synonyms: dict[int, list[int]]) -> _Matches:
    """Pairs each word of the answer, last first, with the last free synonym in the reference."""
    free: dict[tuple[int, int], list[int]] = defaultdict(list)
    for position, row, stem_number in _only(expected, [number for others in synonyms.values() for number in others]):
        free[row, stem_number].append(position)
    pairs: list[tuple[int, int]] = []
    for position, row, stem_number in reversed(_only(said, list(synonyms))):
        candidates = [positions for other in synonyms[stem_number] if (positions := free.get((row, other)))]
        if candidates:
            pairs.append((position, max(candidates, key=lambda positions: positions[-1]).pop()))
    return _Matches(*np.array(pairs, dtype=np.int64).reshape(-1, 2).T)


def _only(left: _Left, stems: list[int]) -> list[tuple[int, int, int]]:
    """Position, row and stem of the words with one of these stems."""
    chosen = np.isin(left[2], stems)
    return list(zip(*(side[chosen].tolist() for side in left), strict=True))


@metric(
    "meteor",
    family="lexical",
    judges="answer",
    against="references",
    source="METEOR (Banerjee & Lavie 2005; Lavie & Agarwal 2007), as nltk computes it",
    misleads=(
        "Synonyms count only if a WordNet is installed, so machines differ; the signature lists the stages. "
        "Stems and synonyms are English. A long answer loses little."
    ),
    aliases=("meteor_score", "nltk.meteor_score"),
    sets=("traditional",),
    columnar=True,
)
def meteor(aligned_words: Ragged, aligned_chunks: Ragged, word_pairs: WordPairs) -> np.ndarray:
    """Overlap of answer and reference in words, stems and synonyms, with a penalty for scattered matches.

    P R / (0.9 P + 0.1 R) × (1 − 0.5 (chunks / aligned words)³), where a chunk is a run of aligned words adjacent in both
    texts; best over references. Words are lower-cased without punctuation (nltk leaves this to the caller). Identical
    texts score slightly below 1. Nothing aligned: 0.
    """
    said, expected = (side.lengths for side in word_pairs.sides)
    aligned = np.maximum(aligned_words.values, 1)
    precision, recall = aligned_words.values / np.maximum(said, 1), aligned_words.values / np.maximum(expected, 1)
    mean = divide(precision * recall, _ALPHA * precision + (1 - _ALPHA) * recall)
    values = mean * (1 - _GAMMA * (aligned_chunks.values / aligned) ** _BETA)
    return best_per_row(values, word_pairs.references)
