"""What a format is: how its rows become samples and, where it makes sense, how samples become its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, runtime_checkable

import pyarrow as pa

from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.values import Unfit
from ragstone.storage.places import Place

_NONE: Mapping[str, str] = MappingProxyType({})


class Draft(NamedTuple):
    """A sample in the making: our field names, values not yet checked.

    An `Unfit` in place of a value is a problem that the format found; the reader reports it with the others.
    """

    where: str
    values: dict[str, Any]
    # Our names to those of the file, where they differ: problems are told in the words of the file.
    names: Mapping[str, str] = _NONE


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
        """Write samples, and what the file said about the whole of them, to a file or folder.

        The info may fill while the batches stream by: look at it after the last of them.
        """
        ...


@dataclass(frozen=True)
class RowFormat:
    """A format with a row a sample: a table of names, and a function for what a table cannot say.

    `columns` maps foreign names to ours; what is in neither becomes metadata, so that nothing is lost.
    `marks` are sets of names: a file that has all names of one of them is of this format.
    `names` says where `convert` takes our fields from, when that is not in `columns`.
    """

    name: str
    title: str
    columns: Mapping[str, str]
    marks: Sequence[frozenset[str]]
    convert: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    given: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)

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
                values = self.convert(row.values) if self.convert else row.values
                yield Draft(row.where, self.rename(values, source.mapped), self._names_in(row.values))

    def rename(self, row: dict[str, Any], mapped: Iterable[str] = ()) -> dict[str, Any]:
        """A row with our names; the unknown ones move into the metadata, and so does a second value for one field.

        What the user mapped to a field is that field, whatever the format calls it.
        """
        known = {name: row[name] for name in mapped if row.get(name) is not None}
        unknown: dict[str, Any] = {}
        for key, value in row.items():
            if value is None or (key in mapped and key in known):
                continue
            ours = self.columns.get(key)
            if ours is None or ours in known:
                unknown[key] = value
            else:
                known[ours] = value
        if unknown:
            known["metadata"] = _merge(known.get("metadata"), unknown)
        return known

    @cached_property
    def _foreign(self) -> list[tuple[str, str]]:
        return [(theirs, ours) for theirs, ours in self.columns.items() if theirs != ours]

    def _names_in(self, row: Mapping[str, Any]) -> Mapping[str, str]:
        if not self._foreign:
            return self.names
        return {**self.names, **{ours: theirs for theirs, ours in self._foreign if row.get(theirs) is not None}}


def _merge(metadata: Any, unknown: dict[str, Any]) -> Any:
    """Columns that are not ours beside what the metadata holds; metadata that is no mapping is left for the checks."""
    if not metadata:
        return unknown
    if not isinstance(metadata, Mapping):
        return metadata
    if both := metadata.keys() & unknown.keys():
        name = min(map(str, both))
        return Unfit(f"holds {name!r}, and there is a column {name!r} as well", "rename one of the two")
    return {**unknown, **metadata}
