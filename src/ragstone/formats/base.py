"""What a format is: how its rows become samples and, where it makes sense, how samples become its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import pyarrow as pa

from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.storage.places import Place

class Draft(NamedTuple):
    """A sample in the making: our field names, values not yet checked."""

    where: str
    values: dict[str, Any]


class Format(Protocol):
    """A foreign format. One file in this package that has a FORMAT is all that it takes to add one."""

    name: str
    title: str
    # Names of given evidence that the format may carry.
    given: tuple[str, ...]

    def recognises(self, sources: Sequence[Source]) -> bool:
        """Whether the sources look like this format, by their content."""
        ...

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """The samples of the sources, one after the other."""
        ...


@runtime_checkable
class WritableFormat(Format, Protocol):
    """A format that can be written as well."""

    def write(self, batches: Iterable[pa.RecordBatch], target: Place, info: Mapping[str, Any]) -> None:
        """Write samples, and what the file said about the whole of them, to a file or folder."""
        ...


@dataclass(frozen=True)
class RowFormat:
    """A format with a row a sample: a table of names, and a function for what a table cannot say.

    `columns` maps foreign names to ours; what is in neither becomes metadata, so that nothing is lost.
    `marks` are sets of names: a file that has all names of one of them is of this format.
    """

    name: str
    title: str
    columns: Mapping[str, str]
    marks: Sequence[frozenset[str]]
    convert: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    given: tuple[str, ...] = ()

    def recognises(self, sources: Sequence[Source]) -> bool:
        """One source whose rows have the names that mark the format."""
        if len(sources) != 1:
            return False
        keys = sources[0].keys()
        return any(mark <= keys for mark in self.marks)

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """Each row with our names."""
        for source in sources:
            for row in source.rows(report):
                yield Draft(row.where, self.rename(row.values))

    def rename(self, row: dict[str, Any]) -> dict[str, Any]:
        """A row with our names; the unknown ones move into the metadata."""
        known: dict[str, Any] = {}
        unknown: dict[str, Any] = {}
        row = self.convert(row) if self.convert else row
        for key, value in row.items():
            if key in self.columns:
                known[self.columns[key]] = value
            else:
                unknown[key] = value
        if unknown:
            known["metadata"] = {**unknown, **(known.get("metadata") or {})}
        return known
