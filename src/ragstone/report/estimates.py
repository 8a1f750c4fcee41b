"""What people would say of all rows, in the terminal and for programs: judge alone, labels alone, both together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ragstone.agreement.estimating import Estimation, Powers
from ragstone.report.comparison import number, signed
from ragstone.report.plain import visible
from ragstone.stats.intervals import Interval
from ragstone.stats.ppi import LEAST_LABELS

METHOD = (
    "Labels alone: 95% interval of the labelled rows. Both: prediction-powered (PPI++), right whatever the metric is worth, "
    "narrower the more it agrees with people. Worth: how many labels alone would give that interval. Labelled rows must "
    "be a random choice of all rows, or picked by --label-next."
)


def estimates_report(found: Estimation) -> RenderableType:
    """The estimates of one metric."""
    return _Report(found)


class _Report:
    def __init__(self, found: Estimation) -> None:
        self._found = found

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        found = self._found
        yield Text(f"{visible(headline(found))}\n", style="bold")
        yield _table("", [*found.runs, *([found.difference] if found.difference else [])])
        for column in dict.fromkeys(column for column, _ in found.slices):
            yield Text(f"\nby {visible(column)}", style="bold")
            yield _table("  ", [part for name, part in found.slices if name == column])
        yield from _remarks(found)
        yield Text(f"\n{METHOD}", style="dim")


def headline(found: Estimation) -> str:
    """The answer in a sentence or two."""
    main = found.difference or found.runs[0]
    powered = main.found
    if powered is None:
        return f"There are not enough labels to say what people would: {main.reason}."
    low, high = powered.interval
    if main.difference:
        first, second = (run.name for run in found.joined.runs)
        if low > 0 or high < 0:
            word = "better" if low > 0 else "worse"
            return f"People would find {second} {word} than {first}, by {abs(powered.mean):.3f} ({signed(low)} to {signed(high)})."
        return f"There is no evidence that people would find {second} better or worse than {first} ({signed(low)} to {signed(high)})."
    gain = f"{powered.labels} labels and {found.metric} are worth {powered.worth:.0f} labels"
    none = f"{found.metric} adds nothing to the {powered.labels} labels"
    return (
        f"People would say {powered.mean:.3f} of {main.name} ({low:.3f} – {high:.3f}); "
        f"{gain if powered.worth >= powered.labels * 1.02 else none}."
    )


def _table(indent: str, parts: Sequence[Powers]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", overflow="fold")
    for head in ("judge alone", "labels alone", "95% interval", "both", "95% interval", "narrower", "labels", "worth"):
        table.add_column(head, justify="right", no_wrap=True)
    for part in parts:
        table.add_row(Text(f"{indent}{visible(part.name)}"), *_cells(part))
    return table


def _cells(part: Powers) -> Iterator[RenderableType]:
    found, show = part.found, signed if part.difference else number
    if found is None:
        yield from ("–", "–", "–", "–", "–", "–")
        yield Text(str(part.labels), style="yellow")
        yield "–"
        return
    yield show(found.judge_mean)
    yield show(found.labels_mean)
    yield _span(found.labels_interval, part.difference)
    yield Text(show(found.mean), style="bold")
    yield Text(_span(found.interval, part.difference), style="bold cyan")
    yield f"{1 - _width(found.interval) / _width(found.labels_interval):.0%}" if _width(found.labels_interval) else "–"
    yield Text(f"{part.labels} of {part.rows:,}", style="yellow" if part.few else "")
    yield f"{found.worth:.0f}"


def _span(interval: Interval, difference: bool) -> str:
    low, high = interval
    return f"{signed(low)} to {signed(high)}" if difference else f"{low:.3f} – {high:.3f}"


def _width(interval: Interval) -> float:
    return interval.high - interval.low


def _remarks(found: Estimation) -> Iterator[RenderableType]:
    lines = [*found.remarks, *warnings(found)]
    if lines:
        yield Text("\nremarks", style="bold")
    for line in lines:
        yield Padding(Text(visible(line)), (0, 0, 0, 2))


def warnings(found: Estimation) -> list[str]:
    """What makes the intervals less sure than they look."""
    parts = [*found.runs, *([found.difference] if found.difference else []), *(part for _, part in found.slices)]
    few = [part.name for part in parts if part.few]
    if not few:
        return []
    more = "…" if len(few) > 4 else ""
    return [
        f"fewer than {LEAST_LABELS} labels ({', '.join(few[:4])}{more}): the intervals may be too narrow; "
        "--label-next says which rows to label"
    ]


def estimates_dict(found: Estimation) -> dict[str, Any]:
    """For programs: everything."""
    return {
        "headline": headline(found),
        "metric": found.metric,
        "runs": [{"run": run.path, "id": run.id, "name": run.name} for run in found.joined.runs],
        "means": [_powers_dict(part) for part in found.runs],
        "difference": _powers_dict(found.difference) if found.difference else None,
        "slices": [{"column": column, **_powers_dict(part)} for column, part in found.slices],
        "remarks": [*found.remarks, *warnings(found)],
    }


def _powers_dict(part: Powers) -> dict[str, Any]:
    found = part.found
    values = None
    if found is not None:
        values = {
            "mean": found.mean,
            "low": found.interval.low,
            "high": found.interval.high,
            "error": found.error,
            "tuning": found.tuning,
            "judge_mean": found.judge_mean,
            "labels_mean": found.labels_mean,
            "labels_low": found.labels_interval.low,
            "labels_high": found.labels_interval.high,
            "worth_labels": found.worth,
        }
    return {
        "name": part.name,
        "labels": part.labels,
        "rows": part.rows,
        "estimate": values,
        "reason": part.reason or None,
        "too_few_labels": part.few,
    }
