"""Computes the parts of a large, CPU-bound run in several processes.

A process takes a second or two to start, so a small run is faster in one process. Runs that wait for models also stay in
one process: it can wait for many calls at once, and local models use all cores.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from importlib.machinery import PathFinder
from multiprocessing.util import Finalize

from ragstone.engine.backends.worker import Done, Kit, PartWorker
from ragstone.engine.execute import RunPart, open_samples, split_work
from ragstone.engine.plan import Plan
from ragstone.engine.progress import Report
from ragstone.errors import StopRunError
from ragstone.models.runtime import cores
from ragstone.storage.runs import RunFolder

# For fewer rows, starting processes takes longer than it saves.
LEAST_ROWS = 200_000
_worker: PartWorker | None = None


def fits(plan: Plan, rows: int, workers: int | None, note: Callable[[str], object] = lambda _: None) -> bool:
    """Whether several processes can and should do it. If the user wants them, `note` is called with what is in the way."""
    if plan.waits or (workers or cores()) < 2 or rows < (LEAST_ROWS if workers is None else 2):
        return False
    functions = [step.spec.function for step in plan.evidence] + [step.metric.spec.function for step in plan.metrics]
    for function in functions:
        if not _is_importable(function):
            if workers is not None:
                note(
                    f"{function.__qualname__} cannot be imported from {function.__module__}, so one process computes the run; "
                    "define it at the top level of a module to use several"
                )
            return False
    try:
        pickle.dumps(plan)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


def _is_importable(function: Callable[..., object]) -> bool:
    """Whether another process can import a function. It cannot import those of a notebook, a script or a metrics file."""
    name = function.__module__
    if name.startswith("ragstone."):
        return True
    known = getattr(sys.modules.get(name), function.__qualname__, None) is function
    return known and PathFinder.find_spec(name.partition(".")[0]) is not None


def work_in_processes(kit: Kit, parts: Sequence[RunPart], workers: int | None) -> Iterator[Done]:
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


def _work(part: RunPart) -> Done:
    if _worker is None:
        raise AssertionError("the process has begun")
    return _worker.work([part])[0]


Workers = Callable[[Kit, Sequence[RunPart]], Iterable[Done]]


def run_parts(plan: Plan, folder: RunFolder, kit: Kit, workers: Workers, progress: Report) -> int:
    """Compute the unfinished parts with these workers; returns the number of all parts."""
    with open_samples(folder) as samples:
        count, left, meter = split_work(samples, plan, folder, progress)
    for done in workers(kit, left) if left else ():
        if done.problem is not None:
            raise StopRunError(done.problem)
        meter.add_rows(done.rows)
    return count
