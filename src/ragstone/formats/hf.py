"""A Hugging Face dataset repository: README.md with a dataset card, and data/*.parquet with our columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from ragstone.data.schema import FIELDS, GIVEN_EVIDENCE
from ragstone.errors import UsageError
from ragstone.formats.base import Draft
from ragstone.formats.ragstone import FORMAT as OURS
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.storage.places import Place

_CARD, _DATA, _SPLIT = "README.md", "data", "test-00000-of-00001.parquet"
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


class HuggingFaceFormat:
    """A folder that `datasets.load_dataset` reads, and that can be uploaded as it is."""

    name = "hf"
    title = "Hugging Face dataset folder: README.md and data/*.parquet"
    given: tuple[str, ...] = tuple(GIVEN_EVIDENCE)

    def recognises(self, sources: Sequence[Source]) -> bool:
        """One folder with a card and Parquet files under data."""
        [source, *others] = sources
        if others or source.kind != "folder" or source.place is None:
            return False
        return {_CARD, _DATA} <= {child.name for child in source.place.children()} and bool(_files(source.place))

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """The rows of all files, in order of their names."""
        for source in sources:
            files = _files(source.place) if source.place is not None and source.kind == "folder" else []
            if not files:
                raise UsageError(f"'{source}' must be a folder with {_CARD} and {_DATA}/*.parquet")
            yield from OURS.read([Source(str(file)) for file in files], report)

    def write(self, batches: Iterable[pa.RecordBatch], target: Place, info: Mapping[str, Any]) -> None:
        """Write the samples as the split `test`, and a card that describes the columns."""
        if "." in target.name or (target.exists() and not target.is_folder()):
            raise UsageError(f"'{target}' must be a folder: {_CARD} and {_DATA}/*.parquet are written into it")
        counts = {"rows": 0}
        present: dict[str, None] = {}

        def counted() -> Iterator[pa.RecordBatch]:
            for batch in batches:
                counts["rows"] += batch.num_rows
                found = (name for name in batch.schema.names if batch[name].null_count < batch.num_rows)
                present.update(dict.fromkeys(found))
                yield batch

        OURS.write(counted(), target / _DATA / _SPLIT, info)
        (target / _CARD).write_bytes(_card(target.name, counts["rows"], list(present)).encode())


def _files(folder: Place) -> list[Place]:
    data = folder / _DATA
    if not data.is_folder():
        return []
    return sorted((child for child in data.children() if child.name.endswith(".parquet")), key=lambda file: file.name)


def _card(name: str, rows: int, present: Sequence[str]) -> str:
    """The dataset card: the header that the Hub reads, and a table of the columns."""
    size = next((words for most, words in _SIZES if rows < most), "n>1M")
    columns = "\n".join(
        f"| `{column}` | {FIELDS[column].meaning if column in FIELDS else 'collected evidence'} |"
        for column in (*FIELDS, *GIVEN_EVIDENCE)
        if column in present
    )
    return (
        "---\n"
        f"pretty_name: {name}\n"
        "task_categories:\n- question-answering\n"
        f"size_categories:\n- {size}\n"
        "tags:\n- rag\n- evaluation\n- ragstone\n"
        "configs:\n- config_name: default\n  data_files:\n  - split: test\n    path: data/test-*\n"
        "---\n\n"
        f"# {name}\n\n"
        f"{rows:,} samples for the evaluation of retrieval-augmented generation, written by Ragstone. `metadata` is JSON text.\n\n"
        "| column | content |\n|---|---|\n"
        f"{columns}\n"
    )


FORMAT = HuggingFaceFormat()
