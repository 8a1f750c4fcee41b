"""Shares work out to the workers of a Ray cluster: the parts of a run, questions to a system, or cases of a ground truth.

Workers are actors that keep their models open. Ray restarts one that dies, and its items are worked on again.
"""

from __future__ import annotations

import asyncio
import importlib
import itertools
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple

from ragstone.engine.backends.worker import Done, Kit, PartWorker, find_environment
from ragstone.engine.execute import RunPart
from ragstone.errors import MissingExtraError, RagstoneError, StopRunError
from ragstone.llm.budget import parse_budget
from ragstone.llm.concurrency import bound
from ragstone.llm.shared_limits import DistantBudget, DistantLimiter, Referee, Rules

# Parts per worker at a time if models are called: while one part waits for its last rows, the others keep the model busy.
PARTS_AT_ONCE = 4
# How often the same items may kill a worker.
_MOST_DEATHS = 5
_PATIENCE_S, _CLOSE_S = 10, 2
_WORDS_UNREACHABLE = (
    "no Ray cluster answers at {address}: {words}. Check RAY_ADDRESS, or unset it to start one on this machine."
)
_NUMBERS = itertools.count()
# Workers that several jobs use one after the other.
_KEPT: ContextVar[list[Any] | None] = ContextVar("ragstone_ray_workers", default=None)


class Job(NamedTuple):
    """Work for a cluster."""

    # Called on each worker with a function that returns the shared limits, as settings of a gateway. Returns a function of
    # items that returns results; its `close`, if it has one, is called at the end.
    open: Callable[[Callable[[], Mapping[str, Any]]], Callable[[Any], list[Any]]]
    # The limits of calls, with the names of JudgingOptions; None if no model is called.
    limits: Mapping[str, Any] | None
    concurrency: int
    items_at_once: int
    workers: int | None
    # Functions and objects of the user that are sent along.
    users: Mapping[str, Any]


def work_on_ray(kit: Kit, parts: Sequence[RunPart], workers: int | None) -> Iterator[Done]:
    """Each part as it is finished, in any order."""
    plan, waits = kit.plan, kit.plan.waits
    specs = [*(step.spec for step in plan.evidence), *(step.metric.spec for step in plan.metrics)]
    # Models and checkers may be functions or objects of the user.
    models = {name: model for name, model in kit.judging.items() if callable(model)}
    users = {**{spec.name: spec.function for spec in specs}, **models}
    limits, at_once = (kit.judging, PARTS_AT_ONCE) if waits else (None, 1)
    return share_out(Job(partial(PartWorker, kit), limits, kit.concurrency, at_once, workers, users), parts)


def share_out(job: Job, items: Sequence[Any]) -> Iterator[Any]:
    """The results of all items, in any order: each worker gets some items at a time."""
    ray = _import_ray()
    _connect(ray)
    _carry_users_modules(job.users)
    blocks = [items[start : start + job.items_at_once] for start in range(0, len(items), job.items_at_once)]
    cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
    # More workers than cores wait for ever, unless the cluster grows.
    most = job.workers if job.workers and os.environ.get("RAY_ADDRESS") else min(job.workers or cores, cores)
    wanted = min(most, max(1, len(blocks)))
    limits = dict(job.limits or {})
    if limits.get("deadline_s") is not None:
        limits["ends_at"] = time.time() + limits["deadline_s"]
    budget = None if limits.get("budget") is None else parse_budget(limits["budget"])
    amounts = (None, 0.0) if budget is None else (budget.limit_usd, budget.spent_usd)
    rules = Rules(job.concurrency, limits.get("requests_per_minute"), limits.get("tokens_per_minute"), *amounts)
    referee = None
    if job.limits is not None:
        referee = ray.remote(Referee).options(num_cpus=0, max_concurrency=10_000).remote(rules)
    details = ray.put((next(_NUMBERS), job._replace(limits=limits), referee, find_environment(), os.getcwd()))
    kept = _KEPT.get()
    workers: list[Any] = [] if kept is None else kept
    try:
        _start_workers(ray, workers, wanted, wanted if kept is None else most)
        yield from _distribute(ray, workers[:wanted], details, blocks)
    finally:
        if kept is None:
            _end(ray, workers)
        if referee is not None:
            with suppress(ray.exceptions.RayError):  # the first error matters
                if budget is not None:
                    budget.add(*ray.get(referee.spent.remote()))
            ray.kill(referee)


def _distribute(ray: Any, workers: Sequence[Any], details: Any, blocks: Sequence[Sequence[Any]]) -> Iterator[Any]:
    left, finished = iter(blocks), 0
    # A worker gets its first items when it has closed its last job: a full cluster may start some of them late.
    flying = {worker.close.remote(): worker for worker in workers}
    while finished < len(blocks):
        [ready], _ = ray.wait(list(flying), num_returns=1)
        worker = flying.pop(ready)
        try:
            found, problem = ray.get(ready) or (None, None)
        except ray.exceptions.RayActorError:
            raise StopRunError(f"a worker died {_MOST_DEATHS} times at the same rows; had it enough memory?") from None
        if problem is not None:
            raise StopRunError(problem)
        finished += found is not None
        if (block := next(left, None)) is not None:
            flying[worker.work.remote(details, block)] = worker
        yield from found or ()


@contextmanager
def kept_workers() -> Iterator[None]:
    """Use the same workers for all jobs of this block: starting them takes seconds."""
    workers: list[Any] = []
    try:
        with bound(_KEPT, workers):
            yield
    finally:
        if workers:
            _end(_import_ray(), workers)


