"""Cached access to the ground truth under a root, with the problems of its cases. Versions never change: each is read once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ragstone.errors import UsageError
from ragstone.storage.places import Place
from ragstone.storage.runs import read_table
from ragstone.text.questions import question_key
from ragstone.truth.model import Case
from ragstone.truth.store import Lineage, TruthStore, VersionInfo, check_name
from ragstone.web.background import MAX_WAIT_S, BackgroundCache
from ragstone.web.navigation import NotFoundError, is_inside
from ragstone.web.truth.loaded_version import HEAD_COLUMNS, LoadedVersion, Mask

STANDINGS = ("accepted", "proposed", "rejected")
_MAX_VERSIONS = 6
_MAX_HEADS = 64
_MAX_ASKED_VERSIONS = 12
# Larger versions take too long to check while a page waits.
_MAX_CASES_TO_WAIT = 2_000
# The key for the number of cases with proposed answers, next to the fact counts.
_ANSWERS = "answers"
_COUNTED = ("facts", "standing", "references", "answerable")


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
        self._problems: BackgroundCache[Mapping[str, Mask]] = BackgroundCache(_MAX_VERSIONS)
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

    def problems(self, loaded: LoadedVersion, wait_s: float = MAX_WAIT_S) -> Mapping[str, Mask] | None:
        """Return which cases have which problem; None until they are ready."""
        key = (loaded.info.name, loaded.info.number)
        return self._problems.peek(key, loaded.problems, wait_s)

    def lost(self, loaded: LoadedVersion) -> frozenset[int] | None:
        """Return the rows of cases with a lost citation; None until they are ready."""
        key = (loaded.info.name, loaded.info.number)
        wait_s = MAX_WAIT_S if len(loaded) <= _MAX_CASES_TO_WAIT else 0.0
        return self._lost.peek(key, loaded.lost_citations, wait_s)

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

    def _read(self, name: str, number: int, columns: Sequence[str] = HEAD_COLUMNS) -> LoadedVersion:
        place = self._store.table(name, number)
        return LoadedVersion(self._infos(name, number), read_table(place, list(columns)), lambda: read_table(place))

    def _count(self, name: str, number: int) -> Mapping[str, int]:
        loaded = self._loaded.ready((name, number)) or self._read(name, number, _COUNTED)
        counts = loaded.count_standings()
        return {**{status: counts[status] for status in STANDINGS}, _ANSWERS: loaded.count_proposed_answers()}

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


def _is_name(name: str) -> bool:
    try:
        return bool(check_name(name))
    except UsageError:
        return False
