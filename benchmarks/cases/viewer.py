"""The viewer over a run of 100,000 samples: how long a page takes, how much memory the server holds."""

from __future__ import annotations

import re
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
from benchmarks.samples import FOLDER, short_file

_ROWS = 100_000
_METRICS = ("exact_match", "contains", "token_precision", "token_recall", "token_f1", "k_precision", "rouge_l")
_ROUNDS = 3


def run(peers: bool) -> list[Result]:  # noqa: ARG001
    """Pages as a browser asks for them, the first from a server that has read nothing yet."""
    with tempfile.TemporaryDirectory(dir=FOLDER, prefix="viewed-") as root:
        data = str(short_file(_ROWS))
        measure([*command_line(), "run", data, "-o", root, "-m", ",".join(_METRICS), "--json", "--quiet"])
        name = next((Path(root) / "runs").iterdir()).name
        with _serving(root) as (address, process):
            page = f"{address}runs/{name}"
            runs, first = _seconds(f"{address}runs"), _seconds(page)
            _wait_for_causes(page)
            results = [
                Result("list of runs", runs, "s", at_most=1, note="the first request of all"),
                Result("first page of the run", first, "s", at_most=1, note="nothing was read before"),
                Result("the same again", _median(page), "s", at_most=1),
                Result(
                    "sorted by a metric",
                    max(_median(f"{page}?sort={m}") for m in _METRICS),
                    "s",
                    at_most=1,
                    note="the slowest",
                ),
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


def _wait_for_causes(page: str) -> None:
    """They are looked for in the background; what comes after is to be measured alone."""
    for _ in range(600):
        with urllib.request.urlopen(page) as answer:
            if b"data-wait" not in answer.read():
                return
        time.sleep(0.1)


def _peak_bytes(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else float("nan")
