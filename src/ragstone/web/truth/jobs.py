"""Stored runs scored anew in the background, one after the other; how far each is, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Literal

from ragstone.engine.progress import Progress, Report
from ragstone.errors import RagstoneError
from ragstone.storage.runs import Run
from ragstone.truth.rescoring import rescore_with_truth
from ragstone.truth.versions import Version

State = Literal["waiting", "working", "done", "failed"]
Key = tuple[str, str, int]


@dataclass
class Job:
    """One run against one version."""

    run: str
    state: State = "waiting"
    done: int = 0
    total: int = 0
    result: str = ""
    why: str = ""

    @property
    def is_open(self) -> bool:
        """Whether there is something to wait for."""
        return self.state in ("waiting", "working")


class Rescoring:
    """The jobs of this viewer; they are forgotten when it stops, what they made is not."""

    def __init__(self) -> None:
        self._jobs: dict[Key, Job] = {}
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="ragstone-rescore")

    def job(self, run: str, name: str, number: int) -> Job | None:
        """What became of a run against a version, if that was asked for."""
        return self._jobs.get((run, name, number))

    def start(self, run: Run, version: Version) -> Job:
        """Begin, unless it is under way or done already; what failed is tried again."""
        key = (run.id, version.info.name, version.info.number)
        with self._lock:
            job = self._jobs.get(key)
            if job is None or job.state == "failed":
                job = self._jobs[key] = Job(run.id, total=int(run.info["dataset"]["rows"]))
                self._pool.submit(_work, job, lambda report: rescore_with_truth(run, version, progress=report))
        return job

    def close(self) -> None:
        """Begin nothing more."""
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
    except Exception as error:  # noqa: BLE001  (a page must say so: nobody watches this thread)
        job.why, job.state = f"this is a bug in Ragstone: {type(error).__name__}: {error}", "failed"
