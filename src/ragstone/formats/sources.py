"""Where rows come from: files of several kinds, standard input, and tables in memory. No meaning of columns here."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import IO, Any, Literal, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from ragstone.errors import InputError, Problem, UsageError
from ragstone.formats.reports import Report
from ragstone.storage.places import Place, open_place, storage_errors

Kind = Literal["jsonl", "json", "csv", "parquet", "arrow", "text", "folder", "table"]
LONGEST_LINE_BYTES = 100 << 20
LARGEST_DOCUMENT_BYTES = 1 << 30
_HEAD_BYTES = 1 << 20
_ROWS_LOOKED_AT = 20
# Keys under which a JSON document may keep its list of rows.
_ROW_KEYS = ("samples", "data", "examples", "rows", "test_cases")


class Row(NamedTuple):
    """A row as it stands in the file, and where."""

    where: str
    values: dict[str, Any]


class Source:
    """One file, folder or table, opened as often as needed and read as a stream."""

    def __init__(self, given: Any, renames: Mapping[str, str] | None = None) -> None:
        self._renames = dict(renames or {})
        self._table: pa.Table | None = None
        self._rows: list[Any] | None = None
        self.place: Place | None = None
        if isinstance(given, str) or hasattr(given, "__fspath__"):
            self.name = "standard input" if given == "-" else str(given)
            self.place = None if given == "-" else open_place(given)
        else:
            self.name = f"a {type(given).__name__} in memory"
            self._take_table(given)

    def __str__(self) -> str:
        return self.name

    # What kind of thing it is

    @cached_property
    def kind(self) -> Kind:
        """The container, told by its content and not by its name."""
        if self._table is not None or self._rows is not None:
            return "table"
        if self.place is not None and self.place.is_folder():
            return "folder"
        head = self._head
        if head[:4] == b"PAR1":
            return "parquet"
        if head[:6] == b"ARROW1":
            return "arrow"
        if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise InputError(self.name, [Problem("is UTF-16 text", hint="save it as UTF-8")])
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if not start:
            raise InputError(self.name, [Problem("is empty", hint="there must be at least one sample")])
        if start[:1] == b"[":
            return "json"
        if start[:1] == b"{":
            return "jsonl" if self._is_json_lines(start) else "json"
        return "csv" if self._is_csv(start) else "text"

    @cached_property
    def _head(self) -> bytes:
        with self.open() as stream:
            return stream.read(_HEAD_BYTES)

    def _is_json_lines(self, start: bytes) -> bool:
        """Objects line by line, unless the first line is not a whole one or is a document with rows inside."""
        first, newline, rest = start.partition(b"\n")
        if not newline and len(start) >= _HEAD_BYTES:
            return True  # a first line of over a megabyte: the line reader will see
        try:
            value = json.loads(first)
        except (ValueError, RecursionError):
            # A pretty-printed document opens with a bare bracket; anything else is a broken line among lines.
            return bool(first.strip() not in (b"{", b"") and newline and b"\n{" in start)
        within = (isinstance(item, list) and item and isinstance(item[0], dict) for item in _rows_within(value))
        return bool(rest.strip()) or not any(within)

    @staticmethod
    def _is_csv(start: bytes) -> bool:
        first = start.partition(b"\n")[0]
        return any(delimiter in first for delimiter in (b",", b"\t", b";")) and len(first.split()) != 6

    # Reading

    def open(self) -> IO[bytes]:
        """The bytes, unpacked if they are gzip."""
        if self.place is None:
            self._spool.seek(0)
            raw: Any = io.BufferedReader(_Unclosable(self._spool))  # type: ignore[arg-type]
        else:
            if not self.place.exists():
                raise UsageError(f"there is no file '{self.name}'. Check the path.")
            raw = io.BufferedReader(self.place.open_input(), 1 << 18)  # type: ignore[arg-type]
        if raw.peek(2)[:2] == b"\x1f\x8b":
            return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]
        return raw  # type: ignore[no-any-return]

    @cached_property
    def _spool(self) -> IO[bytes]:
        """Standard input, kept in a temporary file because it must be looked at before it is read."""
        spool = tempfile.TemporaryFile()
        while block := sys.stdin.buffer.read(1 << 20):
            spool.write(block)
        return spool

    def keys(self) -> frozenset[str]:
        """The names that the first rows have; of a JSON document without rows, its own."""
        if self.kind in ("folder", "text"):
            return frozenset()
        if (schema := self.schema()) is not None:  # quicker, and a table without rows has names as well
            return frozenset(self._renames.get(name, name) for name in schema.names)
        rows = itertools.islice(self.rows(Report()), _ROWS_LOOKED_AT)
        return frozenset(str(key) for row in rows for key in row.values)

    def rows(self, report: Report) -> Iterator[Row]:
        """The rows, one after the other; what cannot be read is reported and passed over."""
        readers = {
            "jsonl": self._read_json_lines,
            "json": self._read_json,
            "csv": self._read_csv,
            "parquet": self._read_table,
            "arrow": self._read_table,
            "table": self._read_table,
        }
        if self.kind not in readers:
            raise UsageError(f"'{self.name}' has no rows: it is a {self.kind}")
        for row in readers[self.kind](report):
            yield Row(row.where, {self._renames.get(key, key): value for key, value in row.values.items()}) if self._renames else row

    def lines(self, report: Report) -> Iterator[tuple[int, str]]:
        """Numbered lines of text without their ends; what is too long or not UTF-8 is reported and passed over."""
        with self.open() as stream, storage_errors(f"cannot read {self.name}"):
            for number in itertools.count(1):
                line = stream.readline(LONGEST_LINE_BYTES + 1)
                if not line:
                    return
                if len(line) > LONGEST_LINE_BYTES:
                    report.problem(f"line {number}", f"is longer than {LONGEST_LINE_BYTES >> 20} MB", hint="put one sample on each line")
                    return
                try:
                    yield number, line.removeprefix(b"\xef\xbb\xbf").decode() if number == 1 else line.decode()
                except UnicodeDecodeError as error:
                    report.problem(f"line {number}", f"is not UTF-8: {_byte(error)}", hint="save the file as UTF-8")

    def document(self) -> Any:
        """A whole JSON document."""
        if not hasattr(self, "_document"):
            self._document = self._parse_document()
        return self._document

    def _parse_document(self) -> Any:
        with self.open() as stream, storage_errors(f"cannot read {self.name}"):
            content = stream.read(LARGEST_DOCUMENT_BYTES + 1)
        if len(content) > LARGEST_DOCUMENT_BYTES:
            hint = "write one JSON object per line (JSONL), which is read as a stream"
            raise InputError(self.name, [Problem(f"is one JSON document of over {LARGEST_DOCUMENT_BYTES >> 30} GB", hint=hint)])
        try:
            return json.loads(content.removeprefix(b"\xef\xbb\xbf").decode())
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise InputError(self.name, [Problem(f"is not UTF-8: {_byte(error)}", f"line {line}", hint="save the file as UTF-8")]) from None
        except json.JSONDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}"
            raise InputError(self.name, [Problem(f"is not JSON: {error.msg}", place)]) from None
        except RecursionError:
            raise InputError(self.name, [Problem("is nested too deeply")]) from None

    def _read_json(self, report: Report) -> Iterator[Row]:
        for rows in _rows_within(self.document()):
            if isinstance(rows, list):
                for number, values in enumerate(rows, start=1):
                    yield from _row(f"item {number}", values, report)
                return
        yield from _row("item 1", self.document(), report)

    def _read_json_lines(self, report: Report) -> Iterator[Row]:
        for number, line in self.lines(report):
            if line.isspace():
                continue
            try:
                values = json.loads(line)
            except json.JSONDecodeError as error:
                report.problem(f"line {number}", f"is not JSON: {error.msg} at column {error.colno}")
            except RecursionError:
                report.problem(f"line {number}", "is nested too deeply")
            else:
                yield from _row(f"line {number}", values, report)

    def _read_csv(self, report: Report) -> Iterator[Row]:
        csv.field_size_limit(LONGEST_LINE_BYTES)
        with self.open() as binary, io.TextIOWrapper(binary, "utf-8-sig", newline="") as stream:
            first = stream.readline()
            stream.seek(0)
            delimiter = max(",\t;", key=first.count)
            reader = csv.reader(stream, delimiter=delimiter, strict=True)
            try:
                header = next(reader)
                if len(set(header)) < len(header):
                    report.problem("line 1", f"names a column twice: {', '.join(header)}")
                    return
                for cells in reader:
                    where = f"line {reader.line_num}"
                    if len(cells) == len(header):
                        yield Row(where, dict(zip(header, cells, strict=True)))
                    elif cells:
                        report.problem(where, f"has {len(cells)} cells, the header has {len(header)}", hint="quote cells that hold the delimiter")
            except UnicodeDecodeError as error:
                report.problem(f"after line {reader.line_num}", f"is not UTF-8: {_byte(error)}", hint="save the file as UTF-8")
            except csv.Error as error:
                report.problem(f"line {reader.line_num}", f"is not CSV: {error}")

    # Tables

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows of a Parquet or Arrow file or of a table in memory, as Arrow batches."""
        if self._table is not None:
            yield from self._table.to_batches(max_chunksize=10_000)
        elif self.kind == "parquet":
            with self._parquet() as file, storage_errors(f"cannot read {self.name}"):
                yield from file.iter_batches(batch_size=10_000)
        elif self.kind == "arrow":
            with self.open() as stream, storage_errors(f"cannot read {self.name}"):
                reader = pa.ipc.open_file(pa.py_buffer(stream.read()))
                for number in range(reader.num_record_batches):
                    yield reader.get_batch(number)

    def schema(self) -> pa.Schema | None:
        """The Arrow schema, where there is one."""
        if self._table is not None:
            return self._table.schema
        if self.kind == "parquet":
            with self._parquet() as file:
                return file.schema_arrow
        return None

    def _parquet(self) -> pq.ParquetFile:
        if self.place is None:
            return self._open_parquet(self._spool)
        return self._open_parquet(self.place.open_input())

    def _open_parquet(self, stream: Any) -> pq.ParquetFile:
        try:
            return pq.ParquetFile(stream)
        except (pa.ArrowException, OSError) as error:
            text = str(error).split("\n")[0]
            raise InputError(self.name, [Problem(f"is a damaged Parquet file: {text}", hint="write it again")]) from None

    def _read_table(self, report: Report) -> Iterator[Row]:
        if self._rows is not None:
            for number, values in enumerate(self._rows, start=1):
                yield from _row(f"row {number}", values, report)
            return
        number = 0
        for batch in self.batches():
            for values in batch.to_pylist():
                number += 1
                yield Row(f"row {number}", values)

    def _take_table(self, given: Any) -> None:
        """Lists of mappings stay as they are; everything else speaks Arrow."""
        if isinstance(given, list | tuple):
            self._rows = list(given)
        elif isinstance(given, pa.RecordBatch):
            self._table = pa.Table.from_batches([given])
        elif isinstance(given, pa.Table):
            self._table = given
        elif hasattr(given, "with_format") and hasattr(given, "data"):  # a Hugging Face data set; .data ignores selections
            self._table = given.with_format("arrow")[:]
        elif type(given).__module__.startswith("pandas"):
            self._rows = _pandas_rows(given)
        elif hasattr(given, "__arrow_c_stream__"):
            self._table = pa.table(given)
        else:
            raise UsageError(
                f"cannot read samples from a {type(given).__name__}; give a path, a list of dicts, "
                "or a pandas, polars, Arrow or Hugging Face table"
            )


