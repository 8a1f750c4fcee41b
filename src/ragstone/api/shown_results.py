"""The results of the public functions: the values of the inner layers, with text for the prompt and HTML for notebooks.

`repr` is a few lines, `str` the report of the terminal, `as_dict` the JSON of the command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, TypeVar, overload

import pyarrow as pa

from ragstone.analysis import comparison, diagnosis, explain, gates
from ragstone.analysis.cause_names import Finding
from ragstone.analysis.row_moves import Moves
from ragstone.analysis.sample_order import WorstSample
from ragstone.data.types import Sample
from ragstone.engine import quote
from ragstone.report import brief
from ragstone.report.brief import as_text
from ragstone.report.comparison import ComparisonReport
from ragstone.report.diagnosis import diagnosis_dict, full_report
from ragstone.report.explain import explanation_dict, explanation_report
from ragstone.report.gates import gate_dict, gate_report
from ragstone.report.html import notebook
from ragstone.report.quote import quote_report
from ragstone.storage.runs import Run
from ragstone.storage.scores import MissingScores, read_missing_cells
from ragstone.views.comparison import ComparisonView
from ragstone.views.diagnosis import headline as diagnosis_headline

T = TypeVar("T")
S = TypeVar("S")


def shown_as(kind: type[T], value: Any, **more: Any) -> T:
    """The value of an inner layer as the public class that extends it."""
    return kind(**{field.name: getattr(value, field.name) for field in fields(value)}, **more)


@dataclass(frozen=True, repr=False, eq=False)
class Diagnosis(diagnosis.Diagnosis):
    """Which part of the system limits quality, and why samples fail: `limits`, `causes`, `advice`, `readings`, `outcomes`."""

    run: str = ""

    @property
    def headline(self) -> str:
        """The result in a sentence."""
        return diagnosis_headline(self)

    def as_dict(self) -> dict[str, Any]:
        """The JSON of `ragstone diagnose --json`."""
        return diagnosis_dict(self)

    def __repr__(self) -> str:
        return brief.diagnosis_brief(self, self.run)

    def __str__(self) -> str:
        return as_text(full_report(self, self.run))

    def _repr_html_(self) -> str:
        return notebook.diagnosis_fragment(self, self.run)


@dataclass(frozen=True, repr=False, eq=False)
class Explanation(explain.Explanation):
    """One sample with the evidence behind its scores: `sample`, `cause`, `findings`, `cells`, `calls`, `working`."""

    @property
    def sample(self) -> Sample:
        """The sample as it was evaluated."""
        return self.case.sample

    @property
    def cause(self) -> str | None:
        """The main cause of failure; None if no fault was found."""
        return self.outcome.cause.name if self.outcome.cause else None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The causes claim by claim and fact by fact."""
        return self.outcome.findings

    def as_dict(self) -> dict[str, Any]:
        """The JSON of `ragstone explain --json`."""
        return explanation_dict(self)

    def __repr__(self) -> str:
        return brief.explanation_brief(self)

    def __str__(self) -> str:
        return as_text(explanation_report(self))

    def _repr_html_(self) -> str:
        return notebook.explanation_fragment(self)


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(comparison.Comparison):
    """Paired differences between two runs: `metrics`, or `comparison["recall@5"]` for one, `failing`, `changed`, `slices`."""

    @property
    def headline(self) -> str:
        """The result in a sentence: how many rows are fixed and newly failing."""
        return self._view.headline

    @property
    def failing(self) -> Moves | None:
        """The ids of the rows that are `fixed`, `newly_failing`, `still_failing` and `unclear` in `after`, and `p`.

        None if a run has more than 2,000 samples or no evidence of causes, or if the judges of the runs differ.
        """
        return self._view.moves

    @cached_property
    def _view(self) -> ComparisonView:
        return ComparisonView.diagnosed(self)

    def as_dict(self) -> dict[str, Any]:
        """The JSON of `ragstone compare --json`."""
        return self._view.as_dict()

    def __repr__(self) -> str:
        return brief.comparison_brief(self._view)

    def __str__(self) -> str:
        return as_text(ComparisonReport(self._view))

    def _repr_html_(self) -> str:
        return notebook.comparison_fragment(self._view)


@dataclass(frozen=True, repr=False, eq=False)
class Gate(gates.Gate):
    """The outcome of a gate, "passes", "fails" or "cannot tell", and its `checks`. True only if it passes.

    With `inconclusive="pass"` it is also true if it cannot tell.
    """

    def __bool__(self) -> bool:
        return self.exit_code == 0

    def as_dict(self) -> dict[str, Any]:
        """The JSON of `ragstone gate --json`."""
        return gate_dict(self)

    def __repr__(self) -> str:
        return brief.gate_brief(self)

    def __str__(self) -> str:
        return as_text(gate_report(self))

    def _repr_html_(self) -> str:
        return notebook.gate_fragment(self)


@dataclass(frozen=True, repr=False, eq=False)
class Quote(quote.Quote):
    """The estimated calls, tokens, cost and time of a run: `total`, and `metrics` if each were computed alone."""

    def __repr__(self) -> str:
        return brief.quote_brief(self)

    def __str__(self) -> str:
        return as_text(quote_report(self))


class _Listed(Sequence[S]):
    """A sequence that belongs to a run."""

    def __init__(self, run: Run, items: Sequence[S]) -> None:
        self._run = run
        self._items = tuple(items)

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, place: int) -> S: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[S, ...]: ...
    def __getitem__(self, place: int | slice) -> S | tuple[S, ...]:
        return self._items[place]


class Worst(_Listed[WorstSample]):
    """The samples to look at first: failing samples, then the lowest scores."""

    def __init__(self, run: Run, items: Sequence[WorstSample], diagnosed: diagnosis.Diagnosis) -> None:
        super().__init__(run, items)
        self._diagnosed = diagnosed

    def __repr__(self) -> str:
        return brief.worst_brief(self, self._run.name)

    def _repr_html_(self) -> str:
        return notebook.worst_fragment(self._run, self._diagnosed, [item.row for item in self])


class Missing(_Listed[MissingScores]):
    """The cells without a value, one item per metric and reason: failed ones first."""

    @property
    def failed(self) -> tuple[MissingScores, ...]:
        """The cells that failed with an error."""
        return tuple(item for item in self if item.status == "failed")

    @property
    def skipped(self) -> tuple[MissingScores, ...]:
        """The cells that a row has no value for, and the metrics that were not computed."""
        return tuple(item for item in self if item.status != "failed")

    def cells(self) -> pa.Table:
        """Every cell without a value: sample_id, metric, status, reason."""
        return read_missing_cells(self._run)

    def __repr__(self) -> str:
        return brief.missing_brief(self, self._run.name)

    def _repr_html_(self) -> str:
        return notebook.missing_fragment(self, self._run.name)
