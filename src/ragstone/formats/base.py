"""The interface of a format: rows to samples and, for some formats, samples to rows."""

from __future__ import annotations

import os
from collections import Counter
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


def name_pairs(spelled: str) -> dict[str, str]:
    """`id user_input:question` as foreign names and ours; a name without a colon is ours, too."""
    return {pair.partition(":")[0]: pair.rpartition(":")[2] for pair in spelled.split()}


class Draft(NamedTuple):
    """An unchecked sample with our field names. An `Unfit` as a value is a problem that the reader will report."""

    where: str
    values: dict[str, Any]
    # Our names to those of the file, if they differ: problems are reported with the names of the file.
    names: Mapping[str, str] = _NONE


class Format(Protocol):
    """A foreign format. To add one, add a module with a FORMAT to this package."""

    name: str
    title: str
    # Names of evidence that the format may contain.
    given: tuple[str, ...]

    def recognises(self, sources: Sequence[Source]) -> bool:
        """Whether the content of the sources matches this format."""
        ...

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """The samples of the sources."""
        ...


@runtime_checkable
class WritableFormat(Format, Protocol):
    """A format that can also be written."""

    def write(self, batches: Iterable[pa.RecordBatch], target: Place, info: Mapping[str, Any]) -> None:
        """Write samples and the information about the whole file; `info` is complete only after the last batch."""
        ...


@dataclass(frozen=True)
class RowFormat:
    """A format with one row per sample: a mapping of names and, if needed, a function that converts a row.

    `columns` maps foreign names to ours; other columns become metadata. A file with all names of one of the `marks` has
    this format. `names` maps our fields to the foreign names that `convert` reads, if they are not in `columns`. `expand`
    makes several rows of one, such as the turns of a conversation, before they are converted; it counts the names that it
    makes, so that no name is used twice in a file.
    """

    name: str
    title: str
    columns: Mapping[str, str]
    marks: Sequence[frozenset[str]]
    convert: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    given: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    expand: Callable[[dict[str, Any], Counter[str]], Sequence[dict[str, Any]]] | None = None

    def recognises(self, sources: Sequence[Source]) -> bool:
        """Whether there is one source and its rows have the names of a mark."""
        if len(sources) != 1:
            return False
        keys = sources[0].keys()
        return any(mark <= keys for mark in self.marks)

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """Each row, with our names."""
        made: Counter[str] = Counter()
        for source in sources:
            for row in source.rows(report):
                place = row.where if len(sources) == 1 else f"{os.path.basename(str(source))}, {row.where}"
                every = self.expand(row.values, made) if self.expand else (row.values,)
                for number, each in enumerate(every, start=1):
                    values = self.convert(each) if self.convert else each
                    where = f"{place}, item {number}" if len(every) > 1 else place
                    yield Draft(where, self.rename(values, source.mapped), self._names_in(row.values))

    def rename(self, row: dict[str, Any], mapped: Iterable[str] = ()) -> dict[str, Any]:
        """A row with our names. Unknown columns, and second values for a field, become metadata.

        A column that the user mapped to a field keeps that meaning in every format.
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
    """Metadata plus unknown columns; metadata that is not a mapping is left for the checks."""
    if not metadata:
        return unknown
    if not isinstance(metadata, Mapping):
        return metadata
    if both := metadata.keys() & unknown.keys():
        name = min(map(str, both))
        return Unfit(f"contains {name!r}, and there is also a column {name!r}", "rename one of the two")
    return {**unknown, **metadata}
