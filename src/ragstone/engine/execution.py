"""Second step of a run: the plan over the stored samples, part by part, in this process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar, cast

from ragstone.engine.batches import evaluate_batch
from ragstone.engine.parts import cut_parts, open_samples, read_parts, store_part
from ragstone.engine.planning import Plan, Tool
from ragstone.engine.progress import Meter, Report
from ragstone.engine.recalling import Recollection
from ragstone.engine.together import together
from ragstone.engine.watching import Watch
from ragstone.storage.runs import RunFolder

PARTS_IN_FLIGHT = 4
Result = TypeVar("Result")


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
        samples = open_samples(folder, stream)
        parts = list(cut_parts(samples, plan))
        finished = folder.finished_parts()
        meter = Meter(plan, samples.metadata.num_rows, progress)
        meter.add_rows(sum(part.rows for part in parts if part.number in finished))
        left = read_parts(folder, samples, [part for part in parts if part.number not in finished])
        gate = asyncio.Semaphore(concurrency)

        async def work() -> None:
            for part, batch in left:
                watch = Watch(batch.column("id").to_pylist() if plan.waits else (), meter.tick)
                result = await evaluate_batch(plan, batch, tools, gate, watch, recollection)
                store_part(plan, folder.part(part.number), result, watch)
                meter.add_rows(part.rows)

        # While one part waits for its last rows, the next one keeps the model busy.
        await (together(work() for _ in range(PARTS_IN_FLIGHT)) if plan.waits else work())
    return len(parts)


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
