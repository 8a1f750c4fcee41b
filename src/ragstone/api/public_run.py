"""A run as users hold it: the stored run with its diagnosis, explanations and worst samples."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property

from ragstone.analysis.diagnosis import diagnose
from ragstone.analysis.explain import explain_sample
from ragstone.analysis.indexed_corpus import open_store
from ragstone.analysis.sample_order import WorstSample, find_worst_samples
from ragstone.api.shown_results import Diagnosis, Explanation, Missing, Worst, shown_as
from ragstone.errors import UsageError
from ragstone.report.brief import run_brief
from ragstone.report.html.notebook import run_fragment
from ragstone.storage import runs
from ragstone.storage.runs import default_root, find_run
from ragstone.storage.scores import find_missing

Path = str | os.PathLike[str]


class Run(runs.Run):
    """A finished evaluation. Tables are read on first use and never recomputed."""

    def diagnose(self, *, chunks: Path | None = None, documents: Sequence[Path] = ()) -> Diagnosis:
        """Find what limits quality and why samples fail. No model is called.

        Args:
            chunks: JSONL file with all chunks of the index; separates split facts from missed chunks.
            documents: Files or folders with the documents; needs `chunks`.
        """
        if chunks is None:
            if documents:
                raise UsageError("documents needs chunks: a fact of a document is lost only if no chunk contains it")
            return self._diagnosis
        store = open_store(os.fspath(chunks), [os.fspath(one) for one in documents])
        return shown_as(Diagnosis, diagnose(self, store=store), run=self.name)

    @cached_property
    def _diagnosis(self) -> Diagnosis:
        return shown_as(Diagnosis, diagnose(self), run=self.name)

    def explain(self, sample: str | int | WorstSample, metric: str | None = None) -> Explanation:
        """One sample with the evidence behind its scores.

        Args:
            sample: Id of the sample, its row number from 1, or an item of `worst`.
            metric: Metric of the run; explains how its score was computed.
        """
        wanted = sample.id if isinstance(sample, WorstSample) else str(sample)
        return shown_as(Explanation, explain_sample(self, wanted, metric))

    def worst(self, n: int = 5) -> Worst:
        """The `n` samples to look at first: failing samples, then the lowest scores."""
        if not isinstance(n, int) or n < 1:
            raise UsageError(f"n must be a whole number, 1 or more, got {n!r}")
        return Worst(self, find_worst_samples(self, self._diagnosis, n), self._diagnosis)

    @cached_property
    def missing(self) -> Missing:
        """The failed and skipped cells, by metric and reason."""
        return Missing(self, find_missing(self))

    def __repr__(self) -> str:
        return run_brief(self)

    def _repr_html_(self) -> str:
        return run_fragment(self)


def open_run(run: Path, root: Path | None = None) -> Run:
    """Open a stored run.

    Args:
        run: Path or URL of the run, or its id or name under the root; `latest` is the newest.
        root: Folder or s3:// root of the runs; the variable RAGSTONE_ROOT or `ragstone-store` by default.
    """
    return Run(find_run(os.fspath(run), default_root() if root is None else os.fspath(root)).folder)


def as_run(run: runs.Run | Path, root: Path | None) -> Run:
    """A run that was given as an object, or by path, id or name."""
    if isinstance(run, Run):
        return run
    return Run(run.folder) if isinstance(run, runs.Run) else open_run(run, root)
