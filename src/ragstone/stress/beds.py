"""The four test beds as ordinary samples: a row a question, rate and repeat, with its passages and what became of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from ragstone.data.types import Chunk, Sample
from ragstone.errors import UsageError
from ragstone.evidence.abilities import NEEDED, PLANTED
from ragstone.stress.mixing import Passage, count_negatives, mix, mix_groups, shuffle
from ragstone.stress.pools import Pool

Bed = Literal["noise", "rejection", "integration", "counterfactual"]
BEDS: tuple[Bed, ...] = get_args(Bed)
# What an error or a refusal leaves open is which answer would have been right.
RIGHT = "right_answers"


@dataclass(frozen=True)
class Setting:
    """How beds are made."""

    passages: int = 5
    rates: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    repeats: int = 1
    seed: int = 0
    beds: tuple[Bed, ...] = BEDS
    keep_contaminated: bool = False

    def __post_init__(self) -> None:
        if self.passages < 1 or self.repeats < 1:
            raise UsageError("there must be at least one passage and one repeat")
        if not self.rates or any(not 0 <= rate <= 1 for rate in self.rates) or len(set(self.rates)) < len(self.rates):
            raise UsageError("noise rates are numbers from 0 to 1, each once")
        for bed in self.beds:
            if bed not in BEDS:
                raise UsageError(f"'{bed}' is no test bed; there are: {', '.join(BEDS)}")


@dataclass
class BedReport:
    """What a bed was made from, and which questions it has no place for."""

    bed: Bed
    questions: int = 0
    rows: int = 0
    # Reason to the ids of the questions.
    left_out: dict[str, list[str]] = field(default_factory=dict)
    # Questions with fewer passages than were asked for.
    short: list[str] = field(default_factory=list)
    # Questions with too few passages of one kind at some rate, so that the other filled up.
    filled: list[str] = field(default_factory=list)
    # Questions with rows in which a negative holds the answer.
    contaminated: list[str] = field(default_factory=list)

    def leave_out(self, reason: str, pool: Pool) -> None:
        """Remember that a question has no place in the bed, and why."""
        self.left_out.setdefault(reason, []).append(pool.id)


def build_beds(pools: Sequence[Pool], setting: Setting) -> tuple[list[Sample], list[BedReport]]:
    """All rows of the chosen beds, and a report on each bed."""
    rows: list[Sample] = []
    reports = []
    for bed in setting.beds:
        report = BedReport(bed)
        for pool in pools:
            reason = _why_not(pool, bed, setting)
            if reason:
                report.leave_out(reason, pool)
                continue
            found = list(_rows(pool, bed, setting, report))
            report.questions += 1
            report.rows += len(found)
            rows += found
        reports.append(report)
    return rows, reports


def _why_not(pool: Pool, bed: Bed, setting: Setting) -> str | None:
    """Why a question has no place in a bed, if it has none."""
    if not pool.question.strip():
        return "there is no question"
    if not pool.answers or not all(pool.answers):
        return "no right answer is known"
    if bed in ("noise", "integration") and not pool.positives:
        return "no passage holds its answer"
    if bed == "rejection" and not pool.negatives:
        return "there is no passage without its answer"
    if bed == "integration":
        if len(pool.groups) < 2:
            return "one passage holds all of its answer: there is nothing to put together"
        if len(pool.groups) > setting.passages:
            return f"its answer lies in more than {setting.passages} passages"
    if bed == "counterfactual" and not (pool.wrong and pool.fake):
        return pool.metadata.get(WHY_NO_ERROR) or "no error can be planted in its passages"
    return None


# Set by `alternatives` where no error could be planted.
WHY_NO_ERROR = "why_no_error"


def _rows(pool: Pool, bed: Bed, setting: Setting, report: BedReport) -> Iterator[Sample]:
    for rate in _rates(bed, setting):
        passages = _mix(pool, bed, setting, rate)
        if len(passages) < setting.passages and pool.id not in report.short:
            report.short.append(pool.id)
        noise = sum(passage.kind == "-" for passage in passages)
        if noise != count_negatives(len(passages), rate) and bed != "integration" and pool.id not in report.filled:
            report.filled.append(pool.id)
        dirty = any(passage.kind == "-" and pool.holds_answer(passage.chunk.text) for passage in passages)
        if dirty and pool.id not in report.contaminated:
            report.contaminated.append(pool.id)
        for repeat in range(setting.repeats):
            order = shuffle(passages, setting.seed, pool.id, bed, f"{rate:g}", repeat)
            yield _row(pool, bed, rate, repeat, order, dirty)


def _rates(bed: Bed, setting: Setting) -> Sequence[float]:
    """Rejection is what happens at rate 1; where all is noise, no error can be seen."""
    if bed == "rejection":
        return (1.0,)
    return tuple(rate for rate in setting.rates if bed != "counterfactual" or rate < 1)


def _mix(pool: Pool, bed: Bed, setting: Setting, rate: float) -> list[Passage]:
    if bed == "rejection":
        return [Passage("-", chunk) for chunk in pool.negatives[: setting.passages]]
    if bed == "integration":
        return mix_groups(pool.groups, pool.positives, pool.negatives, setting.passages, rate)
    if bed == "counterfactual":
        return mix(pool.wrong, pool.negatives, setting.passages, rate, "!")
    return mix(pool.positives, pool.negatives, setting.passages, rate)


def _row(pool: Pool, bed: Bed, rate: float, repeat: int, order: Sequence[Passage], dirty: bool) -> Sample:
    kinds = "".join(passage.kind for passage in order)
    own = {name: value for name, value in pool.metadata.items() if name != WHY_NO_ERROR}
    metadata: dict[str, Any] = {
        **own,
        "bed": bed,
        "rate": rate,
        "repeat": repeat,
        "question_id": pool.id,
        "passages": kinds,
        "noise": round(kinds.count("-") / len(kinds), 4),
    }
    if dirty:
        metadata["contaminated"] = True
    if bed == "rejection":
        # What should be declined has no right answer to be compared with.
        metadata[RIGHT] = pool.answers
    else:
        metadata[NEEDED] = pool.answers
    if "!" in kinds:
        metadata[PLANTED] = pool.fake
    contexts = _named([passage.chunk for passage in order])
    holding = {str(chunk.id): 1.0 for chunk, passage in zip(contexts, order, strict=True) if passage.kind == "+"}
    return Sample(
        id=f"{pool.id}|{bed}|{rate:g}|{repeat}",
        question=pool.question,
        contexts=contexts,
        relevance=holding or None,
        references=None if bed == "rejection" else pool.references,
        answerable=None if bed == "counterfactual" else "+" in kinds,
        metadata=metadata,
    )


def _named(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Each with an id of its own: passages of several questions may share one."""
    seen: set[str] = set()
    named = []
    for place, chunk in enumerate(chunks, start=1):
        name = chunk.id or f"#{place}"
        name = f"{name}#{place}" if name in seen else name
        seen.add(name)
        named.append(replace(chunk, id=name))
    return named
