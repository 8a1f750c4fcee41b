"""`python -m benchmarks [NAME ...] [--all] [--peers] [--rows N] [--texts FOLDER] [--record RELEASE]`."""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys

import benchmarks.cases
from benchmarks.cases.laws import TEXTS_VARIABLE
from benchmarks.cases.million import ROWS_VARIABLE
from benchmarks.page import CASES, MOST_ROWS, last_release, page, read_history, record
from benchmarks.results import Result, table


def main() -> int:
    """Run the chosen benchmarks; 1 if a binding target was missed."""
    known = [found.name for found in pkgutil.iter_modules(benchmarks.cases.__path__)]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure Ragstone.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"which: {', '.join(known)}; by default {', '.join(CASES)}"
    )
    parser.add_argument("--all", action="store_true", help="run all of them: about an hour")
    parser.add_argument("--peers", action="store_true", help="install other tools into .bench-venv and compare")
    parser.add_argument("--rows", type=int, help="most rows; 1,000,000 by default if benchmarks are named")
    parser.add_argument("--record", metavar="RELEASE", help="keep the figures of the page as those of this release")
    parser.add_argument("--texts", help="folder of the laws: one text file per domain, a paragraph per line")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(known):
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    is_page = not (arguments.names or arguments.all)
    if arguments.rows or is_page:
        os.environ[ROWS_VARIABLE] = str(arguments.rows or MOST_ROWS)
    if arguments.texts:
        os.environ[TEXTS_VARIABLE] = arguments.texts
    results: list[Result] = []
    for name in known if arguments.all else arguments.names or CASES:
        print(f"{name} …", file=sys.stderr, flush=True)
        case = importlib.import_module(f"benchmarks.cases.{name}")
        found: list[Result] = case.run(peers=arguments.peers)
        print(f"\n{name}\n\n{getattr(case, 'table', table)(found)}\n", flush=True)
        results += found
    if arguments.names != ["published"]:
        print(f"summary\n\n{page(results, last_release(read_history()))}", flush=True)
    if arguments.record:
        record(arguments.record, results)
    broken = [result.name for result in results if result.binding and result.missed]
    if broken:
        print(f"missed: {'; '.join(broken)}", file=sys.stderr)
    return 1 if broken else 0


sys.exit(main())
