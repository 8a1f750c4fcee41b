"""Ranked lists of ids to scores, beside pytrec_eval: five metrics, a hundred ids a query, from Python strings to values."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np

from benchmarks.processes import measure
from benchmarks.rankings import METRICS, SHAPES, Lists, Values, make_lists, pytrec, ragstone, samples
from benchmarks.results import Result
from benchmarks.timing import medians, seconds_of

_SIZES = (10_000, 100_000)
_AT_LEAST = 8
_FIRST_SHAPE = next(iter(SHAPES))


def run(peers: bool) -> list[Result]:  # noqa: ARG001
    """How many times as long pytrec_eval takes, whether the values are the same, and the memory that each takes."""
    if not find_spec("pytrec_eval"):
        print("pytrec_eval is not installed: only our own time", file=sys.stderr)
        return [_alone(shape, min(_SIZES)) for shape in SHAPES]
    sizes = [(shape, rows) for shape in SHAPES for rows in _SIZES if rows == min(_SIZES) or shape == _FIRST_SHAPE]
    results = [result for shape, rows in sizes for result in _compare(shape, rows)]
    return [*results, *_memory(max(_SIZES))]


def _compare(shape: str, rows: int) -> Iterator[Result]:
    lists = make_lists(shape, rows)
    found: dict[str, Values] = {}

    def turn(who: Callable[[Lists], Values]) -> Callable[[], float]:
        def work() -> None:
            found[who.__name__] = who(lists)

        return lambda: seconds_of(work)

    times = medians({who.__name__: turn(who) for who in (ragstone, pytrec)})
    if rows == min(_SIZES) and shape == _FIRST_SHAPE:
        # By itself: the millions of objects that it leaves behind would be in the way of the others.
        times |= medians({samples.__name__: turn(samples)})
    title = f"{rows:,} queries, {shape}"
    ours, theirs = times["ragstone"], times["pytrec"]
    note = f"{ours * 1e3:,.0f} ms, pytrec_eval {theirs * 1e3:,.0f} ms"
    yield Result(title, ours / rows * 1e6, "µs/row")
    yield Result(f"{title}: pytrec_eval takes", theirs / ours, "×", at_least=_AT_LEAST, note=note)
    yield Result(f"{title}: differs by", _difference(found), "at most", at_most=1e-9, binding=True)
    if "samples" in times:
        yield Result(f"{title}: by way of samples", times["samples"] / ours, "×", note="the same, as Sample objects")


def _alone(shape: str, rows: int) -> Result:
    lists = make_lists(shape, rows)
    times = medians({"ours": lambda: seconds_of(lambda: ragstone(lists))})
    return Result(f"{rows:,} queries, {shape}", times["ours"] / rows * 1e6, "µs/row")


def _difference(found: dict[str, Values]) -> float:
    """The largest difference between two values of one cell."""
    first, *others = found.values()
    return max(float(np.abs(np.subtract(first[name], other[name])).max()) for other in others for name in METRICS)


def _memory(rows: int) -> Iterator[Result]:
    """Peak memory beyond that of the lists themselves, each in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.rankings"]
    peaks = {
        who: measure([*command, who, _FIRST_SHAPE, str(rows)]).peak_bytes for who in ("nothing", "ragstone", "pytrec")
    }
    note = f"the lists alone {peaks['nothing'] / 1e9:.2f} GB"
    for who in ("ragstone", "pytrec"):
        yield Result(f"{rows:,} queries: memory for {who}", (peaks[who] - peaks["nothing"]) / 1e9, "GB", note=note)
