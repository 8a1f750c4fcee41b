"""The scores of a run as columns of numbers, in the order of its samples."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ragstone.storage.places import Place, storage_errors
from ragstone.storage.runs import Run

OK, SKIPPED, FAILED = 0, 1, 2
_STATES = {"ok": OK, "skipped": SKIPPED, "failed": FAILED}


@dataclass(frozen=True)
class Scores:
    """One metric: a value a sample, nan where there is none, and how it stands with each cell."""

    values: np.ndarray
    states: np.ndarray

    def take(self, rows: np.ndarray) -> Scores:
        """Some samples, in this order."""
        return Scores(self.values[rows], self.states[rows])

    def share_failed(self) -> float:
        """The share of failed cells among those that should have a value."""
        tried = np.count_nonzero(self.states != SKIPPED)
        return float(np.count_nonzero(self.states == FAILED) / tried) if tried else 0.0


def read_scores(run: Run, metrics: Collection[str]) -> dict[str, Scores]:
    """The columns of these metrics; the file is read row group by row group, so that memory is that of the numbers."""
    return read_score_files([run.folder.scores], metrics)


def read_score_files(places: Iterable[Place], metrics: Collection[str]) -> dict[str, Scores]:
    """The same from the files of parts; within each file the cells of a metric lie in the order of the samples."""
    values: dict[str, list[np.ndarray]] = {metric: [] for metric in metrics}
    states: dict[str, list[np.ndarray]] = {metric: [] for metric in metrics}
    for place in places:
        with storage_errors(f"cannot read {place}"), place.open_input() as stream:
            file = pq.ParquetFile(stream)
            for group in range(file.num_row_groups):
                _gather(file.read_row_group(group, ["metric", "value", "status"]), values, states)
    return {metric: Scores(_joined(values[metric], np.float64), _joined(states[metric], np.int8)) for metric in metrics}


def _gather(table: pa.Table, values: dict[str, list[np.ndarray]], states: dict[str, list[np.ndarray]]) -> None:
    names, metrics = _codes(table["metric"])
    words, cells = _codes(table["status"])
    numbers = table["value"].to_numpy()
    state = np.array([_STATES.get(word, FAILED) for word in words], dtype=np.int8)
    for code, name in enumerate(names):
        if name in values:
            there = metrics == code
            values[name].append(numbers[there])
            states[name].append(state[cells[there]])


def _codes(column: pa.ChunkedArray) -> tuple[list[str], np.ndarray]:
    """The words of a column and for each row the number of its word."""
    joined = column.combine_chunks()
    encoded = joined if pa.types.is_dictionary(joined.type) else joined.dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False)


def _joined(parts: list[np.ndarray], kind: type) -> np.ndarray:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)
