"""The series of a watch as all outputs show it: alarms, metrics with the headline metrics of `views.run` first, periods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ragstone.number_format import interval_text
from ragstone.storage.run_info import MetricInfo
from ragstone.views.phrases import counted
from ragstone.views.run import arrow_of, headline_metrics
from ragstone.watch.series import FALSE_ALARMS, Alarm, Series


@dataclass(frozen=True)
class SeriesView:
    """The metrics, headline metrics first, the newest alarm of each metric, newest first, and the lines about the series."""

    series: Series
    headlines: tuple[MetricInfo, ...]
    metrics: tuple[MetricInfo, ...]
    alarms: tuple[Alarm, ...]
    # The line in place of alarms if there are none.
    quiet: str
    remarks: tuple[str, ...]
    # The meaning of the figures, for a reader who sees them for the first time.
    explanation: str

    @classmethod
    def of(cls, series: Series) -> SeriesView:
        """Decide what is shown of a series."""
        headlines = tuple(headline_metrics(series.metrics))
        newest = {alarm.metric: alarm for alarm in series.alarms}
        complete = sum(record.complete for record in series.periods)
        return cls(
            series=series,
            headlines=headlines,
            metrics=(*headlines, *(metric for metric in series.metrics if metric not in headlines)),
            alarms=tuple(sorted(newest.values(), key=lambda alarm: alarm.period, reverse=True)),
            quiet=f"No change found in {counted(len(series.metrics), 'metric')} over {counted(complete, series.period)}.",
            remarks=(*_remarks(series), *series.remarks),
            explanation="Means are estimates for all requests of a period, from the rows that were drawn and evaluated, with "
            f"95 % intervals. Without any change, a false alarm in any of the metrics has a probability of at most "
            f"{100 * FALSE_ALARMS:g} % per year if the {series.period}s are independent.",
        )

    def as_dict(self) -> dict[str, Any]:
        """The series for programs."""
        series = self.series
        return {
            "period": series.period,
            "periods": [
                {
                    "period": record.period,
                    "requests": record.requests,
                    "drawn": sum(record.drawn.values()),
                    "evaluated": sum(record.evaluated.values()) or len(record.weights),
                    "late": record.late,
                    "complete": record.complete,
                    "spent_usd": record.spent_usd,
                    "runs": list(record.runs),
                }
                for record in series.periods
            ],
            "metrics": [
                {
                    "metric": info.metric,
                    "better": info.better,
                    "bounds": list(info.bounds),
                    "points": [asdict(point) for point in series.points[info.metric]],
                }
                for info in series.metrics
            ],
            "alarms": [asdict(alarm) for alarm in series.alarms],
            "breaks": [{"period": period, "metric": metric} for period, metric in series.breaks],
            "labelled": [asdict(one) for one in series.labelled],
            "remarks": list(series.remarks),
            "false_alarms_per_year": FALSE_ALARMS,
        }

    def page(self, last: int | None = None) -> dict[str, Any]:
        """The series as page data; `last` keeps the newest periods in the charts."""
        series, numbers = self.series, self.as_dict()
        kept = len(series.periods) if last is None else last
        complete = {record.period: record.complete for record in series.periods}
        known = {metric["metric"]: metric for metric in numbers["metrics"]}
        alarms = [asdict(alarm) | {"words": str(alarm)} for alarm in series.alarms]
        periods = [
            period
            | {
                "left": max(0, period["drawn"] - period["evaluated"]),
                "alarms": [alarm for alarm in alarms if alarm["period"] == period["period"]],
                "cells": [series.points[metric.metric][at] for metric in self.headlines],
            }
            for at, period in enumerate(numbers["periods"])
        ]
        return {
            "period": series.period,
            "periods": list(reversed(periods)),
            "headlines": [metric.metric for metric in self.headlines],
            "newest": next((one for one in reversed(periods) if one["complete"]), None),
            "metrics": [
                known[info.metric]
                | {
                    "arrow": arrow_of(info.better),
                    "headline": info in self.headlines,
                    "points": [
                        point | {"complete": complete[point["period"]]}
                        for point in known[info.metric]["points"][-kept:]
                    ],
                    "alarms": [alarm for alarm in alarms if alarm["metric"] == info.metric],
                    "breaks": [period for period, metric in series.breaks if metric == info.metric],
                }
                for info in self.metrics
            ],
            "alarms": alarms,
            "current": [
                {"worse": alarm.worse, "direction": alarm.direction, "words": str(alarm)} for alarm in self.alarms
            ],
            "quiet": self.quiet,
            "labelled": numbers["labelled"],
            "remarks": list(self.remarks),
            "explanation": self.explanation,
        }


def _remarks(series: Series) -> Iterator[str]:
    """Other judges, labels of people, requests without a row."""
    for period, metric in series.breaks:
        yield (
            f"{period}: {metric} was computed differently from before (metric, judge or prompts), so levels are compared "
            "from here on"
        )
    for one in series.labelled:
        if not one.period:
            yield (
                f"{one.metric} and {counted(one.labels, 'label')}: people would give {one.mean:.3f} "
                f"({interval_text(one.low, one.high)}) over all periods; the metric alone gives {one.judge_mean:.3f}"
            )
    if unseen := sum(record.requests for record in series.periods if record.complete and not record.weights):
        yield f"{counted(unseen, 'request')} are in complete periods without an evaluated row"
