"""Diagnosis of a stored run: which part limits quality, and why samples fail. No model is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.analysis.cause_names import (
    CAUSE_ADVICE,
    CAUSES,
    CERTAIN,
    HALLUCINATED,
    IGNORED,
    MISSED,
    MISSING,
    NOISE,
    Cause,
    Outcome,
    SystemPart,
)
from ragstone.analysis.causes import NOTHING_TO_GO_BY, find_causes
from ragstone.analysis.indexed_corpus import Store
from ragstone.analysis.part_metrics import PARTS, Reading, Sign, State, people_of, read_signs
from ragstone.analysis.sample_evidence import Case, read_cases, read_cases_at, trusts_facts
from ragstone.data.summary import ALL
from ragstone.engine.results import VERDICTS_PER_CLAIM
from ragstone.errors import RagstoneError
from ragstone.metrics.ragchecker import GROUND, REASON_FIRST, USE
from ragstone.metrics.retrieval import FEWER, FIND_MORE
from ragstone.registry.specs import Threshold
from ragstone.stats.intervals import mean_interval
from ragstone.storage.runs import Run, read_batches

_LACKING = "a part of its verdicts is missing"

# Not a metric of the run: counted from the causes if there is no judge.
RIGHT_WITH_FACTS = Sign("right answers, given the facts", "generator", 0.8, USE)
# Advice of metrics by cause: given if a metric calls for it, or for the main cause.
_METRIC_ADVICE = {
    MISSING.name: FIND_MORE,
    MISSED.name: FIND_MORE,
    IGNORED.name: USE,
    NOISE.name: REASON_FIRST,
    HALLUCINATED.name: GROUND,
}


def attainable_precision(case: Case) -> float | None:
    """The largest share of useful chunks with this many chunks: one per relevant chunk, fact or reference claim."""
    sample, chunks = case.sample, len(case.sample.contexts or ())
    relevant = sum(grade > 0 for grade in (sample.relevance or {}).values()) or len(sample.reference_contexts or ())
    needed = relevant or len(sample.facts or ()) or len(case.claims("reference"))
    return min(1.0, needed / chunks) if needed and chunks else None


Limits = Literal["retriever", "generator", "both", "neither", "unknown"]
_VERDICTS = frozenset((*VERDICTS_PER_CLAIM, "answer_claims_in_contexts", "fact_ranks"))
_WORST_FIRST: tuple[State, ...] = ("bad", "seems bad", "unclear", "seems good", "good")


@dataclass(frozen=True)
class CauseCount:
    """Counts of a cause: samples with it as the main cause, samples with it, and claims or facts."""

    cause: Cause
    main: int
    samples: int
    items: int
    examples: tuple[str, ...]
    # The mean over its samples; None if the verdicts have no probabilities.
    probability: float | None = None
    # Of the samples with it as the main cause, those that are wrong; the others need a look.
    wrong: int = 0

    @property
    def look(self) -> int:
        """Samples with it as the main cause that only need a look."""
        return self.main - self.wrong

    @property
    def shown(self) -> int:
        """Samples with it as the main cause; all samples with it if it is information, which is never a main cause."""
        return self.main if self.cause.fails else self.samples


@dataclass(frozen=True)
class Advice:
    """Advice with its reasons; not sure if every interval includes its limit."""

    text: str
    because: tuple[Reading | CauseCount, ...]
    sure: bool = True


@dataclass(frozen=True)
class Diagnosis:
    """The limiting part, its metrics, the causes and the advice."""

    limits: Limits
    sure: bool
    parts: Mapping[SystemPart, State]
    readings: tuple[Reading, ...]
    causes: tuple[CauseCount, ...]
    advice: tuple[Advice, ...]
    outcomes: tuple[Outcome, ...] = field(repr=False)
    samples: int
    looked_at: int
    undecided: Counter[str]
    # Counts of reference claims: stated, retrieved but not stated, not retrieved, and unsure.
    tally: Counter[str]
    # Whether the annotated facts are used in place of the local judge's claims.
    by_facts: bool = False
    # Whether the run has evidence that shows whether answers are right.
    has_verdicts: bool = True
    # Whether the causes come from claims of the local judge alone.
    by_local_judge: bool = False
    # Whether they come from a language model that is at chance in its exam, or goes by positions.
    by_doubted_judge: bool = False
    # The local judge's metrics, if they blame another part than the facts do.
    disagreeing: tuple[Reading, ...] = ()
    # The largest share of useful chunks that the numbers of chunks allow, on average and of the samples that have one.
    attainable: float | None = None
    attainable_shares: Sequence[float] = field(default=(), repr=False)

    @property
    def has_content(self) -> bool:
        """Whether the run shows anything about its parts or its samples."""
        return self.limits != "unknown" or bool(self.causes)

    @property
    def faulty(self) -> dict[int, float]:
        """The row numbers, from 0, of the inspected samples that are wrong or need a look, with that probability."""
        rows = enumerate(self.outcomes)
        return {row: 1.0 if one.wrong is None else one.wrong for row, one in rows if one.cause or one.status == "look"}

    @property
    def statuses(self) -> Counter[str]:
        """The number of inspected samples by status."""
        return Counter(outcome.status for outcome in self.outcomes)

    @property
    def failing(self) -> int:
        """The number of inspected samples that are wrong."""
        return self.statuses["wrong"]

    @property
    def decided(self) -> int:
        """The number of inspected samples with enough evidence."""
        return self.looked_at - self.undecided.total()

    def blamed(self, part: SystemPart) -> int:
        """The number of failing samples whose main cause belongs to a part."""
        found = (outcome.cause for outcome in self.outcomes if outcome.status != "look")
        return sum(cause is not None and cause.part == part for cause in found)


def diagnose(
    run: Run,
    most: int | None = None,
    store: Store | None = None,
    texts: bool = True,
    progress: Callable[[int], object] | None = None,
    known: Diagnosis | None = None,
) -> Diagnosis:
    """Diagnose a run from at most `most` samples; without `texts`, findings are only counted.

    `progress` is called with the number of inspected samples. The first samples may be `known`; they are not read again.
    """
    done = known.outcomes if known else ()
    found: list[Outcome] = []
    shares = list(known.attainable_shares) if known else []
    for case in read_cases(run, len(done), most, texts):
        if progress:
            progress(len(done) + len(found))
        outcome = find_causes(case, store)
        found.append(outcome if texts else outcome.without_texts())
        if (share := attainable_precision(case)) is not None:
            shares.append(share)
    return conclude(run, (*done, *with_reasons(run, found)), shares)


def count_statuses(run: Run) -> dict[str, int]:
    """The rows by status; empty if the run cannot be diagnosed, so that a list shows the other runs."""
    with suppress(RagstoneError):
        return dict(diagnose(run, texts=False).statuses)
    return {}


def conclude(run: Run, outcomes: tuple[Outcome, ...], shares: Sequence[float]) -> Diagnosis:
    """The diagnosis by the outcomes of the samples and the attainable precision of those that have one."""
    attainable, tally = float(np.mean(shares)) if shares else None, Counter[str]()
    for outcome in outcomes:
        tally.update(outcome.tally or {})
    local = {metric.metric for metric in run.info.metrics if metric.signature.is_local}
    by_facts = trusts_facts(run)
    everything = {row.metric: row for row in run.summary() if row.slice == ALL}
    rows = {name: row for name, row in everything.items() if not by_facts or name not in local}
    people = people_of(run.info, everything.values())
    # Of a language model that is at chance in its exam, or goes by positions
    doubted = {metric.metric for metric in run.info.metrics if metric.signature.llms and run.info.doubts_judge}
    readings = read_signs(rows, attainable, local, people, doubted, run.info.metrics)
    ours = [reading.sign for reading in readings if reading.sign.order < Threshold.order]
    if not any(sign.decides and sign.part == "generator" for sign in ours):
        readings += _right_with_facts(outcomes)
    others = read_signs({name: everything[name] for name in local & everything.keys()}, attainable, local, people)
    if by_facts:
        # Facts that tell nothing about a part, such as those of a few rows, do not hide what the local judge says of it.
        readings += _of_other_parts(readings, others)
    parts = judge_parts(readings)
    limits, sure = find_limits(parts)
    if limits == "neither" and not sure and 2 * sum(bool(outcome.cause) for outcome in outcomes) > len(outcomes):
        # The metrics of this run see no fault, but most samples have one: a true answer may answer another question.
        limits = "unknown"
    causes = count_causes(outcomes)
    by_claims = not by_facts and any(outcome.seen_by == "claims" for outcome in outcomes)
    return Diagnosis(
        limits=limits,
        sure=sure,
        parts=parts,
        readings=tuple(readings),
        causes=tuple(causes),
        advice=tuple(give_advice(readings, causes, bool(local or doubted) and by_claims)),
        outcomes=outcomes,
        samples=run.info.rows,
        looked_at=len(outcomes),
        undecided=Counter(outcome.undecided for outcome in outcomes if outcome.undecided),
        # As in a sum of counters, kinds without a claim are left out. Where facts decide, few rows have one.
        tally=Counter() if by_facts else +tally,
        by_facts=by_facts,
        has_verdicts=not _VERDICTS.isdisjoint(run.info.evidence),
        by_local_judge=bool(local) and by_claims,
        by_doubted_judge=bool(doubted) and by_claims,
        disagreeing=_disagreeing(parts, others) if by_facts else (),
        attainable=attainable,
        attainable_shares=shares,
    )


def update_rows(run: Run, diagnosis: Diagnosis, rows: Collection[int]) -> Diagnosis:
    """The diagnosis after labels of these rows changed, row numbers from 0. The other samples are not read again."""
    known = list(diagnosis.outcomes)
    inspected = [row for row in rows if row < len(known)]
    found = {row: find_causes(case).without_texts() for row, case in read_cases_at(run, inspected).items()}
    for row, outcome in zip(found, with_reasons(run, found.values()), strict=True):
        known[row] = outcome
    return conclude(run, tuple(known), diagnosis.attainable_shares)


def _of_other_parts(readings: Sequence[Reading], others: Sequence[Reading]) -> list[Reading]:
    """The other readings, of the parts that have no reading with enough rows."""
    rated = {reading.sign.part for reading in readings if reading.decides and not reading.too_few}
    return [reading for reading in others if reading.sign.part not in rated]


def _disagreeing(parts: Mapping[SystemPart, State], others: Sequence[Reading]) -> tuple[Reading, ...]:
    """The local judge's readings that are good where the part is bad by the facts, or the other way round."""
    return tuple(
        reading
        for reading in others
        if reading.decides
        and reading.state not in ("", "unclear")
        and parts[reading.sign.part]
        and reading.state.endswith("bad") != parts[reading.sign.part].endswith("bad")
    )


