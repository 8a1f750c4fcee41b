"""Sources of rows: files, standard input and tables in memory. The meaning of columns is up to the formats.

Arrow cannot convert all of its values to Python: nanoseconds need pandas, and Python has no dates after the year 9999. Such a
value becomes its text.
"""

from __future__ import annotations

import gzip
import io
import itertools
import json
import os
import sys
import tempfile
import weakref
import zlib
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from functools import cached_property, reduce
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from ragstone.data.codec import storable_value
from ragstone.data.schema import FIELDS
from ragstone.errors import InputError, Problem, UsageError, nearest
from ragstone.formats.column_guess import numbered_columns
from ragstone.formats.file_rows import (
    BOM,
    HEAD_BYTES,
    LONGEST_LINE_BYTES,
    Kind,
    Row,
    detect_kind,
    json_problem,
    line_of_repeat,
    not_json,
    read_csv,
    read_json_lines,
    rows_within,
    take_row,
)
from ragstone.formats.reports import Report
from ragstone.formats.values import RepeatedKeyError, lift, load_json
from ragstone.storage.places import Place, open_place, show_url, storage_errors

_OTHER_ENCODING = "save the file as UTF-8, or name its encoding, as in --encoding cp1252"
LARGEST_DOCUMENT_BYTES = 500 << 20
_ROWS_LOOKED_AT = 20
GROUP = "group"  # the name in --map of columns whose rows are put together


