"""What happens around a row that waits for a model: its calls are written down, those that were spared counted, and its end is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ragstone.llm.recording import Call, record_calls
from ragstone.llm.tally import Tally, tally_into


class Watch:
    """Looks on while the rows of a batch are worked on."""

    def __init__(self, ids: Sequence[object], tick: Callable[[], None] = lambda: None) -> None:
        self._ids = ids
        self._tick = tick
        self.calls: list[Call] = []
        self.tally = Tally()

    @contextmanager
    def row(self, number: int, evidence: str) -> Iterator[None]:
        """Around the making of one row's evidence."""
        with record_calls(self.calls, str(self._ids[number]), evidence), tally_into(self.tally):
            yield
        self._tick()
