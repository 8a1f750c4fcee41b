"""All citations of a ground truth held against the passages of their cases: which share stands, document by document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ragstone.data.types import Chunk
from ragstone.truth.cases import Case, TruthFact
from ragstone.truth.validation import CitationCheck, Verdict, check_citation

VERDICTS: tuple[Verdict, ...] = ("stands", "repaired", "absent", "invalid")
UNKNOWN = "(unknown)"
_CITATION = "citation"


@dataclass(frozen=True)
class CheckedFact:
    """A citation of a case, the document that it is said to come from or was found in, and what became of it."""

    case: str
    number: int
    citation: str
    document: str
    check: CitationCheck


@dataclass(frozen=True)
class Held:
    """How many citations there are and how many of them stand, as they are or repaired."""

    checked: int
    stands: int
    repaired: int
    absent: int
    invalid: int

    @property
    def held(self) -> int:
        """Those that stand or were repaired."""
        return self.stands + self.repaired

    @property
    def share(self) -> float | None:
        """The share that held; None where there was nothing to check."""
        return self.held / self.checked if self.checked else None


@dataclass(frozen=True)
class TruthCheck:
    """What a check found: every citation, and those that could not be checked."""

    facts: list[CheckedFact]
    # Facts that are no citations, and citations of cases without passages.
    no_citations: int
    without_passages: int

    @property
    def total(self) -> Held:
        """All citations together."""
        return count_verdicts(fact.check for fact in self.facts)

    @property
    def documents(self) -> dict[str, Held]:
        """Document by document, in the order in which they are met."""
        names = dict.fromkeys(fact.document for fact in self.facts)
        return {name: count_verdicts(fact.check for fact in self.facts if fact.document == name) for name in names}

    @property
    def fallen(self) -> list[CheckedFact]:
        """The citations that do not stand."""
        return [fact for fact in self.facts if not fact.check.holds]


def count_verdicts(checks: Iterable[CitationCheck]) -> Held:
    """How many of each verdict."""
    counts = Counter(check.verdict for check in checks)
    return Held(counts.total(), *(counts[verdict] for verdict in VERDICTS))


def check_cases(cases: Sequence[Case]) -> TruthCheck:
    """Every citation of every case, in its passages or, where there are none, in its reference contexts."""
    found: list[CheckedFact] = []
    other = lacking = 0
    for case in cases:
        passages = passages_of(case)
        texts = [passage.text for passage in passages]
        for number, fact in enumerate(case.facts):
            if fact.kind != _CITATION:
                other += 1
            elif not passages:
                lacking += 1
            else:
                check = check_citation(fact.text, texts)
                found.append(CheckedFact(case.id, number, fact.text, _document(case, fact, check, passages), check))
    return TruthCheck(found, other, lacking)


def passages_of(case: Case) -> list[Chunk]:
    """The texts that citations of a case must stand in."""
    return case.passages or [Chunk(text) for text in case.reference_contexts]


def _document(case: Case, fact: TruthFact, check: CitationCheck, passages: Sequence[Chunk]) -> str:
    """Where a citation was found, or is said to come from."""
    if check.passage is not None and passages[check.passage].source:
        return str(passages[check.passage].source)
    return fact.source or (case.documents[0] if len(case.documents) == 1 else UNKNOWN)


def mend_cases(cases: Sequence[Case], checked: TruthCheck, drop: bool) -> list[Case]:
    """Cases whose repaired citations have their true words; what does not stand is dropped, or proposed anew with a note."""
    verdicts = {(fact.case, fact.number): fact.check for fact in checked.facts}
    return [
        case.with_facts(
            [
                _mend(fact, verdicts.get((case.id, number)))
                for number, fact in enumerate(case.facts)
                if not (drop and _has_fallen(verdicts.get((case.id, number))))
            ]
        )
        for case in cases
    ]


def _has_fallen(check: CitationCheck | None) -> bool:
    return check is not None and not check.holds


def _mend(fact: TruthFact, check: CitationCheck | None) -> TruthFact:
    if check is None or check.verdict == "stands":
        return fact
    if check.holds:
        return replace(fact, text=check.text)
    standing = "rejected" if fact.standing == "rejected" else "proposed"
    return replace(fact, standing=standing, note=f"does not stand: {check.why}")
