"""Times that can be compared on a noisy machine: the contestants take turns, and the median of each counts."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

# What a contestant does in one turn; it returns its seconds.
Turn = Callable[[], float]


def seconds_of(work: Callable[[], object]) -> float:
    """The CPU seconds of one call: what else the machine does counts less than by the clock."""
    started = time.process_time()
    work()
    return time.process_time() - started


def medians(turns: Mapping[str, Turn], rounds: int = 5) -> dict[str, float]:
    """The median seconds of each contestant over some rounds in which each has one turn; the first round warms up."""
    for turn in turns.values():
        turn()
    times: dict[str, list[float]] = {name: [] for name in turns}
    for _ in range(rounds):
        for name, turn in turns.items():
            times[name].append(turn())
    return {name: statistics.median(found) for name, found in times.items()}
