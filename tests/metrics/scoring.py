"""Metrics over samples, with nothing read and nothing stored."""

import asyncio
from collections.abc import Sequence

from ragstone.data.dataset import samples_table
from ragstone.data.schema import FIELDS
from ragstone.data.types import Chunk, Sample, Score
from ragstone.engine.batch import evaluate_batch
from ragstone.engine.execute import run_to_end
from ragstone.engine.plan import make_plan
from ragstone.registry import resolve_metrics
from ragstone.text.matchers import make_matcher
from tests.metrics.models import model_tools


def score(samples: Sequence[Sample], *metrics: str) -> dict[str, list[Score]]:
    """The cells of every metric in the order of the samples, by its canonical string."""
    tools = {"matcher": make_matcher("citation"), **model_tools()}
    plan = make_plan(resolve_metrics(metrics), FIELDS, tools)
    batch = samples_table(samples).to_batches()[0]
    result = run_to_end(evaluate_batch(plan, batch, tools, asyncio.Semaphore(1)))
    return {name: [cells[row] for row in range(len(cells))] for name, cells in result.cells.items()}


def cell(sample: Sample, metric: str) -> Score:
    """One metric of one sample."""
    (cells,) = score([sample], metric).values()
    return cells[0]


def chunks(ids: Sequence[str | None]) -> list[Chunk]:
    """Retrieved chunks of which only the ids matter."""
    return [Chunk("", name) for name in ids]
