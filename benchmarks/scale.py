"""`python -m benchmarks.scale [--rows N]`: the same run by one process, by several, and by 1, 2 and 4 workers of Ray on this machine.

Ray takes long to start, so that this is no part of `make bench`. Every way is asked for the same metrics over the same rows, in
turns; the medians count. Ray is started once and its start told apart.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from typing import Any

from benchmarks.results import Result, table
from benchmarks.samples import short_file

_METRICS = ["exact_match", "contains", "token_f1", "k_precision", "rouge_l", "distinct_2", "refusal"]
_ROUNDS = 3
_WORKERS = (1, 2, 4)


def main() -> None:
    """Measure and print; what docs/scale.md counts from."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=main.__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    rows = parser.parse_args().rows
    import ray

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    started = time.perf_counter()
    ray.init(num_cpus=max(_WORKERS), log_to_driver=False, logging_level=40, include_dashboard=False)
    start_s = time.perf_counter() - started
    ways: dict[str, dict[str, Any]] = {"one process": {"workers": 1}, "two processes": {"workers": 2}}
    ways |= {f"ray, {count} worker{'s' * (count > 1)}": {"backend": "ray", "workers": count} for count in _WORKERS}
    took: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(_ROUNDS):
        for name, options in ways.items():
            print(f"{name} …", file=sys.stderr, flush=True)
            took[name].append(_measure(rows, options))
    medians = {name: [statistics.median(column) for column in zip(*found, strict=True)] for name, found in took.items()}
    print(table([*_figures(rows, medians), Result("start of Ray on this machine", start_s, "s")]))
    print(json.dumps({"rows": rows, "seconds": medians, "cores": os.cpu_count(), "peak_worker_gb": _worker_memory()}))
    ray.shutdown()


def _worker_memory() -> float:
    """The most that one of our children, a process or a worker of Ray, has held, in GB."""
    import resource

    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6


def _measure(rows: int, options: dict[str, Any]) -> tuple[float, float]:
    """Seconds for the whole run, and for the parts alone: from the first to the last word about evaluating."""
    import ragstone

    told: list[tuple[str, float]] = []

    def listen(progress: Any) -> None:
        told.append((progress.stage, time.perf_counter()))

    with tempfile.TemporaryDirectory() as home:
        started = time.perf_counter()
        ragstone.evaluate(str(short_file(rows)), _METRICS, home, progress=listen, **options)
        seconds = time.perf_counter() - started
    read = max(at for stage, at in told if stage == "reading")
    done = max(at for stage, at in told if stage == "evaluating")
    return seconds, done - read


def _figures(rows: int, medians: dict[str, list[float]]) -> list[Result]:
    alone = medians["one process"]
    results = []
    for name, (whole, parts) in medians.items():
        results.append(Result(f"{name}: whole run", rows / whole, "rows/s", note=f"{whole:.1f} s"))
        results.append(
            Result(f"{name}: evaluating", rows / parts, "rows/s", note=f"{alone[1] / parts:.2f} × one process")
        )
    overhead = medians["ray, 1 worker"][1] - alone[1]
    return [*results, Result("what one Ray worker takes more", 1e6 * overhead / rows, "µs/row")]


if __name__ == "__main__":
    main()
