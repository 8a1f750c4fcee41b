"""Metrics that rate a part of the system, their values in a run, and the estimated human score behind a judge's means.

The metrics declare their limits and their advice: `@metric(good=..., advice=...)`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from ragstone.analysis.cause_names import SystemPart
from ragstone.data.summary import SummaryRow
from ragstone.registry import CATALOGUE
from ragstone.registry.specs import Direction, Threshold
from ragstone.stats.judge_error import People
from ragstone.storage.run_info import MetricInfo, RunInfo

# Fewer rows give no verdict: the interval of 0 of 1 ends at 0.79, below a limit of 0.8.
LEAST_ROWS = 10
# An interval that just touches the limit excludes it every second time; this many times the rows do in 80 %.
_LIKELY = ((1.96 + 0.84) / 1.96) ** 2
PARTS: tuple[SystemPart, SystemPart] = ("retriever", "generator")
State = Literal["good", "bad", "seems good", "seems bad", "unclear", ""]


@dataclass(frozen=True)
class Sign:
    """A metric that rates a part, with the value from which it is good."""

    metric: str
    part: SystemPart
    limit: float
    advice: str = ""
    better: Literal["higher", "lower", "none"] = "higher"
    # Whether a bad value means that its part limits quality, or only leads to advice.
    decides: bool = True
    unless: tuple[str, ...] = ()  # Ignored if the run has one of these more informative metrics.
    share_of_chunks: bool = False
    order: int = Threshold.order  # That of a user's metric; those of Ragstone come before.


def list_signs(metrics: Iterable[MetricInfo] = ()) -> list[Sign]:
    """The metrics that declare when they are good, those of the retriever first.

    `metrics` of a run are added if the catalogue does not have them: their metrics file is not loaded.
    """
    known = list(CATALOGUE.metrics())
    signs = [_sign(spec.name, spec.judges, spec.good, spec.advice, spec.better) for spec in known if spec.good]
    names = {spec.name for spec in known}
    for metric in metrics:
        if metric.metric not in names and (good := _read_good(metric.get("good"))):
            judges, advice = str(metric.get("judges")), str(metric.get("advice") or "")
            signs.append(_sign(metric.metric, judges, good, advice, cast(Direction, metric.better)))
    return sorted(signs, key=lambda sign: (PARTS.index(sign.part), sign.order))


def _sign(name: str, judges: str, good: Threshold, advice: str, better: Direction) -> Sign:
    part: SystemPart = "retriever" if judges in ("contexts", "ranking") else "generator"
    decides = good.decides and better != "none"
    return Sign(name, part, good.limit, advice, better, decides, tuple(good.unless), good.share_of_chunks, good.order)


def _read_good(stored: Any) -> Threshold | None:
    """The limit that run.json has; None in runs of earlier versions and if it is not valid."""
    try:
        return Threshold(**stored)
    except TypeError:
        return None


@dataclass(frozen=True)
class Reading:
    """The value of a sign in a run."""

    sign: Sign
    mean: float
    low: float | None
    high: float | None
    rows: int
    # Whether it comes from the local judge alone: then it never is sure.
    local: bool = False
    # The estimated human score, if the judge's error on the metric was measured.
    people: People | None = None
    # Whether the language model that checked the claims is at chance: then it never is sure either.
    doubted: bool = False
    # Rows whose verdict is unknown, and whether the local judge decided some of the others: then it never is sure.
    unknown: int = 0
    guessed: bool = False

    @property
    def state(self) -> State:
        """Good or bad if the whole interval is on one side of the limit, otherwise "seems".

        If the error of a language model was measured, the interval of the estimated human score counts. By the local judge
        alone it is "seems" if the whole of that interval is on one side, otherwise "unclear". It is "unclear" too if unknown
        rows decide. Empty without a direction, and for too few rows.
        """
        if self.sign.better == "none" or self.too_few:
            return ""
        if self.local:
            sides = {self._is_good(end) for end in self.people.interval()} if self.people else set()
            return "unclear" if len(sides) != 1 else "seems good" if sides == {True} else "seems bad"
        if len({self._is_good(end) for end in self._with_unknown()}) > 1:
            return "unclear"
        good = self._is_good(self.people.mean if self.people else self.mean)
        ends = [end for end in (self.people.interval() if self.people else (self.low, self.high)) if end is not None]
        if not (self.doubted or self.guessed) and len(ends) == 2 and all(self._is_good(end) == good for end in ends):
            return "good" if good else "bad"
        return "seems good" if good else "seems bad"

    @property
    def decides(self) -> bool:
        """Whether it rates its part: not if its error is unknown."""
        return self.sign.decides and (not self.local or self.people is not None)

    @property
    def chance_of_good(self) -> float | None:
        """The probability that the human score is good; None if it is not a mean of a judge with a known error."""
        if self.people is None or self.sign.better == "none":
            return None
        ends = (self.sign.limit, 1.0) if self.sign.better == "higher" else (0.0, self.sign.limit)
        return self.people.chance_between(*ends)

    @property
    def too_few(self) -> bool:
        """Whether there are too few rows for a verdict."""
        return self.rows < LEAST_ROWS

    def _with_unknown(self) -> tuple[float, float]:
        """The mean if all unknown rows were 0, and if all were 1."""
        rows, total = self.rows + self.unknown, self.rows * self.mean
        return (total / rows, (total + self.unknown) / rows) if self.unknown else (self.mean, self.mean)

    @property
    def rows_to_be_sure(self) -> int | None:
        """The approximate number of rows that probably (80 %) excludes the limit; None if unknown."""
        if self.low is None or self.high is None or self.mean == self.sign.limit:
            return None
        reach = (self.high - self.low) / 2
        needed = _LIKELY * self.rows * max(1.0, reach / abs(self.mean - self.sign.limit)) ** 2
        return int(float(f"{needed:.2g}"))

    def _is_good(self, value: float) -> bool:
        return value >= self.sign.limit if self.sign.better == "higher" else value <= self.sign.limit

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "metric": self.sign.metric,
            "part": self.sign.part,
            "mean": self.mean,
            "ci_low": self.low,
            "ci_high": self.high,
            "rows": self.rows,
            "limit": None if self.sign.better == "none" else self.sign.limit,
            "better": self.sign.better,
            "state": self.state,
            "local_judge": self.local,
            "doubted_judge": self.doubted,
            "people": None if self.people is None else dict(zip(("low", "high"), self.people.interval(), strict=True)),
            "probability_of_good": self.chance_of_good,
        }


def read_signs(
    rows: Mapping[str, SummaryRow],
    attainable: float | None = None,
    local: Collection[str] = (),
    people: Mapping[str, People] | None = None,
    doubted: Collection[str] = (),
    metrics: Iterable[MetricInfo] = (),
) -> list[Reading]:
    """The signs that a run has metrics for; `attainable` is the largest share of useful chunks.

    Metrics in `local` come from the local judge alone; `people` has the estimated human scores of metrics of judges. Those in `doubted`
    come from a language model that is at chance. `metrics` are those of the run.
    """
    there = {name for name, row in rows.items() if row.mean is not None}
    likely = people or {}
    return [
        Reading(
            _within_reach(sign, attainable),
            row.mean,
            row.ci_low,
            row.ci_high,
            row.n_ok,
            sign.metric in local,
            likely.get(sign.metric),
            sign.metric in doubted,
        )
        for sign in list_signs(metrics)
        if there.isdisjoint(sign.unless) and (row := rows.get(sign.metric)) and row.mean is not None
    ]


def _within_reach(sign: Sign, attainable: float | None) -> Sign:
    if not sign.share_of_chunks or attainable is None:
        return sign
    return replace(sign, limit=min(sign.limit, round(attainable / 2, 3)))


NOT_MEASURED = "this metric of the judge was not checked against labels"


def people_of(info: RunInfo, rows: Iterable[SummaryRow]) -> dict[str, People]:
    """The estimated human score per metric whose error was measured: on other domains, by labels or by the exam."""
    found = {}
    for row in rows:
        error = info.judge_error.get(row.metric)
        if error and row.mean is not None and row.ci_low is not None and row.ci_high is not None:
            coverage = error.coverage_in(info.raw.get("totals") or {})
            found[row.metric] = error.people(row.mean, row.ci_low, row.ci_high, coverage)
    return found


def people_dict(info: RunInfo, row: SummaryRow) -> dict[str, Any] | None:
    """The same for JSON: mean and interval, or why there is none; None for metrics without the local judge."""
    if people := people_of(info, [row]).get(row.metric):
        low, high = people.interval()
        return {"mean": people.mean, "low": low, "high": high}
    metric = info.metric(row.metric)
    if metric is None or not metric.signature.is_local:
        return None
    reason = NOT_MEASURED if row.metric not in info.judge_error else "there are too few scores"
    return {"mean": None, "low": None, "high": None, "reason": reason}
