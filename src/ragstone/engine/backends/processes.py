"""The parts of a run by some processes of this machine: for large runs whose work is that of the processor.

A process takes a second or two to begin, so a small run is faster without. What waits for models stays in one process, which
can wait for many at once; local models use all cores by themselves.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

from ragstone.engine.backends.worker import Done, Kit, PartWorker
from ragstone.engine.parts import Part
from ragstone.engine.planning import Plan
from ragstone.errors import StopRunError
from ragstone.models.sessions import cores

# Fewer rows are done sooner than the processes have begun.
LEAST_ROWS = 200_000
_worker: PartWorker | None = None


def fits(plan: Plan, rows: int, workers: int | None) -> bool:
    """Whether several processes can and should do it."""
    if plan.waits or (workers or cores()) < 2 or rows < (LEAST_ROWS if workers is None else 2):
        return False
    functions = [step.spec.function for step in plan.evidence] + [step.metric.spec.function for step in plan.metrics]
    # Another process can import our own functions, not those of a notebook or a user's file.
    return all(function.__module__.startswith("ragstone.") for function in functions) and _can_be_sent(plan)


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


def _can_be_sent(plan: Plan) -> bool:
    try:
        pickle.dumps(plan)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


def _begin(kit: Kit) -> None:
    global _worker  # noqa: PLW0603  (one for the life of the process)
    # Ctrl-C is for the one that started us: it lets parts that are under way be finished.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker = PartWorker(kit)


def _end_with_parent() -> None:
    """Wait for the end of the one that started us: if it was killed, nobody tells us that there is nothing more to do."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(part: Part) -> Done:
    if _worker is None:
        raise AssertionError("the process has begun")
    return _worker.work([part])[0]
