"""A run as all outputs show it: its metrics with their values, the headline metrics first, and the lines about its judges.

**Headline metrics** are those that the catalogue declares as headlines; if a run has fewer than four of them, all its metrics.
They come by the part of the system that they judge, in the order of the run. Where only a few fit (columns, one line of text), the most informative of them are shown.
Every output uses this rule: terminal, Markdown, HTML report, notebook, the cards and tables of the viewer, and webhooks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from ragstone.analysis.consistency import Consistency, Spread, measure_consistency
from ragstone.analysis.differences import Difference
from ragstone.analysis.part_metrics import people_of
from ragstone.analysis.sample_order import telling_metrics
from ragstone.data.summary import ALL, SummaryRow
from ragstone.engine.metric_choice import is_own, pick_headlines
from ragstone.models.large_judge import NAME as LARGE
from ragstone.number_format import with_interval
from ragstone.stats.intervals import Interval
from ragstone.storage.run_info import MetricInfo, RunInfo
from ragstone.storage.runs import MOST_FAILED, Run, find_failed_share, read_batches
from ragstone.tools.calibrations import LABELS
from ragstone.views.phrases import by_reason, counted, visible

M = TypeVar("M", bound=Mapping[str, Any])
R = TypeVar("R", SummaryRow, Difference)
DIRECTION = {"higher": "↑", "lower": "↓", "none": " "}
PEOPLE = "estimated human score"
LABEL = "ragstone agree RUN --human labels.csv"
# The headline metrics in a line of text, in the columns of a table of samples, and in slices.
FEW = 5
_FIRST = 6
ESTIMATE = f"≈ {PEOPLE}: the mean, corrected for the known errors of the judge"


def headline_metrics(metrics: Sequence[M], most: int | None = None) -> list[M]:
    """The headline metrics in the order of the run; the `most` informative of them."""
    picked = pick_headlines([metric["metric"] for metric in metrics])
    listed = [metric for metric in metrics if metric["metric"] in picked]
    return listed if most is None else telling_metrics(listed, most)


def listed_run(run: Run) -> dict[str, Any]:
    """A run in a list of runs."""
    return {
        "name": run.name,
        "rows": run.info.rows,
        "metrics": len(run.info.metrics),
        "data": str(run.info["dataset"].get("path") or ""),
        "finished": str(run.info["finished_at"])[:16].replace("T", " "),
        "id": run.id,
    }


def arrow_of(better: str) -> str:
    """The direction in which a metric is better; empty if it has none."""
    return DIRECTION[better].strip()


def part_of(metric: Mapping[str, Any]) -> str:
    """The part of the system that a metric judges: retrieval, or for example the answer."""
    if metric["judges"] in ("contexts", "ranking"):
        return "retrieval"
    return str(metric["judges"] or "other")


def fits_unit_line(bounds: Sequence[float | None], *ends: float | None) -> bool:
    """Whether a metric fits on the shared line from 0 to 1. A cosine fits unless it is negative."""
    low, high = bounds
    return high == 1.0 and low is not None and low >= -1.0 and all(end is None or end >= 0 for end in ends)


@dataclass(frozen=True)
class MetricView:
    """A metric of a run: its mean, its interval and the counts of its cells."""

    metric: str
    part: str
    better: str
    arrow: str
    headline: bool
    mean: float | None
    low: float | None
    high: float | None
    # The number to quote, its interval, and both as text: the estimated human score if the judge's error was measured.
    quoted: float | None
    quoted_interval: Interval | None
    shown: str
    interval: str
    is_estimate: bool
    # The mean of the scores with its interval as text, for tooltips.
    raw: str
    ok: int
    skipped: int
    failed: int
    reason: str
    bounds: tuple[float | None, float | None]
    # Whether it is drawn on a line from 0 to 1.
    unit: bool


@dataclass(frozen=True)
class RunView:
    """A run with its metrics; the headline metrics and all orders by the rules of this module."""

    run: Run
    metrics: tuple[MetricView, ...]
    # Metrics that were not computed, with the reason.
    absent: Mapping[str, str]
    judged: tuple[str, ...]
    # What the judges decided, in numbers.
    counts: tuple[str, ...]
    failure: str | None

    @classmethod
    def of(cls, run: Run, most_failed: float = MOST_FAILED) -> RunView:
        """Read what is shown of a run; its samples are not diagnosed."""
        known = {metric.metric: metric for metric in run.info.metrics}
        rows = [row for row in run.summary() if row.slice == ALL]
        computed = sort_by_part([row for row in rows if row.metric in known], known)
        picked, people = pick_headlines(known), people_of(run.info, computed)
        likely = {name: (found.mean, found.interval()) for name, found in people.items()}
        return cls(
            run=run,
            metrics=tuple(
                _metric(row, known[row.metric], row.metric in picked, likely.get(row.metric)) for row in computed
            ),
            absent={row.metric: row.reason or "" for row in rows if row.metric not in known},
            judged=tuple(judge_lines(run.info)),
            counts=tuple(verdict_lines(run.info)),
            failure=judge_failure(run, most_failed),
        )

    @property
    def headlines(self) -> list[MetricView]:
        """The metrics that are shown first."""
        return [metric for metric in self.metrics if metric.headline]

    @property
    def others(self) -> list[MetricView]:
        """The other metrics."""
        return [metric for metric in self.metrics if not metric.headline]

    @property
    def explanations(self) -> list[str]:
        """The meaning of ≈, and the judges behind the scores."""
        return [*([ESTIMATE] if any(metric.is_estimate for metric in self.metrics) else []), *self.judged]

    @property
    def first(self) -> list[MetricView]:
        """The six metrics of the summary: the user's own, estimated human scores, the most informative ones of each kind."""
        own = [metric for metric in self.metrics if is_own(metric.metric)]
        metrics = {metric.metric: metric for metric in self.headlines if metric not in own}
        told = telling_metrics([one for one in self.run.info.metrics if one.metric in metrics], len(metrics))
        order = sorted((one.metric for one in told), key=lambda name: not metrics[name].is_estimate)
        # ragas.faithfulness and ragchecker.faithfulness are one kind.
        kinds = {name.rpartition(".")[2]: name for name in reversed(order)}
        chosen = [name for name in order if kinds[name.rpartition(".")[2]] == name][: max(0, _FIRST - len(own))]
        return [*own, *(metric for metric in self.headlines if metric.metric in chosen)]

    def not_computed(self) -> dict[str, list[str]]:
        """The metrics that were not computed, by reason."""
        return by_reason(self.absent.items())