def _start_workers(ray: Any, workers: list[Any], count: int, most: int) -> None:
    """Start actors until there are `count`. Each has the share of one of `most` in the cluster's cores and GPUs.

    If they did not fit all at once, one that waits could take the cores of one that died, which then never restarts.
    """
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    cores = [int(node.get("CPU", 0)) for node in nodes]
    # As many cores as each of them can have.
    share = next((size for size in range(max(cores), 1, -1) if sum(one // size for one in cores) >= most), 1)
    gpus = min(1.0, sum(node.get("GPU", 0.0) for node in nodes) / most)
    restarts = {"max_restarts": -1, "max_task_retries": _MOST_DEATHS - 1}
    kind = ray.remote(RayWorker).options(num_cpus=share, num_gpus=gpus, **restarts)
    workers += [kind.remote() for _ in range(count - len(workers))]


def _end(ray: Any, workers: Sequence[Any]) -> None:
    """Let workers close their models, unless they are still at work, and end them."""
    if closed := [worker.close.remote() for worker in workers]:
        ray.wait(closed, num_returns=len(closed), timeout=_CLOSE_S)
    for worker in workers:
        ray.kill(worker)


class RayWorker:
    """An actor that works on one job at a time."""

    def __init__(self) -> None:
        self._number = -1
        self._work: Any = None
        context = _import_ray().get_runtime_context()
        self._name = f"{context.get_actor_id()}/{os.getpid()}"
        # Local models use the cores of this worker, not those of its machine.
        os.environ["RAGSTONE_CORES"] = str(int(context.get_assigned_resources().get("CPU", 1)))

    def work(self, details: Any, items: Sequence[Any]) -> tuple[list[Any], str | None]:
        """Work on some items; returns the results, and the text of an error that stops the run."""
        try:
            if self._number != details[0]:  # also after a restart
                self._open(*details)
            return self._work(items), None
        except RagstoneError as error:
            return [], str(error)

    def close(self) -> None:
        """Close the models of the job."""
        work, self._work, self._number = self._work, None, -1
        getattr(work, "close", lambda: None)()

    def _open(self, number: int, job: Job, referee: Any, environment: Mapping[str, str], folder: str) -> None:
        for name, value in environment.items():
            os.environ.setdefault(name, value)
        # Paths of the user's files are relative to the folder of the command.
        if os.path.isdir(folder):
            os.chdir(folder)
        self._limits, self._referee = job.limits or {}, referee
        if referee is not None:
            _import_ray().get(referee.join.remote(self._name))
        self._work = job.open(self._shared)
        self._number = number

    def _shared(self) -> Mapping[str, Any]:
        """The limits and the budget that all workers share, as settings of a gateway."""
        if self._referee is None:
            return {}
        counts_tokens = self._limits.get("tokens_per_minute") is not None
        settings: dict[str, Any] = {"limiter": DistantLimiter(self._name, self._ask, self._tell, counts_tokens)}
        if (budget := self._limits.get("budget")) is not None:
            most = parse_budget(budget).limit_usd
            settings["budget"] = DistantBudget(most, self._name, self._ask, self._tell)
        if "ends_at" in self._limits:  # one that has passed passes at once
            settings["deadline_s"] = max(self._limits["ends_at"] - time.time(), 1e-3)
        return settings

    def _ask(self, method: str, *arguments: Any) -> Any:  # not `async`: Ray would run the actor in a loop
        return asyncio.wrap_future(getattr(self._referee, method).remote(*arguments).future())

    def _tell(self, method: str, *arguments: Any) -> None:
        getattr(self._referee, method).remote(*arguments)


def _import_ray() -> Any:
    # No usage statistics, which the user has not agreed to; no warnings of its core on standard error, and no reports of dead
    # workers on standard output, where JSON is printed: what fails a run comes back as an exception.
    quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal", "RAY_DEDUP_LOGS_SKIP_REGEX": "."}
    os.environ.update({**quiet, **os.environ})
    try:
        import ray  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError("--backend ray", "ray") from None
    return ray


def _connect(ray: Any) -> None:
    """Join the cluster that RAY_ADDRESS names, or start one here."""
    if ray.is_initialized():
        return
    address = os.environ.get("RAY_ADDRESS")
    _knock(address)
    try:
        with _silence():  # Ray's core prints its log level
            ray.init(log_to_driver=False, logging_level="ERROR", include_dashboard=False if not address else None)
    except Exception as error:  # noqa: BLE001  (a slow start raises a plain one)
        words = " ".join(str(error).split())[:200]
        raise StopRunError(_WORDS_UNREACHABLE.format(address=address or "this machine", words=words)) from None


@contextmanager
def _silence() -> Iterator[None]:
    """Drop what code outside Python writes to standard error."""
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def _knock(address: str | None) -> None:
    """Fail fast if no server listens at the address: Ray itself retries for minutes."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE_S).close()
    except OSError as error:
        words = error.strerror or str(error)
        raise StopRunError(_WORDS_UNREACHABLE.format(address=address, words=words)) from None


def _carry_users_modules(users: Mapping[str, Any]) -> None:
    """Send the code of a user's own metrics and models along, because no worker can import it; raises if it cannot be sent."""
    cloudpickle: Any = importlib.import_module("ray.cloudpickle")
    for name, function in users.items():
        home = getattr(function, "__module__", None) or "__main__"
        if home.startswith("ragstone."):
            continue
        if home != "__main__" and home in sys.modules:
            cloudpickle.register_pickle_by_value(sys.modules[home])
        try:
            cloudpickle.dumps(function)
        except Exception as error:  # noqa: BLE001  (the function may refer to anything)
            raise StopRunError(
                f"'{name}' cannot be sent to the workers: {error}. Open files, locks and clients inside the "
                "function, or use the local backend."
            ) from None
