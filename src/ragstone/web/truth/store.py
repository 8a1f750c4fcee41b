"""Cached access to the ground truth under a root, with the problems of its cases. Versions never change, so each is read once."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from ragstone.errors import UsageError
from ragstone.report.text import visible
from ragstone.storage.places import Place
from ragstone.storage.runs import read_table
from ragstone.text.questions import question_key
from ragstone.truth.model import Case, cases_from_table
from ragstone.truth.store import Lineage, TruthStore, VersionInfo, check_name
from ragstone.web.background import MAX_WAIT_S, BackgroundCache
from ragstone.web.errors import NotFoundError, is_inside
from ragstone.web.truth.case_checks import check_fact, passages_of

STANDINGS = ("accepted", "proposed", "rejected")
_MAX_VERSIONS = 6
_MAX_HEADS = 64
_MAX_ASKED_VERSIONS = 12
# Larger versions take too long to check while a page waits.
_MAX_CASES_TO_WAIT = 2_000
# The key for the number of cases with proposed answers, next to the fact counts.
_ANSWERS = "answers"


@dataclass(frozen=True)
class LoadedVersion:
    """A version in memory: its table, and its cases as objects when all of them are needed."""

    info: VersionInfo
    table: pa.Table

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def cases(self) -> Sequence[Case]:
        """All cases; this takes seconds for 100,000 cases."""
        return cases_from_table(self.table)

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The row of each case by id."""
        return {name: row for row, name in enumerate(self.table["id"].to_pylist())}

    @cached_property
    def times_asked(self) -> Counter[str]:
        """The number of cases per question."""
        return Counter(map(question_key, self.table["question"].to_pylist()))

    def at(self, row: int) -> Case:
        """Return a case by row."""
        return cases_from_table(self.table.slice(row, 1))[0]

    def case(self, name: str) -> Case:
        """Return a case by id."""
        if name not in self.rows:
            raise NotFoundError(f"case {name[:200]} not found in version {self.info.number} of {self.info.name}")
        return self.at(self.rows[name])

    def problems_of(self, case: Case) -> list[str]:
        """Return the problems of a case, without lost citations."""
        return find_problems(case, self.times_asked[question_key(case.question)])


@dataclass(frozen=True)
class QuestionIndex:
    """The questions of the cases in all versions: a case with an edited question is still the same case."""

    # The keys of the questions of each case, those of the newest version first.
    by_id: Mapping[str, tuple[str, ...]]
    by_question: Mapping[str, str]

    def find(self, sample: str, question: str) -> str | None:
        """Return the id of the case that matches a sample."""
        key = question_key(question)
        return sample if key in self.by_id.get(sample, ()) else self.by_question.get(key)


