"""One version of a ground truth in memory. Lists, filters and problems are computed from columns; only shown cases are parsed."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.report.text import HIDDEN_CHARACTERS
from ragstone.text.questions import question_key
from ragstone.text.word_diff import word_diff
from ragstone.truth.citations.check import check_citation
from ragstone.truth.model import CASES, Case, cases_from_table
from ragstone.truth.review import ANSWER, CITATION, citable_passages
from ragstone.truth.store import VersionInfo
from ragstone.web.navigation import NotFoundError

LOST = "citation not found"
PROBLEMS = {
    "no question": "the question is empty",
    "no answer": "there is no reference answer, and the question is not marked as unanswerable",
    "no fact": "there is no accepted fact, and the question is not marked as unanswerable",
    "to review": "proposed facts, answers or unanswerable questions need a decision",
    "duplicate question": "another case has the same question",
    "answer to an unanswerable question": "the question is marked as unanswerable but has an answer or a fact",
    "hidden characters": "a text contains control characters or bidirectional marks",
    LOST: "a citation is not in any passage",
}
_PASSAGE = re.compile(r"\(passage (\d+)\)$")
_MAX_DIFF = 4_000
_MAX_CITATION = 20_000
NOT_CHECKED: Mapping[str, Any] = {
    "verdict": "none",
    "passage": None,
    "start": None,
    "end": None,
    "text": "",
    "diff": [],
}

# The columns that lists do not show. They are most of the bytes, so they are read when a case is opened.
_TEXTS = ("passages", "reference_contexts")
HEAD_COLUMNS = [name for name in CASES.names if name not in _TEXTS]
# The number of cases that are parsed at a time in the background.
_BATCH = 200
Mask = np.ndarray


@dataclass(frozen=True)
class LoadedVersion:
    """A version: the columns of its lists, and the whole table and all cases when they are needed."""

    info: VersionInfo
    head: pa.Table
    read_table: Callable[[], pa.Table]

    def __len__(self) -> int:
        return int(self.head.num_rows)

    @cached_property
    def table(self) -> pa.Table:
        """All columns."""
        return self.read_table()

    @cached_property
    def cases(self) -> Sequence[Case]:
        """All cases; this takes seconds for 100,000 cases."""
        return cases_from_table(self.table)

    @cached_property
    def ids(self) -> Sequence[str]:
        """The id of each case."""
        names: list[str] = self.head["id"].to_pylist()
        return names

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The row of each case by id."""
        return {name: row for row, name in enumerate(self.ids)}

    @cached_property
    def times_asked(self) -> Sequence[int]:
        """The number of cases with the question of each case."""
        keys = [question_key(question or "") for question in self.head["question"].to_pylist()]
        counts = Counter(keys)
        return [counts[key] for key in keys]

    @cached_property
    def search_texts(self) -> Sequence[str]:
        """The words of each case in lower case: id, question, answers and facts."""
        texts = [[name, question or ""] for name, question in zip(self.ids, self._column("question"), strict=True)]
        for row, text in (*_entries(self.head["references"]), *_entries(self.head["facts"], "text")):
            texts[row].append(text or "")
        return ["\n".join(words).casefold() for words in texts]

    def parse(self, rows: Sequence[int], *, head: bool = False) -> list[Case]:
        """Return cases by row; without passages and contexts if only the head is needed."""
        return cases_from_table((self.head if head else self.table).take(pa.array(rows, pa.int64())))

    def case(self, name: str) -> Case:
        """Return a case by id."""
        if name not in self.rows:
            raise NotFoundError(f"case {name[:200]} not found in version {self.info.number} of {self.info.name}")
        return self.parse([self.rows[name]])[0]

    def problems(self) -> dict[str, Mask]:
        """Return which cases have which problem, without lost citations."""
        return _find_problems(self.head, self.times_asked)

    def problems_at(self, rows: Sequence[int]) -> list[list[str]]:
        """Return the problems of some cases, without lost citations."""
        found = _find_problems(self.head.take(pa.array(rows, pa.int64())), [self.times_asked[row] for row in rows])
        return [[name for name, mask in found.items() if mask[at]] for at in range(len(rows))]

    def lost_citations(self) -> frozenset[int]:
        """Return the rows of cases with a citation that is not in any passage. Cases without passages are not checked."""
        rows = set()
        for row, case in _cited_cases(self):
            begun = time.perf_counter()
            if _has_lost(case):
                rows.add(row)
            time.sleep(time.perf_counter() - begun)  # leaves half of the time to requests
        return frozenset(rows)

    def count_standings(self) -> Counter[str]:
        """Return the number of facts per status."""
        standings = pc.struct_field(pc.list_flatten(_combined(self.head["facts"])), "standing")
        return Counter({item["values"]: item["counts"] for item in pc.value_counts(standings).to_pylist()})

    def count_proposed_answers(self) -> int:
        """Return the number of cases that propose an answer or to be unanswerable."""
        return int(_has_proposed_answer(self.head).sum())

    def with_standing(self, standing: str) -> Mask:
        """Return which cases have an answer or a fact with this status."""
        facts = _any_entry(self.head["facts"], lambda fact: pc.equal(fact("standing"), standing))
        found: Mask = facts | _mask(pc.equal(self.head["standing"], standing))
        return found

    def proposed(self) -> list[tuple[int, int]]:
        """Return the row and position of every proposed fact and answer, in the order of the cases."""
        answers = [(int(row), ANSWER) for row in np.flatnonzero(_has_proposed_answer(self.head))]
        facts = _combined(self.head["facts"])
        rows = pc.list_parent_indices(facts).to_numpy()
        lengths = pc.fill_null(pc.list_value_length(facts), 0).to_numpy(zero_copy_only=False)
        positions = np.arange(len(rows)) - (np.cumsum(lengths) - lengths)[rows]
        chosen = _mask(pc.equal(pc.struct_field(pc.list_flatten(facts), "standing"), "proposed"))
        return sorted([*answers, *zip(rows[chosen].tolist(), positions[chosen].tolist(), strict=True)])

    def count_unanswerable(self) -> int:
        """Return the number of cases that propose to be unanswerable."""
        return int((_has_proposed_answer(self.head) & (_lengths(self.head["references"]) == 0)).sum())

    def _column(self, name: str) -> Sequence[Any]:
        values: list[Any] = self.head[name].to_pylist()
        return values


