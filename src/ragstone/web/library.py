"""The runs under a root: listed again for every page, read once, with caches for indexes, diagnoses and comparisons."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.analysis.cause_texts import RowLabel, cause_label
from ragstone.analysis.comparison import STEPS, Comparison, compare_runs
from ragstone.analysis.diagnosis import Diagnosis, count_statuses, diagnose, update_rows
from ragstone.analysis.leaderboard import Leaderboard, rank_runs
from ragstone.analysis.slices import RunSlice
from ragstone.data.summary import ALL, SummaryRow
from ragstone.report.html.run_page import slices_of
from ragstone.storage.human_labels import HumanLabels, answer_keys, labels_of
from ragstone.storage.places import Place, open_place
from ragstone.storage.runs import Run, RunFolder, read_table
from ragstone.storage.scores import read_conversations
from ragstone.text.questions import question_key
from ragstone.views.diagnosis import CauseView, DiagnosisView
from ragstone.views.system_strip import SystemFigures, read_usage
from ragstone.web.background import MAX_WAIT_S, BackgroundCache, Rescoring
from ragstone.web.navigation import SAFE_NAME, NotFoundError, is_inside
from ragstone.web.pair_index import PairIndex
from ragstone.web.run_index import RunIndex, TableState
from ragstone.web.truth.loaded_version import LoadedVersion
from ragstone.web.truth.store import TruthLibrary
from ragstone.web.watches import WatchLibrary

# Diagnosing this many samples takes seconds. Their diagnosis is shown until all samples are diagnosed.
FIRST_FEW = 10_000
# Larger runs take too long to diagnose while a page waits.
_MAX_ROWS_TO_WAIT = 2_000
_MAX_INDEXES = 4
_MAX_COMPARISONS = 8
_MAX_QUESTIONS = 32
_MAX_LISTED = 2_000
# The rows from 0 of each conversation with two turns or more, by its name.
Conversations = dict[str, tuple[int, ...]]
Slices = tuple[tuple[str, tuple[RunSlice, ...]], ...]


@dataclass(frozen=True)
class Insight:
    """The diagnosis as page data, the main cause or "not examined" per diagnosed row, the slices, and the labels used."""

    diagnosis: dict[str, Any]
    causes: tuple[RowLabel, ...]
    slices: Slices
    found: Diagnosis
    labels: HumanLabels

    @classmethod
    def make(cls, run: Run, diagnosis: Diagnosis, slices: Slices, labels: HumanLabels) -> Insight:
        """Create it from the diagnosis of a run."""
        causes = tuple(cause_label(diagnosis, outcome) for outcome in diagnosis.outcomes)
        return cls(describe_diagnosis(diagnosis, run), causes, slices, diagnosis, labels)

    def updated(self, run: Run, labels: HumanLabels, keys: Sequence[str]) -> Insight:
        """With other labels: only the rows whose labels changed are examined again."""
        changed = {label.about for label in set(self.labels.labels) ^ set(labels.labels)}
        rows = [row for row, key in enumerate(keys) if key in changed]
        found = update_rows(run, self.found, rows) if rows else self.found
        return Insight.make(run, found, self.slices, labels)


class Insights:
    """The insights of the most recently viewed runs."""

    def __init__(self, size: int, index_of: Callable[[Run], RunIndex]) -> None:
        self._index_of = index_of
        # Two caches: diagnosing all samples of one run must not delay the first samples of another.
        self._first: BackgroundCache[Insight] = BackgroundCache(size)
        self._whole: BackgroundCache[Insight] = BackgroundCache(size)
        self._done: dict[str, int] = {}
        # The insight with the newest labels by run, and that of the cache which it was made from.
        self._labelled: dict[str, tuple[Insight, Insight]] = {}
        self.keys = lru_cache(maxsize=size)(answer_keys)
        self._lock = Lock()

    def of(self, run: Run) -> Insight | None:
        """Return the best insight that is ready, with the newest labels; None until the first samples are diagnosed."""
        insight, labels = self._ready(run), labels_of(run)
        if insight is None or insight.labels.stamp == labels.stamp:
            return insight
        with self._lock:
            base, newest = self._labelled.get(run.id, (insight, insight))
            newest = newest if base is insight else insight
            if newest.labels.stamp != labels.stamp:
                newest = newest.updated(run, labels, self.keys(run))
            self._labelled[run.id] = (insight, newest)
        return newest

    def _ready(self, run: Run) -> Insight | None:
        rows = run.info["dataset"]["rows"]
        wait_s = MAX_WAIT_S if rows <= _MAX_ROWS_TO_WAIT else 0.0
        first = self._first.peek(run.id, lambda: self._diagnose_first(run), wait_s)
        if first is None or rows <= FIRST_FEW:
            return first
        whole = self._whole.peek(run.id, lambda: self._diagnose(run, None, first.slices, first), 0.0)
        return whole or first

    def close(self) -> None:
        """Cancel the diagnoses that have not started."""
        self._first.close()
        self._whole.close()

    def _diagnose_first(self, run: Run) -> Insight:
        index = self._index_of(run)
        slices = tuple(slices_of(run, index.metrics, index.scores))
        return self._diagnose(run, FIRST_FEW, slices)

    def _diagnose(self, run: Run, most: int | None, slices: Slices, first: Insight | None = None) -> Insight:
        # Read before: labels that are added meanwhile are then seen as new.
        labels = labels_of(run)
        if first and first.labels.stamp != labels.stamp:
            first = first.updated(run, labels, self.keys(run))
        known, report = first.found if first else None, partial(self._done.__setitem__, run.id)
        found = diagnose(run, most, texts=False, progress=report, known=known)
        return Insight.make(run, found, slices, labels)

    def diagnosed(self, run: Run) -> dict[str, int]:
        """Return how many samples of a run are diagnosed so far, and how many there are to diagnose now."""
        rows, done = run.info.rows, self._done.get(run.id, 0)
        return {"done": done, "total": rows if done > FIRST_FEW else min(rows, FIRST_FEW)}


class Library:
    """The runs and the ground truth under a root."""

    def __init__(self, root: str | os.PathLike[str], user: str = "") -> None:
        self.root: Place = open_place(root)
        # The first name in the field for the author of labels.
        self.user = user
        self.truth = TruthLibrary(self.root)
        self.watches = WatchLibrary(self.root)
        self.rescoring = Rescoring()
        self._joined: BackgroundCache[int] = BackgroundCache(_MAX_LISTED)
        self._runs = lru_cache(maxsize=_MAX_LISTED)(Run)
        self._datasets: BackgroundCache[str] = BackgroundCache(_MAX_LISTED, workers=2)
        self._summaries = lru_cache(maxsize=_MAX_LISTED)(
            lambda run: {row.metric: row for row in run.summary() if row.slice == ALL}
        )
        self._usage = lru_cache(maxsize=_MAX_QUESTIONS)(read_usage)
        self._figures = lru_cache(maxsize=_MAX_LISTED)(lambda run: SystemFigures.of_run(run, self.summary(run)))
        self._folders: dict[str, RunFolder] = {}
        self._indexes: BackgroundCache[RunIndex] = BackgroundCache(_MAX_INDEXES, workers=2)
        self._conversations: BackgroundCache[Conversations] = BackgroundCache(_MAX_INDEXES)
        self._asked: BackgroundCache[pa.Table] = BackgroundCache(_MAX_QUESTIONS, workers=2)
        self._insights = Insights(_MAX_INDEXES, self.index)
        self._counts: BackgroundCache[dict[str, int]] = BackgroundCache(_MAX_LISTED)
        self._comparisons: BackgroundCache[Comparison] = BackgroundCache(_MAX_COMPARISONS)
        self._families: BackgroundCache[Comparison] = BackgroundCache(_MAX_COMPARISONS)
        self._steps: dict[tuple[str, str], str] = {}
        self._pairs: BackgroundCache[PairIndex] = BackgroundCache(_MAX_COMPARISONS)
        self._boards: BackgroundCache[Leaderboard] = BackgroundCache(_MAX_COMPARISONS)

    def folders(self) -> list[RunFolder]:
        """Return all run folders, newest first."""
        return [
            self._folder(place) for place in reversed((self.root / "runs").children()) if is_inside(self.root, place)
        ]

    def folder(self, name: str) -> RunFolder:
        """Return the folder of a run, also of one in a watch; raise NotFoundError for names that lead out of the root."""
        place = self.root / "runs" / name
        if SAFE_NAME.fullmatch(name):
            if is_inside(self.root, place) and place.is_folder():
                return self._folder(place)
            if watched := self.watches.folder_of(name):
                return self._folder(watched[1])
        raise NotFoundError(f"run {name} not found under {self.root}")

    def watch_of(self, run: str) -> str:
        """The name of the watch that has a run; empty if the root has it."""
        if (self.root / "runs" / run).is_folder():
            return ""
        watched = self.watches.folder_of(run)
        return watched[0] if watched else ""

    def open(self, folder: RunFolder) -> Run | None:
        """Return the run in a folder; None if it is not finished."""
        return self._runs(folder) if folder.manifest.exists() else None

    def run(self, name: str) -> Run:
        """Return a finished run by name."""
        run = self.open(self.folder(name))
        if run is None:
            raise NotFoundError(f"run {name} is not finished")
        return run

    def summary(self, run: Run) -> dict[str, SummaryRow]:
        """Return the summary rows of the whole run by metric."""
        return self._summaries(run)

    def usage(self, run: Run) -> dict[str, np.ndarray]:
        """Return latency, tokens and cost of the evaluated system per sample."""
        return self._usage(run)

    def figures(self, run: Run) -> SystemFigures:
        """Return latency, tokens and cost of the evaluated system in a run."""
        return self._figures(run)

    def dataset_key(self, run: Run) -> str | None:
        """Return a hash of the sample ids of a run, the same for all runs of a data set; None until it is ready."""
        return self._datasets.peek(run.id, lambda: _hash_ids(run), 0.02)

    def index(self, run: Run) -> RunIndex:
        """Return the scores as columns."""
        return self._indexes.get(run.id, lambda: RunIndex.read(run))

    def conversations(self, run: Run) -> Conversations:
        """Return the rows of each conversation of a run."""
        return self._conversations.get(run.id, lambda: _find_conversations(run))

    def asked(self, run: Run) -> pa.Table:
        """Return the ids, questions and question keys of a run."""
        return self._asked.get(run.id, lambda: _read_questions(run))

    def joined(self, run: Run, loaded: LoadedVersion, count: Callable[[], int]) -> int:
        """Return the number of samples of a run that match a case of a version; counted once."""
        return self._joined.get((run.id, loaded.info.name, loaded.info.number), count)

    def insight(self, run: Run) -> Insight | None:
        """Return diagnosis, causes and slices; None until they are ready."""
        insight = self._insights.of(run)
        if insight and insight.found.looked_at == run.info.rows:
            statuses = dict(insight.found.statuses)
            self._counts.peek((run.id, insight.labels.stamp), lambda: statuses, 0.0)
        return insight

    def statuses(self, run: Run, labels: str, count: bool) -> dict[str, int] | None:
        """Return the rows by status; None until they are counted. Without `count`, those that are known."""
        key = (run.id, labels)
        return self._counts.peek(key, lambda: count_statuses(run), 0.0) if count else self._counts.ready(key) or {}

    def answer_keys(self, run: Run) -> list[str]:
        """Return the key of the labels of each answer of a run."""
        return self._insights.keys(run)

    def diagnosed(self, run: Run) -> dict[str, int]:
        """Return the progress of a diagnosis."""
        return self._insights.diagnosed(run)

    def comparison(self, before: Run, after: Run) -> Comparison | None:
        """Return the comparison of two runs; None until it is ready."""
        key = (before.id, after.id)
        return self._comparisons.peek(
            key, lambda: compare_runs(before, after, progress=lambda step: self._steps.__setitem__(key, step))
        )

    def family(self, comparison: Comparison, name: str, metrics: Sequence[str]) -> Comparison:
        """Return the comparison of the same runs by one group of metrics."""
        before, after = comparison.before, comparison.after
        return self._families.get((before.id, after.id, name), lambda: compare_runs(before, after, metrics))

    def comparison_steps(self, before: Run, after: Run) -> dict[str, Any]:
        """Return the current step of a comparison and its diagnoses, its number from 0, and the number of steps."""
        key, steps = (before.id, after.id), (*STEPS, "Diagnosing samples")
        step = steps[-1] if self._comparisons.ready(key) else self._steps.get(key, STEPS[0])
        return {"done": steps.index(step), "total": len(steps), "what": step}

    def pairs(self, comparison: Comparison) -> PairIndex:
        """Return the pairs of a comparison with their gains."""
        before, after = comparison.before, comparison.after
        return self._pairs.get(
            (before.id, after.id), lambda: PairIndex.make(comparison, self.index(before), self.index(after))
        )

    def leaderboard(self, runs: Sequence[Run]) -> Leaderboard | None:
        """Return several runs in ranks; None until they are ready."""
        return self._boards.peek(tuple(run.id for run in runs), lambda: rank_runs(runs))

    def close(self) -> None:
        """Cancel the background work that has not started."""
        for worker in vars(self).values():
            if isinstance(worker, BackgroundCache | Insights | Rescoring | TruthLibrary | WatchLibrary):
                worker.close()

    def _folder(self, place: Place) -> RunFolder:
        """Return the same object for the same folder, so that the caches keyed by it are hit."""
        return self._folders.setdefault(place.name, RunFolder(place))


def _read_questions(run: Run) -> pa.Table:
    table = read_table(run.folder.samples, ["id", "question"])
    keys = [question_key(question or "") for question in table["question"].to_pylist()]
    return table.append_column("question_key", pa.array(keys, pa.string()))


def _find_conversations(run: Run) -> Conversations:
    """Group the rows of a run; empty if no row has a history or no conversation has two rows."""
    if "history" not in (run.info["dataset"].get("present") or ()):
        return {}
    labels = read_conversations(run.folder.samples)
    if labels is None:
        return {}
    history = read_table(run.folder.samples, ["history"])["history"]
    lengths = pc.fill_null(pc.list_value_length(history), 0).to_numpy()
    groups: dict[str, list[int]] = {}
    for row in np.lexsort((np.arange(len(lengths)), lengths)).tolist():
        groups.setdefault(str(labels[row]), []).append(row)
    ordered = sorted(groups.items(), key=lambda item: min(item[1]))
    return {name: tuple(rows) for name, rows in ordered if len(rows) > 1}


def _hash_ids(run: Run) -> str:
    run.check_files()
    ids = read_table(run.folder.samples, ["id"])["id"].to_pylist()
    return hashlib.sha256("\0".join(sorted(ids)).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def describe_diagnosis(diagnosis: Diagnosis, run: Run) -> dict[str, Any]:
    """Return a diagnosis as page data: the view, with a link from each cause to its samples."""
    view = DiagnosisView.of(diagnosis, run.info)
    return {**vars(view), "causes": [{**vars(cause), "address": _address(run.id, cause)} for cause in view.causes]}


def _address(run: str, cause: CauseView) -> str:
    return f"/runs/{run}{TableState(cause=cause.name).address}#samples" if cause.main else ""
