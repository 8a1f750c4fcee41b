"""Builds the four test beds as ordinary samples: one row per question, noise rate and repeat.

Each row has a mix of passages with and without the answer, shuffled by a seed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, get_args

from ragstone.data.types import Chunk, Sample
from ragstone.errors import UsageError
from ragstone.metrics.rgb import NEEDED, PLANTED
from ragstone.stress.passage_pools import Pool

Bed = Literal["noise", "rejection", "integration", "counterfactual"]
BEDS: tuple[Bed, ...] = get_args(Bed)
# A passage with the answer, without it, or with a false one; the passages of a row are stored as one string.
Kind = Literal["+", "-", "!"]
# Metadata names: the right answers of a row that should be declined, and why no error could be planted.
RIGHT, WHY_NO_ERROR = "right_answers", "why_no_error"


class Passage(NamedTuple):
    """A passage in a test bed."""

    kind: Kind
    chunk: Chunk


def count_negatives(passages: int, rate: float) -> int:
    """The number of noise passages: rounded up, but not because of floating-point error."""
    return math.ceil(round(passages * rate, 9))


def mix(
    positives: Sequence[Chunk],
    negatives: Sequence[Chunk],
    passages: int,
    rate: float,
    kind: Kind = "+",
    least: int = 0,
    fill: bool = False,
) -> list[Passage]:
    """Negatives as the rate demands and positives for the rest, but at least `least` positives; the first of each.

    If there are too few of one kind, there are fewer passages, with the share of noise that is closest to the rate;
    with `fill`, the other kind fills up, as in RGB's code.
    """
    noise = count_negatives(passages, rate)
    good = passages - noise
    if fill:
        good = min(max(least, good), len(positives))
        noise = min(passages - good, len(negatives))
        good = min(passages - noise, len(positives))
    elif not least <= good <= len(positives) or noise > len(negatives):
        least = min(max(least, int(rate < 1)), len(positives))
        good, noise = _closest(least, len(positives), len(negatives), passages, rate)
    return [
        *(Passage(kind, chunk) for chunk in positives[:good]),
        *(Passage("-", chunk) for chunk in negatives[:noise]),
    ]


def _closest(least: int, positives: int, negatives: int, passages: int, rate: float) -> tuple[int, int]:
    """The numbers of positives and negatives whose share of noise is closest to the rate; if equal, most passages."""
    mixes = [
        (good, noise)
        for good in range(least, min(positives, passages) + 1)
        for noise in range(min(negatives, passages - good) + 1)
        if good + noise
    ]
    return min(mixes, key=lambda one: (round(abs(one[1] / sum(one) - rate), 9), -sum(one)), default=(0, 0))


def shuffle(passages: Sequence[Passage], *seed: object) -> list[Passage]:
    """The passages in an order that depends on the seed."""
    mixed = list(passages)
    random.Random("|".join(map(str, seed))).shuffle(mixed)  # noqa: S311  (an order, not a secret)
    return mixed


@dataclass(frozen=True)
class Setting:
    """How test beds are built."""

    passages: int = 5
    rates: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    repeats: int = 1
    seed: int = 0
    beds: tuple[Bed, ...] = BEDS
    keep_contaminated: bool = False

    def __post_init__(self) -> None:
        if self.passages < 1 or self.repeats < 1:
            raise UsageError("passages and repeats must be at least 1")
        if not self.rates or any(not 0 <= rate <= 1 for rate in self.rates) or len(set(self.rates)) < len(self.rates):
            raise UsageError("noise rates must be different numbers from 0 to 1")
        for bed in self.beds:
            if bed not in BEDS:
                raise UsageError(f"'{bed}' is not a test bed. Choose from: {', '.join(BEDS)}")


@dataclass
class BedReport:
    """The size of a bed, and the questions that are left out or need a remark."""

    bed: Bed
    questions: int = 0
    rows: int = 0
    # Question ids per reason.
    left_out: dict[str, list[str]] = field(default_factory=dict)
    # Questions with fewer passages than requested.
    short: list[str] = field(default_factory=list)
    # Questions whose share of noise differs from the requested rate at some rate.
    inexact: list[str] = field(default_factory=list)
    # Questions with a row in which a noise passage contains the answer.
    contaminated: list[str] = field(default_factory=list)


def build_beds(pools: Sequence[Pool], setting: Setting) -> tuple[list[Sample], list[BedReport]]:
    """All rows of the chosen beds, and one report per bed."""
    rows: list[Sample] = []
    reports = []
    for bed in setting.beds:
        report = BedReport(bed)
        for pool in pools:
            if reason := _why_not(pool, bed, setting):
                report.left_out.setdefault(reason, []).append(pool.id)
                continue
            of_pool = list(_rows(pool, bed, setting, report))
            report.questions += 1
            report.rows += len(of_pool)
            rows += of_pool
        reports.append(report)
    return rows, reports


def _why_not(pool: Pool, bed: Bed, setting: Setting) -> str | None:
    """Why a question is left out of a bed; None if it is not."""
    if not pool.question.strip():
        return "there is no question"
    if not pool.answers or not all(pool.answers):
        return "no right answer is known"
    if bed in ("noise", "integration") and not pool.positives:
        return "no passage contains its answer"
    if bed == "rejection" and not pool.negatives:
        return "there is no passage without its answer"
    if bed == "integration":
        if len(pool.groups) < 2:
            return "one passage contains the whole answer, so there is nothing to combine"
        if len(pool.groups) > setting.passages:
            return f"its answer needs more than {setting.passages} passages"
    if bed == "counterfactual" and not (pool.wrong and pool.fake):
        return pool.metadata.get(WHY_NO_ERROR) or "no error can be planted in its passages"
    return None


def _rows(pool: Pool, bed: Bed, setting: Setting, report: BedReport) -> Iterator[Sample]:
    for rate in (1.0,) if bed == "rejection" else setting.rates:
        if bed == "counterfactual" and rate == 1:
            continue  # with noise only, there is no error to detect
        passages = _mix(pool, bed, setting, rate)
        noise = sum(passage.kind == "-" for passage in passages)
        contaminated = any(passage.kind == "-" and pool.holds_answer(passage.chunk.text) for passage in passages)
        inexact = noise * setting.passages != count_negatives(setting.passages, rate) * len(passages)
        for is_so, ids in (
            (len(passages) < setting.passages, report.short),
            (inexact, report.inexact),
            (contaminated, report.contaminated),
        ):
            if is_so and pool.id not in ids:
                ids.append(pool.id)
        for repeat in range(setting.repeats):
            # Rates with the same passages have the same order, so the generator is asked once.
            order = shuffle(passages, setting.seed, pool.id, bed, noise, len(passages), repeat)
            yield _row(pool, bed, rate, repeat, order, contaminated)


def _mix(pool: Pool, bed: Bed, setting: Setting, rate: float) -> list[Passage]:
    if bed == "rejection":
        return mix([], pool.negatives, setting.passages, rate)
    if bed == "counterfactual":
        return mix(pool.wrong, pool.negatives, setting.passages, rate, "!", fill=pool.is_rgb)
    # The first positives are one of each group.
    least = len(pool.groups) if bed == "integration" else 0
    return mix(pool.positives, pool.negatives, setting.passages, rate, least=least, fill=pool.is_rgb)


def _row(pool: Pool, bed: Bed, rate: float, repeat: int, order: Sequence[Passage], contaminated: bool) -> Sample:
    kinds = "".join(passage.kind for passage in order)
    metadata: dict[str, Any] = {
        **{name: value for name, value in pool.metadata.items() if name != WHY_NO_ERROR},
        "bed": bed,
        # The share of noise; it differs from the requested rate if there are too few passages of one kind.
        "rate": round(kinds.count("-") / len(kinds), 4),
        "requested_rate": rate,
        "repeat": repeat,
        "question_id": pool.id,
        "passages": kinds,
        # An answer that should be declined has no right answer to be compared with.
        RIGHT if bed == "rejection" else NEEDED: pool.answers,
    }
    if contaminated:
        metadata["contaminated"] = True
    if "!" in kinds:
        metadata[PLANTED] = pool.fake
    contexts = _named([passage.chunk for passage in order])
    relevance = {str(chunk.id): 1.0 for chunk, passage in zip(contexts, order, strict=True) if passage.kind == "+"}
    return Sample(
        id=f"{pool.id}|{bed}|{rate:g}|{repeat}",
        question=pool.question,
        contexts=contexts,
        relevance=relevance or None,
        references=None if bed == "rejection" else pool.references,
        answerable=None if bed == "counterfactual" else "+" in kinds,
        metadata=metadata,
    )


def _named(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Chunks with unique ids; passages of several questions may share an id."""
    seen: set[str] = set()
    named = []
    for position, chunk in enumerate(chunks, start=1):
        name = chunk.id or f"#{position}"
        name = f"{name}#{position}" if name in seen else name
        seen.add(name)
        named.append(replace(chunk, id=name))
    return named
