"""Second step of a run: computes the plan for the stored samples, part by part, in this process.

A part is some rows of the stored samples; its result is a folder of tables. A finished part is never computed again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ragstone.data.codec import canonical_json
from ragstone.data.columns import OK, STATUSES, Cells
from ragstone.data.schema import CALLS, SCORES, evidence_schema
from ragstone.engine.batch import ScoredBatch, evaluate_batch
from ragstone.engine.function_calls import CallRecorder, absent_cells
from ragstone.engine.ledger import Entry
from ragstone.engine.plan import EvidenceStep, Plan
from ragstone.engine.progress import Meter, Report
from ragstone.engine.stored_evidence import StoredEvidence
from ragstone.llm.cascade_tally import Tally
from ragstone.llm.concurrency import gather_or_cancel
from ragstone.storage.places import storage_errors
from ragstone.storage.runs import RunFolder, write_table
from ragstone.tools.protocols import Tool

# Rows per part if models are called: an interruption loses at most these.
WAITING_PART_ROWS = 100
# A batch has the requests of many rows, and so of many parts.
_ROWS_PER_PART_IN_FLIGHT = 100


class RunPart(NamedTuple):
    """Rows of one row group of the stored samples."""

    number: int
    group: int
    start: int
    rows: int


def cut_parts(samples: pq.ParquetFile, plan: Plan) -> Iterator[RunPart]:
    """The parts of a run; they do not depend on the backend."""
    number = 0
    for group in range(samples.num_row_groups):
        rows = samples.metadata.row_group(group).num_rows
        size = WAITING_PART_ROWS if plan.waits else rows
        for start in range(0, rows, max(size, 1)):
            yield RunPart(number, group, start, min(size, rows - start))
            number += 1


@contextmanager
def open_samples(folder: RunFolder) -> Iterator[pq.ParquetFile]:
    """The stored samples of a run."""
    with folder.samples.open_input() as stream:
        with storage_errors(f"cannot read {folder.samples}"):
            samples = pq.ParquetFile(stream)
        yield samples


def split_work(
    samples: pq.ParquetFile, plan: Plan, folder: RunFolder, progress: Report
) -> tuple[int, list[RunPart], Meter]:
    """The number of parts, those that are not finished, and the meter, which has counted the finished ones."""
    parts = list(cut_parts(samples, plan))
    finished = folder.finished_parts()
    meter = Meter(plan, samples.metadata.num_rows, progress)
    meter.add_rows(sum(part.rows for part in parts if part.number in finished))
    return len(parts), [part for part in parts if part.number not in finished], meter


async def compute_part(
    plan: Plan,
    folder: RunFolder,
    part: tuple[RunPart, pa.RecordBatch],
    tools: Mapping[str, Tool],
    gate: asyncio.Semaphore,
    meter: Meter | None = None,
    stored: StoredEvidence | None = None,
) -> None:
    """Evaluate the rows of one part and store the results."""
    recorder = CallRecorder(part[1].column("id").to_pylist() if plan.waits else (), meter)
    result = await evaluate_batch(plan, part[1], tools, gate, recorder, stored)
    home = folder.part(part[0].number)
    # Writes the scores last: a part with scores is finished.
    for name, evidence in evidence_tables(plan, result).items():
        write_table(home.evidence(name), evidence)
    if plan.waits:
        calls = {name: [getattr(call, name) for call in recorder.calls] for name in CALLS.names}
        write_table(home.calls, pa.Table.from_pydict(calls, schema=CALLS))
    if recorder.tally != Tally():
        home.tally.write_bytes(json.dumps(asdict(recorder.tally)).encode())
    write_table(home.scores, scores_table(plan, result))


def read_parts(
    folder: RunFolder, samples: pq.ParquetFile, parts: Sequence[RunPart]
) -> Iterator[tuple[RunPart, pa.RecordBatch]]:
    """Each part with its rows; a row group is read once."""
    group, table = -1, pa.table({})
    for part in parts:
        if part.group != group:
            with storage_errors(f"cannot read {folder.samples}"):
                group, table = part.group, samples.read_row_group(part.group)
        batches = table.slice(part.start, part.rows).combine_chunks().to_batches()
        yield part, batches[0] if len(batches) == 1 else pa.RecordBatch.from_pylist([], schema=table.schema)


PARTS_IN_FLIGHT = 4
_GRACE_S = 2.0
Result = TypeVar("Result")


async def execute(
    plan: Plan,
    folder: RunFolder,
    tools: Mapping[str, Tool],
    concurrency: int,
    progress: Report,
    stored: StoredEvidence | None = None,
) -> int:
    """Compute the unfinished parts; returns the number of all parts."""
    with open_samples(folder) as samples:
        count, left, meter = split_work(samples, plan, folder, progress)
        waiting = read_parts(folder, samples, left)
        gate = asyncio.Semaphore(concurrency)

        async def work() -> None:
            for part in waiting:
                await compute_part(plan, folder, part, tools, gate, meter, stored)
                meter.add_rows(part[0].rows)

        # While one part waits for its last rows, the next one keeps the model busy.
        in_flight = max(PARTS_IN_FLIGHT, concurrency // _ROWS_PER_PART_IN_FLIGHT)
        await (gather_or_cancel(work() for _ in range(in_flight)) if plan.waits else work())
    return count


def run_to_end(work: Coroutine[Any, Any, Result], waits: bool = True) -> Result:
    """Run a coroutine from plain code; in a new thread if a loop is already running, as in a notebook.

    A coroutine that never waits is run without a loop: a loop delays Ctrl-C until something waits, and plain functions
    could not start a loop of their own.
    """
    if not waits:
        try:
            work.send(None)
        except StopIteration as end:
            return cast(Result, end.value)
        work.close()
        raise RuntimeError("a plan without async evidence waited for something")
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run_in_new_loop(work)
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)
    outcome: list[Result | BaseException] = []

    def run() -> None:
        try:
            outcome.append(loop.run_until_complete(task))
        except BaseException as error:  # noqa: BLE001  (handed to the caller's thread)
            outcome.append(error)
        finally:
            loop.close()

    thread = threading.Thread(target=run, name="ragstone")
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def _run_in_new_loop(work: Coroutine[Any, Any, Result]) -> Result:
    """As asyncio.run, but two Ctrl-C in a row end it.

    The second one may hit the loop between two steps of a task. That step is lost, so the task never ends, and asyncio.run
    waits for it for ever.
    """
    runner = asyncio.Runner()
    try:
        result = runner.run(work)
    except KeyboardInterrupt:
        loop = runner.get_loop()
        if tasks := asyncio.all_tasks(loop):
            for task in tasks:
                task.cancel()
            with suppress(KeyboardInterrupt):
                loop.run_until_complete(asyncio.wait(tasks, timeout=_GRACE_S))
            for task in tasks:  # asyncio prints exceptions that are not retrieved
                if task.done() and not task.cancelled():
                    task.exception()
        loop.close()
        raise
    except BaseException:
        runner.close()
        raise
    runner.close()
    return result


def scores_table(plan: Plan, result: ScoredBatch) -> pa.Table:
    """All cells of a batch, metric by metric."""
    ids = result.batch.column("id")
    tables = []
    for step in plan.metrics:
        cells = result.cells[step.name]
        columns = [
            ids,
            _repeated(step.name, len(cells)),
            pa.array(cells.values, mask=cells.status != OK),
            _status(cells.status),
            _reasons(cells),
            _repeated(step.signature, len(cells)),
        ]
        tables.append(pa.Table.from_arrays(columns, schema=SCORES))
    return pa.concat_tables(tables).unify_dictionaries() if tables else SCORES.empty_table()


def evidence_tables(plan: Plan, result: ScoredBatch) -> dict[str, pa.Table]:
    """The stored evidence, one table per piece, with a hash of the inputs of each row."""
    tables = {}
    hashes: dict[tuple[str, ...], list[str]] = {}
    for step in plan.evidence:
        if step.spec.transient:
            continue
        # Several kinds of evidence often need the same fields.
        if step.fields not in hashes:
            # A change of the fields makes the evidence out of date.
            columns = [result.batch.column(name).to_pylist() for name in step.fields]
            rows = zip(*columns, strict=True) if columns else [()] * result.batch.num_rows
            hashes[step.fields] = [
                hashlib.blake2b(canonical_json(list(values)).encode(), digest_size=8).hexdigest() for values in rows
            ]
        inputs = hashes[step.fields]
        for piece in step.pieces:
            tables[piece] = _evidence_table(step, result.evidence[piece], result.batch.column("id"), inputs)
    return tables


def _evidence_table(step: EvidenceStep, entry: Entry, ids: pa.Array, inputs: Sequence[str]) -> pa.Table:
    assert entry.stored is not None  # noqa: S101  (for the type checker: `_check_type` sets it)
    positions = np.full(len(ids), -1)
    positions[entry.rows] = np.arange(len(entry.rows))
    values = entry.stored.take(pa.array(positions, mask=positions < 0))
    cells = absent_cells(len(ids), entry.absent)
    columns = [
        ids,
        values,
        _status(cells.status),
        _reasons(cells),
        pa.array(inputs),
        _repeated(step.signature, len(ids)),
    ]
    return pa.Table.from_arrays(columns, schema=evidence_schema(values.type))


def _repeated(word: str, times: int) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(times, dtype=np.int32)), pa.array([word]))


def _status(status: np.ndarray) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(status.astype(np.int32)), pa.array(STATUSES))


def _reasons(cells: Cells) -> pa.DictionaryArray:
    words = list(dict.fromkeys(cells.reasons.values()))
    number = {word: position for position, word in enumerate(words)}
    codes = np.full(len(cells), -1, dtype=np.int32)
    for row, reason in cells.reasons.items():
        codes[row] = number[reason]
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(words, type=pa.string()))
