"""Reads any source as checked Arrow batches of samples; all problems are reported together.

Writes samples to a file in a chosen format.
"""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import itertools
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ragstone.data.codec import canonical_json
from ragstone.data.dataset import Dataset
from ragstone.data.schema import GIVEN_EVIDENCE, SAMPLES, samples_schema
from ragstone.data.types import Chunk
from ragstone.errors import InputError, Problem, UnknownNameError, UsageError
from ragstone.formats.base import Draft, Format, RowFormat, WritableFormat
from ragstone.formats.catalogue import find_format, formats, recognise
from ragstone.formats.coercion import Unfit, coerce, find_mismatches
from ragstone.formats.column_guess import map_options
from ragstone.formats.column_map import COMPLETED, absent_columns, check_map
from ragstone.formats.common_fields import ABSENT
from ragstone.formats.file_rows import check_encoding
from ragstone.formats.loose_contexts import (
    OneTexts,
    fill_texts,
    name_parts,
    open_contexts,
    parts_of,
    read_separator,
    union_of_steps,
)
from ragstone.formats.passage_rows import group_passages
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.usage import with_usage
from ragstone.formats.values import size_of
from ragstone.storage.places import open_place

# A batch is evaluated and written at once: small enough for memory, large enough to be fast.
BATCH_ROWS = 10_000
BATCH_BYTES = 32 << 20
_MOST_IDS_WATCHED = 200_000
_MOST_NAMES_WATCHED = 1_000
_ALIKE = 0.75
_CHUNK_PARTS = frozenset(field.name for field in dataclasses.fields(Chunk)) | {"table"}


