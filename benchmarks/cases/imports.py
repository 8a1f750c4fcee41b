"""What it costs to start: `import ragstone`, `ragstone --help` and a run of ten rows, beside a Python that does nothing."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial

from benchmarks.processes import ROOT, command_line, measure
from benchmarks.results import Result
from benchmarks.samples import FOLDER, short_file
from benchmarks.timing import medians

_ROUNDS = 11
_FEW_ROWS = 10
# By name, so that a metric added later does not look like a slower start.
_METRICS = "exact_match,contains,token_precision,token_recall,token_f1,k_precision"
_COUNT = "import sys; before = set(sys.modules); import ragstone; print(len(set(sys.modules) - before))"


def run(peers: bool) -> list[Result]:  # noqa: ARG001
    """Ratios to the time of `python -c pass`, and the number of modules that the import brings in."""
    commands = {
        "nothing": [sys.executable, "-c", "pass"],
        "import": [sys.executable, "-c", "import ragstone"],
        "help": [*command_line(), "--help"],
    }
    data = short_file(_FEW_ROWS)
    with tempfile.TemporaryDirectory(dir=FOLDER, prefix="runs-") as out:
        commands["run"] = [*command_line(), "run", str(data), "-o", out, "-m", _METRICS, "--json", "--quiet"]
        times = medians({name: partial(_start, command) for name, command in commands.items()}, _ROUNDS)
    loaded = subprocess.run([sys.executable, "-c", _COUNT], capture_output=True, text=True, check=True, cwd=ROOT)
    note = f"{times['nothing'] * 1000:.0f} ms for a Python that does nothing"
    return [
        Result("import ragstone", times["import"] / times["nothing"], "×", at_most=2, binding=True, note=note),
        Result("ragstone --help", times["help"] / times["nothing"], "×", at_most=15, binding=True),
        Result(
            f"ragstone run of {_FEW_ROWS} rows, CPU",
            times["run"],
            "s",
            at_most=0.8,
            note=f"{_METRICS.count(',') + 1} metrics",
        ),
        Result("modules that `import ragstone` loads", int(loaded.stdout), "modules"),
    ]


def _start(command: Sequence[str]) -> float:
    return measure(command).cpu_seconds
