"""ROUGE (Lin 2004): the answer compared with references by n-grams and by the longest common subsequence.

For ASCII texts the values equal those of Google's rouge-score, which most papers use. rouge-score drops all letters beyond
ASCII (`naïve` becomes `na ve`, Chinese vanishes); here all letters count, and each character of a script without spaces is
a word. `WordPairs` and `LinePairs` count on first use, so precision, recall and F1 share one count.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.data.tokens import Nested, Tokens, ngram_counts, same_numbers, shared_ngrams
from ragstone.data.types import Gaps
from ragstone.metrics.retrieval import divide
from ragstone.registry import evidence, metric
from ragstone.text.overlap import common_lengths, union_of_common
from ragstone.text.porter import stem
from ragstone.text.word_columns import number_words, respell

# Beyond this limit a row takes minutes; both texts then have more than a thousand lines.
_MOST_LINE_PAIRS = 2_000_000


class WordPairs:
    """The words of each answer and of its references. Counts have one entry per reference."""

    def __init__(self, answers: Tokens, references: Nested[Tokens]) -> None:
        self.answers, inner = same_numbers(answers, references.inner)
        self.references = Nested(inner, references.offsets)
        self._shared: dict[int, np.ndarray] = {}

    def __len__(self) -> int:
        return len(self.answers)

    def __getitem__(self, row: int) -> list[tuple[list[str], list[str]]]:
        return [(self.answers[row], words) for words in self.references[row]]

    def take(self, rows: np.ndarray) -> WordPairs:
        """The chosen rows, in the given order."""
        return WordPairs(self.answers.take(rows), self.references.take(rows))

    @cached_property
    def sides(self) -> tuple[Tokens, Tokens]:
        """The words of the answer and of the reference, one row per reference."""
        single = len(self.references.inner) == len(self) and (self.references.lengths == 1).all()
        return self.answers if single else self.answers.take(self.references.row_of), self.references.inner

    @cached_property
    def stemmed(self) -> WordPairs:
        """The same pairs with words of more than three letters stemmed."""
        number, stems = respell(self.answers.words, _stem_of_long)
        answers, inner = (
            Tokens(number[tokens.values], tokens.offsets, stems) for tokens in (self.answers, self.references.inner)
        )
        return WordPairs(answers, Nested(inner, self.references.offsets))

    def shared(self, n: int) -> np.ndarray:
        """Number of shared n-grams, counted with repetition."""
        if n not in self._shared:
            self._shared[n] = shared_ngrams(*self.sides, n)
        return self._shared[n]

    @cached_property
    def in_order(self) -> np.ndarray:
        """Length of the longest common subsequence."""
        answers, references = self.sides
        return common_lengths(answers.values, answers.offsets, references.values, references.offsets)


class LinePairs:
    """The lines of each answer and of its references, for the pairs with a line break."""

    def __init__(self, answers: pa.StringArray, references: pa.ListArray) -> None:
        self._answers = answers
        self._references = references

    def __len__(self) -> int:
        return len(self._answers)

    def __getitem__(self, row: int) -> list[tuple[list[str], list[str]]]:
        answer = self._answers[row].as_py().split("\n")
        return [(answer, reference.split("\n")) for reference in self._references[row].as_py()]

    def take(self, rows: np.ndarray) -> LinePairs:
        """The chosen rows, in the given order."""
        return LinePairs(self._answers.take(pa.array(rows)), self._references.take(pa.array(rows)))

    @cached_property
    def broken(self) -> np.ndarray:
        """Indices of the references for which either side has more than one line."""
        lengths = self._references.value_lengths().to_numpy()
        answers, references = (
            pc.match_substring(texts, "\n").to_numpy(zero_copy_only=False)
            for texts in (self._answers, self._references.flatten())
        )
        return np.flatnonzero(np.repeat(answers, lengths) | references)

    def in_order(self, stemmed: bool) -> np.ndarray:
        """Number of words in the union of the longest common subsequences of the reference's and the answer's lines."""
        return self._stems_in_order if stemmed else self._words_in_order

    @cached_property
    def _words_in_order(self) -> np.ndarray:
        return _shared_by_lines(*self._lines)

    @cached_property
    def _stems_in_order(self) -> np.ndarray:
        answers, references = self._lines
        number, stems = respell(answers.inner.words, _stem_of_long)
        return _shared_by_lines(
            *(
                Nested(Tokens(number[side.inner.values], side.inner.offsets, stems), side.offsets)
                for side in (answers, references)
            )
        )

    @cached_property
    def _lines(self) -> tuple[Nested[Tokens], Nested[Tokens]]:
        """The lines of both sides of the broken pairs, with a shared dictionary."""
        rows = np.repeat(np.arange(len(self)), self._references.value_lengths().to_numpy())[self.broken]
        sides = [self._answers.take(pa.array(rows)), self._references.flatten().take(pa.array(self.broken))]
        lists = pc.split_pattern(pa.concat_arrays(sides), "\n")
        lines = Tokens(*number_words(lists.flatten()))
        offsets = np.concatenate([[0], np.cumsum(lists.value_lengths().to_numpy())])
        count, middle = len(self.broken), offsets[len(self.broken)]
        return (
            Nested(Tokens(lines.values, lines.offsets[: middle + 1], lines.words), offsets[: count + 1]),
            Nested(Tokens(lines.values, lines.offsets[middle:], lines.words), offsets[count:] - middle),
        )


@evidence(columnar=True, transient=True)
def word_pairs(answer_words: Tokens, reference_words: Nested[Tokens]) -> WordPairs:
    """The answer's words paired with those of each reference."""
    return WordPairs(answer_words, reference_words)


