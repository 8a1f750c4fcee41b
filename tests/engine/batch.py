"""A batch of samples through the graph, with nothing read and nothing stored."""

import asyncio

from ragstone.data.dataset import samples_table
from ragstone.data.schema import present
from ragstone.data.types import Sample
from ragstone.engine.batch import ScoredBatch, evaluate_batch
from ragstone.engine.execute import run_to_end
from ragstone.engine.plan import make_plan
from ragstone.registry import parse_metric


def samples(*answers: str | None) -> list[Sample]:
    """Samples that differ in their answer."""
    return [Sample(id=str(row), answer=answer) for row, answer in enumerate(answers)]


def walk(rows: list[Sample], *metrics: str, tools=None, concurrency: int = 16) -> ScoredBatch:
    """All metrics over the rows."""
    table = samples_table(rows)
    there = [name for name in table.schema.names if any(present(name, table[name]).to_pylist())]
    plan = make_plan([parse_metric(metric) for metric in metrics], there, tools or {})
    assert not plan.skipped
    gate = asyncio.Semaphore(concurrency)
    return run_to_end(evaluate_batch(plan, table.combine_chunks().to_batches()[0], tools or {}, gate), plan.waits)


def scores(rows: list[Sample], metric: str, **options) -> list[tuple]:
    """The cells of one metric as (value, status, reason)."""
    cells = walk(rows, metric, **options).cells[metric]
    return [(cell.value, cell.status, cell.reason) for cell in map(cells.__getitem__, range(len(cells)))]
