"""The grade of each retrieved chunk: by the relevance of its id or, without ids, by the words of the reference contexts.

`fact_matches` judges retrieval by facts instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ragstone.data.columns import Ragged, Sparse
from ragstone.data.gains import Gains
from ragstone.data.id_lookup import IdLists, Matches, match_ids, match_lists
from ragstone.data.schema import images_in_rows, unknown_reason, unknown_texts
from ragstone.data.types import Gaps
from ragstone.evidence_functions.tokens import list_offsets
from ragstone.registry import evidence
from ragstone.text.folded_columns import fold_texts

# A chunk that is a part of a reference context matches it if it has at least this share of its letters: otherwise a page
# number or a heading would match.
_LEAST_SHARE = 0.5


class ReferenceMatches(NamedTuple):
    """The reference contexts that were found, how many each row has, and why some rows have no answer."""

    matches: Matches
    counts: np.ndarray
    reasons: dict[int, str]


def find_references(contexts: pa.ListArray, reference_contexts: pa.ListArray) -> ReferenceMatches:
    """The first chunk that matches each reference context; a reference found twice counts once.

    Case, punctuation and white space do not matter, words are whole. A chunk matches a reference if both are the
    same, if it contains the reference, or if it is a part of it and at least half as long.
    """
    hits: list[tuple[int, int, int]] = []
    lengths: list[int] = []
    counts: list[int] = []
    reasons: dict[int, str] = {}
    unknown, pictures, sizes = unknown_texts(contexts), images_in_rows(contexts), contexts.value_lengths().to_pylist()
    chunks = _fold_lists(contexts, contexts.flatten().field("text"))
    wanted = _fold_lists(reference_contexts, reference_contexts.flatten())
    entries = itertools.count()
    for row, (listed, needed) in enumerate(zip(chunks, wanted, strict=True)):
        references = [text for text in dict.fromkeys(needed) if text]
        texts = list(dict.fromkeys(listed))
        if not references:
            reasons[row] = "the reference contexts contain no words"
        elif unknown[row]:
            reasons[row] = unknown_reason(unknown[row], sizes[row], pictures[row])
        elif texts and not any(texts):
            reasons[row] = "the retrieved chunks contain no words"
        places = [(row, first_match(texts, reference), next(entries)) for reference in references]
        hits += sorted(place for place in places if place[1])
        lengths.append(len(texts))
        counts.append(len(references))
    rows, ranks, numbers = np.array(hits, dtype=np.int64).reshape(-1, 3).T
    matches = Matches(rows, ranks, numbers, np.array(lengths, dtype=np.int64))
    return ReferenceMatches(matches, np.array(counts, dtype=np.int64), reasons)


def first_match(texts: Sequence[str], reference: str) -> int:
    """The rank of the first text that matches the reference, 0 if none does; all are folded words."""
    for rank, text in enumerate(texts, start=1):
        is_part = len(text) >= _LEAST_SHARE * len(reference) and text in reference
        if text and (reference in text or is_part):
            return rank
    return 0


def _fold_lists(lists: pa.ListArray, texts: pa.Array) -> Iterator[list[str]]:
    """Each row's texts as folded words with a space on both sides of every word; empty if there are none.

    Each distinct text is folded once: the same chunk is retrieved for many questions.
    """
    distinct = texts.dictionary_encode()
    folded = [text.folded if text else "" for text in fold_texts(distinct.dictionary)]
    codes = distinct.indices.to_pylist()
    start = 0
    for length in lists.value_lengths().to_pylist():
        yield [folded[code] for code in codes[start : start + length]]
        start += length


PIECES = ("gains", "relevant_grades", "judgements", "judged_grades")


class Judged(NamedTuple):
    """The matches in each row's list, the grades of all judged chunks, and their rows."""

    found: Matches
    grades: np.ndarray
    rows: np.ndarray


@evidence(yields=PIECES, columnar=True, transient=True, either=("relevance", "reference_contexts"), by_id=True)
def retrieval_judgements(
    contexts: pa.ListArray, relevance: Sparse | None, reference_contexts: Sparse | None, wanted: Set[str]
) -> dict[str, Gaps[Any]]:
    """The grades of the retrieved chunks in rank order, and of all chunks that could be retrieved.

    By id if there is `relevance` and every chunk has an id, otherwise by text if there are reference contexts. A chunk
    retrieved twice counts once. `gains` and `relevant_grades` (best first) are grades above 0; `judgements` and
    `judged_grades` have those of 0 too. A grade below 0 is not a judgement.
    """
    parts: list[tuple[np.ndarray, Judged]] = []
    reasons: dict[int, str] = {}
    if relevance is not None:
        nameless = _nameless(contexts)
        reasons = {row: nameless[row] for row in nameless.keys() & set(relevance.rows.tolist())} if nameless else {}
        graded = relevance.without(list(reasons))
        parts.append((graded.rows, _judge_ids(_take(contexts, graded.rows), graded.column)))
    if reference_contexts is not None:
        rest = reference_contexts.without(parts[0][0]) if parts else reference_contexts
        found, counts, wordless = find_references(_take(contexts, rest.rows), rest.column)
        parts.append((rest.rows, Judged(found, np.ones(counts.sum()), np.repeat(np.arange(len(counts)), counts))))
        for position, row in enumerate(rest.rows.tolist()):
            reasons.pop(row, None)
            if position in wordless:
                reasons[row] = wordless[position]
    pieces = _pieces(_join(parts, len(contexts)), wanted)
    return {name: Gaps(column, reasons) for name, column in pieces.items()}


