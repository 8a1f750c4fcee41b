"""Second step of a run: the plan over the stored samples, part by part; a finished part is never computed again."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple, TypeVar, cast

import pyarrow as pa
import pyarrow.parquet as pq

from ragstone.engine.batches import BatchResult, evaluate_batch
from ragstone.engine.planning import Plan, Tool
from ragstone.engine.progress import Meter, Report
from ragstone.engine.recalling import Recollection
from ragstone.engine.tables import calls_table, evidence_tables, scores_table
from ragstone.engine.together import together
from ragstone.engine.watching import Watch
from ragstone.llm.tally import Tally
from ragstone.storage.places import storage_errors
from ragstone.storage.runs import PartFolder, RunFolder, write_table

# Rows in a part when a model is asked: what an interruption may cost.
WAITING_PART_ROWS = 100
PARTS_IN_FLIGHT = 4
Result = TypeVar("Result")


class Part(NamedTuple):
    """Rows of one row group of the stored samples."""

    number: int
    group: int
    start: int
    rows: int


async def execute(
    plan: Plan,
    folder: RunFolder,
    tools: Mapping[str, Tool],
    concurrency: int,
    progress: Report,
    recollection: Recollection | None = None,
) -> int:
    """Compute the parts that are not there yet; returns how many there are in all."""
    with folder.samples.open_input() as stream:
        samples = _open_samples(folder, stream)
        parts = list(_cut(samples, plan))
        finished = folder.finished_parts()
        meter = Meter(plan, samples.metadata.num_rows, progress)
        meter.add_rows(sum(part.rows for part in parts if part.number in finished))
        left = _batches(folder, samples, [part for part in parts if part.number not in finished])
        gate = asyncio.Semaphore(concurrency)

        async def work() -> None:
            for part, batch in left:
                watch = Watch(batch.column("id").to_pylist() if plan.waits else (), meter.tick)
                result = await evaluate_batch(plan, batch, tools, gate, watch, recollection)
                _store(plan, folder.part(part.number), result, watch)
                meter.add_rows(part.rows)

        # While one part waits for its last rows, the next one keeps the model busy.
        await (together(work() for _ in range(PARTS_IN_FLIGHT)) if plan.waits else work())
    return len(parts)


def _batches(
    folder: RunFolder, samples: pq.ParquetFile, parts: Sequence[Part]
) -> Iterator[tuple[Part, pa.RecordBatch]]:
    group, table = -1, pa.table({})
    for part in parts:
        if part.group != group:
            group, table = part.group, _read_group(folder, samples, part.group)
        yield part, _single_batch(table.slice(part.start, part.rows))


def _store(plan: Plan, home: PartFolder, result: BatchResult, watch: Watch) -> None:
    """The scores last: where they are, the part is finished."""
    for name, evidence in evidence_tables(plan, result).items():
        write_table(home.evidence(name), evidence)
    if plan.waits:
        write_table(home.calls, calls_table(watch.calls))
    if watch.tally != Tally():
        home.tally.write_bytes(json.dumps(asdict(watch.tally)).encode())
    write_table(home.scores, scores_table(plan, result))


def _open_samples(folder: RunFolder, stream: pa.NativeFile) -> pq.ParquetFile:
    with storage_errors(f"cannot read {folder.samples}"):
        return pq.ParquetFile(stream)


def _read_group(folder: RunFolder, samples: pq.ParquetFile, group: int) -> pa.Table:
    with storage_errors(f"cannot read {folder.samples}"):
        return samples.read_row_group(group)


def _cut(samples: pq.ParquetFile, plan: Plan) -> Iterator[Part]:
    number = 0
    for group in range(samples.num_row_groups):
        rows = samples.metadata.row_group(group).num_rows
        size = WAITING_PART_ROWS if plan.waits else rows
        for start in range(0, rows, max(size, 1)):
            yield Part(number, group, start, min(size, rows - start))
            number += 1


def _single_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.combine_chunks().to_batches()
    return batches[0] if len(batches) == 1 else pa.RecordBatch.from_pylist([], schema=table.schema)


def run_to_end(work: Coroutine[Any, Any, Result], waits: bool = True) -> Result:
    """Run a coroutine from plain code; in a thread of its own where a loop is already running, as in a notebook.

    One that never waits needs no loop. That is more than thrift: a loop holds Ctrl-C back until something waits, and
    does not let plain functions start a loop of their own.
    """
    if not waits:
        return _run_without_loop(work)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _run_in_thread(work)


def _run_without_loop(work: Coroutine[Any, Any, Result]) -> Result:
    try:
        work.send(None)
    except StopIteration as end:
        return cast(Result, end.value)
    work.close()
    raise RuntimeError("a plan without async evidence waited for something")


def _run_in_thread(work: Coroutine[Any, Any, Result]) -> Result:
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
