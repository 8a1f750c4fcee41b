"""Score columns and labels of a run, in the order of its samples, and the samples without a score.

Labels for slices and clusters come from a metadata column, or from the fields `answerable` and `documents`. The label
`conversation` comes from the first metadata column that names a conversation or session.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.data.usage import QUESTION_ID, REPEAT_OF, question_of
from ragstone.errors import UnknownNameError
from ragstone.storage.places import Place
from ragstone.storage.runs import Run, open_table, read_batches, read_table

OK, SKIPPED, FAILED = 0, 1, 2
_STATES = {"ok": OK, "skipped": SKIPPED, "failed": FAILED}


@dataclass(frozen=True)
class Scores:
    """One metric: one value per sample (nan if there is none), and the state of each cell."""

    values: np.ndarray
    states: np.ndarray

    def take(self, rows: np.ndarray) -> Scores:
        """The scores of some samples, in this order."""
        return Scores(self.values[rows], self.states[rows])


def unless_nan(value: float) -> float | None:
    """A number as a float, or None for nan."""
    return None if np.isnan(value) else float(value)


def read_scores(run: Run, metrics: Collection[str]) -> dict[str, Scores]:
    """The columns of these metrics; the file is read by row group to save memory."""
    return read_score_files([run.folder.scores], metrics)


def read_score_files(places: Iterable[Place], metrics: Collection[str]) -> dict[str, Scores]:
    """The same from several files; in each file the cells of a metric are in the order of the samples."""
    values: dict[str, list[np.ndarray]] = {metric: [] for metric in metrics}
    states: dict[str, list[np.ndarray]] = {metric: [] for metric in metrics}
    for place in places:
        with open_table(place) as file:
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
            rows = metrics == code
            values[name].append(numbers[rows])
            states[name].append(state[cells[rows]])


def _codes(column: pa.ChunkedArray) -> tuple[list[str], np.ndarray]:
    """The distinct values of a column, and the index of each row's value."""
    joined = column.combine_chunks()
    encoded = joined if pa.types.is_dictionary(joined.type) else joined.dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False)


def _joined(parts: list[np.ndarray], kind: type) -> np.ndarray:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)


def read_ids(run: Run) -> list[str]:
    """The ids of the samples, in order."""
    return [str(name) for name in read_table(run.folder.samples, ["id"])["id"].to_pylist()]


def repeats_questions(run: Run) -> bool:
    """Whether samples of a run are repeats of a question (`metadata.repeat_of`)."""
    return f"metadata.{REPEAT_OF}" in (run.info["dataset"].get("present") or {})


def question_column(samples: Place, present: Collection[str]) -> str | None:
    """The metadata that names the question of rows which depend on each other; None if each row has its own."""
    for name in (REPEAT_OF, QUESTION_ID):
        if f"metadata.{name}" in present and len(set(found := read_questions(samples, name))) < len(found):
            return name
    return None


def read_questions(samples: Place, column: str = REPEAT_OF) -> np.ndarray:
    """The id of the question that each sample answers, as text."""
    table = read_table(samples, ["id", "metadata"])
    cells = zip(table["id"].to_pylist(), table["metadata"].to_pylist(), strict=True)
    return np.array(
        [question_of(name, json.loads(cell) if cell else None, column) for name, cell in cells], dtype=object
    )


NONE = "(none)"
_FIELDS = ("answerable", "documents")
CONVERSATION = "conversation"
_CONVERSATION_COLUMNS = (
    *(CONVERSATION, "conversation_id", "session", "session_id", "mlflow.trace.session", "chat_id", "thread_id"),
)


def read_conversations(samples: Place) -> np.ndarray | None:
    """The conversation of each sample; a sample without one is its own. None if no conversation has two samples."""
    table = read_table(samples, ["id", "metadata"])
    metadata = [json.loads(cell) if cell else {} for cell in table["metadata"].to_pylist()]
    return label_conversations(table["id"].to_pylist(), metadata)


