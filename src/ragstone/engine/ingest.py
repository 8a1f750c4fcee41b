"""First step of a run: the samples, checked and stored."""

from __future__ import annotations

import pyarrow.parquet as pq

from ragstone.engine.profiling import Profile, Profiler
from ragstone.engine.progress import Progress, Report
from ragstone.formats import Reader
from ragstone.storage.places import Place


def ingest(reader: Reader, target: Place, progress: Report) -> Profile:
    """Stream the samples into one Parquet file, a row group a batch; nothing is left behind if the data has problems."""
    profiler = Profiler(reader)
    with target.writing() as stream, pq.ParquetWriter(stream, reader.schema, compression="zstd") as writer:
        for batch in profiler.batches():
            writer.write_batch(batch)
            progress(Progress("reading", profiler.rows))
    return profiler.profile()