def judge_parts(readings: Sequence[Reading]) -> dict[SystemPart, State]:
    """The state of each part: the worst state of its metrics; "bad" is worse than "seems bad"."""
    states: dict[SystemPart, State] = {}
    for part in PARTS:
        found = {reading.state for reading in readings if reading.decides and reading.sign.part == part}
        states[part] = next((state for state in _WORST_FIRST if state in found), "")
    return states


def find_limits(parts: Mapping[SystemPart, State]) -> tuple[Limits, bool]:
    """The limiting part and whether this is sure: parts that are bad, otherwise parts that seem bad."""
    for state, sure in (("bad", True), ("seems bad", False)):
        bad = [part for part in PARTS if parts[part] == state]
        if bad:
            return bad[0] if len(bad) == 1 else "both", sure
    if all(state not in ("", "unclear") for state in parts.values()):
        return "neither", all(state == "good" for state in parts.values())
    return "unknown", False


def count_causes(outcomes: Iterable[Outcome]) -> list[CauseCount]:
    """The causes, most failing samples first, then most to look at; causes that are not failures come last."""
    main: Counter[str] = Counter()
    items: Counter[str] = Counter()
    where: dict[str, list[str]] = {}
    chances: dict[str, list[float]] = {}
    first: dict[str, list[str]] = {}
    wrong: Counter[str] = Counter()
    meant: dict[str, set[Cause]] = {}
    for outcome in outcomes:
        if outcome.cause:
            main[outcome.cause.name] += 1
            meant.setdefault(outcome.cause.name, set()).add(outcome.cause)
            wrong[outcome.cause.name] += outcome.status != "look"
            first.setdefault(outcome.cause.name, []).append(outcome.sample_id)
        for name, count in Counter(finding.cause.name for finding in outcome.shown).items():
            items[name] += count
            where.setdefault(name, []).append(outcome.sample_id)
            if (chance := outcome.probability(name)) is not None:
                chances.setdefault(name, []).append(chance)
    # A row that is wrong without a finding, as people may label it, has a main cause and no item.
    for name in main:
        where.setdefault(name, first[name])
    order = sorted(where, key=lambda name: (not CAUSES[name].fails, -wrong[name], -main[name], -len(where[name])))
    return [
        CauseCount(
            next(iter(meant[name])) if len(meant.get(name, ())) == 1 else CAUSES[name],
            main[name],
            len(where[name]),
            items[name],
            tuple(dict.fromkeys(first.get(name, []) + where[name])),
            float(np.mean(chances[name])) if name in chances else None,
            wrong[name],
        )
        for name in order
    ]


