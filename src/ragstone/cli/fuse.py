"""ragstone fuse: the ranked lists of several runs as one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ragstone.cli.options import DEFAULT_ROOT, argument, option, shared
from ragstone.cli.output import command_line, next_steps
from ragstone.cli.rankings import Rankings, read_rankings
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.data.fusion import Ranked

_METHODS = ("rrf", "combsum", "combmnz")


def fuse(
    runs: list[str] = argument("RUN...", "TREC runs, stored runs (id, name or folder), or files of samples."),
    to: str = option(..., "-o --output", "TREC run file to write.", metavar="FILE"),
    method: str = option("rrf", "--method", "Fusion: rrf, combsum or combmnz."),
    k: int = option(60, "--rrf-k", "Constant of rrf: 1 / (k + rank).", metavar="N", min=0),
    keep: int | None = option(None, "--keep", "Write only the first N results of each query.", metavar="N", min=1),
    root: str = option(
        DEFAULT_ROOT, "--root", "Folder or s3:// root of stored runs.", metavar="ROOT", envvar="RAGSTONE_ROOT"
    ),
    quiet: bool = shared("quiet"),
) -> None:
    """Fuse the ranked lists of several runs into one TREC run."""
    from ragstone.cli.screen import remark
    from ragstone.data.fusion import fuse as fuse_lists
    from ragstone.formats.trec import write_run
    from ragstone.storage.places import open_place

    if method not in _METHODS:
        raise UsageError(f"--method {method}: choose from {', '.join(_METHODS)}")
    if len(runs) < 2:
        raise UsageError("name at least two runs to fuse")
    read = [read_rankings(name, root) for name in runs]
    queries = dict.fromkeys(query for one in read for query in one.lists)
    if not queries:
        raise UsageError(f"{' and '.join(runs)} have no retrieved chunks")
    fused = {
        query: fuse_lists([_scored(one, query, method) for one in read if query in one.lists], method, k)[:keep]  # type: ignore[arg-type]
        for query in queries
    }
    lines = write_run(fused, open_place(to), f"ragstone-{method}")
    if quiet:
        return
    partial = sum(any(query not in one.lists for one in read) for query in queries)
    if partial:
        remark(f"{partial:,} of {len(queries):,} queries are not in all runs; they are fused from those that have them")
    typer.echo(f"{lines:,} results of {len(queries):,} queries from {len(runs)} runs, written to {to}")
    next_steps((command_line("trec", "QRELS", to), "evaluate it with your judgements"))


def _scored(run: Rankings, query: str, method: str) -> Ranked:
    """A list with scores; rrf needs ranks only."""
    ranked = run.lists[query]
    if method == "rrf":
        return [(name, 0.0) for name, _ in ranked]
    if any(score is None for _, score in ranked):
        raise UsageError(f"{run.name}, query '{query}': a chunk has no score; --method rrf needs none")
    return [(name, float(score or 0.0)) for name, score in ranked]