@evidence(columnar=True, transient=True)
def line_pairs(answer: pa.StringArray, references: pa.ListArray, word_pairs: WordPairs) -> Gaps[LinePairs]:
    """The answer's lines paired with those of each reference."""
    rows = word_pairs.references.row_of
    said, expected = (
        np.minimum(pc.count_substring(texts, "\n").to_numpy() + 1, tokens.lengths)
        for texts, tokens in ((answer, word_pairs.answers), (references.flatten(), word_pairs.references.inner))
    )
    pairs = said[rows] * expected
    too_many = {
        int(
            rows[index]
        ): f"answer and reference have too many lines: {pairs[index]:,} pairs, the limit is {_MOST_LINE_PAIRS:,}"
        for index in np.flatnonzero(pairs > _MOST_LINE_PAIRS)
    }
    return Gaps(LinePairs(answer, references), too_many)


def _stem_of_long(word: str) -> str:
    """The stem of a word of more than three letters, as in ROUGE."""
    return stem(word) if len(word) > 3 else word


def _shared_by_lines(answers: Nested[Tokens], references: Nested[Tokens]) -> np.ndarray:
    """Number of common words per pair; each word of the answer counts at most once."""
    chosen = [_common_words(answers, references, pair) for pair in range(len(references))]
    offsets = np.cumsum([0, *map(len, chosen)])
    numbers = np.array([number for words in chosen for number in words], dtype=np.int64)
    return shared_ngrams(Tokens(numbers, offsets, answers.inner.words), answers.joined(), 1)


def _common_words(answers: Nested[Tokens], references: Nested[Tokens], pair: int) -> list[int]:
    """The words of the reference's lines that occur in the same order in the answer's lines."""
    said, expected = _lines_of(answers, pair), _lines_of(references, pair)
    others = dict.fromkeys(said)
    common = {line: union_of_common(line, others) for line in dict.fromkeys(expected)}
    return [number for line in expected for number in common[line]]


def _lines_of(lines: Nested[Tokens], row: int) -> list[tuple[int, ...]]:
    ends = lines.inner.offsets[lines.offsets[row] : lines.offsets[row + 1] + 1].tolist()
    numbers = lines.inner.values[ends[0] : ends[-1]].tolist()
    return [tuple(numbers[start - ends[0] : end - ends[0]]) for start, end in pairwise(ends)]


RougeValue = Literal["f1", "precision", "recall"]
Merge = Literal["max", "mean"]
Order = Literal[1, 2, 3, 4, 5, 6, 7, 8, 9]

_COMMON: dict[str, Any] = {
    "family": "lexical",
    "judges": "answer",
    "against": "references",
    "source": "ROUGE (Lin 2004), as Google's rouge-score computes it",
    "columnar": True,
}
_COPIES = "It rewards copied wording: a right answer in other words scores low."


