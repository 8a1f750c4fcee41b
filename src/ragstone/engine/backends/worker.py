"""A worker of a run: opens its tools once, then computes parts. It reads and writes the run's files."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from ragstone.engine.execute import RunPart, compute_part, open_samples, read_parts
from ragstone.engine.plan import Plan
from ragstone.errors import RagstoneError, StorageError
from ragstone.llm.concurrency import gather_or_cancel
from ragstone.storage.places import open_place
from ragstone.storage.runs import RunFolder
from ragstone.text.matchers import Matcher
from ragstone.tools.judging_options import JudgingOptions
from ragstone.tools.open_tools import Opened, ToolFactory, open_matcher

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
    """The settings of a worker; they can be sent to another process."""

    plan: Plan
    folder: str
    matcher: str | Matcher
    judging: JudgingOptions
    concurrency: int


def make_kit(plan: Plan, folder: RunFolder, matcher: str | Matcher, judging: JudgingOptions, concurrency: int) -> Kit:
    """The settings that each worker of a run gets."""
    place = folder.place
    return Kit(plan, os.path.abspath(place.path) if place.is_local else place.url, matcher, judging, concurrency)


def find_environment() -> dict[str, str]:
    """The variables that a worker on another machine needs."""
    names = [name for name in os.environ if name.upper().startswith(_ENVIRONMENT)]
    # The options name the large judge if the run uses it; other machines may have it too.
    return {**{name: os.environ[name] for name in names}, "RAGSTONE_LARGE_JUDGE": "off"}


class PartWorker:
    """Computes parts: one after the other, or some concurrently if models are called."""

    def __init__(self, kit: Kit, shared: Callable[[], Mapping[str, Any]] = dict) -> None:
        self._kit = kit
        self._folder = RunFolder(open_place(kit.folder))
        self._loop = asyncio.new_event_loop()
        self._opened: Opened | None = None
        self._shared = shared
        self._gate: asyncio.Semaphore | None = None
        self._files = ExitStack()
        self._samples: pq.ParquetFile | None = None

    def work(self, parts: Sequence[RunPart]) -> list[Done]:
        """Compute and store parts. An error that stops the run is returned as its text."""
        return self._loop.run_until_complete(self._work(parts))

    __call__ = work

    def close(self) -> None:
        """Close the tools and the event loop, before the process ends."""
        opened, self._opened = self._opened, None
        if opened is not None:
            self._loop.run_until_complete(opened.close())
        self._loop.close()
        self._files.close()

    async def _work(self, parts: Sequence[RunPart]) -> list[Done]:
        try:
            self._open()
            samples = self._open_samples()
            unfinished = [part for part in parts if not self._folder.part(part.number).scores.is_file()]
            left = list(read_parts(self._folder, samples, unfinished))
            gate = self._gate or asyncio.Semaphore(self._kit.concurrency)
            await gather_or_cancel(compute_part(self._kit.plan, self._folder, part, self._tools, gate) for part in left)
        except RagstoneError as error:
            return [Done(part.number, 0, str(error)) for part in parts]
        return [Done(part.number, part.rows) for part in parts]

    def _open_samples(self) -> pq.ParquetFile:
        """The samples, opened once: the footer of a large file has an entry for each of its thousands of row groups."""
        if self._samples is None:
            if not self._folder.samples.is_file():
                raise StorageError(
                    f"a worker cannot find {self._folder.samples}. Store the run where all workers can reach it, "
                    "for instance with -o s3://bucket/prefix."
                )
            self._samples = self._files.enter_context(open_samples(self._folder))
        return self._samples

    def _open(self) -> None:
        if self._opened is None:
            kit = self._kit
            judging = ToolFactory(kit.judging, kit.concurrency)
            self._opened = judging.open(self._folder.replies, shared=self._shared())
            self._gate = asyncio.Semaphore(kit.concurrency)
            self._tools = {"matcher": open_matcher(kit.matcher), **self._opened.tools}
