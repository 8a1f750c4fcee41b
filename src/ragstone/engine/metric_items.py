"""The items that metrics count in one sample. The metrics are called again with the evidence of the run; no model is called."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ragstone.data.codec import arrow_type, encoder
from ragstone.data.columns import OK, Cells
from ragstone.data.dataset import Dataset
from ragstone.data.share import Items, Share
from ragstone.data.types import Sample
from ragstone.engine.batch import collect_all, settings_of
from ragstone.engine.execute import run_to_end
from ragstone.engine.function_calls import CallRecorder, call_columnar, call_plain
from ragstone.engine.ledger import Entry, Ledger
from ragstone.engine.plan import MetricStep, make_plan
from ragstone.engine.stored_evidence import restore_column
from ragstone.registry import CATALOGUE, Metric


def items_of(metrics: Sequence[Metric], sample: Sample, evidence: Mapping[str, Any]) -> dict[str, tuple[Items, ...]]:
    """The items of each metric, by its name: one entry per share, none if it is not a share or cannot be computed."""
    batch = Dataset.from_samples([sample]).table.combine_chunks().to_batches()[0]
    ledger = Ledger(batch)
    for name, value in evidence.items():
        if (entry := _entry(name, value)) is not None:
            ledger.add(entry)
    known = [name for name in batch.schema.names if not batch.column(name).null_count]
    plan = make_plan(metrics, [*known, *(name for name in evidence if name in ledger)], {})
    run_to_end(collect_all(plan, ledger, {}, asyncio.Semaphore(1), CallRecorder([sample.id])), plan.waits)
    return {step.name: _items(step, ledger) for step in plan.metrics}


def _entry(name: str, value: Any) -> Entry | None:
    """Evidence of a sample as a column of one row; None if this program does not define it."""
    spec = CATALOGUE.evidence(name)
    if spec is None:
        return None
    annotation = spec.annotation_of(name)
    encode = encoder(annotation)
    stored = pa.array([encode(value) if encode else value], type=arrow_type(annotation))
    return Entry(name, np.arange(1), restore_column(spec, name, stored))


def _items(step: MetricStep, ledger: Ledger) -> tuple[Items, ...]:
    spec, settings = step.metric.spec, settings_of(step)
    ledger = ledger.seen_by(spec)
    if not spec.columnar:
        values = call_plain(spec, ledger, settings, lambda value: value).results
        return values[0].counts if values and isinstance(values[0], Share) else ()
    cells = call_columnar(spec, ledger, settings, lambda value, _: value, lambda _: None).results
    counts = isinstance(cells, Cells) and len(cells) and cells.status[0] == OK and cells.items
    return counts(0) if counts else ()
