"""Opens ONNX models, tokenizers and transformers with clear errors, and runs models in micro-batches in a thread."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from ragstone.errors import MissingExtraError, StopRunError, StorageError, UsageError
from ragstone.models.store import Installed

Item = TypeVar("Item")
R = TypeVar("R")


def cores() -> int:
    """Return the number of cores that this process may use; RAGSTONE_CORES sets it, also for the workers of a cluster."""
    if (chosen := os.environ.get("RAGSTONE_CORES", "")).isdigit():
        return max(1, int(chosen))
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def open_session(model: Installed, file: str = "model.onnx", threads: int | None = None) -> Any:
    """Open an onnxruntime session on the CPU, by default with one thread per core."""
    path = model.path(file)
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # Read when it is imported: since 1.31 it reports to its makers.
    try:
        import onnxruntime  # noqa: PLC0415  (slow to import)
    except ImportError:
        raise MissingExtraError(f"the model '{model.name}'", "local") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or cores()
    # Spinning threads would keep a core busy.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has many errors
        raise unusable(model, file, error) from error


def open_tokenizer(model: Installed, file: str = "tokenizer.json") -> Any:
    """Open a tokenizer without padding and truncation."""
    path = model.path(file)
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError(f"the model '{model.name}'", "local") from None
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises Exception
        raise unusable(model, file, error) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def or_stop(work: Callable[[list[Item]], R], items: list[Item]) -> R:
    """Call the model; an error of the model itself stops the run, because it affects all rows."""
    try:
        return work(items)
    except (StorageError, MissingExtraError) as error:
        raise StopRunError(str(error)) from error


def unusable(model: Installed, file: str, error: Exception) -> StorageError:
    """The error for a file that cannot be loaded."""
    words = " ".join(str(error).split())[:200]
    return StorageError(
        f"the model '{model.name}' cannot be used: {file}: {words}. "
        f"Fetch it again: ragstone models remove {model.name}, then ragstone models pull {model.name}"
    )


def load_transformer(source: str, kind: str, tokenizes: bool = True, **settings: Any) -> tuple[Any, Any]:
    """Load a tokenizer, if one is needed, and a model of `AutoModelFor…` from a folder or the hub; never from pickles."""
    import transformers  # noqa: PLC0415

    local = Path(source).is_dir()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, local_files_only=local) if tokenizes else None
        chosen = getattr(transformers, kind)
        model = chosen.from_pretrained(source, local_files_only=local, use_safetensors=True, **settings)
    except Exception as error:  # transformers, torch and the hub client have many errors
        words = " ".join(str(error).split())[:200]
        raise StorageError(f"{source} cannot be loaded: {words}") from error
    return tokenizer, model.float().eval()


def require_torch(name: str, otherwise: str) -> None:
    """Raise if torch or transformers is not installed."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise UsageError(f"{name} needs torch and transformers: pip install torch transformers. {otherwise}")


# A text, or several that belong together.
K = TypeVar("K", bound=str | tuple[str, ...])


def _succeeded(future: asyncio.Future[Any]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


class Gatherer(Generic[K, R]):
    """Collects texts into micro-batches, one at a time. Each text is computed once and kept for a while."""

    def __init__(
        self, work: Callable[[list[K]], Sequence[R]], most: int = 256, kept: int = 20_000, letters: int = 50_000
    ) -> None:
        self._work = work
        self._most = most
        # Maximum characters per batch, so that a run can be stopped after seconds.
        self._letters = letters
        self._kept = kept
        # By text, oldest first.
        self._futures: dict[K, asyncio.Future[R]] = {}
        self._waiting: list[K] = []
        self._worker: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def submit(self, texts: Sequence[K]) -> list[R]:
        """Return the model's result for each text."""
        self._move_to(asyncio.get_running_loop())
        futures = [self._future(text) for text in texts]
        if self._waiting and self._worker is None:
            self._worker = asyncio.get_running_loop().create_task(self._run())
        if futures:
            await asyncio.wait(futures)  # unlike gather, does not cancel the futures of other callers
        return [future.result() for future in futures]

    def _move_to(self, loop: asyncio.AbstractEventLoop) -> None:
        """Keeps the results for another event loop, such as that of a second asyncio.run; futures belong to their loop."""
        if loop is self._loop:
            return
        results = {text: old.result() for text, old in self._futures.items() if _succeeded(old)}
        self._loop, self._futures, self._waiting, self._worker = loop, {}, [], None
        for text, result in results.items():
            self._futures[text] = loop.create_future()
            self._futures[text].set_result(result)

    def _future(self, text: K) -> asyncio.Future[R]:
        future = self._futures.get(text)
        if future is None or (future.done() and not _succeeded(future)):
            future = self._futures[text] = asyncio.get_running_loop().create_future()
            self._waiting.append(text)
        return future

    async def _run(self) -> None:
        try:
            await asyncio.sleep(0)  # lets all ready tasks submit first
            while self._waiting:
                batch = self._take()
                futures = [self._futures[text] for text in batch]
                try:
                    results = await asyncio.to_thread(self._work, batch)
                except Exception as error:  # noqa: BLE001  (raised in the waiting callers)
                    for future in futures:
                        future.set_exception(error)
                        future.exception()  # marks it as retrieved if no caller is left
                else:
                    for future, result in zip(futures, results, strict=True):
                        future.set_result(result)
                for text in list(self._futures)[: max(0, len(self._futures) - self._kept)]:
                    if self._futures[text].done():
                        del self._futures[text]
        finally:
            self._worker = None
            for text in self._waiting:  # only if this task was cancelled
                self._futures[text].cancel()
            self._waiting = []

    def _take(self) -> list[K]:
        """Take the next batch of waiting texts; at least one."""
        count, letters = 1, _letters(self._waiting[0])
        for text in self._waiting[1 : self._most]:
            letters += _letters(text)
            if letters > self._letters:
                break
            count += 1
        batch, self._waiting = self._waiting[:count], self._waiting[count:]
        return batch


def _letters(item: str | tuple[str, ...]) -> int:
    return len(item) if isinstance(item, str) else sum(map(len, item))
