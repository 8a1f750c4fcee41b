"""What it costs to start: `import ragstone` and `ragstone --help` beside a Python that does nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from functools import partial

from benchmarks.processes import ROOT, command_line, measure
from benchmarks.results import Result
from benchmarks.timing import medians

_ROUNDS = 11
_COUNT = "import sys; before = set(sys.modules); import ragstone; print(len(set(sys.modules) - before))"


def run(peers: bool) -> list[Result]:  # noqa: ARG001
    """Ratios to the time of `python -c pass`, and the number of modules that the import brings in."""
    commands = {
        "nothing": [sys.executable, "-c", "pass"],
        "import": [sys.executable, "-c", "import ragstone"],
        "help": [*command_line(), "--help"],
    }
    times = medians({name: partial(_start, command) for name, command in commands.items()}, _ROUNDS)
    loaded = subprocess.run([sys.executable, "-c", _COUNT], capture_output=True, text=True, check=True, cwd=ROOT)
    note = f"{times['nothing'] * 1000:.0f} ms for a Python that does nothing"
    return [
        Result("import ragstone", times["import"] / times["nothing"], "×", at_most=2, binding=True, note=note),
        Result("ragstone --help", times["help"] / times["nothing"], "×", at_most=15, binding=True),
        Result("modules that `import ragstone` loads", int(loaded.stdout), "modules"),
    ]


def _start(command: Sequence[str]) -> float:
    return measure(command).cpu_seconds
