"""ragstone fuse: the ranked lists of several runs as one run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import click

from ragstone.cli.options import argument, option, shared
from ragstone.cli.output import command_line, find_run, next_steps, remark
from ragstone.errors import StorageError, UsageError

if TYPE_CHECKING:
    from ragstone.data.fusion import Ranked
    from ragstone.data.types import Sample

_METHODS = ("rrf", "combsum", "combmnz")
_SAMPLES = (".jsonl", ".parquet", ".csv")
Fused = dict[str, list[tuple[str, float]]]


def fuse(
    runs: list[str] = argument("RUN...", "TREC runs, stored runs (id, name or folder), or files of samples."),
    to: str = option(
        ..., "-o --output", "TREC run to write; samples if it ends in .jsonl, .parquet or .csv.", metavar="FILE"
    ),
    method: str = option("rrf", "--method", "Fusion: rrf, combsum or combmnz."),
    k: int = option(60, "--rrf-k", "Constant of rrf: 1 / (k + rank).", metavar="N", min=0),
    keep: int | None = option(None, "--keep", "Write only the first N results of each query.", metavar="N", min=1),
    root: str = shared("root"),
    quiet: bool = shared("quiet"),
) -> None:
    """Fuse the ranked lists of several runs into one run."""
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
    is_samples = to.lower().endswith(_SAMPLES)
    tag = f"ragstone-{method}"
    lines = _write_samples(fused, read, to) if is_samples else write_run(fused, open_place(to), tag)
    if quiet:
        return
    partial = sum(any(query not in one.lists for one in read) for query in queries)
    if partial:
        remark(f"{partial:,} of {len(queries):,} queries are not in all runs; they are fused from those that have them")
    click.echo(f"{lines:,} results of {len(queries):,} queries from {len(runs)} runs, written to {to}")
    steps = command_line("run", to) if is_samples else command_line("trec", "QRELS", to)
    next_steps((steps, "evaluate it"))


def _write_samples(fused: Fused, runs: list[Rankings], to: str) -> int:
    """The samples with fused contexts; answers and other results of the single systems are left out."""
    from ragstone.data.dataset import Dataset
    from ragstone.data.types import Chunk
    from ragstone.data.usage import OTHER_ANSWERS
    from ragstone.formats import write_dataset
    from ragstone.formats.usage import USAGE_NAMES

    if bare := next((run.name for run in runs if not run.samples), None):
        raise UsageError(f"{bare} is a TREC run without texts; write a TREC run, or pass samples or stored runs")
    samples = []
    for query, ranked in fused.items():
        known = [run.samples[query] for run in runs if query in run.samples]
        chunks: dict[str | None, Chunk] = {}
        for chunk in (chunk for sample in known for chunk in sample.contexts or ()):
            chunks.setdefault(chunk.id, chunk)
        contexts = [replace(chunks[name], score=score) for name, score in ranked]
        left_out = dict.fromkeys(("answer", "steps", "citations", "rewritten_question"))
        about = {key: value for key, value in known[0].metadata.items() if key not in (*USAGE_NAMES, OTHER_ANSWERS)}
        samples.append(replace(known[0], contexts=contexts, metadata=about, **left_out))  # type: ignore[arg-type]
    write_dataset(Dataset.from_samples(samples).table.to_batches(), to)
    return sum(map(len, fused.values()))


def _scored(run: Rankings, query: str, method: str) -> Ranked:
    """A list with scores; rrf needs ranks only."""
    ranked = run.lists[query]
    if method == "rrf":
        return [(name, 0.0) for name, _ in ranked]
    if any(score is None for _, score in ranked):
        raise UsageError(f"{run.name}, query '{query}': a chunk has no score; --method rrf needs none")
    return [(name, float(score or 0.0)) for name, score in ranked]


class Rankings(NamedTuple):
    """The lists of one system: chunk ids with scores by query, and the samples unless it is a TREC run."""

    name: str
    lists: dict[str, list[tuple[str, float | None]]]
    samples: dict[str, Sample]


def read_rankings(name: str, root: str) -> Rankings:
    """The lists of a TREC run, a stored run or a file of samples."""
    from ragstone.formats import read_dataset
    from ragstone.formats.reports import Report
    from ragstone.formats.sources import Source
    from ragstone.formats.trec import detect_part, read_run

    try:
        is_file = Source(name).kind != "folder"
    except (UsageError, StorageError, OSError):
        is_file = False
    if is_file and detect_part(source := Source(name)) == "run":
        report = Report()
        found = read_run(source, report)
        report.raise_problems(name)
        return Rankings(name, {query: list(ranking.ordered()) for query, ranking in found.items()}, {})
    stored = read_dataset(name) if is_file else find_run(name, root).samples
    samples = {sample.id: sample for sample in stored}
    lists = {query: _ids(sample) for query, sample in samples.items() if sample.contexts is not None}
    return Rankings(name, lists, samples)


def _ids(sample: Sample) -> list[tuple[str, float | None]]:
    if any(chunk.id is None for chunk in sample.contexts or ()):
        raise UsageError(f"sample '{sample.id}': a chunk has no id, so it cannot be found in other runs")
    return [(str(chunk.id), chunk.score) for chunk in sample.contexts or ()]
