"""CPU time of the first visit of a page: the verdict on a run, with the causes of all its rows, and a comparison of two runs."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from random import Random

from benchmarks.processes import command_line, measure
from benchmarks.results import Result
from benchmarks.samples import FOLDER, viewed_file

_METRICS = "exact_match,contains,token_precision,token_recall,token_f1,fact_recall,rouge_l"
_FEW, _MANY = 5_000, 50_000
_PAGE = """
import sys, time
from starlette.datastructures import QueryParams
from ragstone.web.app import VIEWS
from ragstone.web.library import Library
library = Library(sys.argv[1])
runs = [library.run(name) for name in sys.argv[2:]]
started = time.process_time()
while True:
    found = [library.insight(run) for run in runs]
    known = all(one and one.diagnosis["looked_at"] == one.diagnosis["samples"] for one in found)
    if known and (len(runs) == 1 or library.comparison(*runs)):
        break
    time.sleep(0.2)
page = VIEWS["/runs/{run}" if len(runs) == 1 else "/compare/{before}/{after}"](library, QueryParams(), *sys.argv[2:])
assert page.get("ready", True)
print(time.process_time() - started)
"""


def run(peers: bool) -> list[Result]:  # noqa: ARG001
    """The data of each page, from a process that has read nothing yet."""
    with tempfile.TemporaryDirectory(dir=FOLDER, prefix="pages-") as folder:
        few, other, many = (
            _evaluate(data, folder) for data in (viewed_file(_FEW), _changed(folder), viewed_file(_MANY))
        )
        return [
            Result(f"verdict page of {_FEW:,} rows, CPU", _page(folder, few), "s", at_most=2),
            Result(f"verdict page of {_MANY:,} rows, CPU", _page(folder, many), "s", at_most=10),
            Result(f"comparison page of {_FEW:,} rows, CPU", _page(folder, few, other), "s", at_most=4),
        ]


def _evaluate(data: Path, folder: str) -> str:
    command = [*command_line(), "run", str(data), "-o", folder, "-m", _METRICS, "--json", "--quiet"]
    before = set(Path(folder, "runs").glob("*"))
    measure(command)
    return next(path.name for path in Path(folder, "runs").iterdir() if path not in before)


def _changed(folder: str) -> Path:
    """The same questions with other answers to a third of them, and without the first chunk in a fifth."""
    random, path = Random(3), Path(folder, "changed.jsonl")
    with path.open("w", encoding="utf-8") as stream:
        for line in viewed_file(_FEW).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if random.random() < 0.3:
                row["answer"] = random.choice((row["references"][0], "Nothing of this."))
            row["contexts"] = row["contexts"][random.random() < 0.2 :]
            stream.write(f"{json.dumps(row)}\n")
    return path


def _page(folder: str, *runs: str) -> float:
    return float(measure([sys.executable, "-c", _PAGE, folder, *runs]).output)
