"""Computes the parts of a run on a Ray cluster, with the same plan and functions as on one machine.

Ray Data's `map_batches` distributes the numbers of the parts; workers read the rows and write the results themselves.
"""

from __future__ import annotations

import asyncio
import atexit
import importlib
import logging
import os
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from ragstone.engine.backends.worker import Done, Kit, PartWorker
from ragstone.engine.execute import RunPart
from ragstone.errors import MissingExtraError, StopRunError
from ragstone.llm.budget import parse_budget
from ragstone.llm.shared_limits import DistantBudget, DistantLimiter, Referee, Rules

# Parts per worker at a time if models are called: while one part waits for its last rows, the others keep the model busy.
PARTS_AT_ONCE = 4
_DONE = pa.schema([("number", pa.int64()), ("rows", pa.int64()), ("problem", pa.string())])
_PATIENCE_S = 10
_WORDS_UNREACHABLE = (
    "no Ray cluster answers at {address}: {words}. Check RAY_ADDRESS, or unset it to start one on this machine."
)


def work_on_ray(kit: Kit, parts: Sequence[RunPart], workers: int | None) -> Iterator[Done]:
    """Each part as it is finished, in any order."""
    ray = _import_ray()
    _connect(ray)
    import ray.data  # noqa: PLC0415  (slow import)

    # Ragstone shows the progress; the log of Ray would interrupt it.
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    at_once = PARTS_AT_ONCE if kit.plan.waits else 1
    pool = min(workers or max(1, int(ray.cluster_resources().get("CPU", 1))), max(1, -(-len(parts) // at_once)))
    referee = _start_referee(ray, kit) if kit.plan.waits else None
    rows = pa.table({name: [getattr(part, name) for part in parts] for name in RunPart._fields})
    blocks = [rows.slice(start, at_once) for start in range(0, len(parts), at_once)]
    _carry_users_modules(kit)
    try:
        # Workers share the GPUs of the cluster.
        gpus = float(ray.cluster_resources().get("GPU", 0.0))
        finished = ray.data.from_arrow(blocks).map_batches(
            RayWorker,
            fn_constructor_args=(kit, referee),
            batch_size=None,
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=pool),
            num_cpus=1,
            num_gpus=min(1.0, gpus / pool) if gpus else 0.0,
        )
        for table in finished.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
            yield from (Done(**row) for row in table.to_pylist())
    finally:
        if referee is not None:
            ray.kill(referee)


class RayWorker:
    """A worker as a Ray actor, which keeps its models open."""

    def __init__(self, kit: Kit, referee: Any) -> None:
        ray = _import_ray()
        self._name = str(ray.get_runtime_context().get_actor_id())
        self._referee = referee
        self._worker = PartWorker(kit, self._shared)
        atexit.register(self._worker.close)
        self._counts_tokens = kit.judging.get("tokens_per_minute") is not None
        self._budget = kit.judging.get("budget")
        if referee is not None:
            ray.get(referee.join.remote(self._name))

    def __call__(self, parts: pa.Table) -> pa.Table:
        """Work on some parts."""
        done = self._worker.work([RunPart(**row) for row in parts.to_pylist()])
        return pa.Table.from_pylist([item._asdict() for item in done], schema=_DONE)

    def __ray_shutdown__(self) -> None:
        """Ray calls this before it ends the actor."""
        self._worker.close()

    def _shared(self) -> Mapping[str, Any]:
        """The limits and the budget that all workers share."""
        if self._referee is None:
            return {}
        limiter = DistantLimiter(self._name, self._ask, self._tell, self._counts_tokens)
        if self._budget is None:
            return {"limiter": limiter}
        most = parse_budget(self._budget).limit_usd
        return {"limiter": limiter, "budget": DistantBudget(most, self._name, self._ask, self._tell)}

    async def _ask(self, method: str, *arguments: Any) -> Any:
        return await asyncio.wrap_future(getattr(self._referee, method).remote(*arguments).future())

    def _tell(self, method: str, *arguments: Any) -> None:
        getattr(self._referee, method).remote(*arguments)


def _import_ray() -> Any:
    # Ray sends usage statistics by default; the user has not agreed to that.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Its core writes warnings to standard error; what fails a run comes back as an exception.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    try:
        import ray  # noqa: PLC0415
        import ray.data  # noqa: PLC0415
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
    except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
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


def _start_referee(ray: Any, kit: Kit) -> Any:
    options = kit.judging
    budget = options.get("budget")
    rules = Rules(
        kit.concurrency,
        options.get("requests_per_minute"),
        options.get("tokens_per_minute"),
        None if budget is None else parse_budget(budget).limit_usd,
    )
    return ray.remote(Referee).options(num_cpus=0, max_concurrency=10_000).remote(rules)


def _carry_users_modules(kit: Kit) -> None:
    """Send the code of a user's own metrics and models along, because no worker can import it; raises if it cannot be sent."""
    cloudpickle: Any = importlib.import_module("ray.cloudpickle")

    specs = [*(step.spec for step in kit.plan.evidence), *(step.metric.spec for step in kit.plan.metrics)]
    functions: dict[str, Any] = {spec.name: spec.function for spec in specs}
    # Models and checkers may be functions or objects of the user.
    functions |= {name: model for name, model in kit.judging.items() if callable(model)}
    for name, function in functions.items():
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