def _pandas_rows(frame: Any) -> list[dict[str, Any]]:
    """Frames often hold lists of mixed things in object columns, which Arrow refuses: rows keep them for the checks."""
    if hasattr(frame, "to_frame"):
        raise UsageError("cannot read samples from a pandas Series; give the DataFrame")
    return frame.to_dict(orient="records")  # type: ignore[no-any-return]


def _rows_within(document: Any) -> Iterator[Any]:
    """The places of a JSON document where its rows may be, first match first."""
    if isinstance(document, list):
        yield document
    elif isinstance(document, dict):
        for key in _ROW_KEYS:
            if isinstance(document.get(key), list):
                yield document[key]
        columns = list(document.values())
        if columns and all(isinstance(column, list) for column in columns) and len(set(map(len, columns))) == 1:
            yield [dict(zip(document, cells, strict=True)) for cells in zip(*columns, strict=True)]


def _row(where: str, values: Any, report: Report) -> Iterator[Row]:
    if isinstance(values, Mapping):
        yield Row(where, dict(values))
    else:
        report.problem(where, f"must be an object with named fields, got {type(values).__name__}")


def _byte(error: UnicodeDecodeError) -> str:
    return f"byte 0x{error.object[error.start]:02x} at position {error.start + 1}"


class _Unclosable(io.RawIOBase):
    """A spool that outlives the readers over it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._stream.readinto(buffer)  # type: ignore[attr-defined, no-any-return]
