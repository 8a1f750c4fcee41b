"""How far the judge agrees with the labels of people in a store: kappa, Somers' D, a calibration curve and estimated means."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ragstone.agreement.metric_agreement import LEAST_SHARED
from ragstone.agreement.stored_labels import Drawn, drawn_rows
from ragstone.analysis.causes import find_causes
from ragstone.analysis.sample_evidence import read_cases_at
from ragstone.stats.correlation import make_correlation
from ragstone.stats.intervals import Interval
from ragstone.stats.ppi import LEAST_LABELS, Powered, powered_rounds
from ragstone.stats.ppi import Rows as AllRows
from ragstone.stats.rater_agreement import make_kappa
from ragstone.stats.resampled_measures import estimate
from ragstone.storage.human_labels import HumanLabel, mean_label
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import Run
from ragstone.storage.scores import Scores
from ragstone.views.phrases import counted

STATUS = "status"
# The half width of an interval that is worth more labels.
WANTED = 0.05
_BINS = 5
_LEAST_IN_BIN = 3
_MOST_DISAGREEMENTS = 20
# The judge and people differ by at least this much.
_APART = 0.5


@dataclass(frozen=True)
class Person:
    """The labels of one person, counted."""

    author: str
    right: int
    partly: int
    wrong: int
    skipped: int
    claims: int
    # Of the labelled claims, those on which the judge is right.
    agreed: int


@dataclass(frozen=True)
class Bin:
    """Rows of similar predicted probability: its mean, the share that people call wrong, and the number of rows."""

    predicted: float
    labelled: float
    rows: int


@dataclass(frozen=True)
class JudgeAgreement:
    """The agreement of the status or a metric with people, and the estimated mean label of all rows; both need 30 labels."""

    name: str
    rows: int
    kappa: float | None
    kappa_interval: Interval | None
    somers: float | None
    somers_interval: Interval | None
    mean: float | None
    mean_interval: Interval | None
    # Labels that would narrow the interval to ±0.05, if there are enough for an interval; otherwise those that are missing for one.
    more: int
    is_known: bool


@dataclass(frozen=True)
class Disagreement:
    """A row of which people and judge think differently, row number from 0."""

    row: int
    predicted: float
    labels: tuple[HumanLabel, ...]


@dataclass(frozen=True)
class LabelPoint:
    """A labelled row from 0: the judge's score (x), the mean label (y), and whether they are less than half apart."""

    row: int
    x: float
    y: float
    agrees: bool


@dataclass(frozen=True)
class LabelAgreement:
    """All that the labels of a run show."""

    labels: int
    rows: int
    # Labelled rows that were drawn, and whether in random order.
    drawn: int
    is_random: bool
    people: tuple[Person, ...]
    kappas: tuple[tuple[str, str, int, float], ...]
    judges: tuple[JudgeAgreement, ...]
    # The scores of one of the judges.
    shown: str
    points: tuple[LabelPoint, ...]
    curve: tuple[Bin, ...]
    disagreements: tuple[Disagreement, ...]
    divided: tuple[int, ...]
    # What is missing, and what would help.
    notes: tuple[str, ...]


Rows = Mapping[int, tuple[HumanLabel, ...]]