def label_conversations(ids: Sequence[str], metadata: Sequence[Mapping[str, Any]]) -> np.ndarray | None:
    """The conversation of each sample from its id and metadata; None if no conversation has two samples."""
    named = [next((row[key] for key in _CONVERSATION_COLUMNS if row.get(key) is not None), None) for row in metadata]
    if len(labels := {_word(name) for name in named if name is not None}) == sum(name is not None for name in named):
        return None
    alone = (f"#{name}" if name in labels else name for name in ids)
    return np.array([own if name is None else _word(name) for own, name in zip(alone, named, strict=True)], object)


def default_cluster(run: Run) -> str | None:
    """The column whose equal values are resampled together: turns of a conversation, or rows of a question."""
    present = run.info["dataset"].get("present") or {}
    if "history" in present and read_conversations(run.folder.samples) is not None:
        return CONVERSATION
    return question_column(run.folder.samples, present)


def read_labels(run: Run, column: str) -> np.ndarray:
    """One label per sample, as text; samples without a value get the label `(none)`."""
    if column in (REPEAT_OF, QUESTION_ID) and f"metadata.{column}" in (run.info["dataset"].get("present") or {}):
        return read_questions(run.folder.samples, column)
    if column in _FIELDS:
        values = read_table(run.folder.samples, [column])[column].to_pylist()
        return np.array([_word(value) for value in values], dtype=object)
    if column == CONVERSATION and (conversations := read_conversations(run.folder.samples)) is not None:
        return conversations
    cells = read_table(run.folder.samples, ["metadata"])["metadata"].to_pylist()
    metadata = [json.loads(cell) if cell else {} for cell in cells]
    if not any(column in row for row in metadata):
        known = [name for name, _ in Counter(name for row in metadata for name in row).most_common()]
        hint = f"The metadata has: {', '.join(known)}." if known else "The samples have no metadata."
        raise UnknownNameError(
            "column of the metadata", column, known, f"{hint} answerable and documents are also valid."
        )
    return np.array([_word(row.get(column)) for row in metadata], dtype=object)


def _word(value: Any) -> str:
    if value is None or value == []:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(sorted(map(str, value)))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


Status = Literal["skipped", "failed", "not computed"]
_MOST_EXAMPLES = 5
_COLUMNS = ["sample_id", "metric", "status", "reason"]


@dataclass(frozen=True)
class MissingScores:
    """The cells of one metric that have no value for the same reason.

    Attributes:
        metric: Name of the metric.
        status: "skipped" (a field or a value is missing), "failed" (an error), or "not computed" (for no row).
        reason: The reason.
        count: Number of cells.
        examples: The ids of the first samples; empty if the metric was not computed.
    """

    metric: str
    status: Status
    reason: str
    count: int
    examples: tuple[str, ...] = ()


@dataclass
class _Group:
    count: int = 0
    examples: list[str] = field(default_factory=list)


def find_missing(run: Run) -> list[MissingScores]:
    """Failed cells first, then skipped ones, each by count; metrics that were not computed come last."""
    groups: dict[tuple[str, Status, str], _Group] = {}
    for batch in read_batches(run.folder.scores, _COLUMNS):
        for cell in _without_value(batch).to_pylist():
            group = groups.setdefault((cell["metric"], cell["status"], cell["reason"] or ""), _Group())
            group.count += 1
            if len(group.examples) < _MOST_EXAMPLES:
                group.examples.append(cell["sample_id"])
    found = [MissingScores(*key, group.count, tuple(group.examples)) for key, group in groups.items()]
    found.sort(key=lambda item: (item.status != "failed", -item.count))
    return [
        *found,
        *(MissingScores(name, "not computed", reason, run.info.rows) for name, reason in run.info.skipped.items()),
    ]


def read_missing_cells(run: Run) -> pa.Table:
    """All cells without a value: sample_id, metric, status, reason."""
    batches = [_without_value(batch) for batch in read_batches(run.folder.scores, _COLUMNS)]
    schema = pa.schema([(name, pa.string()) for name in _COLUMNS])
    return pa.Table.from_batches([batch.cast(schema) for batch in batches], schema)


def _without_value(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.filter(pc.not_equal(batch["status"].cast(pa.string()), "ok"))
