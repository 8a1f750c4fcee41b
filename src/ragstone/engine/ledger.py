"""The values of a batch during evaluation: for each name, the rows with a value and the reasons for the others."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ragstone.data.columns import FAILED, SKIPPED, Rows, Sparse
from ragstone.data.dataset import view_column
from ragstone.data.schema import FIELDS, GIVEN_EVIDENCE, images_in_rows, present, unknown_reason, unknown_texts
from ragstone.registry.specs import FunctionSpec
from ragstone.storage.images import located


class Absence(NamedTuple):
    """Why a row has no value: skipped or failed, and the reason in words."""

    status: int
    reason: str


@dataclass
class Entry:
    """The values of one name: a column over the rows that have one."""

    name: str
    rows: np.ndarray
    column: Any
    absent: dict[int, Absence] = field(default_factory=dict)
    # The values in the form in which they are stored, for stored evidence.
    stored: pa.Array | None = None
    _python: Sequence[Any] | None = None

    def column_of(self, rows: np.ndarray) -> Any:
        """The column for these rows, which must have values."""
        if len(rows) == len(self.rows):
            return self.column
        return self._take(np.searchsorted(self.rows, rows))

    def values_of(self, rows: np.ndarray) -> Sequence[Any]:
        """The Python values for these rows."""
        if self._python is None:
            arrow = isinstance(self.column, pa.Array)
            self._python = view_column(self.name, self.column) if arrow else list(self.column)
        if len(rows) == len(self.rows):
            return self._python
        return [self._python[position] for position in np.searchsorted(self.rows, rows)]

    def without(self, lost: Mapping[int, Absence]) -> Entry:
        """The entry without the values of some of its rows."""
        if not lost:
            return self
        keep = np.flatnonzero([row not in lost for row in self.rows.tolist()])
        return Entry(self.name, self.rows[keep], self._take(keep), {**self.absent, **lost})

    def _take(self, positions: np.ndarray) -> Any:
        # numpy's own `take` would flatten an array of vectors.
        return self.column[positions] if isinstance(self.column, np.ndarray) else self.column.take(positions)


class Ledger:
    """All entries of a batch. The entry of a field is made when it is first used."""

    def __init__(self, batch: pa.RecordBatch, folder: str | None = None) -> None:
        """`folder` is that of the data: paths of images count inside it."""
        self.batch, self._folder = batch, folder
        self.size = int(batch.num_rows)
        self._fields = {name for name in batch.schema.names if name in FIELDS or name in GIVEN_EVIDENCE}
        self._entries: dict[str, Entry] = {}
        # Fields that evidence replaces: the piece, and the field with its values.
        self._replaced: dict[str, tuple[str, Entry]] = {}

    def __getitem__(self, name: str) -> Entry:
        if name in self._replaced:
            return self._replaced[name][1]
        if name not in self._entries and name in self._fields:
            self._entries[name] = self._field(name, self.batch.column(name))
        return self._entries[name]

    def __contains__(self, name: str) -> bool:
        return name in self._entries or name in self._fields

    def add(self, entry: Entry) -> None:
        """Add new evidence."""
        self._entries[entry.name] = entry

    def replace_fields(self, pieces: Mapping[str, str]) -> None:
        """Let functions get pieces in place of fields; rows in which a piece is skipped keep the field."""
        for name, piece in pieces.items():
            field, entry = self[name], self[piece]
            failed = {row: absence for row, absence in entry.absent.items() if absence.status == FAILED}
            values = dict(zip(field.rows.tolist(), field.values_of(field.rows), strict=True))
            values |= dict(zip(entry.rows.tolist(), entry.values_of(entry.rows), strict=True))
            rows = [row for row in sorted(values) if row not in failed]
            absent = {row: absence for row, absence in {**field.absent, **failed}.items() if row not in rows}
            column = Rows([values[row] for row in rows])
            self._replaced[name] = piece, Entry(name, np.array(rows, dtype=np.int64), column, absent)

    def seen_by(self, spec: FunctionSpec, tools: Mapping[str, Any] | None = None) -> Ledger:
        """The ledger for a function: one that takes both a field and its replacement gets the field as it was read.

        One that reads chunks gets no rows with unknown texts, unless their ids will do or its tool sees images. Without
        `tools` the evidence is stored: a tool saw what it could see.
        """
        replaced = {name: pair for name, pair in self._replaced.items() if pair[0] not in spec.needs}
        if "contexts" in spec.needs and not spec.by_id:
            used = [] if tools is None else [tools[need] for need in spec.needs if need in tools]
            sees = spec.images and (tools is None or any(getattr(tool, "sees_images", False) for tool in used))
            known = self._with_images if sees else self._with_texts["the judge" if spec.images else "this metric"]
            if known is not self["contexts"]:
                replaced["contexts"] = "", known
        if replaced == self._replaced:
            return self
        view = copy.copy(self)
        view._replaced = replaced  # noqa: SLF001
        return view

    @cached_property
    def _with_texts(self) -> dict[str, Entry]:
        """The contexts of the rows in which the text of every chunk is known; the reasons name the reader."""
        return {reader: self._known_texts(reader) for reader in ("this metric", "the judge")}

    def _known_texts(self, reader: str, images: bool = False) -> Entry:
        """The contexts of the rows in which each chunk has a text, or an image if `images` will do."""
        entry = self["contexts"]
        if not isinstance(entry.column, pa.ListArray) or not pa.types.is_struct(entry.column.type.value_type):
            return entry
        lengths, unknown = entry.column.value_lengths().to_pylist(), unknown_texts(entry.column)
        pictures = images_in_rows(entry.column)
        places = np.flatnonzero(unknown - pictures if images else unknown).tolist()
        reasons = {int(entry.rows[at]): unknown_reason(unknown[at], lengths[at], pictures[at], reader) for at in places}
        return entry.without({row: Absence(SKIPPED, reason) for row, reason in reasons.items()})

    @cached_property
    def _with_images(self) -> Entry:
        """The contexts for a tool that sees images, which are located in the folder of the data."""
        entry = self._known_texts("the judge", images=True)
        rows = entry.values_of(entry.rows)
        if not any(chunk.image for chunks in rows for chunk in chunks):
            return entry
        column = Rows([located(chunks, self._folder) for chunks in rows])
        return Entry(entry.name, entry.rows, column, entry.absent)

    def common_rows(
        self, needs: Sequence[str], either: Sequence[str] = (), pieces: Sequence[str] = ()
    ) -> tuple[np.ndarray, dict[int, Absence]]:
        """The rows that have all needs, and what the others lack; without the rows that have all `pieces` already."""
        absent: dict[int, Absence] = {}
        for need in needs:
            for row, absence in self[need].absent.items() if need not in either else ():
                absent.setdefault(row, absence)
        if either:
            nothing = Absence(SKIPPED, " and ".join(f"no {need.replace('_', ' ')}" for need in either))
            for row in np.flatnonzero(~np.any([self.has(need) for need in either], axis=0)).tolist():
                absent.setdefault(row, nothing)
        missing = ~np.all([self.has(piece) for piece in pieces], axis=0) if pieces else np.ones(self.size, dtype=bool)
        absent = {row: absence for row, absence in absent.items() if missing[row]}
        missing[list(absent)] = False
        return np.flatnonzero(missing), absent

    def some_of(self, name: str, rows: np.ndarray) -> Sparse | None:
        """The values of a column for those of the rows that have one; None if no row does."""
        places = np.flatnonzero(self.has(name)[rows])
        return Sparse(self[name].column_of(rows[places]), places) if len(places) else None

    def values_or_none(self, name: str, rows: np.ndarray) -> Sequence[Any]:
        """The Python values for these rows; None for rows without a value."""
        values: list[Any] = [None] * len(rows)
        places = np.flatnonzero(self.has(name)[rows])
        if len(places):
            for place, value in zip(places.tolist(), self[name].values_of(rows[places]), strict=True):
                values[place] = value
        return values

    def has(self, name: str) -> np.ndarray:
        """Which rows have a value, as booleans."""
        there = np.zeros(self.size, dtype=bool)
        if name in self:
            there[self[name].rows] = True
        return there

    def _field(self, name: str, column: pa.Array) -> Entry:
        known = present(name, column).to_numpy(zero_copy_only=False)
        rows = np.flatnonzero(known)
        if len(rows) == self.size:
            return Entry(name, rows, column)
        absence = Absence(SKIPPED, f"no {name.replace('_', ' ')}")
        return Entry(name, rows, column.take(pa.array(rows)), dict.fromkeys(np.flatnonzero(~known).tolist(), absence))
