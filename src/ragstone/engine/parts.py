"""A run is worked on in parts: rows of the stored samples in, a folder of tables out. A finished part is never computed again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from ragstone.engine.batches import BatchResult
from ragstone.engine.planning import Plan
from ragstone.engine.tables import calls_table, evidence_tables, scores_table
from ragstone.engine.watching import Watch
from ragstone.llm.tally import Tally
from ragstone.storage.places import storage_errors
from ragstone.storage.runs import PartFolder, RunFolder, write_table

# Rows in a part when a model is asked: what an interruption may cost.
WAITING_PART_ROWS = 100


class Part(NamedTuple):
    """Rows of one row group of the stored samples."""

    number: int
    group: int
    start: int
    rows: int


def cut_parts(samples: pq.ParquetFile, plan: Plan) -> Iterator[Part]:
    """The parts of a run: the same ones whoever works on them."""
    number = 0
    for group in range(samples.num_row_groups):
        rows = samples.metadata.row_group(group).num_rows
        size = WAITING_PART_ROWS if plan.waits else rows
        for start in range(0, rows, max(size, 1)):
            yield Part(number, group, start, min(size, rows - start))
            number += 1


def open_samples(folder: RunFolder, stream: pa.NativeFile) -> pq.ParquetFile:
    """The stored samples of a run."""
    with storage_errors(f"cannot read {folder.samples}"):
        return pq.ParquetFile(stream)


def read_parts(
    folder: RunFolder, samples: pq.ParquetFile, parts: Sequence[Part]
) -> Iterator[tuple[Part, pa.RecordBatch]]:
    """Each part with its rows; a row group is read once."""
    group, table = -1, pa.table({})
    for part in parts:
        if part.group != group:
            with storage_errors(f"cannot read {folder.samples}"):
                group, table = part.group, samples.read_row_group(part.group)
        yield part, _single_batch(table.slice(part.start, part.rows))


def store_part(plan: Plan, home: PartFolder, result: BatchResult, watch: Watch) -> None:
    """The scores last: where they are, the part is finished."""
    for name, evidence in evidence_tables(plan, result).items():
        write_table(home.evidence(name), evidence)
    if plan.waits:
        write_table(home.calls, calls_table(watch.calls))
    if watch.tally != Tally():
        home.tally.write_bytes(json.dumps(asdict(watch.tally)).encode())
    write_table(home.scores, scores_table(plan, result))


def _single_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.combine_chunks().to_batches()
    return batches[0] if len(batches) == 1 else pa.RecordBatch.from_pylist([], schema=table.schema)
