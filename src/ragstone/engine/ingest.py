"""First step of a run: checks, profiles and stores the samples."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ragstone.data.codec import canonical_json
from ragstone.data.fingerprint import Fingerprint
from ragstone.data.schema import present
from ragstone.data.usage import OTHER_ANSWERS, REPEAT_OF, USAGE, question_of
from ragstone.engine.plan import Plan, make_plan
from ragstone.engine.progress import Progress, Report
from ragstone.formats import Reader
from ragstone.registry import CATALOGUE, Metric
from ragstone.storage.places import Place, storage_errors
from ragstone.storage.runs import read_table
from ragstone.tools.protocols import Tool


@dataclass(frozen=True)
class Profile:
    """Where the data comes from, its content hash, and how many rows have each field."""

    path: str
    format: str
    fingerprint: str
    rows: int
    # Also `metadata.latency_s` and the like: names in the metadata that metrics need.
    present: dict[str, int]

    @property
    def partial(self) -> list[str]:
        """The fields that some rows have and others do not."""
        return [name for name, count in self.present.items() if count < self.rows]

    @property
    def advice(self) -> str:
        """Advice for data that has only questions; empty for other data."""
        if "question" not in self.present or not self.present.keys().isdisjoint(_OUTPUT):
            return ""
        return (
            "the data has questions, but no answers or retrieved chunks. Get them from your system: "
            "ragstone truth collect QUESTIONS --system SPEC"
        )

    def lacks(self, pieces: Collection[str]) -> str | None:
        """Why no row can have these pieces of evidence: the name in the metadata from which one is read."""
        lacking = (name for name in pieces if name in _WATCHED and f"metadata.{name}" not in self.present)
        return next((f"needs metadata.{name}, which no row has" for name in lacking), None)

    def plan(self, metrics: Sequence[Metric], tools: Mapping[str, Tool]) -> Plan:
        """The plan of these metrics for the data."""
        lacking = {}
        for metric in metrics:
            if reason := self.lacks(CATALOGUE.closure(metric.spec.needs, self.present).evidence):
                lacking[str(metric)] = reason
        able = [metric for metric in metrics if str(metric) not in lacking]
        plan = make_plan(able, self.present, tools, partial=self.partial)
        return replace(plan, skipped={**plan.skipped, **lacking})


_GROUP_ROWS = 2_000
_OUTPUT = ("answer", "contexts", "steps")
# Evidence of these names is read from the metadata.
_WATCHED = (*USAGE, REPEAT_OF, OTHER_ANSWERS)


class Profiler:
    """Looks at the batches of a reader as they pass."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._fingerprint = Fingerprint()
        self._counts: dict[str, int] = dict.fromkeys(reader.schema.names, 0)
        self._counts |= dict.fromkeys((f"metadata.{name}" for name in _WATCHED), 0)
        self.rows = 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The reader's batches, looked at."""
        with storage_errors(f"cannot read {self._reader.name}"):
            for batch in self._reader.batches():
                self._fingerprint.update(batch)
                for name, column in zip(batch.schema.names, batch.columns, strict=True):
                    self._counts[name] += pc.sum(present(name, column)).as_py() or 0
                for name in _WATCHED:
                    named = pc.match_substring(batch["metadata"], f'"{name}":')
                    self._counts[f"metadata.{name}"] += pc.sum(named).as_py() or 0
                self.rows += batch.num_rows
                yield batch

    def profile(self) -> Profile:
        """The profile; it omits fields that no row has."""
        counts = {name: count for name, count in self._counts.items() if count}
        return Profile(self._reader.name, self._reader.format.name, self._fingerprint.hexdigest(), self.rows, counts)


def ingest(reader: Reader, target: Place, progress: Report) -> Profile:
    """Stream the samples into one Parquet file, a row group a batch; nothing is left behind if the data has problems."""
    profiler = Profiler(reader)
    with target.writing() as stream, pq.ParquetWriter(stream, reader.schema, compression="zstd") as writer:
        for batch in profiler.batches():
            writer.write_batch(batch)
            progress(Progress("reading", profiler.rows))
    profile = profiler.profile()
    if f"metadata.{REPEAT_OF}" not in profile.present or f"metadata.{OTHER_ANSWERS}" in profile.present:
        return profile
    paired = _add_other_answers(target)
    return replace(profile, present={**profile.present, f"metadata.{OTHER_ANSWERS}": paired}) if paired else profile


def _add_other_answers(target: Place) -> int:
    """Add the other answers to the same question to the metadata of stored samples; returns the number of such rows."""
    table = read_table(target)
    metadata = [json.loads(cell) if cell else {} for cell in table["metadata"].to_pylist()]
    ids, answers = table["id"].to_pylist(), table["answer"].to_pylist()
    questions = [question_of(name, about) for name, about in zip(ids, metadata, strict=True)]
    rows: dict[str, list[int]] = {}
    for row, question in enumerate(questions):
        if answers[row] is not None:
            rows.setdefault(question, []).append(row)
    paired = 0
    for row, question in enumerate(questions):
        others = [answers[other] for other in rows.get(question, ()) if other != row]
        if others:
            paired += 1
            metadata[row][OTHER_ANSWERS] = others
    cells = pa.array([canonical_json(about) if about else None for about in metadata], pa.string())
    place = table.schema.get_field_index("metadata")
    table = table.set_column(place, table.schema.field(place), cells)
    with target.writing() as stream, pq.ParquetWriter(stream, table.schema, compression="zstd") as writer:
        writer.write_table(table, row_group_size=_GROUP_ROWS)
    return paired
