"""Which part limits the quality of a system, and why its samples fail: from a stored run, nothing is asked again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ragstone.compare.cases import is_local, read_cases, trusts_facts
from ragstone.compare.causes import find_causes
from ragstone.compare.findings import CAUSES, Cause, Outcome, Part
from ragstone.compare.signs import CAUSE_ADVICE, RIGHT_WITH_FACTS, Reading, State, read_signs
from ragstone.compare.store import Store
from ragstone.data.summary import ALL
from ragstone.stats.intervals import mean_interval
from ragstone.storage.runs import Run

Limits = Literal["retriever", "generator", "both", "neither", "unknown"]
_PARTS: tuple[Part, Part] = ("retriever", "generator")
_WORST_FIRST: tuple[State, ...] = ("bad", "seems bad", "seems good", "good")


@dataclass(frozen=True)
class CauseCount:
    """How often a cause was found: samples of which it is the main one, samples that have it, claims or facts."""

    cause: Cause
    main: int
    samples: int
    items: int
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Advice:
    """What to do, and the numbers or the cause that say so; not sure where all intervals reach over their limits."""

    text: str
    because: tuple[Reading | CauseCount, ...]
    sure: bool = True


@dataclass(frozen=True)
class Diagnosis:
    """What limits quality, the numbers, the causes and the advice."""

    limits: Limits
    sure: bool
    parts: Mapping[Part, State]
    readings: tuple[Reading, ...]
    causes: tuple[CauseCount, ...]
    advice: tuple[Advice, ...]
    outcomes: tuple[Outcome, ...] = field(repr=False)
    samples: int
    looked_at: int
    undecided: Counter[str]
    # Of the reference claims: said, retrieved but not said, not retrieved.
    tally: Counter[str]

    @property
    def failing(self) -> int:
        """How many of the samples looked at fail."""
        return sum(outcome.cause is not None for outcome in self.outcomes)

    @property
    def decided(self) -> int:
        """How many samples there was something to go by for."""
        return self.looked_at - self.undecided.total()

    def blamed(self, part: Part) -> int:
        """How many samples fail mainly by a part."""
        return sum(outcome.cause is not None and outcome.cause.part == part for outcome in self.outcomes)


def diagnose(run: Run, most: int | None = None, store: Store | None = None, texts: bool = True) -> Diagnosis:
    """Look into a run; into the causes of at most so many of its samples, their texts kept or only counted."""
    found = (find_causes(case, store) for case in read_cases(run, most))
    outcomes = tuple(found if texts else (outcome.without_texts() for outcome in found))
    left_out = {metric["metric"] for metric in run.info["metrics"] if is_local(metric)} if trusts_facts(run) else set()
    rows = {row.metric: row for row in run.summary() if row.slice == ALL and row.metric not in left_out}
    readings = read_signs(rows)
    if not any(reading.sign.decides and reading.sign.part == "generator" for reading in readings):
        readings += _right_with_facts(outcomes)
    parts = judge_parts(readings)
    limits, sure = find_limits(parts)
    causes = count_causes(outcomes)
    return Diagnosis(
        limits=limits,
        sure=sure,
        parts=parts,
        readings=tuple(readings),
        causes=tuple(causes),
        advice=tuple(give_advice(readings, causes)),
        outcomes=outcomes,
        samples=int(run.info["dataset"]["rows"]),
        looked_at=len(outcomes),
        undecided=Counter(outcome.undecided for outcome in outcomes if outcome.undecided),
        tally=sum((Counter(outcome.tally) for outcome in outcomes if outcome.tally), Counter()),
    )


def judge_parts(readings: Sequence[Reading]) -> dict[Part, State]:
    """The state of each part: that of its worst number; one that is surely bad weighs more than one that seems so."""
    states: dict[Part, State] = {}
    for part in _PARTS:
        found = {reading.state for reading in readings if reading.sign.decides and reading.sign.part == part}
        states[part] = next((state for state in _WORST_FIRST if state in found), "")
    return states


def find_limits(parts: Mapping[Part, State]) -> tuple[Limits, bool]:
    """What limits quality, and whether that is sure: parts that are surely bad or, if there are none, that seem so."""
    for state, sure in (("bad", True), ("seems bad", False)):
        bad = [part for part in _PARTS if parts[part] == state]
        if bad:
            return bad[0] if len(bad) == 1 else "both", sure
    if all(parts.values()):
        return "neither", all(state == "good" for state in parts.values())
    return "unknown", False


def count_causes(outcomes: Iterable[Outcome]) -> list[CauseCount]:
    """The causes found, those that fail most samples first; what is only worth knowing comes last."""
    main: Counter[str] = Counter()
    items: Counter[str] = Counter()
    where: dict[str, list[str]] = {}
    first: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.cause:
            main[outcome.cause.name] += 1
            first.setdefault(outcome.cause.name, []).append(outcome.sample_id)
        for name, count in Counter(finding.cause.name for finding in outcome.findings).items():
            items[name] += count
            where.setdefault(name, []).append(outcome.sample_id)
    order = sorted(items, key=lambda name: (not CAUSES[name].fails, -main[name], -len(where[name])))
    return [
        CauseCount(
            CAUSES[name],
            main[name],
            len(where[name]),
            items[name],
            tuple(dict.fromkeys(first.get(name, []) + where[name])),
        )
        for name in order
    ]


def give_advice(readings: Iterable[Reading], causes: Iterable[CauseCount]) -> list[Advice]:
    """Each piece of advice once, with all that calls for it: numbers that are bad or seem so, then causes."""
    found: dict[str, list[Reading]] = {}
    for reading in readings:
        if reading.state in ("bad", "seems bad"):
            found.setdefault(reading.sign.advice, []).append(reading)
    advice = [Advice(text, tuple(why), any(r.state == "bad" for r in why)) for text, why in found.items()]
    by_cause = [Advice(CAUSE_ADVICE[one.cause.name], (one,)) for one in causes if one.cause.name in CAUSE_ADVICE]
    return sorted(advice, key=lambda item: not item.sure) + by_cause


def _right_with_facts(outcomes: Iterable[Outcome]) -> list[Reading]:
    """Without a judge: how often the answer seems right where the chunks have all facts."""
    right = np.array([outcome.seems_right for outcome in outcomes if outcome.seems_right is not None], dtype=float)
    interval = mean_interval(right, bounds=(0.0, 1.0))
    if interval is None:
        return []
    return [Reading(RIGHT_WITH_FACTS, float(right.mean()), interval.low, interval.high, len(right))]