@metric("rouge_1", **_COMMON, misleads=_COPIES, aliases=("rouge1",), sets=("traditional",))
def rouge_1(
    word_pairs: WordPairs, score: RougeValue = "f1", stem: bool = False, references: Merge = "max"
) -> np.ndarray:
    """Words that the answer and a reference share.

    Shared words / words of the answer (precision), / words of the reference (recall), or their harmonic mean; `stem=true`
    compares English stems. The reference with the best F1 counts, or the mean over references. A side without words: 0.
    """
    return _by_runs(word_pairs, 1, score, stem, references)


@metric("rouge_2", **_COMMON, misleads=_COPIES, aliases=("rouge2",), sets=("traditional",))
def rouge_2(
    word_pairs: WordPairs, score: RougeValue = "f1", stem: bool = False, references: Merge = "max"
) -> np.ndarray:
    """Pairs of adjacent words that the answer and a reference share.

    As `rouge_1`, for pairs. A text of one word scores 0, even if both texts are equal.
    """
    return _by_runs(word_pairs, 2, score, stem, references)


@metric(
    "rouge_n",
    **_COMMON,
    misleads=f"{_COPIES} Short texts score 0.",
    aliases={f"rouge{n}": {"n": n} for n in range(3, 10)},
)
def rouge_n(
    word_pairs: WordPairs, n: Order = 3, score: RougeValue = "f1", stem: bool = False, references: Merge = "max"
) -> np.ndarray:
    """Runs of n adjacent words that the answer and a reference share.

    As `rouge_1`, for runs. A text of fewer than n words scores 0.
    """
    return _by_runs(word_pairs, int(n), score, stem, references)


@metric(
    "rouge_l",
    **_COMMON,
    misleads=f"{_COPIES} Reordered sentences score low.",
    aliases={"rougel": {}, "ragas.rouge_score": {"stem": True}},
    sets=("traditional",),
)
def rouge_l(
    word_pairs: WordPairs, score: RougeValue = "f1", stem: bool = False, references: Merge = "max"
) -> np.ndarray:
    """Words that the answer and a reference share in the same order, gaps allowed.

    As `rouge_1`, for the words of the longest common subsequence.
    """
    pairs = word_pairs.stemmed if stem else word_pairs
    said, expected = (side.lengths for side in pairs.sides)
    return _merge(pairs.in_order, said, expected, score, references, pairs.references)


@metric(
    "rouge_lsum",
    **_COMMON,
    misleads=f"{_COPIES} Lines are its sentences: without line breaks it equals rouge_l.",
    aliases=("rougelsum",),
)
def rouge_lsum(
    word_pairs: WordPairs,
    line_pairs: LinePairs,
    score: RougeValue = "f1",
    stem: bool = False,
    references: Merge = "max",
) -> np.ndarray:
    """Words of the reference's lines that occur in the same order in the answer's lines.

    As `rouge_l`, for the union over the answer's lines of each reference line's longest common subsequence; a word of the
    answer counts once. Skipped if both texts have thousands of lines.
    """
    pairs = word_pairs.stemmed if stem else word_pairs
    said, expected = (side.lengths for side in pairs.sides)
    shared = pairs.in_order.copy()
    if len(line_pairs.broken):
        shared[line_pairs.broken] = line_pairs.in_order(stem)
    return _merge(shared, said, expected, score, references, pairs.references)


def _by_runs(word_pairs: WordPairs, n: int, score: RougeValue, stem: bool, references: Merge) -> np.ndarray:
    pairs = word_pairs.stemmed if stem else word_pairs
    said, expected = (ngram_counts(side, n) for side in pairs.sides)
    return _merge(pairs.shared(n), said, expected, score, references, pairs.references)


def _merge(
    shared: np.ndarray, said: np.ndarray, expected: np.ndarray, score: RougeValue, merge: Merge, lists: Nested[Tokens]
) -> np.ndarray:
    """One value per row from the counts per reference."""
    precision, recall = shared / np.maximum(said, 1), shared / np.maximum(expected, 1)
    f1 = divide(2 * precision * recall, precision + recall)
    values: np.ndarray = {"f1": f1, "precision": precision, "recall": recall}[score]
    if len(values) == len(lists) and (lists.lengths == 1).all():
        return values
    if merge == "mean":
        sums = np.bincount(lists.row_of, weights=values, minlength=len(lists))
        return np.asarray(sums / np.maximum(lists.lengths, 1))
    best = np.zeros(len(lists))
    # The last write wins: the best F1 of a row comes last, and the first of equal ones after the others.
    order = np.lexsort((-np.arange(len(f1)), f1))
    best[lists.row_of[order]] = values[order]
    return best
