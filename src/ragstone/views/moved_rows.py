"""The rows that a second run fixes and breaks, with both answers and what changed, and the same counts by slice.

A row **fails** in the first run if it is fixed or still failing, and in the second if it is newly or still failing. Unclear rows
do not count, so the slices of a column add up to the counts of the headline.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.analysis.alignment import name_some
from ragstone.analysis.cause_texts import RowLabel, cause_label
from ragstone.analysis.comparison import Comparison
from ragstone.analysis.diagnosis import Diagnosis
from ragstone.analysis.row_moves import MoveKind, Moves, wrong_in_both
from ragstone.analysis.row_status import word_of
from ragstone.analysis.slices import find_columns
from ragstone.storage.runs import read_rows
from ragstone.storage.scores import read_labels
from ragstone.text.word_diff import DiffPiece, is_readable, word_diff
from ragstone.views.phrases import counted, one_line

# How many rows of each kind are listed with both answers.
_MOST_LISTED = 50
_MOST_CHUNKS = 3
# Only the beginnings of longer answers are compared by words.
_MOST_COMPARED = 4_000


# The rows of a diagnosis; they end early if only the first rows are diagnosed, and are empty if none is.
RowLabels = Sequence[RowLabel]
Judged = tuple[RowLabels, RowLabels]
_TEXTS = ["id", "question", "answer", "contexts"]


def row_labels(diagnosis: Diagnosis) -> RowLabels:
    """The labels of all rows; empty if no row has evidence of causes."""
    return tuple(cause_label(diagnosis, one) for one in diagnosis.outcomes) if diagnosis.decided else ()


@dataclass(frozen=True)
class MovedRow:
    """A row that is fixed, newly failing, still failing or unclear, with both answers, causes and probabilities."""

    id: str
    # In the second run, from 1.
    row: int
    question: str
    kind: MoveKind
    wrong: tuple[float, float]
    # `wrong`, `look` or `fine`.
    statuses: tuple[str, str]
    answers: tuple[str, str]
    causes: tuple[str, str]
    # The second answer as changes to the first; empty if they share too few words.
    words: tuple[DiffPiece, ...]
    chunks_lost: tuple[str, ...]
    chunks_gained: tuple[str, ...]

    @property
    def tone(self) -> str:
        """`good`, `bad` or `none`."""
        return {"fixed": "good", "newly failing": "bad"}.get(self.kind, "none")

    @property
    def what_changed(self) -> str:
        """Answer and chunks in a few words: `11 words changed; chunks lost: fares#2; gained: vessels#1`."""
        words = f"{counted(_count_words(self.words), 'word')} changed" if self.words else "another answer"
        answer = "same answer" if self.answers[0] == self.answers[1] else words
        both = (("lost", self.chunks_lost), ("gained", self.chunks_gained))
        chunks = [f"{word}: {name_some(names, _MOST_CHUNKS)}" for word, names in both if names]
        return "; ".join([answer, f"chunks {chunks[0]}" if chunks else "same chunks", *chunks[1:]])


def _count_words(pieces: Sequence[DiffPiece]) -> int:
    """The words that were replaced, removed or added; replacing one word by another counts once."""
    counts = {kind: sum(len(one.text.split()) for one in pieces if one.kind == kind) for kind in ("gone", "new")}
    return max(1, *counts.values())


def find_moved(
    comparison: Comparison, moves: Moves, judged: Judged
) -> tuple[tuple[MovedRow, ...], tuple[SliceMoves, ...]]:
    """The rows that moved, and the slices."""
    return tuple(_list_moved(comparison, moves, judged)), tuple(_slice_moves(comparison, moves, judged))


def _list_moved(comparison: Comparison, moves: Moves, judged: Judged) -> Iterator[MovedRow]:
    """The rows of each kind in the order of the moves, at most as many as are listed."""
    counts: Counter[str] = Counter()
    listed = [move for move in moves.rows if not counts.update([move.kind]) and counts[move.kind] <= _MOST_LISTED]
    sides = (comparison.pairs.before, comparison.pairs.after)
    rows = [[int(side[move.pair]) for move in listed] for side in sides]
    texts = [
        {row: batch.to_pylist()[0] for row, batch in read_rows(run.folder.samples, places, _TEXTS)}
        for run, places in zip((comparison.before, comparison.after), rows, strict=True)
    ]
    for at, move in enumerate(listed):
        old, new = (side[places[at]] for side, places in zip(texts, rows, strict=True))
        causes = [side[places[at]] for side, places in zip(judged, rows, strict=True)]
        answers = (old["answer"] or "", new["answer"] or "")
        words = word_diff(*(answer[:_MOST_COMPARED] for answer in answers))
        both = [one["contexts"] or () for one in (old, new)]
        by_id = all(chunk["id"] for side in both for chunk in side)
        chunks = [_name_chunks(side, by_id) for side in both]
        yield MovedRow(
            id=move.id,
            row=rows[1][at] + 1,
            question=new["question"] or "",
            kind=move.kind,
            wrong=(move.before, move.after),
            statuses=(word_of(move.before), word_of(move.after)),
            answers=answers,
            # Where the judge's probability is compared, a label's cause is not that of a row that fails.
            causes=("" if word_of(move.before) == "fine" else causes[0], causes[1]),
            words=tuple(words) if is_readable(words) else (),
            chunks_lost=tuple(name for key, name in chunks[0].items() if key not in chunks[1]),
            chunks_gained=tuple(name for key, name in chunks[1].items() if key not in chunks[0]),
        )


def _name_chunks(chunks: Sequence[Mapping[str, Any]], by_id: bool) -> dict[str, str]:
    """The chunks by id, or by text if one has no id, each with the name that is shown."""
    keys = [str(chunk["id"] if by_id else chunk["text"] or "") for chunk in chunks]
    return {key: one_line(chunk["id"] or key or "(empty)", 60) for key, chunk in zip(keys, chunks, strict=True)}


@dataclass(frozen=True)
class SliceMoves:
    """The pairs with one label: how many are judged in both runs, and how many of them fail in each."""

    column: str
    label: str
    rows: int
    before: int
    after: int
    fixed: int
    newly_failing: int

    @property
    def key(self) -> str:
        """`topic=refunds`, as filters write it."""
        return f"{self.column}={self.label}"

    @property
    def shares(self) -> tuple[str, str]:
        """The failing shares in both runs: `60 %`, `20 %`."""
        return f"{100 * self.before / self.rows:.0f} %", f"{100 * self.after / self.rows:.0f} %"

    def __str__(self) -> str:
        """`refunds n 5: 60 % → 20 %`."""
        return f"{one_line(self.label, 60)} n {self.rows:,}: {' → '.join(self.shares)}"


def _slice_moves(comparison: Comparison, moves: Moves, sides: Judged) -> Iterator[SliceMoves]:
    """The slices of each column, by the failing share in the second run, then by what got worse, worst first."""
    pairs = comparison.pairs
    judged = [
        pair
        for pair, rows in enumerate(zip(pairs.before.tolist(), pairs.after.tolist(), strict=True))
        if all(row < len(side) for side, row in zip(sides, rows, strict=True))
        and None not in wrong_in_both(*(side[row] for side, row in zip(sides, rows, strict=True)))
    ]
    kinds = {move.pair: move.kind for move in moves.rows}
    for column in find_columns(comparison.after):
        labels = read_labels(comparison.after, column)[pairs.after]
        groups: dict[str, Counter[str]] = {}
        for pair in judged:
            groups.setdefault(str(labels[pair]), Counter()).update([kinds.get(pair, "fine")])
        found = [
            SliceMoves(
                column,
                label,
                counts.total(),
                counts["fixed"] + counts["still failing"],
                counts["newly failing"] + counts["still failing"],
                counts["fixed"],
                counts["newly failing"],
            )
            for label, counts in groups.items()
        ]
        yield from sorted(found, key=lambda one: (-one.after / one.rows, one.before / one.rows, -one.rows))
