"""What ROUGE counts: the words that an answer shares with each of its references, in runs and in order.

Both columns count when first asked and remember, so that precision, recall and F1 share one count, and stems are made
only for those who want them.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.data.columns import Gaps
from ragstone.data.ngrams import shared_ngrams
from ragstone.data.tokens import Nested, Tokens, same_numbers
from ragstone.registry import evidence
from ragstone.text.folded import number_words, respell
from ragstone.text.porter import stem
from ragstone.text.subsequences import common_lengths, union_of_common

# Beyond this a row takes minutes. Both texts must have more than a thousand lines.
_MOST_LINE_PAIRS = 2_000_000


class WordPairs:
    """The words of an answer beside those of each of its references; what is counted is counted for each reference."""

    def __init__(self, answers: Tokens, references: Nested[Tokens]) -> None:
        self.answers, inner = same_numbers(answers, references.inner)
        self.references = Nested(inner, references.offsets)
        self._shared: dict[int, np.ndarray] = {}

    def __len__(self) -> int:
        return len(self.answers)

    def __getitem__(self, row: int) -> list[tuple[list[str], list[str]]]:
        return [(self.answers[row], words) for words in self.references[row]]

    def take(self, rows: np.ndarray) -> WordPairs:
        """The chosen rows, in the order asked for."""
        return WordPairs(self.answers.take(rows), self.references.take(rows))

    @cached_property
    def sides(self) -> tuple[Tokens, Tokens]:
        """For each reference the answer's words, and its own."""
        single = len(self.references.inner) == len(self) and (self.references.lengths == 1).all()
        return self.answers if single else self.answers.take(self.references.row_of), self.references.inner

    @cached_property
    def stemmed(self) -> WordPairs:
        """The same with the stems of all words of more than three letters."""
        number, stems = respell(self.answers.words, stem_of_long)
        answers, inner = (
            Tokens(number[tokens.values], tokens.offsets, stems) for tokens in (self.answers, self.references.inner)
        )
        return WordPairs(answers, Nested(inner, self.references.offsets))

    def shared(self, n: int) -> np.ndarray:
        """Runs of n words that both have, counted with repetition."""
        if n not in self._shared:
            self._shared[n] = shared_ngrams(*self.sides, n)
        return self._shared[n]

    @cached_property
    def in_order(self) -> np.ndarray:
        """The words of the longest common subsequence."""
        answers, references = self.sides
        return common_lengths(answers.values, answers.offsets, references.values, references.offsets)


class LinePairs:
    """The lines of an answer beside those of each of its references, for the pairs in which a line ends."""

    def __init__(self, answers: pa.StringArray, references: pa.ListArray) -> None:
        self._answers = answers
        self._references = references

    def __len__(self) -> int:
        return len(self._answers)

    def __getitem__(self, row: int) -> list[tuple[list[str], list[str]]]:
        answer = self._answers[row].as_py().split("\n")
        return [(answer, reference.split("\n")) for reference in self._references[row].as_py()]

    def take(self, rows: np.ndarray) -> LinePairs:
        """The chosen rows, in the order asked for."""
        return LinePairs(self._answers.take(pa.array(rows)), self._references.take(pa.array(rows)))

    @cached_property
    def broken(self) -> np.ndarray:
        """The places of the pairs with more than one line on either side, among all references."""
        lengths = self._references.value_lengths().to_numpy()
        answers, references = (
            pc.match_substring(texts, "\n").to_numpy(zero_copy_only=False)
            for texts in (self._answers, self._references.flatten())
        )
        return np.flatnonzero(np.repeat(answers, lengths) | references)

    def in_order(self, stemmed: bool) -> np.ndarray:
        """The words in the union of the longest common subsequences of the reference's lines with the answer's lines."""
        return self._stems_in_order if stemmed else self._words_in_order

    @cached_property
    def _words_in_order(self) -> np.ndarray:
        return _shared_by_lines(*self._lines)

    @cached_property
    def _stems_in_order(self) -> np.ndarray:
        answers, references = self._lines
        number, stems = respell(answers.inner.words, stem_of_long)
        return _shared_by_lines(
            *(
                Nested(Tokens(number[side.inner.values], side.inner.offsets, stems), side.offsets)
                for side in (answers, references)
            )
        )

    @cached_property
    def _lines(self) -> tuple[Nested[Tokens], Nested[Tokens]]:
        """The lines of both sides of the broken pairs, with one dictionary."""
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
    """The answer's words beside those of each reference, ready to be compared."""
    return WordPairs(answer_words, reference_words)


@evidence(columnar=True, transient=True)
def line_pairs(answer: pa.StringArray, references: pa.ListArray, word_pairs: WordPairs) -> Gaps:
    """The answer's lines beside those of each reference, ready to be compared."""
    rows = word_pairs.references.row_of
    said, expected = (
        np.minimum(pc.count_substring(texts, "\n").to_numpy() + 1, tokens.lengths)
        for texts, tokens in ((answer, word_pairs.answers), (references.flatten(), word_pairs.references.inner))
    )
    pairs = said[rows] * expected
    too_many = {int(rows[place]): _too_many(pairs[place]) for place in np.flatnonzero(pairs > _MOST_LINE_PAIRS)}
    return Gaps(LinePairs(answer, references), too_many)


def _too_many(pairs: int) -> str:
    return f"answer and reference have too many lines: {pairs:,} pairs of them, and at most {_MOST_LINE_PAIRS:,} are compared"


def stem_of_long(word: str) -> str:
    """The stem of a word of more than three letters, as ROUGE stems."""
    return stem(word) if len(word) > 3 else word


def _shared_by_lines(answers: Nested[Tokens], references: Nested[Tokens]) -> np.ndarray:
    """No word of the answer counts more often than it has it, so the common words are compared with all of its words."""
    chosen = [_common_words(answers, references, pair) for pair in range(len(references))]
    offsets = np.cumsum([0, *map(len, chosen)])
    numbers = np.array([number for found in chosen for number in found], dtype=np.int64)
    return shared_ngrams(Tokens(numbers, offsets, answers.inner.words), answers.joined(), 1)


def _common_words(answers: Nested[Tokens], references: Nested[Tokens], pair: int) -> list[int]:
    """The words of the reference's lines that the answer's lines have in the same order."""
    said, expected = _lines_of(answers, pair), _lines_of(references, pair)
    others = dict.fromkeys(said)
    found = {line: union_of_common(line, others) for line in dict.fromkeys(expected)}
    return [number for line in expected for number in found[line]]


def _lines_of(lines: Nested[Tokens], row: int) -> list[tuple[int, ...]]:
    ends = lines.inner.offsets[lines.offsets[row] : lines.offsets[row + 1] + 1].tolist()
    numbers = lines.inner.values[ends[0] : ends[-1]].tolist()
    return [tuple(numbers[start - ends[0] : end - ends[0]]) for start, end in pairwise(ends)]