class TruthLibrary:
    """All ground truth under a root."""

    def __init__(self, root: Place) -> None:
        self._root = root
        self._store = TruthStore(root)
        self._loaded: BackgroundCache[LoadedVersion] = BackgroundCache(_MAX_VERSIONS, workers=2)
        self._problems: BackgroundCache[Sequence[Sequence[str]]] = BackgroundCache(_MAX_VERSIONS)
        self._lost: BackgroundCache[frozenset[int]] = BackgroundCache(_MAX_VERSIONS)
        self._infos = lru_cache(maxsize=4_096)(self._store.info)
        self._counts = lru_cache(maxsize=1_024)(self._count)
        self._heads = lru_cache(maxsize=_MAX_HEADS)(self._read_heads)
        self._asked = lru_cache(maxsize=_MAX_HEADS)(self._gather_asked)

    @property
    def mark(self) -> str:
        """An id of the root, so that the browser keeps the drafts of different roots apart."""
        return hashlib.sha256(str(self._root).encode()).hexdigest()[:12]

    def names(self) -> list[str]:
        """Return the names of all ground truths."""
        return [name for name in self._store.names() if self._is_here(name)]

    def numbers(self, name: str) -> list[int]:
        """Return the numbers of all versions, oldest first."""
        numbers = self._store.numbers(name) if _is_name(name) and self._is_here(name) else []
        if not numbers:
            raise NotFoundError(f"ground truth {name[:200]} not found under {self._root}")
        return numbers

    def newest(self, name: str) -> int:
        """Return the number of the newest version."""
        return self.numbers(name)[-1]

    def infos(self, name: str) -> list[VersionInfo]:
        """Return the metadata of all versions, oldest first."""
        return [self._infos(name, number) for number in self.numbers(name)]

    def load(self, name: str, number: int | None = None) -> LoadedVersion:
        """Load a version; by default the newest."""
        numbers = self.numbers(name)
        wanted = numbers[-1] if number is None else number
        if wanted not in numbers:
            raise NotFoundError(f"{name} has no version {wanted}. Choose from: {', '.join(map(str, numbers))}")
        return self._loaded.get((name, wanted), lambda: self._read(name, wanted))

    def counts(self, name: str, number: int) -> Mapping[str, int]:
        """Return the number of facts per standing, without reading the cases."""
        return {standing: self._counts(name, number)[standing] for standing in STANDINGS}

    def waiting(self, name: str, number: int) -> int:
        """Return the number of proposed facts and answers."""
        counts = self._counts(name, number)
        return counts["proposed"] + counts[_ANSWERS]

    def asked(self, name: str) -> QuestionIndex:
        """Return the questions of its cases in the newest versions."""
        return self._asked(name, tuple(self.numbers(name)[-_MAX_ASKED_VERSIONS:]))

    def content(self, name: str, number: int) -> bytes:
        """Return the file of a version."""
        return self._store.table(name, number).read_bytes()

    def problems(self, loaded: LoadedVersion, wait_s: float | None = None) -> Sequence[Sequence[str]] | None:
        """Return the problems per case; None until they are ready."""
        key = (loaded.info.name, loaded.info.number)
        wait_s = _wait_s(loaded) if wait_s is None else wait_s
        return self._problems.peek(key, lambda: [loaded.problems_of(case) for case in loaded.cases], wait_s)

    def lost(self, loaded: LoadedVersion) -> frozenset[int] | None:
        """Return the rows of cases with a lost citation; None until they are ready."""
        key = (loaded.info.name, loaded.info.number)
        return self._lost.peek(key, lambda: lost_citations(loaded.cases), _wait_s(loaded))

    def save(
        self, name: str, cases: Sequence[Case], author: str, note: str, parent: int | None, lineage: Lineage
    ) -> VersionInfo:
        """Save a new version."""
        if not is_inside(self._root, self._root / "truth" / check_name(name)):
            raise UsageError(f"{name} is a symlink to a folder outside {self._root}; choose another name")
        return self._store.save(name, cases, author=author, note=note, parent=parent, lineage=lineage)

    def close(self) -> None:
        """Cancel the background work that has not started."""
        for cache in (self._loaded, self._problems, self._lost):
            cache.close()

    def _read(self, name: str, number: int) -> LoadedVersion:
        return LoadedVersion(self._infos(name, number), read_table(self._store.table(name, number)))

    def _count(self, name: str, number: int) -> Mapping[str, int]:
        table = read_table(self._store.table(name, number), ["facts", "standing", "references"])
        standings = pc.struct_field(pc.list_flatten(table["facts"]), "standing")
        counts = Counter({item["values"]: item["counts"] for item in pc.value_counts(standings).to_pylist()})
        proposed = pc.and_(
            pc.equal(table["standing"], "proposed"), pc.greater(pc.list_value_length(table["references"]), 0)
        )
        answers = pc.sum(proposed).as_py() or 0
        return {**{standing: counts[standing] for standing in STANDINGS}, _ANSWERS: answers}

    def _read_heads(self, name: str, number: int) -> Mapping[str, str]:
        table = read_table(self._store.table(name, number), ["id", "question"])
        return dict(zip(table["id"].to_pylist(), table["question"].to_pylist(), strict=True))

    def _gather_asked(self, name: str, numbers: Sequence[int]) -> QuestionIndex:
        keys: dict[str, dict[str, None]] = {}
        for number in reversed(numbers):
            for case, question in self._heads(name, number).items():
                keys.setdefault(case, {})[question_key(question)] = None
        newest = self._heads(name, numbers[-1])
        return QuestionIndex(
            {case: tuple(questions) for case, questions in keys.items()},
            {question_key(newest[case]): case for case in reversed(list(newest)) if question_key(newest[case])},
        )

    def _is_here(self, name: str) -> bool:
        return is_inside(self._root, self._root / "truth" / name)


def _wait_s(loaded: LoadedVersion) -> float:
    return MAX_WAIT_S if len(loaded) <= _MAX_CASES_TO_WAIT else 0.0


def _is_name(name: str) -> bool:
    try:
        return bool(check_name(name))
    except UsageError:
        return False


def find_problems(case: Case, times_asked: int) -> list[str]:
    """Return the problems of a case except lost citations. `times_asked` counts the cases with its question."""
    unanswerable = case.answerable is False
    answers = case.standing == "proposed" and bool(case.references)
    texts = [case.question, *case.references, *(fact.text for fact in case.facts)]
    problems = {
        "no question": not case.question.strip(),
        "no answer": not case.references and not unanswerable,
        "no fact": not case.accepted_facts and not unanswerable,
        "to review": answers or any(fact.standing == "proposed" for fact in case.facts),
        "duplicate question": bool(case.question.strip()) and times_asked > 1,
        "answer to an unanswerable question": unanswerable and bool(case.references or case.accepted_facts),
        "hidden characters": any(visible(text) != text.replace("\r\n", "\n") for text in texts),
    }
    return [name for name, present in problems.items() if present]


def lost_citations(cases: Sequence[Case]) -> frozenset[int]:
    """Return the rows of cases with a citation that is not in any passage. Cases without passages are not checked."""
    rows = set()
    for row, case in enumerate(cases):
        begun = time.perf_counter()
        if _has_lost(case):
            rows.add(row)
        time.sleep(time.perf_counter() - begun)  # leaves half of the time to requests
    return frozenset(rows)


def _has_lost(case: Case) -> bool:
    passages = [passage.text for passage in passages_of(case)]
    return bool(passages) and any(
        check_fact(fact.kind, fact.text, passages)["verdict"] in ("absent", "invalid")
        for fact in case.facts
        if fact.standing != "rejected"
    )
