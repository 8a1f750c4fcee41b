"""A cache whose values are computed in background threads, so that a page can be shown before they are ready.

Also jobs that rescore stored runs, one at a time, with progress and result.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotReadyError
from dataclasses import dataclass
from threading import Lock
from typing import Generic, Literal, TypeVar

from ragstone.engine.progress import Progress, Report
from ragstone.errors import RagstoneError
from ragstone.storage.runs import Run
from ragstone.truth.join import rescore_with_truth
from ragstone.truth.store import Version

State = Literal["waiting", "working", "done", "failed"]
Key = tuple[str, str, int]

T = TypeVar("T")
# A page waits this long for a value before it is shown without it.
MAX_WAIT_S = 0.3


class BackgroundCache(Generic[T]):
    """The most recently used values by key. Concurrent requests for one key compute its value once."""

    def __init__(self, size: int, workers: int = 1) -> None:
        self._size = size
        self._futures: OrderedDict[Hashable, Future[T]] = OrderedDict()
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="ragstone-view")

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the value and wait as long as it takes."""
        return self._submit(key, compute).result()

    def peek(self, key: Hashable, compute: Callable[[], T], wait_s: float = MAX_WAIT_S) -> T | None:
        """Return the value if it is ready within `wait_s`, else None; the computation goes on."""
        future = self._submit(key, compute)
        try:
            return future.result(timeout=wait_s)
        except NotReadyError:
            if future.done():  # the computation itself raised TimeoutError
                raise
            return None

    def ready(self, key: Hashable) -> T | None:
        """Return the value if it was computed; nothing is computed."""
        with self._lock:
            future = self._futures.get(key)
        return future.result() if future and future.done() and not future.exception() else None

    def _submit(self, key: Hashable, compute: Callable[[], T]) -> Future[T]:
        with self._lock:
            future = self._futures.get(key)
            if future is None or (future.done() and future.exception()):  # failed computations are repeated
                future = self._futures[key] = self._pool.submit(compute)
            self._futures.move_to_end(key)
            while len(self._futures) > self._size:
                self._futures.popitem(last=False)
            return future

    def close(self) -> None:
        """Cancel the computations that have not started."""
        self._pool.shutdown(wait=False, cancel_futures=True)


@dataclass
class Job:
    """The rescoring of one run against one version."""

    run: str
    state: State = "waiting"
    done: int = 0
    total: int = 0
    result: str = ""
    why: str = ""

    @property
    def is_open(self) -> bool:
        """Whether the job is not finished."""
        return self.state in ("waiting", "working")


class Rescoring:
    """The jobs of this viewer. They are lost when it stops; the runs that they created are stored."""

    def __init__(self) -> None:
        self._jobs: dict[Key, Job] = {}
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="ragstone-rescore")

    def job(self, run: str, name: str, number: int) -> Job | None:
        """Return the job of a run and a version, if one was started."""
        return self._jobs.get((run, name, number))

    def start(self, run: Run, version: Version) -> Job:
        """Start a job unless one is running or done; failed jobs are repeated."""
        key = (run.id, version.info.name, version.info.number)
        with self._lock:
            job = self._jobs.get(key)
            if job is None or job.state == "failed":
                job = self._jobs[key] = Job(run.id, total=int(run.info["dataset"]["rows"]))
                self._pool.submit(_work, job, lambda report: rescore_with_truth(run, version, progress=report))
        return job

    def close(self) -> None:
        """Cancel the jobs that have not started."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _work(job: Job, score: Callable[[Report], Run]) -> None:
    def report(progress: Progress) -> None:
        job.done, job.total = progress.done, progress.total or job.total

    job.state = "working"
    try:
        job.result = score(report).id
        job.state = "done"
    except RagstoneError as error:
        job.why, job.state = str(error), "failed"
    except Exception as error:  # noqa: BLE001  (the page shows it; the thread has no other output)
        job.why, job.state = f"this is a bug in Ragstone: {type(error).__name__}: {error}", "failed"