def _find_problems(table: pa.Table, times_asked: Sequence[int]) -> dict[str, Mask]:
    """Return which cases have which problem, except lost citations. `times_asked` counts the cases with the question."""
    asked = _mask(pc.not_equal(pc.utf8_trim_whitespace(pc.fill_null(table["question"], "")), ""))
    answered = _lengths(table["references"]) > 0
    unanswerable = _mask(pc.equal(table["answerable"], False))  # noqa: FBT003  (an Arrow scalar)
    accepted = _any_entry(table["facts"], lambda fact: pc.equal(fact("standing"), "accepted"))
    proposed = _any_entry(table["facts"], lambda fact: pc.equal(fact("standing"), "proposed"))
    hidden = _mask(_is_hidden(table["question"])) | _any_entry(table["references"], lambda text: _is_hidden(text("")))
    return {
        "no question": ~asked,
        "no answer": ~answered & ~unanswerable,
        "no fact": ~accepted & ~unanswerable,
        "to review": proposed | _has_proposed_answer(table),
        "duplicate question": asked & (np.asarray(times_asked, dtype=np.int64) > 1),
        "answer to an unanswerable question": unanswerable & (answered | accepted),
        "hidden characters": hidden | _any_entry(table["facts"], lambda fact: _is_hidden(fact("text"))),
    }


