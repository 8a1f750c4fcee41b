"""Finds metrics of stored runs by name, and chooses the headline metrics."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import ragstone.metrics  # noqa: F401  (fills the catalogue)
from ragstone.errors import UnknownNameError, UsageError
from ragstone.registry import CATALOGUE, Metric, parse_metric
from ragstone.registry.expression import split_metrics
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import Run


def find_metric(name: str) -> Metric | None:
    """The metric behind a name of a run; None if it is a user's metric that is not loaded."""
    try:
        return parse_metric(name, stored=True)
    except UsageError:
        return None


def choose_metrics(runs: Sequence[Run], wanted: Sequence[str] | str) -> list[MetricInfo]:
    """The metrics that all runs have, in the order of the first; those asked for must be among them."""
    common = [
        metric
        for metric in runs[0].info.metrics
        if all(any(other.metric == metric.metric for other in run.info.metrics) for run in runs[1:])
    ]
    if not common:
        listed = "; ".join(f"{run.name}: {', '.join(m.metric for m in run.info.metrics) or 'none'}" for run in runs)
        raise UsageError(f"the runs have no metric in common: {listed}")
    asked = split_metrics([wanted] if isinstance(wanted, str) else wanted)
    known = {metric.metric: metric for metric in common}
    families = {metric.family for metric in common}
    names = [name if name in known or name in families else spelled(name) for name in asked]
    for name in names:
        if name not in known and name not in families:
            having = [run.name for run in runs if any(metric.metric == name for metric in run.info.metrics)]
            hint = f"Only {', '.join(having)} has it." if having else ""
            raise UnknownNameError("metric of all these runs", name, known, hint)
    return [metric for metric in common if not names or metric.metric in names or metric.family in names]


def spelled(name: str) -> str:
    """A metric as runs write it: an alias is not known there. A name that means no metric stays as it is."""
    try:
        return str(parse_metric(name))
    except UsageError:
        return name


# If a run has fewer headline metrics, all its metrics are shown.
_FEWEST = 4


def is_headline(name: str) -> bool:
    """Whether a metric is declared as a headline; its cut-off and settings do not matter. Of quantiles only the 95th is one."""
    quantile = re.search(r"\bq=([\d.]+)", name)
    return re.split(r"[@(]", name)[0] in CATALOGUE.headlines() and (quantile is None or quantile[1] == "0.95")


def is_own(name: str) -> bool:
    """Whether a metric is the user's: Ragstone does not define it."""
    known = find_metric(name)
    return known is None or not known.spec.function.__module__.startswith("ragstone.")


def pick_headlines(names: Collection[str]) -> set[str]:
    """The headlines among metrics, and the user's own; all metrics if there are too few headlines."""
    headlines = {name for name in names if is_headline(name)}
    return headlines | set(filter(is_own, names)) if len(headlines) >= _FEWEST else set(names)


def say_more(count: int) -> str:
    """How to see the metrics that were left out."""
    return f"{count} more metric{'s' if count != 1 else ''} with --full"
