"""Computes the parts of a large, CPU-bound run in several processes.

A process takes a second or two to start, so a small run is faster in one process. Runs that wait for models also stay in
one process: it can wait for many calls at once, and local models use all cores.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.util import Finalize

from ragstone.engine.backends.worker import Done, Kit, PartWorker
from ragstone.engine.execute import Part, open_samples, split_work
from ragstone.engine.plan import Plan
from ragstone.engine.progress import Report
from ragstone.errors import StopRunError
from ragstone.models.runtime import cores
from ragstone.storage.runs import RunFolder

# Fewer rows are done sooner than the processes have begun.
LEAST_ROWS = 200_000
_worker: PartWorker | None = None


def fits(plan: Plan, rows: int, workers: int | None) -> bool:
    """Whether several processes can and should do it."""
    if plan.waits or (workers or cores()) < 2 or rows < (LEAST_ROWS if workers is None else 2):
        return False
    functions = [step.spec.function for step in plan.evidence] + [step.metric.spec.function for step in plan.metrics]
    # Another process can import our own functions, not those of a notebook or a user's file.
    if not all(function.__module__.startswith("ragstone.") for function in functions):
        return False
    try:
        pickle.dumps(plan)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


def work_in_processes(kit: Kit, parts: Sequence[Part], workers: int | None) -> Iterator[Done]:
    """Each part as it is finished, in any order."""
    size = min(workers or cores(), len(parts))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(size, mp_context=context, initializer=_begin, initargs=(kit,)) as pool:
        waiting = [pool.submit(_work, part) for part in parts]
        try:
            for future in as_completed(waiting):
                yield future.result()
        except BrokenProcessPool:
            raise StopRunError("a process of this run was killed; was there enough memory?") from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _begin(kit: Kit) -> None:
    global _worker  # noqa: PLW0603  (one for the life of the process)
    # The parent process handles Ctrl-C and lets running parts finish.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker = PartWorker(kit)
    Finalize(None, _worker.close, exitpriority=10)


def _end_with_parent() -> None:
    """Exit when the parent process ends: a killed parent sends no signal to its workers."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(part: Part) -> Done:
    if _worker is None:
        raise AssertionError("the process has begun")
    return _worker.work([part])[0]


Workers = Callable[[Kit, Sequence[Part]], Iterable[Done]]


def run_parts(plan: Plan, folder: RunFolder, kit: Kit, workers: Workers, progress: Report) -> int:
    """Have the parts computed that are not there yet; returns how many there are in all."""
    with open_samples(folder) as samples:
        count, left, meter = split_work(samples, plan, folder, progress)
    for done in workers(kit, left) if left else ():
        if done.problem is not None:
            raise StopRunError(done.problem)
        meter.add_rows(done.rows)
    return count