def measure_labels(
    run: Run,
    rows: Rows,
    chances: Sequence[float | None],
    scores: Mapping[str, Scores],
    labels: Sequence[HumanLabel] = (),
    shown: str = STATUS,
) -> LabelAgreement:
    """The agreement for the labelled rows of a run; `chances` are the probabilities that a row is wrong, by the diagnosis.

    `labels` are counted by person; they include those of claims and skipped answers. `shown` is the status or a metric.
    """
    order = sorted(rows)
    said = np.array([mean_label(rows[row]) or 0.0 for row in order])
    drawn = drawn_rows(run)
    judged = _by_the_judge(run, order)
    wrong = np.array(
        [np.nan if chance is None else chance for chance in chances] + [np.nan] * (run.info.rows - len(chances))
    )
    wrong[order] = judged
    columns = {STATUS: 1.0 - wrong} | dict(_metrics(run.info.metrics, scores))
    sample = _Sample(np.array(order, dtype=np.int64), said, drawn)
    judges = tuple(_agreement(name, values, sample) for name, values in columns.items())
    apart = sorted(
        (row for row in zip(order, judged, said, strict=True) if abs(1 - row[2] - row[1]) >= _APART),
        key=lambda row: -abs(1 - row[2] - row[1]),
    )
    return LabelAgreement(
        labels=sum(map(len, rows.values())),
        rows=len(order),
        drawn=drawn.count,
        is_random=not (drawn.rounds > 0).any(),
        people=tuple(count_people(labels or [one for some in rows.values() for one in some])),
        kappas=tuple(_kappas(rows)),
        judges=judges,
        shown=(shown := shown if shown in columns else STATUS),
        points=tuple(
            LabelPoint(row, float(score), label, bool(abs(score - label) < _APART))
            for row, score, label in zip(order, columns[shown][order], said.tolist(), strict=True)
            if not np.isnan(score)
        ),
        curve=tuple(calibration_curve(judged, 1.0 - said)),
        disagreements=tuple(
            Disagreement(row, float(chance), rows[row]) for row, chance, _ in apart[:_MOST_DISAGREEMENTS]
        ),
        divided=tuple(row for row in order if len({one.value for one in rows[row]}) > 1),
        notes=tuple(_notes(rows, judges, sample, judged)),
    )


@dataclass(frozen=True)
class _Sample:
    rows: np.ndarray
    said: np.ndarray
    drawn: Drawn

    def mean(self, values: np.ndarray) -> Powered | None:
        """The estimated mean label of the rows with a value."""
        labels = np.full(len(values), np.nan)
        labels[self.rows] = self.said
        rows = AllRows(values, labels, self.drawn.rounds, self.drawn.chances)
        return powered_rounds(rows.take(~np.isnan(values)))


def _by_the_judge(run: Run, rows: Sequence[int]) -> np.ndarray:
    """The probability that each row is wrong without the labels of people; nan if there is none."""
    cases = read_cases_at(run, rows)
    plain = (replace(cases[row], evidence=cases[row].judged or cases[row].evidence, labels=()) for row in rows)
    found = [find_causes(case).wrong for case in plain]
    return np.array([np.nan if chance is None else chance for chance in found])


def _metrics(metrics: Sequence[MetricInfo], scores: Mapping[str, Scores]) -> Iterator[tuple[str, np.ndarray]]:
    """The metrics of a judge that are shares, as shares of what is good."""
    for metric in metrics:
        if metric.is_judged and tuple(metric.bounds) == (0, 1) and metric.better in ("higher", "lower"):
            values = scores[metric.metric].values
            yield metric.metric, 1.0 - values if metric.better == "lower" else values


def _agreement(name: str, values: np.ndarray, sample: _Sample) -> JudgeAgreement:
    here = values[sample.rows]
    there = ~np.isnan(here)
    rows = int(there.sum())
    powered = sample.mean(values) if rows >= LEAST_LABELS else None
    if powered is None or powered.labels < LEAST_LABELS:
        more = LEAST_LABELS - (powered.labels if powered else rows)
        return JudgeAgreement(name, rows, None, None, None, None, None, None, more, is_known=False)
    said, known, groups = sample.said[there], here[there], sample.rows[there]
    clear = said != 0.5
    both = len(np.unique(said[clear] > 0.5)) > 1
    kappa = (
        _estimate(make_kappa((said[clear] > 0.5) * 1.0, (known[clear] >= 0.5) * 1.0), groups[clear]) if both else None
    )
    somers = _estimate(make_correlation(known, said, "somers"), groups) if len(np.unique(said)) > 1 else None
    low, high = (min(max(end, 0.0), 1.0) for end in powered.interval)
    return JudgeAgreement(
        name,
        rows,
        *(kappa or (None, None)),
        *(somers or (None, None)),
        mean=min(max(powered.mean, 0.0), 1.0),
        mean_interval=Interval(low, high),
        more=labels_wanted(powered.interval, powered.labels, powered.rows),
        is_known=True,
    )