def sort_by_part(rows: Sequence[R], known: Mapping[str, Mapping[str, Any]]) -> list[R]:
    """Rows about metrics by the part of the system, parts in the order of their first metric."""
    parts = list(dict.fromkeys(part_of(known[row.metric]) for row in rows))
    return sorted(rows, key=lambda row: parts.index(part_of(known[row.metric])))


def by_part(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of a page by the part of the system that their metrics judge."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["part"], []).append(row)
    return [{"name": part, "rows": listed} for part, listed in groups.items()]


def _metric(row: SummaryRow, metric: MetricInfo, headline: bool, people: tuple[float, Interval] | None) -> MetricView:
    raw = with_interval(row.mean, row.ci_low, row.ci_high)
    ends = None if row.ci_low is None or row.ci_high is None else Interval(row.ci_low, row.ci_high)
    shown, interval = (f"≈ {people[0]:.2f}", people_text(people[1])) if people else raw
    return MetricView(
        metric=row.metric,
        part=part_of(metric),
        better=metric.better,
        arrow=arrow_of(metric.better),
        headline=headline,
        mean=row.mean,
        low=row.ci_low,
        high=row.ci_high,
        quoted=people[0] if people else row.mean,
        quoted_interval=people[1] if people else ends,
        shown=shown,
        interval=interval,
        is_estimate=people is not None,
        raw=f"mean of the scores {raw[0]} ({raw[1]})",
        ok=row.n_ok,
        skipped=row.n_skipped,
        failed=row.n_failed,
        reason=row.reason or "",
        bounds=metric.bounds,
        unit=fits_unit_line(metric.bounds, row.mean, row.ci_low),
    )


def people_text(likely: Interval) -> str:
    """An interval of the estimated human score; two digits, because it is wide."""
    return f"{likely.low:.2f} – {likely.high:.2f}"


def judge_lines(info: RunInfo) -> Iterator[str]:
    """The judges of a run, one line each: language models, trained judges, the local judge, or a cascade."""
    metrics, cascade = info.metrics, info["totals"].get("ladder")
    local = [metric for metric in metrics if metric.signature.uses_local_judge]
    remote = [metric for metric in metrics if metric.signature.llms and metric not in local]
    if remote:
        yield f"{_count(remote, metrics)} from the judge {_models(info)}. {_error_line(info, remote)}"
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
        unknown = any(one.signature.is_local and one.metric not in info.judge_error for one in metrics)
        where = "in the scores marked ≈" if known else "not in the intervals"
        rest = ", and not measured for the others" if known and unknown else ""
        yield (
            f"{_count(local, metrics)} from the local judge, a small model that runs on this machine. Its error on other "
            f"domains is {where}{rest}: ragstone models show local-judge. With your labels: {LABEL}"
        )
        if not {"references", "facts"} & (info["dataset"].get("present") or {}).keys():
            yield (
                "Without references, doubtful rows need a look and are rarely called wrong. Right answers to some questions "
                "add most: ragstone truth import answers.csv NAME, then ragstone run DATA --truth NAME"
            )


def unsure_text(info: RunInfo) -> str:
    """`unsure of 14 of its 96 verdicts`; empty for a judge that gives no probabilities."""
    verdicts = info["totals"].get("local_verdicts")
    return f"unsure of {verdicts.get('unsure', 0):,} of its {sum(verdicts.values()):,} verdicts" if verdicts else ""


def verdict_lines(info: RunInfo) -> Iterator[str]:
    """How many verdicts are unsure, and how many a cascade escalated."""
    cascade = info["totals"].get("ladder")
    local = any(metric.signature.uses_local_judge for metric in info.metrics)
    if unsure := unsure_text(info):
        yield (
            f"The {'local judge' if local else 'judge'} is {unsure} on claims. Each verdict "
            "counts with its expected value: ragstone explain RUN SAMPLE METRIC"
        )
    if cascade and cascade["estimated_agreement"] is not None:
        decided, escalated = cascade["decided_locally"], cascade["passed_on"]
        yield (
            f"Of {decided + escalated:,} verdicts, the local judge decided {decided:,} and escalated {escalated:,} to "
            f"{_models(info)}: {cascade['calls_saved']:,} calls saved, estimated agreement with escalating all of them "
            f"{cascade['estimated_agreement']:.0%}."
        )


def _models(info: RunInfo) -> str:
    names = [name.partition("#")[0] for tool in info.judge.values() for name in tool.llms]
    return " and ".join(dict.fromkeys(names)) or "a language model"


def _error_line(info: RunInfo, metrics: Sequence[MetricInfo]) -> str:
    """Whether the error of a language model is known, and by what."""
    measured = [metric.metric for metric in metrics if metric.metric in info.judge_error]
    if not measured:
        large = any(LARGE in name for metric in metrics for name in metric.signature.llms)
        figures = f" (figures on other data: ragstone models show {LARGE})" if large else ""
        return f"Its error is not known and not in the intervals{figures}: {LABEL} estimates what people would say"
    stored = info.raw["judge_error"]
    sources = " and ".join(dict.fromkeys(str(stored[name].get("source", LABELS)) for name in measured))
    rest = "" if len(measured) == len(metrics) else " and not known for the other metrics"
    return f"Its error, measured by {sources}, is in the scores marked ≈{rest}. With new labels: {LABEL}"


def _count(some: Sequence[MetricInfo], everything: Sequence[MetricInfo]) -> str:
    if len(some) == len(everything):
        return "All metrics come" if len(some) > 1 else "The metric comes"
    return f"{len(some)} of {len(everything)} metrics {'come' if len(some) > 1 else 'comes'}"


def judge_failure(run: Run, most_failed: float = MOST_FAILED) -> str | None:
    """The first line of a result whose judge failed, with more failed cells than scored ones, or with too many failed cells."""
    judged = {metric.metric: metric.signature for metric in run.info.metrics if metric.is_judged}
    rows = list(run.summary())
    failed, scored = _cells([row for row in rows if row.metric in judged])
    if failed > scored:
        names = dict.fromkeys(
            name for signature in judged.values() for name in signature.llms or [signature.trained_judge or "local"]
        )
        return visible(
            f"The judge failed ({' and '.join(names)}): {failed:,} of its {counted(failed + scored, 'score')} "
            f"{'is' if failed == 1 else 'are'} missing. Main reason: {_main_reason(run, [*judged])}"
        )
    if (worst := find_failed_share(run.info, rows)) <= most_failed:
        return None
    failed, scored = _cells(rows)
    share = f"{100 * worst:.0f} %{'' if failed >= worst * (failed + scored) else ' of those of the judge'}"
    return visible(
        f"{failed:,} of {counted(failed + scored, 'score')} failed ({share}; up to {100 * most_failed:g} % is normal). "
        f"Main reason: {_main_reason(run, [row.metric for row in rows])}"
    )


def _cells(rows: Sequence[SummaryRow]) -> tuple[int, int]:
    return sum(row.n_failed for row in rows), sum(row.n_ok for row in rows)


def _main_reason(run: Run, metrics: list[str]) -> str:
    reasons: Counter[str] = Counter()
    for batch in read_batches(run.folder.scores, ["metric", "status", "reason"]):
        chosen = pc.and_(
            pc.equal(batch["status"].cast("string"), "failed"),
            pc.is_in(batch["metric"].cast("string"), pa.array(metrics)),
        )
        reasons.update(str(reason) for reason in batch.filter(chosen)["reason"].to_pylist())
    [(reason, _)] = reasons.most_common(1)
    return reason


def consistency_lines(run: Run) -> list[str]:
    """One line about the repeats and one per metric; empty if no question was asked twice."""
    found = measure_consistency(run)
    return [_headline(found), *map(_line, found.spreads)] if found else []


def consistency_dict(run: Run) -> dict[str, Any] | None:
    """The same for pages and JSON."""
    found = measure_consistency(run)
    if found is None:
        return None
    rows = [{"metric": one.metric, "within": one.within, "share": one.share} for one in found.spreads]
    return {"headline": _headline(found), "questions": found.questions, "repeated": found.repeated, "rows": rows}


def _headline(found: Consistency) -> str:
    return (
        f"{counted(found.rows, 'answer')} to {counted(found.questions, 'question')}, {found.repeated:,} of them asked "
        "more than once; intervals take whole questions"
    )


def _line(spread: Spread) -> str:
    share = "" if spread.share is None else f", {spread.share:.0%} of its variance"
    return f"{spread.metric}: standard deviation {spread.within:.3f} within a question{share}"
