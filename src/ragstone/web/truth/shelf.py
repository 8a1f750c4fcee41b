"""The ground truth under a root, as the editor sees it: versions never change, so that each is read once."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from ragstone.errors import UsageError
from ragstone.storage.places import Place
from ragstone.storage.runs import read_table
from ragstone.truth.cases import Case, cases_from_table
from ragstone.truth.versions import Lineage, TruthStore, VersionInfo, check_name
from ragstone.web.errors import NotThereError
from ragstone.web.inside import is_inside
from ragstone.web.later import PATIENCE_S, Kept
from ragstone.web.truth.problems import find_problems, fold, lost_citations

STANDINGS = ("accepted", "proposed", "rejected")
_MOST_VERSIONS = 6
_MOST_HEADS = 64
_MOST_ASKED = 12
# Into larger ones it takes so long to look that waiting a moment is waiting for nothing.
_MOST_AT_ONCE = 2_000
# Beside the standings of facts: cases whose answers are proposed.
_ANSWERS = "answers"


@dataclass(frozen=True)
class Held:
    """A version in memory: its table, and its cases as objects once all of them are needed."""

    info: VersionInfo
    table: pa.Table

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def cases(self) -> Sequence[Case]:
        """All cases; of a hundred thousand this takes seconds."""
        return cases_from_table(self.table)

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """Where a case stands, by its id."""
        return {name: row for row, name in enumerate(self.table["id"].to_pylist())}

    @cached_property
    def times_asked(self) -> Counter[str]:
        """How often each question is asked."""
        return Counter(map(fold, self.table["question"].to_pylist()))

    def at(self, row: int) -> Case:
        """A case by where it stands."""
        return cases_from_table(self.table.slice(row, 1))[0]

    def case(self, name: str) -> Case:
        """A case by its id."""
        if name not in self.rows:
            raise NotThereError(f"there is no case {name[:200]} in version {self.info.number} of {self.info.name}")
        return self.at(self.rows[name])

    def problems_of(self, case: Case) -> list[str]:
        """What a person should look at in a case; where its citations stand is found out elsewhere."""
        return find_problems(case, self.times_asked[fold(case.question)])


@dataclass(frozen=True)
class Asked:
    """What the cases of a ground truth ask, in all its versions: an edited question is still the same case."""

    by_id: Mapping[str, frozenset[str]]
    spelled: Mapping[str, tuple[str, ...]]
    by_question: Mapping[str, str]

    def find(self, sample: str, question: str) -> str | None:
        """The case that a sample belongs to."""
        asked = folded(question)
        return sample if asked in self.by_id.get(sample, frozenset()) else self.by_question.get(asked)


class Shelf:
    """All ground truth under a root."""

    def __init__(self, root: Place) -> None:
        self._root = root
        self._store = TruthStore(root)
        self._held: Kept[Held] = Kept(_MOST_VERSIONS, workers=2)
        self._problems: Kept[Sequence[Sequence[str]]] = Kept(_MOST_VERSIONS)
        self._lost: Kept[frozenset[int]] = Kept(_MOST_VERSIONS)
        self._infos = lru_cache(maxsize=4_096)(self._store.info)
        self._counts = lru_cache(maxsize=1_024)(self._count)
        self._heads = lru_cache(maxsize=_MOST_HEADS)(self._read_heads)
        self._asked = lru_cache(maxsize=_MOST_HEADS)(self._gather_asked)

    @property
    def mark(self) -> str:
        """Tells this root from others, so that a browser keeps their drafts apart."""
        return hashlib.sha256(str(self._root).encode()).hexdigest()[:12]

    def names(self) -> list[str]:
        """Every ground truth."""
        return [name for name in self._store.names() if self._is_here(name)]

    def numbers(self, name: str) -> list[int]:
        """The numbers of all versions, the oldest first."""
        if not _is_name(name) or not self._is_here(name):
            raise NotThereError(f"there is no ground truth {name[:200]} under {self._root}")
        found = self._store.numbers(name)
        if not found:
            raise NotThereError(f"there is no ground truth {name[:200]} under {self._root}")
        return found

    def newest(self, name: str) -> int:
        """The number of the newest version."""
        return self.numbers(name)[-1]

    def infos(self, name: str) -> list[VersionInfo]:
        """All versions, the oldest first."""
        return [self._infos(name, number) for number in self.numbers(name)]

    def held(self, name: str, number: int | None = None) -> Held:
        """A version with its cases, the newest unless it is named."""
        numbers = self.numbers(name)
        wanted = numbers[-1] if number is None else number
        if wanted not in numbers:
            raise NotThereError(f"{name} has no version {wanted}; there are {', '.join(map(str, numbers))}")
        return self._held.get((name, wanted), lambda: self._read(name, wanted))

    def counts(self, name: str, number: int) -> Mapping[str, int]:
        """How many facts have which standing, without reading the cases."""
        return {standing: self._counts(name, number)[standing] for standing in STANDINGS}

    def waiting(self, name: str, number: int) -> int:
        """How many facts and answers are proposed and wait for a decision."""
        counts = self._counts(name, number)
        return counts["proposed"] + counts[_ANSWERS]

    def asked(self, name: str) -> Asked:
        """What its cases ask; of a long history the newest versions count."""
        return self._asked(name, tuple(self.numbers(name)[-_MOST_ASKED:]))

    def content(self, name: str, number: int) -> bytes:
        """The file of a version as it is."""
        return self._store.table(name, number).read_bytes()

    def problems(self, held: Held, patience_s: float | None = None) -> Sequence[Sequence[str]] | None:
        """What a person should look at, case by case; None while it is being found out."""
        key = (held.info.name, held.info.number)
        patience_s = _patience_s(held) if patience_s is None else patience_s
        return self._problems.peek(key, lambda: [held.problems_of(case) for case in held.cases], patience_s)

    def lost(self, held: Held) -> frozenset[int] | None:
        """The rows of cases with a citation that stands in none of its passages; None while they are looked for."""
        key = (held.info.name, held.info.number)
        return self._lost.peek(key, lambda: lost_citations(held.cases), _patience_s(held))

    def save(
        self, name: str, cases: Sequence[Case], author: str, note: str, parent: int | None, lineage: Lineage
    ) -> VersionInfo:
        """A new version."""
        if not is_inside(self._root, self._root / "truth" / check_name(name)):
            raise UsageError(f"{name} is a link that leads out of {self._root}; choose another name")
        return self._store.save(name, cases, author=author, note=note, parent=parent, lineage=lineage)

    def close(self) -> None:
        """Let go of work that nobody waits for."""
        for kept in (self._held, self._problems, self._lost):
            kept.close()

    def _read(self, name: str, number: int) -> Held:
        return Held(self._infos(name, number), read_table(self._store.table(name, number)))

    def _count(self, name: str, number: int) -> Mapping[str, int]:
        table = read_table(self._store.table(name, number), ["facts", "standing", "references"])
        standings = pc.struct_field(pc.list_flatten(table["facts"]), "standing")
        found = Counter({item["values"]: item["counts"] for item in pc.value_counts(standings).to_pylist()})
        proposed = pc.and_(
            pc.equal(table["standing"], "proposed"), pc.greater(pc.list_value_length(table["references"]), 0)
        )
        answers = pc.sum(proposed).as_py() or 0
        return {**{standing: found[standing] for standing in STANDINGS}, _ANSWERS: answers}

    def _read_heads(self, name: str, number: int) -> Mapping[str, str]:
        table = read_table(self._store.table(name, number), ["id", "question"])
        return dict(zip(table["id"].to_pylist(), table["question"].to_pylist(), strict=True))

    def _gather_asked(self, name: str, numbers: Sequence[int]) -> Asked:
        spelled: dict[str, dict[str, None]] = {}
        for number in reversed(numbers):
            for case, question in self._heads(name, number).items():
                spelled.setdefault(case, {})[question] = None
        by_id = {case: frozenset(map(folded, questions)) for case, questions in spelled.items()}
        newest = self._heads(name, numbers[-1])
        return Asked(
            by_id,
            {case: tuple(questions) for case, questions in spelled.items()},
            {folded(newest[case]): case for case in reversed(list(newest)) if newest[case].strip()},
        )

    def _is_here(self, name: str) -> bool:
        return is_inside(self._root, self._root / "truth" / name)


def _patience_s(held: Held) -> float:
    return PATIENCE_S if len(held) <= _MOST_AT_ONCE else 0.0


def folded(question: str) -> str:
    """Questions that differ in blanks are the same."""
    return " ".join(question.split())


def _is_name(name: str) -> bool:
    try:
        return bool(check_name(name))
    except UsageError:
        return False
