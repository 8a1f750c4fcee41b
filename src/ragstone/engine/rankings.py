"""Ranked lists of ids to scores, in memory: what people use pytrec_eval for, with nothing read and nothing stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ragstone.engine.batches import compute_metrics
from ragstone.engine.ledger import Entry, Ledger
from ragstone.engine.lists import values_or_none
from ragstone.engine.planning import Plan, make_plan
from ragstone.errors import UsageError
from ragstone.evidence.gains import PIECES, judge_lists
from ragstone.registry import resolve_metrics

Relevance = Mapping[str, float] | Collection[str]


def score_rankings(
    retrieved: Sequence[Sequence[str]], relevance: Sequence[Relevance], metrics: str | Sequence[str]
) -> dict[str, list[float | None]]:
    """Retrieval metrics for lists of ids, a list a query, best first; the scores of each metric in the same order.

    `relevance` has for each query the grades by id, or the ids that are relevant. A score is None where there can be none
    because nothing is relevant. `score_rankings([["a", "b"]], [{"b": 1}], "mrr")` is `{"mrr": [0.5]}`.
    """
    chosen = resolve_metrics([metrics] if isinstance(metrics, str) else metrics)
    _check(retrieved, relevance)
    plan = make_plan(chosen, PIECES, {})
    for name, reason in plan.skipped.items():
        raise UsageError(f"{name} cannot be computed from ids: it {reason}")
    needs = {need for step in plan.metrics for need in step.metric.spec.needs}
    try:
        pieces = judge_lists(retrieved, _grades(relevance), needs)
    except (TypeError, ValueError) as error:  # there are too many to look at each before it is used
        raise UsageError(f"ids must be text and grades numbers: {error}") from None
    return _score(plan, pieces, len(retrieved))


def _score(plan: Plan, pieces: Mapping[str, Any], size: int) -> dict[str, list[float | None]]:
    ledger = Ledger(pa.record_batch([pa.nulls(size)], names=["nothing"]))
    for name, column in pieces.items():
        ledger.add(Entry(name, np.arange(size), column))
    return {name: values_or_none(cells) for name, cells in compute_metrics(plan, ledger).items()}


def _check(retrieved: Sequence[Sequence[str]], relevance: Sequence[Relevance]) -> None:
    if len(retrieved) != len(relevance):
        raise UsageError(f"there are {len(retrieved)} lists of ids, but relevance for {len(relevance)}")
    for what, rows in (("retrieved", retrieved), ("relevance", relevance)):
        if str in set(map(type, rows)):
            raise UsageError(f"{what} must have a list of ids for each query, not a text")


def _grades(relevance: Sequence[Relevance]) -> Sequence[dict[str, float]]:
    if set(map(type, relevance)) <= {dict}:  # quicker than looking at each
        return relevance  # type: ignore[return-value]
    return [dict(row) if isinstance(row, Mapping) else dict.fromkeys(row, 1.0) for row in relevance]
