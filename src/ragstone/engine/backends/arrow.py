"""Scores as a function from Arrow batches to Arrow batches, for engines that we do not know: Spark's `mapInArrow`, Dask, and others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Unpack

import pyarrow as pa

from ragstone.data.schema import SCORES
from ragstone.engine.batch import evaluate_batch
from ragstone.engine.execute import run_to_end, scores_table
from ragstone.engine.plan import Plan, make_plan
from ragstone.engine.request import make_request
from ragstone.formats import read_dataset
from ragstone.llm.budget import parse_budget
from ragstone.registry import resolve_metrics
from ragstone.text.matchers import Matcher
from ragstone.tools.judging_options import DEFAULT_CONCURRENCY, JudgingOptions
from ragstone.tools.open_tools import Opened
from ragstone.tools.protocols import Tool

# Words as plain strings: not every engine knows dictionaries.
SCORES_PLAIN = pa.schema(
    [
        pa.field(field.name, pa.string() if pa.types.is_dictionary(field.type) else field.type, field.nullable)
        for field in SCORES
    ]
)
Batches = Iterable[pa.RecordBatch]


def score_batches(
    metrics: Sequence[str],
    *,
    matcher: str | Matcher = "citation",
    concurrency: int = DEFAULT_CONCURRENCY,
    **judging: Unpack[JudgingOptions],
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """A function that turns batches of samples into batches of scores, one row per cell. It can be pickled.

    Batches may have any columns that `read_dataset` understands. Nothing is stored. A budget is for one iterator; limits of calls
    a minute are for each batch.
    """

    def score(batches: Batches) -> Iterator[pa.RecordBatch]:
        options = judging.copy()
        if options.get("budget") is not None:
            # One budget for all batches; otherwise each batch would start a new one.
            options["budget"] = parse_budget(options["budget"])
        request = make_request(list(metrics), matcher, "", concurrency, options)
        is_settled = False
        try:
            # Engines that filter rows may leave none in a batch.
            for batch in (batch for batch in batches if batch.num_rows):
                samples = read_dataset(pa.Table.from_batches([batch])).table.combine_chunks()
                present = [name for name in samples.schema.names if samples[name].null_count < samples.num_rows]
                plan = make_plan(resolve_metrics(request.metrics), present, request.tools)
                if not is_settled and (models := request.judging.untried(plan.needs)):
                    request.judging.settle_verdicts(run_to_end(request.judging.try_tokens(models, lambda _: None)))
                    is_settled = True
                    plan = make_plan(resolve_metrics(request.metrics), present, request.tools)
                for part in samples.to_batches():
                    opened = request.judging.open()
                    tools = {**request.tools, **opened.tools}
                    cells = run_to_end(_cells(plan, part, tools, opened, concurrency), plan.waits)
                    # A cell for each row of a metric that no row of the batch can have: another batch may.
                    skipped = [
                        {"sample_id": name, "metric": metric, "status": "skipped", "reason": reason, "signature": ""}
                        for metric, reason in plan.skipped.items()
                        for name in part.column("id").to_pylist()
                    ]
                    tables = [cells, pa.Table.from_pylist(skipped, schema=SCORES_PLAIN)]
                    yield from pa.concat_tables(tables).combine_chunks().to_batches()
        finally:
            request.close()

    return score


async def _cells(
    plan: Plan, part: pa.RecordBatch, tools: Mapping[str, Tool], opened: Opened, concurrency: int
) -> pa.Table:
    try:
        return scores_table(plan, await evaluate_batch(plan, part, tools, asyncio.Semaphore(concurrency))).cast(
            SCORES_PLAIN
        )
    finally:
        await opened.close()
