"""Who computes the metrics: Ragstone, a peer in this process, or a peer in an environment of its own.

`python -m benchmarks.contestants DATA TIMES MATCHER [METRIC ...]` makes Ragstone's lists, the rows as many times as wanted,
scores them twice and prints the seconds of the second time; without metrics there are only the lists.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from benchmarks.peers.environment import run_peer
from benchmarks.timing import seconds_of

Values = Mapping[str, Sequence[float | None]]


class Contestant(Protocol):
    """Takes turns; afterwards it has the values of its last one."""

    title: str
    values: Values

    def turn(self) -> float:
        """Compute everything once; returns the seconds."""
        ...


class Ragstone:
    """`score_lists`: from lists of Python strings to a list of values for each metric."""

    def __init__(self, metrics: Sequence[str], data: Path, matcher: str = "citation", times: int = 1) -> None:
        self.title = "Ragstone"
        self._metrics = metrics
        self._matcher = matcher
        with data.open(encoding="utf-8") as stream:
            rows = [json.loads(line) for line in stream]
        self._lists = {
            field: [_texts(row[field]) for row in rows] * times
            for field in ("answer", "references", "contexts", "facts")
            if field in rows[0]
        }
        self.values: Values = {}

    def turn(self) -> float:
        return seconds_of(self._work)

    def _work(self) -> None:
        from ragstone import score_lists

        self.values = score_lists(self._metrics, **self._lists, matcher=self._matcher)


def _texts(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return [item if isinstance(item, str) else item["text"] for item in value]


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


def main(data: str, times: str, matcher: str, *metrics: str) -> None:
    ours = Ragstone(metrics, Path(data), matcher, int(times))
    if metrics:
        ours.turn()
        print(ours.turn())


if __name__ == "__main__":
    main(*sys.argv[1:])
