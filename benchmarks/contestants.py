"""Who computes the metrics: Ragstone, a peer in this process, or a peer in an environment of its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from benchmarks.peers.environment import run_peer
from benchmarks.timing import seconds_of

Values = Mapping[str, Sequence[float]]


class Contestant(Protocol):
    """Takes turns; afterwards it has the values of its last one."""

    title: str
    values: Values

    def turn(self) -> float:
        """Compute everything once; returns the seconds."""
        ...


class Ragstone:
    """The engine on one batch in memory: evidence and metrics, nothing stored."""

    def __init__(self, metrics: Sequence[str], data: Path) -> None:
        import ragstone.engine.catalogue  # noqa: F401  (fills the registry)
        from ragstone.engine.planning import make_plan
        from ragstone.formats import read_dataset
        from ragstone.registry import resolve_metrics
        from ragstone.text.matchers import make_matcher

        self.title = "Ragstone"
        table = read_dataset(str(data)).table
        self._batch: pa.RecordBatch = table.combine_chunks().to_batches()[0]
        self._tools = {"matcher": make_matcher("citation")}
        present = [name for name in table.schema.names if table[name].null_count < len(table)]
        self._plan = make_plan(resolve_metrics(metrics), present, self._tools)
        self.values: Values = {}

    def turn(self) -> float:
        return seconds_of(self._work)

    def _work(self) -> None:
        from ragstone.engine.batches import evaluate_batch

        found = asyncio.run(evaluate_batch(self._plan, self._batch, self._tools, asyncio.Semaphore(1)))
        for name, cells in found.cells.items():
            if cells.reasons:
                raise SystemExit(f"{name} has cells without a value: {next(iter(cells.reasons.values()))}")
        self.values = {name: cells.values.tolist() for name, cells in found.cells.items()}


class Light:
    """A peer that needs nothing that is not installed here."""

    def __init__(self, name: str, data: Path) -> None:
        self._peer = import_module(f"benchmarks.peers.{name}")
        self.title: str = self._peer.TITLE
        with data.open(encoding="utf-8") as stream:
            self._prepared = self._peer.prepare([json.loads(line) for line in stream])
        self.values: Values = {}

    def turn(self) -> float:
        return seconds_of(self._work)

    def _work(self) -> None:
        self.values = self._peer.work(self._prepared)


class Heavy:
    """A peer in the environment of the peers, in a new process each time; only its work is timed."""

    def __init__(self, name: str, data: Path) -> None:
        self._name = name
        self._data = data
        self.title: str = import_module(f"benchmarks.peers.{name}").TITLE
        self.values: Values = {}

    def turn(self) -> float:
        found = run_peer(self._name, self._data)
        self.values = found["values"]
        return float(found["seconds"])
