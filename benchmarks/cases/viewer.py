"""The viewer over a run of 100,000 samples: how long a page takes, how much memory the server holds."""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.processes import command_line, measure
from benchmarks.results import Result
from benchmarks.samples import FOLDER, viewed_file

_ROWS = 100_000
_METRICS = ("exact_match", "contains", "token_precision", "token_recall", "token_f1", "fact_recall", "rouge_l")
_ROUNDS = 3


def run(peers: bool) -> list[Result]:  # noqa: ARG001
    """Pages as a browser asks for them, the first from a server that has read nothing yet."""
    with tempfile.TemporaryDirectory(dir=FOLDER, prefix="viewed-") as root:
        data = str(viewed_file(_ROWS))
        measure([*command_line(), "run", data, "-o", root, "-m", ",".join(_METRICS), "--json", "--quiet"])
        name = next((Path(root) / "runs").iterdir()).name
        with _serving(root) as (address, process):
            page = f"{address}runs/{name}"
            runs, first = _seconds(f"{address}runs"), _seconds(page)
            some, busy, every = _wait_for_causes(page)
            results = [
                Result("list of runs", runs, "s", at_most=1, note="the first request of all"),
                Result("first page of the run", first, "s", at_most=1, note="nothing was read before"),
                Result("causes of the first 10,000", some, "s", note="in the background"),
                Result("causes of all samples", every, "s", at_most=60, note="in the background"),
                Result("sorted meanwhile", busy, "s", at_most=1, note="the median"),
                Result("the same again", _median(page), "s", at_most=1),
                Result(
                    "sorted by a metric",
                    max(_median(f"{page}?sort={m}") for m in _METRICS),
                    "s",
                    at_most=1,
                    note="the slowest",
                ),
                Result("filtered by a cause", _median(f"{page}?cause=missing+chunk"), "s", at_most=1),
                Result("filtered by a slice", _median(f"{page}?slice=kind%3Dkind+3"), "s", at_most=1),
                Result("filtered by two words", _median(f"{page}?q=ba+the"), "s", at_most=1),
                Result("the last page", _median(f"{page}?page=2000&sort=token_f1"), "s", at_most=1),
                Result("one sample", _median(f"{page}/samples/77777"), "s", at_most=1),
                Result("peak memory", _peak_bytes(process.pid) / 1e9, "GB", at_most=1, binding=True),
            ]
    return results


@contextmanager
def _serving(root: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [*command_line(), "view", root, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        found = re.search(r"http://\S+", process.stdout.readline() if process.stdout else "")
        if found is None:
            sys.exit("ragstone view did not start")
        try:
            yield found[0], process
        finally:
            process.terminate()


def _seconds(address: str) -> float:
    started = time.perf_counter()
    with urllib.request.urlopen(address) as answer:
        answer.read()
    return time.perf_counter() - started


def _median(address: str) -> float:
    return sorted(_seconds(address) for _ in range(_ROUNDS))[_ROUNDS // 2]


def _wait_for_causes(page: str) -> tuple[float, float, float]:
    """Seconds until causes of some samples are known, for a page meanwhile, and until those of all are."""
    started, some, pages = time.perf_counter(), None, []
    while True:
        asked = time.perf_counter()
        with urllib.request.urlopen(f"{page}.json?sort=token_f1") as answer:
            found = json.load(answer)["diagnosis"]
        now = time.perf_counter()
        pages.append(now - asked)
        some = now - started if found and some is None else some
        if found and found["looked_at"] == found["samples"]:
            return some or 0.0, statistics.median(pages), now - started
        time.sleep(0.5)


def _peak_bytes(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else float("nan")
