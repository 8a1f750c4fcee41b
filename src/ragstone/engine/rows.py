"""Single rows: match facts and compute a metric on a pandas row or a dict, with nothing stored."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ragstone.data.types import Chunk, Fact, FactMatch, Score
from ragstone.engine.batches import evaluate_batch
from ragstone.engine.execution import run_to_end
from ragstone.engine.matching import open_matcher
from ragstone.engine.planning import make_plan
from ragstone.errors import Skip
from ragstone.evidence.facts import rows_without_words
from ragstone.formats import read_dataset
from ragstone.registry import parse_metric


def match_facts(
    facts: Sequence[str | Fact], contexts: Sequence[str | Chunk], matcher: str = "citation"
) -> list[FactMatch]:
    """Where each fact stands in the retrieved chunks: fact and chunk by their position from 0, and the characters."""
    texts = [fact if isinstance(fact, str) else fact.text for fact in facts]
    for reason in rows_without_words(texts, np.array([0, len(texts)])).values():
        raise Skip(reason)
    found = open_matcher(matcher).find(texts, [chunk if isinstance(chunk, str) else chunk.text for chunk in contexts])
    return [FactMatch(*place, matcher=matcher) for place in found]


def score_row(row: Mapping[str, Any], metric: str, matcher: str = "citation") -> Score:
    """One metric of one row: `frame.apply(lambda row: ragstone.score_row(row, "recall@5").value, axis=1)`."""
    values = row.to_dict() if hasattr(row, "to_dict") else dict(row)
    table = read_dataset([values], format="ragstone").table
    tools = {"matcher": open_matcher(matcher)}
    wanted = parse_metric(metric)
    present = [name for name in table.schema.names if table[name].null_count == 0]
    plan = make_plan([wanted], present, tools)
    if plan.skipped:
        return Score(None, "skipped", plan.skipped[str(wanted)])
    result = run_to_end(evaluate_batch(plan, table.to_batches()[0], tools, asyncio.Semaphore(1)), plan.waits)
    return result.cells[str(wanted)][0]
