"""A run in the terminal: the table of metrics, the judges, and the reasons for missing scores."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.compare.signs import people_of, unmeasured
from ragstone.data.summary import SummaryRow
from ragstone.engine.metric_choice import is_headline, pick_headlines, say_more
from ragstone.report.consistency import consistency_lines
from ragstone.report.judge_failure import judge_failure
from ragstone.report.table import Cell, Column, Table, columns, interval_strip
from ragstone.report.text import by_reason, counted, interval_text, number, places_for, section, visible
from ragstone.stats.intervals import Interval
from ragstone.stats.judge_error import People
from ragstone.storage.run_info import MetricInfo, RunInfo
from ragstone.storage.runs import Run
from ragstone.tools.calibrations import LABELS

DIRECTION = {"higher": "↑", "lower": "↓", "none": " "}


PEOPLE = "people would probably say"
LABEL = "ragstone agree RUN --human labels.csv"


def run_report(run: Run, full: bool = True) -> RenderableType:
    """The summary of a run: all metrics, or only the headline metrics if there are many."""
    metrics = {metric["metric"]: metric for metric in run.info["metrics"]}
    rows, remarks = list(run.summary()), [*judge_lines(run.info)]
    if not full:
        picked = pick_headlines(metrics)
        shown = [row for row in rows if row.metric in picked or is_headline(row.metric) or row.n_failed]
        # Metrics that were not computed are shown below the table and do not count.
        if more := len(metrics) - sum(row.metric in metrics for row in shown):
            rows, remarks = shown, [say_more(more), *remarks]
    # A small file lacks what dozens of metrics need; the headlines show it.
    absent = [row for row in rows if row.metric not in metrics and (full or is_headline(row.metric))]
    missing = by_reason((row.metric, row.reason or "") for row in absent)
    partial = by_reason((row.metric, row.reason or "") for row in rows if row.metric in metrics)
    failure = judge_failure(run)
    return Group(
        *([Text(f"{failure}\n", style="bold red")] if failure else []),
        *(
            Text(visible(f"{warning[0].upper()}{warning[1:]}.\n"), style="bold yellow")
            for warning in run.info.judge_warnings
        ),
        metrics_table(rows, metrics, people_of(run.info, rows)),
        *(Text(f"\n{remark}") for remark in remarks),
        *section("consistency", consistency_lines(run, full)),
        *section("not computed", _reasons(missing)),
        *section("missing scores", _reasons(partial)),
    )


def metrics_table(
    rows: Collection[SummaryRow], metrics: Mapping[str, Any], people: Mapping[str, People] | None = None
) -> Table:
    """One row per computed metric, grouped by the part of the system that it judges.

    Below a mean of a judge stands what people would probably say, if the judge's error was measured.
    """
    ruler = Column(f"0{' ' * 22}1", priority=1, drawn=True)
    table = Table(
        [
            Column("metric", wrap="name"),
            *columns("mean", "95 % interval"),
            ruler,
            *columns("scored", "skipped", "failed"),
        ]
    )
    computed = [(row, metrics[row.metric]) for row in rows if row.metric in metrics]
    for row, metric in computed:
        interval = None if row.ci_low is None or row.ci_high is None else (row.ci_low, row.ci_high)
        places = places_for(metric["bounds"], row.mean)
        table.add(
            Cell(metric_label(row.metric, metric["better"]), row.metric),
            Cell(number(row.mean, places), row.mean),
            Cell(interval_text(row.ci_low, row.ci_high, places), interval),
            interval_strip(row.mean, interval) if metric["bounds"] == [0.0, 1.0] else "",
            Cell(str(row.n_ok), row.n_ok),
            Cell(str(row.n_skipped), row.n_skipped, "unsure" if row.n_skipped else "muted"),
            Cell(str(row.n_failed), row.n_failed, "bad" if row.n_failed else "muted"),
            group=visible(part_of(metric)),
        )
        if people and row.metric in people:
            _add_people(table, people[row.metric], visible(part_of(metric)))
    return table


def _add_people(table: Table, people: People, group: str) -> None:
    likely = people.interval()
    table.add(
        Cell(f"  {PEOPLE}", tone="muted"),
        Cell(f"{people.mean:.2f}", people.mean, "muted"),
        Cell(people_text(likely), likely, "muted"),
        interval_strip(people.mean, likely, style="magenta"),
        "",
        "",
        "",
        group=group,
    )


def people_text(likely: Interval) -> str:
    """An interval of what people would say; two digits, for it is wide."""
    return f"{likely.low:.2f} – {likely.high:.2f}"


def metric_label(name: str, better: str) -> str:
    """A metric with its arrow. A no-break space keeps both on one line."""
    return f"{name}\xa0{DIRECTION[better]}"


def part_of(metric: Mapping[str, Any]) -> str:
    """The part of the system that a metric judges: retrieval, or for example the answer."""
    if metric["judges"] in ("contexts", "ranking"):
        return "retrieval"
    return str(metric["judges"] or "other")


def call_line(info: RunInfo) -> str | None:
    """The model calls of a run with their cost, or with their tokens if a price is unknown. None without calls."""
    totals = info["totals"]
    calls, cached = totals.get("calls", 0), totals.get("cached_calls", 0)
    if not calls and not cached:
        return None
    stored = f"{cached:,} from the cache" if cached else ""
    if not calls:
        return f"no model calls, {stored}"
    cost, tokens = totals.get("cost_usd"), f"{totals['input_tokens']:,} tokens in, {totals['output_tokens']:,} out"
    paid = f"{tokens}, price unknown" if cost is None else f"{cost:,.4f} usd" if cost else "no cost"
    return ", ".join(filter(None, [counted(calls, "model call"), stored, paid]))


def judge_lines(info: RunInfo) -> Iterator[str]:
    """The judges of a run, one line each: language models, trained judges, the local judge, or a cascade."""
    metrics, cascade = info.metrics, info["totals"].get("ladder")
    local = [metric for metric in metrics if metric.signature.uses_local_judge]
    remote = [metric for metric in metrics if metric.signature.llms and metric not in local]
    names = [name for tool in info.judge.values() for name in tool.llms]
    models = " and ".join(dict.fromkeys(names)) or "a language model"
    if remote:
        yield f"{_count(remote, metrics)} from the judge {models}. {_error_line(info, remote)}"
    trained: dict[str, list[MetricInfo]] = {}
    for metric in metrics:
        if name := metric.signature.trained_judge:
            trained.setdefault(name, []).append(metric)
    for judge, judged in trained.items():
        yield (
            f"{_count(judged, metrics)} from {judge}, a judge trained on your labels. Check it against new labels: "
            f"{LABEL}"
        )
    if local and not cascade:
        known = any(metric.metric in info.judge_error for metric in local)
        where = f'in the lines "{PEOPLE}" (95 %)' if known else "not in the intervals"
        rest = "; metrics without such a line are not measured" if known and unmeasured(info) else ""
        yield (
            f"{_count(local, metrics)} from the local judge, a small model that runs on this machine. Its error on other "
            f"domains is {where}{rest}: ragstone models show local-judge. With your labels: {LABEL}"
        )
    if verdicts := info["totals"].get("local_verdicts"):
        unsure = verdicts.get("unsure", 0)
        yield (
            f"The {'local judge' if local else 'judge'} is unsure of {unsure:,} of its {sum(verdicts.values()):,} verdicts on claims. Each verdict "
            "counts with its expected value: ragstone explain RUN SAMPLE METRIC"
        )
    if cascade and cascade["estimated_agreement"] is not None:
        decided, escalated = cascade["decided_locally"], cascade["passed_on"]
        yield (
            f"Of {decided + escalated:,} verdicts, the local judge decided {decided:,} and escalated {escalated:,} to "
            f"{models}: {cascade['calls_saved']:,} calls saved, estimated agreement with escalating all of them "
            f"{cascade['estimated_agreement']:.0%}."
        )


def _error_line(info: RunInfo, metrics: Sequence[MetricInfo]) -> str:
    """Whether the error of a language model is known, and by what."""
    measured = [metric.metric for metric in metrics if metric.metric in info.judge_error]
    if not measured:
        return f"Its error is not known and not in the intervals: {LABEL} estimates what people would say"
    stored = info.raw["judge_error"]
    sources = " and ".join(dict.fromkeys(str(stored[name].get("source", LABELS)) for name in measured))
    rest = "" if len(measured) == len(metrics) else " and not known for the other metrics"
    return f'Its error, measured by {sources}, is in the lines "{PEOPLE}" (95 %){rest}. With new labels: {LABEL}'


def _count(some: Sequence[MetricInfo], everything: Sequence[MetricInfo]) -> str:
    if len(some) == len(everything):
        return "All metrics come" if len(some) > 1 else "The metric comes"
    return f"{len(some)} of {len(everything)} metrics {'come' if len(some) > 1 else 'comes'}"


def _reasons(reasons: Mapping[str, list[str]]) -> list[str]:
    return [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]