class Reader:
    """The samples of one or more sources as a stream of Arrow batches."""

    def __init__(
        self, sources: Sequence[Source], format: Format, limit: int | None = None, tolerant: bool = False
    ) -> None:
        self.sources = sources
        self.format = format
        self.limit = limit
        # Unusable rows of a log are counted and left out, as they cannot be fixed.
        self.tolerant = tolerant or getattr(format, "tolerant", False)
        self.report = Report()
        self.schema = samples_schema(format.given)
        # The options of a command line that read the same samples again.
        self.options: list[str] = []

    @property
    def name(self) -> str:
        """The sources as the user wrote them."""
        return " + ".join(str(source) for source in self.sources)

    @property
    def arguments(self) -> list[str]:
        """The words of a command line that read the same samples again; `DATA` for what is not a file."""
        return [*(source.name if source.place else "DATA" for source in self.sources), *self.options]

    @property
    def folder(self) -> str | None:
        """The folder of the data, in which paths of images count; the working folder for rows in memory."""
        places = [source.place for source in self.sources]
        if not places or any(place and not place.is_local for place in places):
            return None
        paths = [os.path.abspath(place.path if place else ".") for place in places]
        return os.path.commonpath([path if os.path.isdir(path) else os.path.dirname(path) for path in paths])

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Checked samples; all problems of the file are raised together at the end."""
        self.report.clear()
        for remark in (remark for source in self.sources for remark in source.remarks):
            self.report.note(remark)
        columns = self.format.columns if isinstance(self.format, RowFormat) else {}
        checks = _Checks(self.report, columns, self.sources[0].parts)
        builder = _Builder(self)
        rows = 0
        for draft in itertools.islice(self._drafts(), self.limit):
            values = builder.add(draft, checks)
            if values is not None:
                rows += 1
                checks.watch(draft, values)
            if builder.is_full:
                yield builder.finish()
        if builder.rows:
            yield builder.finish()
        self.report.check_bare_rows(self.format.name, rows, lambda: self.format.recognises(self.sources))
        if self.tolerant:
            self.report.forgive()
        self.report.raise_problems(self.name)
        if not rows:
            hint = self.report.why_left_out or "there must be at least one"
            raise InputError(self.name, [Problem("has no samples", hint=hint)])
        if builder.unseen_parts:
            part = min(builder.unseen_parts)
            raise UsageError(f"no chunk has a part '{part}'; use another name in --map contexts.PART=NAME")
        builder.note_one_texts()
        checks.finish()

    def _drafts(self) -> Iterator[Draft]:
        if len(self.sources) > 1 or not isinstance(self.format, RowFormat):
            return self.format.read(self.sources, self.report)
        source, columns = self.sources[0], self.format.columns
        names = {**columns, **source.names}
        return group_passages(lambda report: self.format.read([source], report), source.group, names, self.report)


class _Builder:
    """Collects checked rows into batches."""

    def __init__(self, reader: Reader) -> None:
        self._schema, self._report, self._tolerant = reader.schema, reader.report, reader.tolerant
        # A format that walks folders may have no access to the topmost one.
        walks = getattr(reader.format, "walks_folders", False)
        self._from_text = not walks and any(source.kind == "csv" for source in reader.sources)
        self._is_loose = reader.format.name in COMPLETED
        self._separator, self._parts = reader.sources[0].separator, reader.sources[0].parts
        self._one_texts = OneTexts()
        self.unseen_parts = set(self._parts)
        # Whether a row of the file has chunks: then an empty cell means that nothing was retrieved.
        self._has_chunks = False
        self._start()

    def _start(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._without_chunks: list[dict[str, Any]] = []
        self._bytes = 0

    @property
    def rows(self) -> int:
        return len(self._rows)

    @property
    def is_full(self) -> bool:
        return len(self._rows) >= BATCH_ROWS or self._bytes >= BATCH_BYTES

    def add(self, draft: Draft, checks: _Checks) -> dict[str, Any] | None:
        """Check and add a sample, reporting every problem of the row; None if a tolerant reader leaves it out."""
        before = self._report.total
        values = self._check(draft)
        values["id"] = values.get("id") or checks.make_id(values.get("question"))
        if self._tolerant and (self._report.total > before or checks.has_seen(values["id"])):
            if self._report.total == before:
                self._report.leave_out("rows with a repeated id", draft.where)
            return None
        metadata = with_usage(values["metadata"]) if values.get("metadata") else None
        row = {**values, "metadata": canonical_json(metadata)} if metadata else values
        self._rows.append(row)
        if row.get("contexts"):
            self._has_chunks = True
        elif self._from_text and row.get("contexts") is None:
            cell = draft.values.get("contexts")
            if isinstance(cell, str) and not cell.strip():
                self._without_chunks.append(row)
        self._bytes += size_of(row)
        return values

    def _open(self, contexts: Any) -> Any:
        """Contexts in one of the forms in which people write them, with a note."""
        if self._parts:
            contexts, found = name_parts(contexts, self._parts)
            self.unseen_parts -= found
        if not self._is_loose or (self._from_text and contexts == ABSENT):
            return contexts
        opened, remark = open_contexts(contexts, self._separator)
        if remark:
            self._report.note(remark)
        elif isinstance(contexts, str) and opened == [contexts]:
            self._one_texts.add(contexts)
        return opened

    def note_one_texts(self) -> None:
        """Note contexts that are one text, unless the user chose how to split them."""
        if not self._separator and self._one_texts.remark:
            self._report.note(self._one_texts.remark)
            self._report.options += self._one_texts.options

    def _check(self, draft: Draft) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, value in draft.values.items():
            if value is None:
                continue
            try:
                values[name] = coerce(name, self._open(value) if name == "contexts" else value, self._from_text)
            except Unfit as unfit:
                self._report.problem(draft.where, unfit.message, draft.names.get(name, name), unfit.hint)
        steps = values.get("steps")
        if steps is not None and values.get("contexts") is None and (union := union_of_steps(steps)) is not None:
            values["contexts"] = union
        fill_texts(values)
        if not values.keys().isdisjoint(GIVEN_EVIDENCE):
            for name, message, hint in find_mismatches(values, draft.names):
                self._report.problem(draft.where, message, draft.names.get(name, name), hint)
        return values

    def finish(self) -> pa.RecordBatch:
        """The batch; the builder starts again."""
        if self._has_chunks:
            for row in self._without_chunks:
                row["contexts"] = []
        present = set().union(*self._rows)
        arrays = [
            pa.array([row.get(field.name) for row in self._rows], type=field.type)
            if field.name in present
            else pa.nulls(len(self._rows), field.type)
            for field in self._schema
        ]
        self._start()
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


class _Checks:
    """Checks over all rows: repeated ids, unknown columns similar to ours, relevant chunks that no row retrieved."""

    def __init__(self, report: Report, columns: Mapping[str, str], parts: Iterable[str] = ()) -> None:
        self._report = report
        self._columns = columns
        self._seen: set[int] = set()
        self._relevant: dict[str, str] | None = {}
        self._retrieved: set[str] | None = set()
        self._rows = 0
        self._repeated: dict[str, int] = {}
        self._present: set[str] = set()
        self._unknown: set[str] = set()
        self._unkept: set[str] = set()
        self._mapped_parts = {name for part in parts for name in (part, part.partition(".")[0])}

    def make_id(self, question: str | None) -> str:
        """An id made from the question, so that versions of a file match in any order."""
        base = f"row-{self._rows + 1}"
        if question:
            base = f"q-{hashlib.blake2b(question.encode(), digest_size=5).hexdigest()}"
        name, number = base, self._repeated.get(base, 1)
        while hash(name) in self._seen:
            number += 1
            name = f"{base}-{number}"
        if number > 1:
            self._repeated[base] = number
        return name

    def has_seen(self, name: str) -> bool:
        """Whether an earlier sample has that id."""
        return hash(name) in self._seen

    def watch(self, draft: Draft, values: Mapping[str, Any]) -> None:
        self._rows += 1
        key = hash(values["id"])
        if key in self._seen:
            self._report.problem(
                draft.where, f"the id {values['id']!r} was used before", "id", "ids must be unique in a file"
            )
        self._seen.add(key)
        self._present.update(values)
        if values.keys() <= {"id", "metadata"}:
            self._report.bare_row(draft.where, values.get("metadata") or ())
        if len(self._unknown) < _MOST_NAMES_WATCHED:
            self._unknown.update(values.get("metadata") or ())
        chunks = draft.values.get("contexts")
        if type(chunks) is list and chunks and type(chunks[0]) is dict and not chunks[0].keys() <= _CHUNK_PARTS:
            other = parts_of(chunks[0]) - _CHUNK_PARTS - self._mapped_parts
            kept = [chunks[0].get(name) for name in _CHUNK_PARTS]  # some formats have read a part by its name
            self._unkept |= {name for name in other if chunks[0].get(name) not in kept}
        self._watch_ids(draft.where, values)

    def _watch_ids(self, where: str, values: Mapping[str, Any]) -> None:
        if self._relevant is None or self._retrieved is None:
            return
        for item in values.get("relevance") or ():
            if item["grade"] > 0:  # chunks judged irrelevant are not misses
                self._relevant.setdefault(item["id"], where)
        self._retrieved.update(chunk["id"] for chunk in values.get("contexts") or () if "id" in chunk)
        if len(self._relevant) + len(self._retrieved) > _MOST_IDS_WATCHED:
            self._relevant = self._retrieved = None

    def finish(self) -> None:
        self._note_lookalikes()
        unkept = sorted(self._unkept)
        part = next((f"id={shlex.quote(one)}" for one in unkept if one.endswith(("_id", "Id", "ID"))), "source=NAME")
        self._report.note_all(
            "fields of chunks that are ignored",
            unkept,
            f"chunks have text, id, score, source, page, image and table; --map contexts.{part} reads another field",
        )
        if not self._relevant or not self._retrieved:
            return
        missing = [name for name in self._relevant if name not in self._retrieved]
        if missing:
            name = missing[0]
            self._report.note(
                f"relevance names {len(missing)} of {len(self._relevant)} chunk ids that no row retrieved, for example "
                f"{name!r} ({self._relevant[name]}); they count as misses. If this is unexpected, compare the ids."
            )

    def _note_lookalikes(self) -> None:
        """Note metadata columns that look like misspelled fields."""
        absent = {theirs: ours for theirs, ours in self._columns.items() if ours not in self._present}
        noted = " ".join(self._report.notes)
        for key in sorted(key for key in self._unknown if f"={key}" not in noted):
            for near in difflib.get_close_matches(key, absent, 1, _ALIKE):
                ours = absent[near]
                self._report.note(f"column '{key}' is kept as metadata. If it is the {near}, add --map {ours}={key}")


def open_reader(
    data: Any,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    limit: int | None = None,
    split_contexts: str | None = None,
    encoding: str | None = None,
) -> Reader:
    """A reader for a path, several paths or a table in memory; the format is detected unless it is named.

    `columns` maps our names to the names in the data, as in `--map question=prompt`. `split_contexts` is the text between
    the chunks of a cell, `encoding` that of text files. A reader is returned unchanged.
    """
    if isinstance(data, Reader):
        return data
    back = check_map(columns or {})
    if isinstance(data, Dataset):
        data = data.table
    is_list = isinstance(data, list | tuple) and len(data) > 0
    several = is_list and all(isinstance(item, str | os.PathLike) for item in data)
    separator = read_separator(split_contexts)
    check_encoding(encoding)
    sources = [Source(item, back, separator, encoding or "utf-8") for item in (data if several else [data])]
    if len(sources) == 1:
        check_renames(sources[0])
    reader = Reader(sources, find_format(format) if format else recognise(sources), limit)
    reader.options = shlex.split(map_options(columns or {}))
    flags = {"format": format, "split-contexts": split_contexts, "encoding": encoding, "limit": limit}
    for flag, value in flags.items():
        # Line breaks are written with a backslash, so that the command is one line.
        reader.options += [f"--{flag}", str(value).replace("\n", "\\n").replace("\t", "\\t")] if value else []
    return reader


def read_dataset(
    data: Any,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    limit: int | None = None,
    split_contexts: str | None = None,
    encoding: str | None = None,
) -> Dataset:
    """All samples of a source in memory; the arguments are those of `open_reader`."""
    reader = open_reader(data, format, columns, limit, split_contexts, encoding)
    table = pa.Table.from_batches(list(reader.batches()), schema=reader.schema)
    return Dataset(table, reader.name, dict(reader.report.info))


def check_renames(source: Source) -> None:
    """Raise if the user mapped a column that the source does not have."""
    for theirs, ours in absent_columns(source).items():
        hint = f"The columns are: {', '.join(sorted(source.columns))}. Use one of them in --map {ours}=COLUMN."
        raise UnknownNameError("column", theirs, source.columns, hint)


__all__ = ["BATCH_ROWS", "SAMPLES", "Reader", "open_reader", "read_dataset"]


def write_dataset(
    batches: Iterable[pa.RecordBatch], target: str, format: str = "ragstone", info: Mapping[str, Any] | None = None
) -> int:
    """Write samples and return their number; the file is complete or absent."""
    writer = find_format(format)
    if not isinstance(writer, WritableFormat):
        writable = ", ".join(name for name, item in formats().items() if isinstance(item, WritableFormat))
        raise UsageError(f"the format {format} can be read but not written. Choose from: {writable}")
    rows = 0

    def counted() -> Iterator[pa.RecordBatch]:
        nonlocal rows
        for batch in batches:
            rows += batch.num_rows
            yield batch

    writer.write(counted(), open_place(target), {} if info is None else info)
    return rows
