"""Background jobs that rescore stored runs, one at a time, with progress and result."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Literal

from ragstone.engine.progress import Progress, Report
from ragstone.errors import RagstoneError
from ragstone.storage.runs import Run
from ragstone.truth.join import rescore_with_truth
from ragstone.truth.store import Version

State = Literal["waiting", "working", "done", "failed"]
Key = tuple[str, str, int]


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
