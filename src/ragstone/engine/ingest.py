"""First step of a run: checks, profiles and stores the samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ragstone.data.dataset import view_samples
from ragstone.data.fingerprint import Fingerprint
from ragstone.data.schema import present
from ragstone.engine.progress import Progress, Report
from ragstone.formats import Reader
from ragstone.registry import CATALOGUE, MetricSpec
from ragstone.storage.places import Place, storage_errors
from ragstone.text.citation_marks import MARK_HINT, Cited
from ragstone.text.cited_parts import cited_parts

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
    present: dict[str, int]
    # Whether answers cite chunks, in a field or by marks in their text.
    cites: bool = False

    @property
    def partial(self) -> list[str]:
        """The fields that some rows have and others do not."""
        return [name for name, count in self.present.items() if count < self.rows]

    def is_pointless(self, spec: MetricSpec) -> bool:
        """Whether a metric is about citations or conversations, of which the data has none."""
        return self.lacks(spec) is not None

    def lacks(self, spec: MetricSpec) -> str | None:
        """The field that makes a metric pointless: without citations all its scores would be 0; most data has no history."""
        fields = CATALOGUE.closure(spec.needs).fields
        if not self.cites and "citations" in fields:
            return "citations"
        return "history" if "history" in fields and "history" not in self.present else None


class Profiler:
    """Looks at the batches of a reader as they pass."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._fingerprint = Fingerprint()
        self._counts: dict[str, int] = dict.fromkeys(reader.schema.names, 0)
        self.rows = 0
        self._looked_at = self._citing = 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The reader's batches, looked at."""
        with storage_errors(f"cannot read {self._reader.name}"):
            for batch in self._reader.batches():
                self._fingerprint.update(batch)
                for name, column in zip(batch.schema.names, batch.columns, strict=True):
                    self._counts[name] += pc.sum(present(name, column)).as_py() or 0
                self._look_for_citations(batch)
                self.rows += batch.num_rows
                yield batch

    def profile(self) -> Profile:
        """The profile; it omits fields that no row has."""
        counts = {name: count for name, count in self._counts.items() if count}
        cites = "citations" in counts or self._citing > _LEAST_CITING * self._looked_at
        return Profile(
            self._reader.name, self._reader.format.name, self._fingerprint.hexdigest(), self.rows, counts, cites
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
            chunks = [Cited(chunk.id, chunk.source) for chunk in sample.contexts or ()]
            self._citing += any(part.chunks for part in cited_parts(sample.answer or "", chunks))


def ingest(reader: Reader, target: Place, progress: Report) -> Profile:
    """Stream the samples into one Parquet file, a row group a batch; nothing is left behind if the data has problems."""
    profiler = Profiler(reader)
    with target.writing() as stream, pq.ParquetWriter(stream, reader.schema, compression="zstd") as writer:
        for batch in profiler.batches():
            writer.write_batch(batch)
            progress(Progress("reading", profiler.rows))
    return profiler.profile()