class Source:
    """One file, folder or table. It can be opened repeatedly and is read as a stream."""

    def __init__(
        self, given: Any, renames: Mapping[str, str] | None = None, separator: str = "", encoding: str = "utf-8"
    ) -> None:
        chosen = dict(renames or {})
        # Their names of the parts of chunks, and the columns whose rows are put together to samples.
        self.parts = {name: ours[9:] for name, ours in chosen.items() if ours.startswith("contexts.")}
        self.group = next((name for name, ours in chosen.items() if ours == GROUP), None)
        self.assistant = next((name for name, ours in chosen.items() if ours == "assistant"), None)
        # The columns that the user mapped, and our names for them.
        others = (*self.parts, self.group, self.assistant)
        self.renames = {name: ours for name, ours in chosen.items() if name not in others}
        self.separator = separator  # between the chunks of a cell; empty if a text is one chunk
        self._encoding = encoding
        self._guessed: dict[str, str] = {}  # theirs to ours
        # Notes for the user on how the columns are read.
        self.remarks: list[str] = []
        self._table: pa.Table | None = None
        self._rows: list[Any] | None = None
        self.place: Place | None = None
        if isinstance(given, Place):
            self.name, self.place = str(given), given
        elif isinstance(given, str) or hasattr(given, "__fspath__"):
            self.name = "standard input" if given == "-" else show_url(str(given))
            self.place = None if given == "-" else open_place(given)
        else:
            self.name = f"a {type(given).__name__} in memory"
            table = open_table(given)
            self._table, self._rows = (None, table) if isinstance(table, list) else (table, None)

    def __str__(self) -> str:
        return self.name

    @cached_property
    def kind(self) -> Kind:
        """The kind of container, detected by its content."""
        if self._table is not None or self._rows is not None:
            return "table"
        if self.place is not None and self.place.is_folder():
            return "folder"
        if self.is_workbook:
            return "text"  # some of its bytes look like a table
        kind = detect_kind(self._head, self._is_one_line)
        if kind == "utf-16":
            raise self._error("is UTF-16 text", "save it as UTF-8")
        if kind == "empty":
            raise self._error("is empty", "there must be at least one sample")
        return kind

    def _error(self, message: str, hint: str, where: str = "") -> InputError:
        return InputError(self.name, [Problem(message, where, hint=hint)])

    @property
    def is_workbook(self) -> bool:
        """Whether the file is a ZIP archive, as Excel writes it."""
        return self._head[:4] == b"PK\x03\x04"

    @cached_property
    def _head(self) -> bytes:
        with self._reading() as stream:
            return stream.read(HEAD_BYTES)

    def _is_one_line(self) -> bool:
        """Whether the whole file is one line of acceptable length."""
        with self._reading() as stream:
            return len(stream.readline(LONGEST_LINE_BYTES + 1)) <= LONGEST_LINE_BYTES and not stream.read(1)

    def open(self) -> IO[bytes]:
        """The bytes, decompressed if they are gzip."""
        if self.place is None:
            self._spool.seek(0)
            raw: Any = io.BufferedReader(_Unclosable(self._spool))
        else:
            if not self.place.exists():
                raise UsageError(f"there is no file '{self.name}'. {similar_files(self.place)}")
            raw = io.BufferedReader(self.place.open_input(), 1 << 18)
        if raw.peek(2)[:2] == b"\x1f\x8b":
            return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]
        return raw  # type: ignore[no-any-return]

    @contextmanager
    def _reading(self) -> Iterator[IO[bytes]]:
        """The open bytes; storage failures and damaged archives become readable errors."""
        with storage_errors(f"cannot read {self.name}"), self.open() as stream:
            try:
                yield stream
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise self._error(f"is a damaged gzip file: {error}", "compress it again") from None

    @cached_property
    def _spool(self) -> IO[bytes]:
        """Standard input in a temporary file, because it is read more than once."""
        spool = tempfile.TemporaryFile()  # noqa: SIM115  (it lives as long as the source)
        weakref.finalize(self, spool.close)
        while block := sys.stdin.buffer.read(1 << 20):
            spool.write(block)
        return spool

    def keys(self) -> frozenset[str]:
        """The names in the first rows, or of a JSON document without rows."""
        joined = {our for their, our in self.names.items() if "*" in their and numbered_columns(their, self.columns)}
        return frozenset(self.names.get(name, name) for name in self.columns) | joined

    @cached_property
    def columns(self) -> frozenset[str]:
        """The names in the file, before --map is applied, and the mapped parts of mappings."""
        if self.kind in ("folder", "text"):
            return frozenset()
        if not self._paths and (schema := self.schema()) is not None:  # faster, also for tables without rows
            return frozenset(schema.names)
        return frozenset(str(key) for row in self.head(_ROWS_LOOKED_AT) for key in row)

    @property
    def names(self) -> dict[str, str]:
        """The columns that are read as our fields, by the user's choice or by a guess."""
        return {**self._guessed, **self.renames}

    @property
    def guessed(self) -> dict[str, str]:
        """Our fields and the columns that were guessed for them."""
        return {ours: theirs for theirs, ours in self._guessed.items()}

    @property
    def mapped(self) -> Set[str]:
        """The fields to which the user mapped columns; the `time` of a log is metadata."""
        return FIELDS.keys() & self.names.values()

    def head(self, most: int) -> list[dict[str, Any]]:
        """The first rows with the names of the file; fewer than `most` if these are all."""
        if self.kind in ("folder", "text"):
            return []
        if self.kind == "parquet" or self._table is not None:
            batches = itertools.islice(self.batches(most), 1)
            return [reduce(lift, self._paths, row) for batch in batches for row in rows_of(batch.slice(0, most))]
        return [row.values for row in itertools.islice(self._raw_rows(Report()), most)]

    def guess(self, columns: Mapping[str, str]) -> None:
        """Read these columns (our names to theirs) as our fields, in rows that do not have the field itself."""
        self._guessed = {theirs: ours for ours, theirs in columns.items()}

    def rows(self, report: Report) -> Iterator[Row]:
        """The rows; unreadable ones are reported and left out."""
        rows = self._raw_rows(report)
        if not self.renames and not self._guessed:
            return rows
        # A column with the name of a field that the user mapped to another column is not that field.
        names = {ours: f"original_{ours}" for ours in self.renames.values()} | self.renames
        return (Row(row.where, self._rename(row.values, names)) for row in rows)

    def _rename(self, row: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
        guessed = {theirs: ours for theirs, ours in self._guessed.items() if row.get(ours) is None}
        renamed: dict[str, Any] = {}
        joined: dict[str, str] = {}
        for theirs, ours in {**guessed, **self.renames}.items():
            if "*" in theirs and (found := numbered_columns(theirs, row)):
                renamed[ours] = [row[name] for name in found if row[name] not in (None, "")]
                joined |= dict.fromkeys(found, ours)
        for key, value in row.items():
            if key not in joined and not (value is None and key in guessed.values()):
                renamed[names.get(key) or guessed.get(key, key)] = value
        return renamed

    @cached_property
    def _paths(self) -> list[str]:
        """The mapped names that may be parts of mappings: `retrieval.hits`."""
        return [name for name in (*self.renames, *(self.group or "").split(",")) if "." in name]

    def _raw_rows(self, report: Report) -> Iterator[Row]:
        rows = self._read_rows(report)
        return (Row(row.where, reduce(lift, self._paths, row.values)) for row in rows) if self._paths else rows

    def _read_rows(self, report: Report) -> Iterator[Row]:
        if self.kind == "jsonl":
            return read_json_lines(self.lines(report), report)
        if self.kind == "csv":
            return read_csv(self.lines(report), report)
        if self.kind == "json":
            return self._read_json(report)
        if self.kind in ("folder", "text"):
            what = "a folder" if self.kind == "folder" else "neither JSON nor CSV nor Parquet"
            raise UsageError(f"'{self.name}' has no rows: it is {what}. Pass a file with one sample per row.")
        return self._read_table(report)

    def lines(self, report: Report) -> Iterator[tuple[int, str]]:
        """Numbered lines with their line breaks; lines that are too long or not UTF-8 are reported."""
        with self._reading() as stream:
            for number in itertools.count(1):
                line = stream.readline(LONGEST_LINE_BYTES + 1)
                if not line:
                    return
                if len(line) > LONGEST_LINE_BYTES:
                    message = f"is longer than {LONGEST_LINE_BYTES >> 20} MB"
                    report.problem(f"line {number}", message, hint="put one sample on each line")
                    return
                try:
                    yield number, (line.removeprefix(BOM) if number == 1 else line).decode(self._encoding)
                except UnicodeDecodeError as error:
                    report.problem(f"line {number}", *self._undecodable(error))

    def _undecodable(self, error: UnicodeDecodeError) -> tuple[str, str, str]:
        """Message, field and hint."""
        if self._encoding == "utf-8":
            return f"is not UTF-8: {_byte(error)}", "", _OTHER_ENCODING
        return f"is not {self._encoding}: {_byte(error)}", "", "name another --encoding"

    @cached_property
    def document(self) -> Any:
        """A whole JSON document."""
        with self._reading() as stream:
            content = stream.read(LARGEST_DOCUMENT_BYTES + 1)
        if len(content) > LARGEST_DOCUMENT_BYTES:
            hint = "write one JSON object per line (JSONL), which is read as a stream"
            raise self._error(f"is one JSON document of over {LARGEST_DOCUMENT_BYTES >> 20} MB", hint)
        try:
            text = content.removeprefix(BOM).decode(self._encoding)
            return load_json(text)
        except RepeatedKeyError as error:
            raise self._error(error.message, error.hint, f"object in line {line_of_repeat(text)}") from None
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            message, _, hint = self._undecodable(error)
            raise self._error(message, hint, f"line {line}") from None
        except json.JSONDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}"
            hint = "fix it there, or write the file again"
            raise self._error(f"is not JSON: {json_problem(error)}", hint, place) from None
        except (RecursionError, ValueError) as error:
            raise self._error(not_json(error), "fix it, or write the file again") from None

    def _read_json(self, report: Report) -> Iterator[Row]:
        rows = next(rows_within(self.document), None)
        for number, values in enumerate([self.document] if rows is None else rows, start=1):
            yield from take_row(f"item {number}", values, report)

    def batches(self, size: int = 10_000) -> Iterator[pa.RecordBatch]:
        """The rows of a Parquet or Arrow file or of a table in memory, as Arrow batches."""
        if self._table is not None:
            yield from self._table.to_batches(max_chunksize=size)
        elif self.kind == "parquet":
            with self._parquet() as file, storage_errors(f"cannot read {self.name}"):
                yield from file.iter_batches(batch_size=size)
        elif self.kind == "arrow":
            with self.open() as stream, storage_errors(f"cannot read {self.name}"):
                reader = pa.ipc.open_file(pa.py_buffer(stream.read()))
                for number in range(reader.num_record_batches):
                    yield reader.get_batch(number)

    def schema(self) -> pa.Schema | None:
        """The Arrow schema; None for other sources."""
        if self._table is not None:
            return self._table.schema
        if self.kind == "parquet":
            with self._parquet() as file:
                return file.schema_arrow
        return None

    def _parquet(self) -> pq.ParquetFile:
        stream = self._spool if self.place is None else self.place.open_input()
        try:
            return pq.ParquetFile(stream)
        except (pa.ArrowException, OSError) as error:
            text = str(error).split("\n")[0]
            raise self._error(f"is a damaged Parquet file: {text}", "write it again") from None

    def _read_table(self, report: Report) -> Iterator[Row]:
        if self._rows is not None:
            for number, values in enumerate(self._rows, start=1):
                with suppress(RecursionError):  # the checks report deep nesting
                    values = storable_value(values)  # noqa: PLW2901
                yield from take_row(f"row {number}", values, report)
            return
        schema = self.schema()
        names = [] if schema is None else schema.names
        if twice := {name for name in names if names.count(name) > 1}:
            report.problem("columns", f"two columns are named {min(twice)!r}", hint="rename one of the two")
            return
        number = 0
        for batch in self.batches():
            for values in rows_of(batch):
                number += 1
                yield Row(f"row {number}", values)


