"""Ranked lists of several systems: from TREC runs, stored runs and files of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragstone.cli.find_run import find_run
from ragstone.errors import StorageError, UsageError

if TYPE_CHECKING:
    from ragstone.data.types import Sample


class Rankings(NamedTuple):
    """The lists of one system: chunk ids with scores by query, and the samples unless it is a TREC run."""

    name: str
    lists: dict[str, list[tuple[str, float | None]]]
    samples: dict[str, Sample]


def read_rankings(name: str, root: str) -> Rankings:
    """The lists of a TREC run, a stored run or a file of samples."""
    from ragstone.formats.reports import Report
    from ragstone.formats.sources import Source
    from ragstone.formats.trec import detect_part, read_run

    if _is_file(name):
        source = Source(name)
        if detect_part(source) == "run":
            report = Report()
            found = read_run(source, report)
            report.raise_problems(name)
            return Rankings(name, {query: list(ranking.ordered()) for query, ranking in found.items()}, {})
    samples = {sample.id: sample for sample in _samples(name, root)}
    lists = {query: _ids(sample) for query, sample in samples.items() if sample.contexts is not None}
    return Rankings(name, lists, samples)


def _is_file(name: str) -> bool:
    from ragstone.formats.sources import Source

    try:
        return Source(name).kind != "folder"
    except (UsageError, StorageError, OSError):
        return False


def _samples(name: str, root: str) -> list[Sample]:
    from ragstone.formats import read_dataset

    if _is_file(name):
        return list(read_dataset(name))
    return list(find_run(name, root).samples)


def _ids(sample: Sample) -> list[tuple[str, float | None]]:
    if any(chunk.id is None for chunk in sample.contexts or ()):
        raise UsageError(f"sample '{sample.id}': a chunk has no id, so it cannot be found in other runs")
    return [(str(chunk.id), chunk.score) for chunk in sample.contexts or ()]