def judge_lists(
    retrieved: Sequence[Collection[str]], relevance: Sequence[dict[str, float]], wanted: Set[str]
) -> dict[str, Any]:
    """The same for Python lists of ids, and grades by id."""
    lengths = np.fromiter(map(len, relevance), dtype=np.int64, count=len(relevance))
    values = itertools.chain.from_iterable(map(dict.values, relevance))
    grades = np.fromiter(values, dtype=np.float64, count=int(lengths.sum()))
    if not np.isfinite(grades).all():
        raise ValueError("grades must be finite numbers")
    rows = np.repeat(np.arange(len(relevance)), lengths)
    return _pieces(Judged(match_lists(retrieved, relevance), grades, rows), wanted)


def _judge_ids(contexts: pa.ListArray, relevance: pa.ListArray) -> Judged:
    graded = relevance.flatten()
    wanted = IdLists(graded.field("id"), list_offsets(relevance))
    found = match_ids(IdLists(contexts.flatten().field("id"), list_offsets(contexts)), wanted)
    return Judged(found, graded.field("grade").to_numpy(), wanted.row_of)


def _nameless(contexts: pa.ListArray) -> dict[int, str]:
    """The rows in which a chunk has no id."""
    ids = contexts.flatten().field("id")
    if not ids.null_count:
        return {}
    offsets = list_offsets(contexts)
    places = np.flatnonzero(ids.is_null().to_numpy(zero_copy_only=False))
    rows, first = np.unique(np.searchsorted(offsets, places, side="right") - 1, return_index=True)
    numbers = places[first] - offsets[rows] + 1
    return {row: f"retrieved chunk {number} has no id" for row, number in zip(rows.tolist(), numbers, strict=True)}


def _join(parts: Sequence[tuple[np.ndarray, Judged]], size: int) -> Judged:
    """Join the judgements by id and by text, each for some rows of the batch."""
    if len(parts) == 1 and len(parts[0][0]) == size:
        return parts[0][1]
    lengths = np.zeros(size, dtype=np.int64)
    columns: list[list[np.ndarray]] = [[] for _ in range(5)]
    entries = 0
    for places, (found, grades, rows) in parts:
        lengths[places] = found.lengths
        moved = (places[found.rows], found.ranks, found.entries + entries, grades, places[rows])
        for column, values in zip(columns, moved, strict=True):
            column.append(values)
        entries += len(grades)
    found_rows, ranks, numbers, all_grades, all_rows = map(np.concatenate, columns)
    order = np.argsort(found_rows, kind="stable")
    return Judged(Matches(found_rows[order], ranks[order], numbers[order], lengths), all_grades, all_rows)


def _pieces(judged: Judged, wanted: Set[str]) -> dict[str, Any]:
    found, all_grades = judged.found, judged.grades
    grades = all_grades[found.entries]
    all_found = Gains(found.rows, found.ranks, grades, found.lengths)
    makers: dict[str, Callable[[], Any]] = {
        "gains": lambda: all_found.where(grades > 0),
        "relevant_grades": lambda: _best_first(judged, all_grades > 0),
        "judgements": lambda: all_found.where(grades >= 0),
        "judged_grades": lambda: _best_first(judged, all_grades >= 0),
    }
    return {name: make() for name, make in makers.items() if name in wanted}


def _best_first(judged: Judged, chosen: np.ndarray) -> Ragged:
    """The chosen grades of each row. Sorted as whole numbers, which is quickest: row and place among all grades."""
    places = np.flatnonzero(chosen)
    rows, grades = judged.rows[places], judged.grades[places]
    levels = -np.unique(-grades)
    keys = rows * max(len(levels), 1) + np.searchsorted(-levels, -grades)
    keys.sort()
    counts = np.bincount(rows, minlength=len(judged.found.lengths))
    best = levels[keys % len(levels)] if len(levels) else grades
    return Ragged(best, np.concatenate([[0], np.cumsum(counts)]))


def _take(lists: pa.ListArray, rows: np.ndarray) -> pa.ListArray:
    return lists if len(rows) == len(lists) else lists.take(pa.array(rows))