def similar_files(place: Place) -> str:
    """Files with similar names in the same folder, as a question."""
    if not place.is_local:
        return "Check the path."
    folder, name = os.path.split(place.path)
    try:
        near = nearest(name, os.listdir(folder or "."))
    except OSError:
        near = []
    return f"Did you mean {' or '.join(near)}?" if near else "Check the path."


def _byte(error: UnicodeDecodeError) -> str:
    return f"byte 0x{error.object[error.start]:02x} at position {error.start + 1}"


class _Unclosable(io.RawIOBase):
    """A stream that stays open when its readers close."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._stream.readinto(buffer)  # type: ignore[attr-defined, no-any-return]


# Raised by a conversion: nanoseconds, unknown time zones and text that is not UTF-8; dates out of range.
_UNCONVERTIBLE = (ValueError, OverflowError, NotImplementedError, TypeError)


def open_table(data: Any) -> pa.Table | list[Any]:
    """A list of rows unchanged, or any other table as an Arrow table."""
    if isinstance(data, list | tuple):
        return list(data)
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, dict) and hasattr(data, "with_format"):
        example = next(iter(data), "test")
        what = f"cannot read samples from {len(data)} splits at once"
        raise UsageError(f"{what}; choose one, for example data[{example!r}]")
    if hasattr(data, "with_format") and hasattr(data, "data"):
        return data.with_format("arrow")[:]  # a Hugging Face data set; its .data ignores selections
    if type(data).__module__.startswith("pandas"):
        return _pandas_rows(data)
    if hasattr(data, "__arrow_c_stream__"):
        return pa.table(data)
    raise UsageError(
        f"cannot read samples from a {type(data).__name__}; pass a path, a list of dicts, "
        "or a pandas, polars, Arrow or Hugging Face table"
    )


def _pandas_rows(frame: Any) -> list[dict[str, Any]]:
    """The rows of a frame; Arrow would reject object columns with lists of mixed types before they are checked."""
    if hasattr(frame, "to_frame"):
        raise UsageError("cannot read samples from a pandas Series; pass the DataFrame")
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise UsageError(f"the DataFrame has two columns named {twice!r}; rename one of them")
    # pandas has several missing values; None replaces them all.
    frame = frame.astype(object).where(frame.notna(), None)
    return frame.to_dict(orient="records")  # type: ignore[no-any-return]


def rows_of(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """The rows of a batch; a value that Python cannot represent is a text."""
    names = batch.schema.names
    columns = [_values_of(column) for column in batch.columns]
    return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]


def _values_of(array: pa.Array) -> list[Any]:
    try:
        return array.to_pylist()  # type: ignore[no-any-return]
    except _UNCONVERTIBLE:
        return [_value_of(scalar) for scalar in array]


def _value_of(scalar: pa.Scalar) -> Any:
    if not scalar.is_valid:
        return None
    try:
        return scalar.as_py()
    except _UNCONVERTIBLE:
        pass
    if isinstance(scalar, pa.StructScalar):
        return {name: _value_of(scalar[name]) for name in scalar}
    if isinstance(scalar, pa.MapScalar):
        return [(_value_of(pair["key"]), _value_of(pair["value"])) for pair in scalar.values]
    if isinstance(scalar, pa.ListScalar | pa.LargeListScalar | pa.FixedSizeListScalar):
        return [_value_of(item) for item in scalar.values]
    if isinstance(scalar, pa.DictionaryScalar | pa.ExtensionScalar | pa.UnionScalar | pa.RunEndEncodedScalar):
        return _value_of(scalar.value)
    return _text_of(scalar)


def _text_of(scalar: pa.Scalar) -> str:
    """The text of a time, or of text that is not UTF-8; a time with a zone is in UTC."""
    kind = scalar.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return scalar.as_buffer().to_pybytes().decode("utf-8", "replace")  # type: ignore[no-any-return]
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return f"{scalar.cast(pa.timestamp(kind.unit)).cast(pa.string()).as_py()}Z"
    if pa.types.is_duration(kind):
        return f"{scalar.cast(pa.int64()).as_py()} {kind.unit}"
    return str(scalar.cast(pa.string()).as_py())