def give_advice(readings: Iterable[Reading], causes: Sequence[CauseCount], local: bool = False) -> list[Advice]:
    """Each piece of advice once, with all its reasons: the main cause's first, then bad metrics, then other causes."""
    found: dict[str, list[Reading]] = {}
    for reading in readings:
        if reading.sign.advice and reading.state in ("bad", "seems bad"):
            found.setdefault(reading.sign.advice, []).append(reading)
    dropped = ""
    if FEWER in found and FIND_MORE in found:
        main = {one.cause.name: one.main for one in causes}
        missing = main.get(MISSING.name, 0) + main.get(MISSED.name, 0)
        dropped = FIND_MORE if main.get(NOISE.name, 0) > missing else FEWER
        del found[dropped]
    by_cause: dict[str, CauseCount] = {}
    for one in causes:
        text = CAUSE_ADVICE.get(one.cause.name) or _METRIC_ADVICE.get(one.cause.name)
        if text and text != dropped and (text in found or one.cause.name in CAUSE_ADVICE or one.main):
            by_cause[text] = one
    advice = [
        Advice(
            text,
            (*found.get(text, ()), *([by_cause[text]] if text in by_cause else [])),
            any(reading.state == "bad" for reading in found[text])
            if text in found
            else by_cause[text].cause in CERTAIN or not local,
        )
        for text in {**found, **by_cause}
    ]
    first = next((one for one in causes if one.wrong), causes[0] if causes else None)
    return sorted(
        advice,
        key=lambda item: (by_cause.get(item.text) is not first or not first, item.text not in found, not item.sure),
    )