def _estimate(measure: object, groups: np.ndarray) -> tuple[float | None, Interval | None]:
    found = estimate(measure, groups)  # type: ignore[arg-type]
    return found.value, found.interval


def labels_wanted(interval: Interval, labels: int, rows: int) -> int:
    """How many more labels narrow an interval to ±0.05: its width falls with the square root of their number."""
    half = (interval.high - interval.low) / 2
    return max(0, min(rows, math.ceil(labels * (half / WANTED) ** 2)) - labels) if half > WANTED else 0


def calibration_curve(predicted: np.ndarray, labelled: np.ndarray) -> Iterator[Bin]:
    """Rows in groups of similar probability, about as many in each; equal probabilities are in one group."""
    known = ~np.isnan(predicted)
    predicted, labelled = predicted[known], labelled[known]
    groups = max(1, min(_BINS, len(predicted) // _LEAST_IN_BIN))
    edges = np.unique(np.quantile(predicted, np.arange(1, groups) / groups)) if len(predicted) else np.array([])
    codes = np.searchsorted(edges, predicted, side="right")
    for code in np.unique(codes):
        part = codes == code
        yield Bin(float(predicted[part].mean()), float(labelled[part].mean()), int(part.sum()))


def count_people(labels: Sequence[HumanLabel]) -> Iterator[Person]:
    """The labels of each person, most first."""
    names = {one.author: [other for other in labels if other.author == one.author] for one in labels}
    for name, mine in sorted(names.items(), key=lambda pair: -len(pair[1])):
        values = Counter(one.value for one in mine if one.kind == "answer")
        claims = [one for one in mine if one.kind == "claim"]
        counts = (values["right"], values["partly"], values["wrong"], values["skipped"])
        yield Person(name, *counts, len(claims), sum(one.value == one.judged for one in claims))


def _kappas(rows: Rows) -> Iterator[tuple[str, str, int, float]]:
    """Cohen's kappa of each two people who labelled enough of the same rows."""
    scores = [{one.author: one.score for one in some} for some in rows.values()]
    for first, second in combinations(sorted({name for some in scores for name in some}), 2):
        pairs = np.array(
            [(some[first], some[second]) for some in scores if first in some and second in some], dtype=float
        )
        if len(pairs) >= LEAST_SHARED:
            value, _ = _estimate(make_kappa(pairs[:, 0], pairs[:, 1]), np.arange(len(pairs)))
            if value is not None:
                yield first, second, len(pairs), value


def _notes(rows: Rows, judges: Sequence[JudgeAgreement], sample: _Sample, judged: np.ndarray) -> Iterator[str]:
    if len(rows) < LEAST_LABELS:
        yield f"{counted(len(rows), 'row')} labelled. Kappa, Somers' D and estimated means need at least {LEAST_LABELS}."
    if not len(np.unique(sample.said[sample.said != 0.5] > 0.5)) > 1:
        yield "Kappa and Somers' D need answers that are labelled right and answers that are labelled wrong."
    if by_hand := sample.drawn.by_hand:
        yield f"{by_hand} of {counted(len(rows), 'labelled row')} were not chosen at random. " + (
            "The estimated means leave them out."
            if sample.drawn.is_drawn
            else "The estimated means are about all rows only if rows are labelled in random order."
        )
    if not any(len(some) > 1 for some in rows.values()):
        yield "No answer has labels of two people, so their agreement is unknown."
    if np.isnan(judged).all():
        yield "The run has no judgement of these rows, so there is no calibration curve."
    if len(judges) == 1:
        yield "The run has no metrics of a judge. Only the status is compared."