def _cited_cases(loaded: LoadedVersion) -> Iterator[tuple[int, Case]]:
    """Yield the cases with citations and passages, parsed in batches."""
    cited = _any_entry(
        loaded.head["facts"],
        lambda fact: pc.and_(pc.equal(fact("kind"), CITATION), pc.not_equal(fact("standing"), "rejected")),
    )
    if not cited.any():
        return
    passages = (_lengths(loaded.table["passages"]) > 0) | (_lengths(loaded.table["reference_contexts"]) > 0)
    rows = np.flatnonzero(cited & passages).tolist()
    for start in range(0, len(rows), _BATCH):
        begun, batch = time.perf_counter(), rows[start : start + _BATCH]
        cases = loaded.parse(batch)
        time.sleep(time.perf_counter() - begun)
        yield from zip(batch, cases, strict=True)


def _has_lost(case: Case) -> bool:
    passages = [passage.text for passage in citable_passages(case)]
    return any(
        check_fact(fact.kind, fact.text, passages)["verdict"] in ("absent", "invalid")
        for fact in case.facts
        if fact.standing != "rejected"
    )


def _has_proposed_answer(table: pa.Table) -> Mask:
    """Return which cases propose references, or that they are unanswerable; as Case.has_proposed_answer."""
    unanswerable = _mask(pc.equal(table["answerable"], False))  # noqa: FBT003  (an Arrow scalar)
    found: Mask = _mask(pc.equal(table["standing"], "proposed")) & ((_lengths(table["references"]) > 0) | unanswerable)
    return found


def _any_entry(column: pa.ChunkedArray, test: Callable[[Callable[[str], pa.Array]], pa.Array]) -> Mask:
    """Return in which rows of a list column an entry passes a test, which gets the entries or a field of them."""
    lists = _combined(column)
    flat = pc.list_flatten(lists)
    passed = np.zeros(len(lists), dtype=bool)
    passed[
        pc.list_parent_indices(lists).to_numpy()[
            _mask(test(lambda name: pc.struct_field(flat, name) if name else flat))
        ]
    ] = True
    return passed


def _entries(column: pa.ChunkedArray, name: str = "") -> Iterator[tuple[int, str]]:
    """Yield the entries of a list column, or a field of them, with their rows."""
    lists = _combined(column)
    flat = pc.list_flatten(lists)
    values = pc.struct_field(flat, name) if name else flat
    return zip(pc.list_parent_indices(lists).to_pylist(), values.to_pylist(), strict=True)


def _is_hidden(texts: pa.Array) -> pa.Array:
    return pc.match_substring_regex(pc.replace_substring(texts, "\r\n", "\n"), HIDDEN_CHARACTERS)


def _lengths(column: pa.ChunkedArray) -> np.ndarray:
    return np.asarray(pc.fill_null(pc.list_value_length(_combined(column)), 0))


def _mask(values: pa.Array | pa.ChunkedArray) -> Mask:
    return np.asarray(pc.fill_null(values, fill_value=False), dtype=bool)


def _combined(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array; of a view, only the rows that are in it."""
    return column.combine_chunks()


def check_fact(kind: str, text: str, passages: Sequence[str], names: Sequence[str] = ()) -> dict[str, Any]:
    """Look for a citation in the passages. The verdict is `none` for other kinds of facts or if all passages are empty.

    `names` replace the passage numbers in the explanation.
    """
    if kind != CITATION or not any(passage.strip() for passage in passages):
        return {**NOT_CHECKED, "why": "there are no passages to search" if kind == CITATION else ""}
    if len(text) > _MAX_CITATION:
        return {**NOT_CHECKED, "why": f"it is too long for a citation (over {_MAX_CITATION:,} characters)"}
    check = check_citation(text, passages)
    return {
        "verdict": check.verdict,
        "passage": check.passage,
        "start": check.start,
        "end": check.end,
        "text": check.text,
        "why": _PASSAGE.sub(lambda match: f"({names[int(match[1]) - 1]})" if names else match[0], check.why or ""),
        "diff": word_diff(text[:_MAX_DIFF], check.text[:_MAX_DIFF]) if check.verdict == "repaired" else [],
    }
