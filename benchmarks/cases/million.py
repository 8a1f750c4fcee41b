"""A million rows through the command line: rows a second, peak memory, and whether both grow as they should."""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from dataclasses import astuple, dataclass
from pathlib import Path

from benchmarks.processes import command_line, measure
from benchmarks.results import Result
from benchmarks.samples import FOLDER, short_file

ROWS_VARIABLE = "RAGSTONE_BENCH_ROWS"
_MOST_ROWS = 1_000_000
# So few rows that only the start and the end of a run are left.
_NEXT_TO_NOTHING = 10
_SMALL = (10_000, 100_000)
_ROUNDS = 5
# By name, so that a metric added later does not look like a slower engine.
_METRICS = "exact_match,contains,token_precision,token_recall,token_f1,k_precision"


@dataclass(frozen=True)
class Took:
    """One run of the command."""

    reading_s: float
    evaluating_s: float
    cpu_s: float
    peak_bytes: float


def run(peers: bool) -> list[Result]:  # noqa: ARG001
    """The small sizes in turns; the largest once, since minutes average out by themselves."""
    largest = int(os.environ.get(ROWS_VARIABLE, _MOST_ROWS))
    sizes = [_NEXT_TO_NOTHING, *(rows for rows in _SMALL if rows < largest)]
    runs: dict[int, list[Took]] = {rows: [] for rows in sizes}
    for _ in range(_ROUNDS):
        for rows in sizes:
            runs[rows].append(_evaluate(rows))
    runs[largest] = [_evaluate(largest)]
    took = {rows: _median(found) for rows, found in runs.items()}
    start = took.pop(_NEXT_TO_NOTHING)
    results = [result for rows, one in took.items() for result in _figures(rows, one)]
    return [*results, *_stages(largest, took[largest], start), *_growth(took, start)]


def _figures(rows: int, took: Took) -> list[Result]:
    seconds = took.reading_s + took.evaluating_s
    return [
        Result(f"{rows:,} rows, the whole command", rows / seconds, "rows/s", note=f"{seconds:,.1f} s"),
        Result(f"{rows:,} rows, peak memory", took.peak_bytes / 1e9, "GB", at_most=1.5, binding=True),
    ]


def _stages(rows: int, took: Took, start: Took) -> list[Result]:
    alone = _less(took, start)
    return [
        Result("start and end of a run", start.reading_s + start.evaluating_s, "s", note=f"{_NEXT_TO_NOTHING} rows"),
        Result("read, check and store", rows / alone.reading_s, "rows/s", note=f"{rows:,} rows, without the start"),
        Result("evaluate", rows / alone.evaluating_s, "rows/s", note=f"{_METRICS.count(',') + 1} metrics"),
    ]


def _growth(took: dict[int, Took], start: Took) -> list[Result]:
    """Of CPU seconds, since they mind less what else the machine does."""
    if len(took) < 2:
        return []
    *_, less, more = sorted(took)
    per_row = {rows: _less(took[rows], start).cpu_s / rows for rows in (less, more)}
    note = f"from {less:,} to {more:,} rows"
    return [
        Result("growth of CPU time per row", per_row[more] / per_row[less], "×", at_most=1.2, note=note),
        Result("growth of memory", took[more].peak_bytes / took[less].peak_bytes, "×", at_most=2, note=note),
    ]


def _evaluate(rows: int) -> Took:
    data = short_file(rows)
    with tempfile.TemporaryDirectory(dir=FOLDER, prefix="runs-") as out:
        finished = measure([*command_line(), "run", str(data), "-o", out, "-m", _METRICS, "--json", "--quiet"])
        manifest = Path(json.loads(finished.output)["run"]) / "run.json"
        evaluating_s = float(json.loads(manifest.read_text(encoding="utf-8"))["totals"]["seconds"])
    return Took(finished.seconds - evaluating_s, evaluating_s, finished.cpu_seconds, finished.peak_bytes)


def _median(runs: list[Took]) -> Took:
    return Took(*map(statistics.median, zip(*map(astuple, runs), strict=True)))


def _less(took: Took, start: Took) -> Took:
    """Without what every run takes, however small; memory stays whole."""
    return Took(
        took.reading_s - start.reading_s,
        took.evaluating_s - start.evaluating_s,
        took.cpu_s - start.cpu_s,
        took.peak_bytes,
    )
