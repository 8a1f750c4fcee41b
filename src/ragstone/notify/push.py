"""Writes the scores of a run onto the traces of Langfuse, Phoenix or LangSmith that its samples were read from."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from types import ModuleType

from ragstone.analysis.explain import count_items
from ragstone.analysis.sample_evidence import Case, read_cases_at
from ragstone.data.types import Grade
from ragstone.engine.metric_choice import choose_metrics, find_metric, pick_headlines
from ragstone.errors import UsageError
from ragstone.http.retry import Patience
from ragstone.llm.concurrency import gather_then_raise
from ragstone.platforms.api import PATIENCE, Api, ignore
from ragstone.platforms.protocol import PlatformScore, PushResult
from ragstone.platforms.pull import find_platform
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import Run, read_batches

_COLUMNS = ["sample_id", "metric", "value", "status"]
_SAMPLES_AT_ONCE = 200
_CONCURRENCY = 4
_COMMENT_CHARS = 1000
_OWN_DATA = "system"


@dataclass
class Pushed:
    """The result of a push: scores by what became of them."""

    written: int = 0
    # Samples whose ids are not those of traces.
    foreign: list[str] = field(default_factory=list)
    # Skipped and failed cells: there is no score to write.
    without_value: int = 0
    refused: Counter[str] = field(default_factory=Counter)


def push_metrics(run: Run, wanted: Sequence[str]) -> list[MetricInfo]:
    """The metrics asked for, by default the headlines without latency and price, which the platform knows itself.

    A quantile has one value for all samples and is left out.
    """
    chosen = choose_metrics([run], wanted)
    if not wanted:
        headlines = pick_headlines([metric.metric for metric in chosen])
        chosen = [metric for metric in chosen if metric.metric in headlines and metric.family != _OWN_DATA]
    return [item for item in chosen if (known := find_metric(item.metric)) is None or known.quantile is None]


async def push(
    run: Run,
    platform: str,
    metrics: Sequence[MetricInfo],
    note: Callable[[Pushed], None] = lambda _: None,
    report: Callable[[str], None] = ignore,
    patience: Patience = PATIENCE,
) -> Pushed:
    """Write every score with a value. A score of the same metric on the same trace is replaced.

    `note` receives the counts after each part, `report` long waits.
    """
    target = find_platform(platform)
    api = Api(target.connect(), _CONCURRENCY, report, patience)
    result = Pushed()
    try:
        for marks in _batches(run, metrics, target, result):
            for outcome in await _write(api, target, marks):
                if outcome.error is None:
                    result.written += 1
                else:
                    result.refused[outcome.error] += 1
            note(result)
    finally:
        await api.close()
    if not result.written and result.foreign:
        raise UsageError(
            f"the samples of run {run.name} are not traces of {target.TITLE}: {result.foreign[0]!r} is not the id of one. "
            f"Evaluate traces with `ragstone pull {platform} -o log.jsonl` and `ragstone run log.jsonl`."
        )
    return result


async def _write(api: Api, target: ModuleType, marks: Sequence[PlatformScore]) -> list[PushResult]:
    """Several calls at a time; the error of one is raised after the others have ended."""
    places = asyncio.Semaphore(_CONCURRENCY)

    async def write(part: list[PlatformScore]) -> list[PushResult]:
        async with places:
            return list(await target.write(api, part))

    parts = [list(marks[start : start + target.BATCH]) for start in range(0, len(marks), target.BATCH)]
    return [outcome for outcomes in await gather_then_raise(map(write, parts)) for outcome in outcomes]


def _batches(
    run: Run, metrics: Sequence[MetricInfo], target: ModuleType, result: Pushed
) -> Iterator[list[PlatformScore]]:
    """The scores of some samples at a time, with how each came about."""
    cells = _cells(run, {metric.metric for metric in metrics}, result)
    rows = list(range(run.info.rows))
    for start in range(0, len(rows), _SAMPLES_AT_ONCE):
        marks = []
        for case in read_cases_at(run, rows[start : start + _SAMPLES_AT_ONCE], run.info.evidence).values():
            values = cells.get(case.sample.id, {})
            own = [_mark(run, metric, case, values[metric.metric]) for metric in metrics if metric.metric in values]
            if own and not target.accepts(own[0]):
                result.foreign.append(case.sample.id)
                continue
            marks += own
        if marks:
            yield marks


def _cells(run: Run, names: Collection[str], result: Pushed) -> dict[str, dict[str, float]]:
    """The values by sample and metric; cells without a value are counted only."""
    found: dict[str, dict[str, float]] = {}
    for batch in read_batches(run.folder.scores, _COLUMNS):
        for cell in batch.to_pylist():
            if cell["metric"] not in names:
                continue
            if cell["status"] != "ok" or cell["value"] is None or not math.isfinite(cell["value"]):
                result.without_value += 1
                continue
            found.setdefault(str(cell["sample_id"]), {})[cell["metric"]] = float(cell["value"])
    return found


def _mark(run: Run, metric: MetricInfo, case: Case, value: float) -> PlatformScore:
    return PlatformScore(
        trace=case.sample.id,
        metric=metric.metric,
        value=value,
        comment=explain_score(metric, case, f"Ragstone run {run.name}"),
        is_judged=metric.is_judged,
        about={"run": run.id, "signature": str(metric.signature)},
        metadata=dict(case.sample.metadata or {}),
    )


def explain_score(metric: MetricInfo, case: Case, *more: str) -> str:
    """The counted items and the reason that the judge wrote; cut if it is long."""
    parts = [*_counts(metric, case), *_reasons(metric, case), *more]
    text = ". ".join(part.strip().rstrip(".") for part in parts if part.strip())
    return text if len(text) <= _COMMENT_CHARS else f"{text[: _COMMENT_CHARS - 1]}…"


def _counts(metric: MetricInfo, case: Case) -> Iterator[str]:
    known = find_metric(metric.metric)
    if known is None:
        return
    for count in count_items(known.spec.name, case, dict(known.settings)):
        above, below = count.sums
        yield f"{above:.3g} of {below:.3g} {count.kind if below == 1 and not count.of else count.plural}"


def _reasons(metric: MetricInfo, case: Case) -> Iterator[str]:
    """The reasoning of the grades that the metric is made of."""
    for stamp in metric.signature.evidence:
        name = stamp.partition("/")[0]
        value = case.evidence.get(name)
        if isinstance(value, Grade) and value.reasoning:
            yield value.reasoning