def _right_with_facts(outcomes: Iterable[Outcome]) -> list[Reading]:
    """The share of answers that seem right if the chunks contain all facts, by the words or by the local judge too."""
    known = [outcome for outcome in outcomes if outcome.right_by]
    right = np.array([outcome.seems_right for outcome in known if outcome.seems_right is not None], dtype=float)
    interval = mean_interval(right, bounds=(0.0, 1.0))
    if interval is None:
        return []
    unknown, guessed = len(known) - len(right), any(outcome.right_by == "judge" for outcome in known)
    mean, rows = float(right.mean()), len(right)
    return [Reading(RIGHT_WITH_FACTS, mean, interval.low, interval.high, rows, unknown=unknown, guessed=guessed)]


def with_reasons(run: Run, outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """The outcomes; those without claims and facts to go by say why a judge gave no verdict, if one was asked.

    A sample without a fault that lacks verdicts which other samples have is undecided too.
    """
    known = tuple(_undecided_if_lacking(run, outcome) for outcome in outcomes)
    ids = {outcome.sample_id for outcome in known if outcome.undecided in (NOTHING_TO_GO_BY, _LACKING)}
    reasons = _read_reasons(run, ids) if ids else {}
    return tuple(
        replace(one, undecided=reasons[one.sample_id]) if one.sample_id in reasons and one.undecided else one
        for one in known
    )


def _undecided_if_lacking(run: Run, outcome: Outcome) -> Outcome:
    if outcome.cause or outcome.undecided or outcome.labelled_by:
        return outcome
    lacks = any(name in run.info.evidence for name in outcome.lacking)
    return replace(outcome, undecided=_LACKING) if lacks else outcome


def _read_reasons(run: Run, ids: Collection[str]) -> dict[str, str]:
    """The most frequent reason per sample, of the metrics that a judge decides."""
    judged = [item.metric for item in run.info.metrics if item.signature.llms or item.signature.uses_local_judge]
    found: dict[str, Counter[str]] = {}
    for batch in read_batches(run.folder.scores, ["sample_id", "metric", "status", "reason"]) if judged else ():
        is_judged = pc.is_in(batch["metric"].cast("string"), pa.array(judged))
        is_chosen = pc.is_in(batch["sample_id"].cast("string"), pa.array(list(ids)))
        has_reason = pc.not_equal(batch["status"].cast("string"), "ok")
        for cell in (
            batch.filter(pc.and_(pc.and_(is_judged, is_chosen), has_reason)).select(["sample_id", "reason"]).to_pylist()
        ):
            found.setdefault(cell["sample_id"], Counter())[cell["reason"] or ""] += 1
    return {name: reason for name, counts in found.items() if (reason := counts.most_common(1)[0][0])}
