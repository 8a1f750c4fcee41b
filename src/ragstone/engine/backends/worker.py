"""One of many who work on a run: opens its tools once, then takes part after part. Reads and writes the run's own files."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ragstone.engine.batches import evaluate_batch
from ragstone.engine.judging import Judging, JudgingOptions, Opened
from ragstone.engine.matching import open_matcher
from ragstone.engine.parts import Part, open_samples, read_parts, store_part
from ragstone.engine.planning import Plan
from ragstone.engine.together import together
from ragstone.engine.watching import Watch
from ragstone.errors import RagstoneError, StorageError
from ragstone.storage.places import open_place
from ragstone.storage.runs import RunFolder
from ragstone.text.matchers import Matcher

# What a worker on another machine needs to reach models and storage. Values are handed over, never shown.
_ENVIRONMENT = (
    "OPENAI_", "AZURE_", "DIAL_", "OLLAMA_", "VLLM_", "LLAMACPP_", "LITELLM_", "ANTHROPIC_", "GEMINI_", "MISTRAL_",
    "COHERE_", "AWS_", "RAGSTONE_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE",
)  # fmt: skip


class Done(NamedTuple):
    """A part that is stored, or why it is not."""

    number: int
    rows: int
    problem: str | None = None


@dataclass(frozen=True)
class Kit:
    """All that a worker needs to know; it can be sent to another process."""

    plan: Plan
    folder: str
    matcher: str | Matcher
    judging: JudgingOptions
    concurrency: int
    # When all calls of the run end, by the clock on the wall.
    ends_at: float | None = None
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


def make_kit(plan: Plan, folder: RunFolder, matcher: str | Matcher, judging: JudgingOptions, concurrency: int) -> Kit:
    """What the workers of a run are given."""
    place = folder.place
    deadline = judging.get("deadline_s")
    names = [name for name in os.environ if name.upper().startswith(_ENVIRONMENT)]
    return Kit(
        plan=plan,
        folder=os.path.abspath(place.path) if place.is_local else place.url,
        matcher=matcher,
        judging=judging,
        concurrency=concurrency,
        ends_at=None if deadline is None else time.time() + deadline,
        environment={name: os.environ[name] for name in names},
    )


class PartWorker:
    """Works on parts, one after the other or some at a time where models are waited for."""

    def __init__(self, kit: Kit, shared: Callable[[], Mapping[str, Any]] = dict) -> None:
        for name, value in kit.environment.items():
            os.environ.setdefault(name, value)
        self._kit = kit
        self._folder = RunFolder(open_place(kit.folder))
        self._loop = asyncio.new_event_loop()
        self._opened: Opened | None = None
        self._shared = shared
        self._gate: asyncio.Semaphore | None = None

    def work(self, parts: Sequence[Part]) -> list[Done]:
        """Compute and store parts; what stops the run comes back as its words."""
        return self._loop.run_until_complete(self._work(parts))

    async def _work(self, parts: Sequence[Part]) -> list[Done]:
        try:
            self._open()
            if not self._folder.samples.exists():
                raise StorageError(
                    f"a worker cannot find {self._folder.samples}. Store the run where all workers can reach it, "
                    "for instance with -o s3://bucket/prefix."
                )
            finished = [part for part in parts if self._folder.part(part.number).scores.exists()]
            with self._folder.samples.open_input() as stream:
                samples = open_samples(self._folder, stream)
                left = list(read_parts(self._folder, samples, [part for part in parts if part not in finished]))
            await together(self._compute(part, batch) for part, batch in left)
        except RagstoneError as error:
            return [Done(part.number, 0, str(error)) for part in parts]
        return [Done(part.number, part.rows) for part in parts]

    def _open(self) -> None:
        if self._opened is None:
            kit = self._kit
            shared = dict(self._shared())
            if kit.ends_at is not None:
                # A deadline that has passed is one that passes at once.
                shared["deadline_s"] = max(kit.ends_at - time.time(), 1e-3)
            judging = Judging(kit.judging, kit.concurrency)
            self._opened = judging.open(self._folder.replies, shared=shared)
            self._gate = asyncio.Semaphore(kit.concurrency)
            found = open_matcher(kit.matcher) if isinstance(kit.matcher, str) else kit.matcher
            self._tools = {"matcher": found, **self._opened.tools}

    async def _compute(self, part: Part, batch: Any) -> None:
        plan = self._kit.plan
        watch = Watch(batch.column("id").to_pylist() if plan.waits else ())
        gate = self._gate or asyncio.Semaphore(self._kit.concurrency)
        result = await evaluate_batch(plan, batch, self._tools, gate, watch)
        store_part(plan, self._folder.part(part.number), result, watch)
