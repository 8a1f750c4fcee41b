"""First step of a run: checks, profiles and stores the samples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ragstone.data.codec import canonical_json
from ragstone.data.dataset import view_samples
from ragstone.data.fingerprint import Fingerprint
from ragstone.data.schema import images_in_rows, present, unknown_texts
from ragstone.data.usage import OTHER_ANSWERS, QUESTION_ID, REPEAT_OF, USAGE, question_of
from ragstone.engine.plan import Plan, make_plan
from ragstone.engine.progress import Progress, Report
from ragstone.evidence_functions.fact_matches import with_matcher
from ragstone.formats import Reader
from ragstone.registry import CATALOGUE, Metric, MetricSpec
from ragstone.storage.places import Place, storage_errors
from ragstone.storage.runs import read_table
from ragstone.text.citation_marks import MARK_HINT, Cited
from ragstone.text.cited_parts import cited_parts
from ragstone.tools.protocols import Tool

# A mark that only looks like a citation is rare; a system that cites does so in most answers.
_LEAST_CITING = 0.05
_MOST_LOOKED_AT = 1_000


@dataclass(frozen=True)
class Profile:
    """Where the data comes from, its content hash, and how many rows have each field."""

    path: str
    format: str
    fingerprint: str
    rows: int
    # Also `metadata.latency_s` and the like: names in the metadata that metrics need.
    present: dict[str, int]
    # Whether answers cite chunks, in a field or by marks in their text.
    cites: bool = False
    # The folder of the data, if chunks have images, and the number of rows with images that have a text.
    folder: str | None = None
    texts_beside_images: int = 0
    # The words of a command line that read the same data again.
    arguments: list[str] = field(default_factory=list)

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

    def lacks(self, spec: MetricSpec) -> str | None:
        """The field that no row has and a metric is about: without citations its scores would all be 0."""
        fields = CATALOGUE.closure(spec.needs).fields
        if not self.cites and "citations" in fields:
            return "citations"
        if "history" in fields and "history" not in self.present:
            return "history"
        return self._lacks_metadata(spec)

    def _lacks_metadata(self, spec: MetricSpec) -> str | None:
        pieces = CATALOGUE.closure(spec.needs, self.present).evidence
        named = (f"metadata.{name}" for name in pieces if name in _WATCHED)
        return next((name for name in named if name not in self.present), None)

    def _lacks_texts(self, spec: MetricSpec) -> str | None:
        """The missing texts, for a metric of texts if all chunks are known by id only."""
        if self.present.get(_UNKNOWN, 0) < self.present.get("contexts", 1):
            return None
        closure = CATALOGUE.closure(spec.needs, self.present)
        functions = (spec, *(closure.evidence[piece] for piece in closure.order))
        reads = (one for one in functions if "contexts" in one.needs and "contexts" not in one.either)
        seen = all(one.by_id or (one.images and not self.present.get(_ONLY_IDS)) for one in reads)
        return None if seen else "the texts of chunks (only ids or images are known)"

    def plan(self, metrics: Sequence[Metric], tools: Mapping[str, Tool]) -> Plan:
        """The plan of these metrics for the data."""
        lacking = {
            str(metric): f"needs {name}, which no row has"
            for metric in metrics
            if (name := self._lacks_metadata(metric.spec) or self._lacks_texts(metric.spec))
        }
        able = [metric for metric in metrics if str(metric) not in lacking]
        plan = make_plan(able, self.present, tools, with_matcher(tools), partial=self.partial)
        return replace(plan, skipped={**plan.skipped, **lacking}, folder=self.folder)


_GROUP_ROWS = 2_000
# Rows with chunks, but without a known text of one.
_UNKNOWN = "contexts without text"
# Those of them with a chunk that is not an image; rows with images.
_ONLY_IDS, _IMAGES = "contexts by id only", "contexts with images"
_OUTPUT = ("answer", "contexts", "steps")
# Evidence of these names is read from the metadata.
_WATCHED = (*USAGE, REPEAT_OF, QUESTION_ID, OTHER_ANSWERS)


class Profiler:
    """Profiles the batches of a reader."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._fingerprint = Fingerprint()
        self._counts: dict[str, int] = dict.fromkeys(reader.schema.names, 0)
        self._counts |= dict.fromkeys((_UNKNOWN, _ONLY_IDS, _IMAGES, *(f"metadata.{name}" for name in _WATCHED)), 0)
        self.rows = 0
        self._looked_at = self._citing = self._beside = 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The batches of the reader; each is profiled as it passes."""
        with storage_errors(f"cannot read {self._reader.name}"):
            for batch in self._reader.batches():
                self._fingerprint.update(batch)
                for name, column in zip(batch.schema.names, batch.columns, strict=True):
                    self._counts[name] += pc.sum(present(name, column)).as_py() or 0
                self._count_texts(batch["contexts"])
                self._look_for_citations(batch)
                for name in _WATCHED:
                    named = pc.match_substring(batch["metadata"], f'"{name}":')
                    self._counts[f"metadata.{name}"] += pc.sum(named).as_py() or 0
                self.rows += batch.num_rows
                yield batch

    def profile(self) -> Profile:
        """The profile; it omits fields that no row has."""
        counts = {name: count for name, count in self._counts.items() if count}
        cites = "citations" in counts or self._citing > _LEAST_CITING * self._looked_at
        return Profile(
            *(self._reader.name, self._reader.format.name, self._fingerprint.hexdigest(), self.rows, counts, cites),
            self._reader.folder if _IMAGES in counts else None,
            self._beside,
            self._reader.arguments,
        )

    def _look_for_citations(self, batch: pa.RecordBatch) -> None:
        """Count the answers that cite a chunk, among the first rows."""
        left = _MOST_LOOKED_AT - self._looked_at
        if left <= 0 or not {"answer", "contexts"} <= set(batch.schema.names):
            return
        first = batch.slice(0, left)
        self._looked_at += first.num_rows
        marked = pc.fill_null(pc.match_substring_regex(first.column("answer"), MARK_HINT), fill_value=False)
        for sample in view_samples(first.filter(marked)):
            chunks = [Cited(chunk.id, chunk.source, chunk.page) for chunk in sample.contexts or ()]
            self._citing += any(part.chunks for part in cited_parts(sample.answer or "", chunks))

    def _count_texts(self, contexts: pa.ListArray) -> None:
        """Count rows without known texts, and rows with images."""
        unknown, images, both = (
            unknown_texts(contexts),
            images_in_rows(contexts),
            images_in_rows(contexts, with_text=True),
        )
        bare = (unknown > 0) & (unknown == contexts.value_lengths().fill_null(0).to_numpy())
        self._counts[_UNKNOWN] += int(bare.sum())
        self._counts[_ONLY_IDS] += int((bare & (images < unknown)).sum())
        self._counts[_IMAGES] += int((images + both > 0).sum())
        self._beside += int((both > 0).sum())


def ingest(reader: Reader, target: Place, progress: Report) -> Profile:
    """Stream the samples into one Parquet file, one row group per batch. If the data has problems, no file is left."""
    profiler = Profiler(reader)
    with target.writing() as stream, pq.ParquetWriter(stream, reader.schema, compression="zstd") as writer:
        for batch in profiler.batches():
            writer.write_batch(batch)
            progress(Progress("reading", profiler.rows))
    profile = profiler.profile()
    if f"metadata.{REPEAT_OF}" not in profile.present:
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
            metadata[row].setdefault(OTHER_ANSWERS, others)
        paired += OTHER_ANSWERS in metadata[row]
    cells = pa.array([canonical_json(about) if about else None for about in metadata], pa.string())
    place = table.schema.get_field_index("metadata")
    table = table.set_column(place, table.schema.field(place), cells)
    with target.writing() as stream, pq.ParquetWriter(stream, table.schema, compression="zstd") as writer:
        writer.write_table(table, row_group_size=_GROUP_ROWS)
    return paired
