"""The columns that a row filter can name: scores, status and cause, verdicts the judge is unsure of, cost, texts and labels."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.analysis.row_filter import Column
from ragstone.analysis.row_status import limits, word_of
from ragstone.data.usage import USAGE, number_of
from ragstone.data.verdict import UNSURE
from ragstone.engine.results import VERDICTS_PER_CLAIM
from ragstone.storage.human_labels import HumanLabel
from ragstone.storage.runs import Run, read_batches, read_table
from ragstone.storage.scores import FAILED, NONE, Scores, read_labels

# Names in a filter for what the evaluated system took to answer.
USAGE_NAMES = {
    "latency": "latency_s",
    "first_token": "first_token_s",
    "tokens_in": "input_tokens",
    "tokens_out": "output_tokens",
    "cost": "cost_usd",
}
SLICE = "slice."


@dataclass(frozen=True)
class RowJudgements:
    """The findings of the judge and of people about the rows: the main cause and probability per row, and labels by row from 0.

    `causes` is None until the diagnosis is ready; it may have only the first rows. `labels` is None without labels.
    """

    rows: int
    causes: Sequence[str] | None = None
    labels: Mapping[int, Sequence[HumanLabel]] | None = None

    @cached_property
    def wrong(self) -> np.ndarray:
        """The probability that each row is wrong; nan if it is not known."""
        known = np.full(self.rows, np.nan)
        found = [getattr(cause, "wrong", None) for cause in self.causes or ()]
        known[: len(found)] = [np.nan if one is None else one for one in found]
        return known

    @cached_property
    def statuses(self) -> np.ndarray:
        """The status of each row; None for rows that are not diagnosed yet."""
        fine, wrong = limits()
        with np.errstate(invalid="ignore"):
            chosen = [np.isnan(self.wrong), self.wrong >= wrong, self.wrong < fine]
        words = np.select(chosen, ["no judgement", "wrong", "fine"], "look").astype(object)
        words[len(self.causes or ()) :] = None
        return words

    @cached_property
    def names(self) -> np.ndarray:
        """The main cause of each row; None if there is none or it is not known yet."""
        known = np.full(self.rows, None, dtype=object)
        known[: len(self.causes or ())] = [str(cause) or None for cause in self.causes or ()]
        return known

    @cached_property
    def labelled(self) -> np.ndarray:
        """The number of labels of each row."""
        return self._count(lambda _row, _label: True)

    @cached_property
    def disagreed(self) -> np.ndarray:
        """The number of labels that contradict the judge: right, but the row seems wrong to it, or the other way round."""
        opposite = {"wrong": 1.0, "fine": 0.0}
        causes = self.causes or ()

        def contradicts(row: int, label: HumanLabel) -> bool:
            judged = getattr(causes[row], "judged_wrong", None) if row < len(causes) else None
            return judged is not None and opposite.get(word_of(judged)) == label.score

        return self._count(contradicts)

    def _count(self, counts: Callable[[int, HumanLabel], bool]) -> np.ndarray:
        found = np.zeros(self.rows)
        for row, labels in (self.labels or {}).items():
            if 0 <= row < self.rows:
                found[row] = sum(counts(row, label) for label in labels)
        return found


@dataclass(frozen=True, eq=False)
class RowColumns(Mapping[str, Callable[[], Column]]):
    """The columns of a run by name. Each is read once, when it is first asked for."""

    run: Run
    scores: Mapping[str, Scores]
    ids: pa.ChunkedArray
    questions: pa.ChunkedArray
    quality: np.ndarray
    _read: dict[str, Column] = field(default_factory=dict, repr=False)

    def judged(self, judgements: RowJudgements, *, slices: bool = False) -> dict[str, Callable[[], Column]]:
        """The columns together with what the judge and people say; with `slices`, also all columns of the metadata."""
        own: dict[str, Callable[[], Column]] = {
            "status": lambda: judgements.statuses,
            "cause": lambda: judgements.names,
            "wrong": lambda: judgements.wrong,
        }
        if judgements.labels is not None:
            own |= {"labelled": lambda: judgements.labelled, "disagreed": lambda: judgements.disagreed}
        return {**self, **own, **({name: partial(self._slice, name) for name in self._metadata} if slices else {})}

    @cached_property
    def unsure(self) -> np.ndarray | None:
        """The number of verdicts on claims per row that the judge is unsure of; None if the run has no such verdicts."""
        counts = [_count_unsure(self.run, name) for name in self._verdicts]
        return np.sum(counts, axis=0, dtype=float) if counts else None

    @property
    def _verdicts(self) -> list[str]:
        return [name for name in VERDICTS_PER_CLAIM if name in self.run.info.evidence]

    @cached_property
    def failed(self) -> np.ndarray:
        """The number of failed scores per row."""
        columns = [column.states == FAILED for column in self.scores.values()]
        return np.sum(columns, axis=0, dtype=float) if columns else np.zeros(len(self.ids))

    @cached_property
    def answers(self) -> pa.ChunkedArray:
        """The answers."""
        return read_table(self.run.folder.samples, ["answer"])["answer"]

    def labels(self, column: str) -> np.ndarray:
        """The label of each row in a column of the metadata; rows without a value have `(none)`."""
        key = f"labels {column}"
        if key not in self._read:
            self._read[key] = read_labels(self.run, column)
        return self._read[key]

    def usage(self, name: str) -> np.ndarray:
        """The numbers of the metadata by their name, such as latency_s; nan if a row has none."""
        if name not in self._read:
            cells = read_table(self.run.folder.samples, ["metadata"])["metadata"].to_pylist()
            rows = [json.loads(cell) if cell else {} for cell in cells]
            for each in USAGE:
                known = (number_of(row.get(each)) for row in rows)
                self._read[each] = np.array([np.nan if one is None or one < 0 else one for one in known], float)
        return self._read[name]

    def __getitem__(self, name: str) -> Callable[[], Column]:
        return self._readers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._readers)

    def __len__(self) -> int:
        return len(self._readers)

    @cached_property
    def _readers(self) -> dict[str, Callable[[], Column]]:
        present = self.run.info["dataset"].get("present") or {}
        found: dict[str, Callable[[], Column]] = {name: partial(self._score, name) for name in self.scores}
        for name, key in USAGE_NAMES.items():
            if f"metadata.{key}" in present:
                found[name] = partial(self.usage, key)
        if self._verdicts:
            found["unsure"] = lambda: self.unsure
        return found | {
            "failed": lambda: self.failed,
            "quality": lambda: self.quality,
            "row": lambda: np.arange(1.0, len(self.ids) + 1),
            "id": lambda: self.ids,
            "question": lambda: self.questions,
            "answer": lambda: self.answers,
        }

    @cached_property
    def _metadata(self) -> list[str]:
        """The names `slice.COLUMN`. All metadata is read for them."""
        cells = read_table(self.run.folder.samples, ["metadata"])["metadata"].to_pylist()
        found = {name: None for cell in cells if cell for name in json.loads(cell) if name not in USAGE}
        present = self.run.info["dataset"].get("present") or {}
        return [SLICE + name for name in (*found, *(name for name in ("answerable", "documents") if name in present))]

    def _score(self, name: str) -> np.ndarray:
        return self.scores[name].values

    def _slice(self, name: str) -> np.ndarray:
        labels = self.labels(name.removeprefix(SLICE))
        return np.array([None if label == NONE else label for label in labels], dtype=object)


def _count_unsure(run: Run, evidence: str) -> np.ndarray:
    counts = []
    for batch in read_batches(run.folder.evidence(evidence), ["value"]):
        cells = batch["value"]
        is_unsure = pc.fill_null(pc.starts_with(pc.list_flatten(cells), UNSURE), fill_value=False)
        rows = pc.list_parent_indices(cells).to_numpy()
        counts.append(np.bincount(rows[is_unsure.to_numpy(zero_copy_only=False)], minlength=len(cells)))
    return np.concatenate(counts) if counts else np.zeros(0)
