"""Which metric agrees with people: every metric held against their labels, sorted, and compared with the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ragstone.agreement.disagreements import Disagreement, find_disagreements
from ragstone.agreement.joining import Joined
from ragstone.agreement.raters import Ceiling, measure_ceiling
from ragstone.agreement.verdicts import Verdicts, judge_verdicts
from ragstone.errors import UsageError
from ragstone.stats.correlation import COEFFICIENTS, Coefficient
from ragstone.stats.levels import LEVELS, Correlation, Level, affordable_resamples, correlate_at
from ragstone.stats.resampled import best_chances

# Below this a metric is said to agree less than the best.
ALPHA = 0.05
# So few are told in full.
FEW_METRICS = 3


@dataclass(frozen=True)
class Settings:
    """How agreement is measured."""

    coefficient: Coefficient = "spearman"
    level: Level = "dataset"
    # From where on a score means yes, where labels are yes or no; the middle of a metric's range by default.
    threshold: float | None = None
    confidence: float = 0.95
    # All three coefficients, or only the chosen one.
    full: bool = False


@dataclass(frozen=True)
class MetricAgreement:
    """One metric against people. Where lower is better its scores are turned round."""

    metric: str
    better: str
    rows: int
    correlations: Mapping[tuple[Coefficient, Level], Correlation]
    verdicts: Verdicts | None
    # How likely chance puts another so far above it if it is the best.
    p_best: float | None = None


@dataclass(frozen=True)
class Agreement:
    """All metrics, those that agree most first, and those that could not be held against people with the reason."""

    joined: Joined
    settings: Settings
    metrics: tuple[MetricAgreement, ...]
    lacking: Mapping[str, str]
    ceiling: Ceiling | None
    disagreements: tuple[Disagreement, ...] = field(default=())

    def main(self, item: MetricAgreement) -> Correlation:
        """The correlation by which metrics are sorted."""
        return item.correlations[self.settings.coefficient, self.settings.level]


def natural_coefficient(joined: Joined) -> Coefficient:
    """Spearman, or Somers' D where people said yes or no: with so many ties Spearman prefers scores that are 0 or 1 themselves."""
    said = joined.ratings[~np.isnan(joined.ratings)]
    return "somers" if np.isin(said, (0.0, 1.0)).all() else "spearman"


def measure_agreement(joined: Joined, settings: Settings, show: int = 0) -> Agreement:
    """Hold every metric against people; so many of the worst disagreements of the best metric are kept."""
    if not len(joined.inputs):
        raise UsageError("there are no labels yet. Fill in the column label, then ask again.")
    found = [_measure(joined, metric, settings) for metric in joined.metrics]
    key = (settings.coefficient, settings.level)
    able = [item for item in found if item.correlations[key].value is not None]
    able.sort(key=lambda item: -(item.correlations[key].value or 0.0))
    able = _beside_best(able, [item.correlations[key] for item in able])
    return Agreement(
        joined=joined,
        settings=settings,
        metrics=tuple(able),
        lacking={item.metric: item.correlations[key].reason for item in found if item.correlations[key].value is None},
        ceiling=measure_ceiling(joined.ratings, joined.inputs, settings.coefficient),
        disagreements=tuple(find_disagreements(joined, able[0].metric, able[0].better == "lower", show))
        if able
        else (),
    )


def _measure(joined: Joined, metric: Mapping[str, Any], settings: Settings) -> MetricAgreement:
    name, turned = metric["metric"], metric["better"] == "lower"
    rows = joined.scored(name, turned)
    coefficients = COEFFICIENTS if settings.full else (settings.coefficient,)
    return MetricAgreement(
        metric=name,
        better=metric["better"],
        rows=len(rows.scores),
        correlations={
            (coefficient, level): correlate_at(
                level,
                rows,
                coefficient,
                settings.confidence,
                affordable_resamples(len(joined.inputs), coefficient),
            )
            for coefficient in coefficients
            for level in LEVELS
        },
        verdicts=judge_verdicts(joined, metric, settings.threshold),
    )


def _beside_best(items: Sequence[MetricAgreement], found: Sequence[Correlation]) -> list[MetricAgreement]:
    if len(items) < 2:
        return list(items)
    values = [each.value for each in found if each.value is not None]
    p = best_chances(values, np.column_stack([each.drawn for each in found]))
    return [
        replace(item, p_best=None if np.isnan(chance) else float(chance)) for item, chance in zip(items, p, strict=True)
    ]
