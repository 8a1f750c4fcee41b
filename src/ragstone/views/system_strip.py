"""Latency, tokens and cost of the evaluated system, for a run and for one of its samples.

The numbers come from the metadata of the samples (`ragstone.data.usage`). They never include the judge.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragstone.data.summary import SummaryRow
from ragstone.data.usage import number_of
from ragstone.number_format import dollars, seconds
from ragstone.stats.quantiles import quantile_of
from ragstone.storage.runs import Run, read_table
from ragstone.storage.scores import unless_nan
from ragstone.views.phrases import one_line

# The names that are shown, with the metric that copies each of them into the scores.
METRICS = {
    "latency_s": "system.latency",
    "input_tokens": "system.input_tokens",
    "output_tokens": "system.output_tokens",
    "cost_usd": "system.cost",
}
_BINS = 20
_MOST_OUTLIERS = 3
_THOUSAND = 1_000

Usage = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class SystemFigures:
    """The figures of a run: seconds, tokens per answer, US dollars per 1,000 answers. None if no row has them."""

    latency_p50: float | None = None
    latency_p95: float | None = None
    input_tokens: float | None = None
    output_tokens: float | None = None
    cost_per_1000: float | None = None

    @classmethod
    def of(cls, usage: Usage) -> SystemFigures:
        """The figures of the rows."""
        known = {name: values[~np.isnan(values)] for name, values in usage.items()}
        latency = known.get("latency_s")
        middle, high = (None if latency is None else quantile_of(latency, q) for q in (0.5, 0.95))
        sent, written, cost = (float(known[name].mean()) if name in known else None for name in list(METRICS)[1:])
        return cls(middle, high, sent, written, None if cost is None else _THOUSAND * cost)

    @classmethod
    def of_run(cls, run: Run, summary: Mapping[str, SummaryRow]) -> SystemFigures:
        """The figures of a run, from its summary if its metrics include them: a list of runs does not read their samples."""
        names = ["system.latency(q=0.5)", "system.latency(q=0.95)", *list(METRICS.values())[1:]]
        stored = [row.mean if (row := summary.get(name)) else None for name in names]
        present = run.info["dataset"].get("present") or {}
        needed = [name for name in METRICS if f"metadata.{name}" in present]
        if all(stored[place] is not None for name in needed for place in _PLACES[name]):
            middle, high, sent, written, cost = stored
            return cls(middle, high, sent, written, None if cost is None else _THOUSAND * cost)
        return cls.of(read_usage(run))

    @property
    def latency(self) -> str:
        """`1.20 s p50, 3.40 s p95`; empty without latencies."""
        if self.latency_p50 is None or self.latency_p95 is None:
            return ""
        return f"{seconds(self.latency_p50)} p50, {seconds(self.latency_p95)} p95"

    @property
    def tokens(self) -> str:
        """`1,204 → 88`; a dash for the side that is not known, empty if none is."""
        return _tokens(self.input_tokens, self.output_tokens)

    @property
    def cost(self) -> str:
        """The price of 1,000 answers; empty if it is not known."""
        return "" if self.cost_per_1000 is None else dollars(self.cost_per_1000)


_PLACES = {"latency_s": (0, 1), "input_tokens": (2,), "output_tokens": (3,), "cost_usd": (4,)}


def read_usage(run: Run) -> dict[str, np.ndarray]:
    """One value per sample, nan where it has none, for each name that at least one sample has."""
    present = run.info["dataset"].get("present") or {}
    names = [name for name in METRICS if f"metadata.{name}" in present]
    if not names:
        return {}
    cells = read_table(run.folder.samples, ["metadata"])["metadata"].to_pylist()
    rows = [json.loads(cell) if cell else {} for cell in cells]
    usage = {name: np.array([_amount(row.get(name)) for row in rows]) for name in names}
    return {name: values for name, values in usage.items() if not np.isnan(values).all()}


def _amount(value: Any) -> float:
    number = number_of(value)
    return np.nan if number is None or number < 0 else number


def _tokens(sent: float | None, written: float | None) -> str:
    if sent is None and written is None:
        return ""
    return " → ".join("–" if count is None else f"{count:,.0f}" for count in (sent, written))


@dataclass(frozen=True)
class Outlier:
    """A sample that is slower or more expensive than the others."""

    id: str
    # From 1.
    row: int
    value: float
    words: str


@dataclass(frozen=True)
class SystemStrip:
    """The evaluated system in a run."""

    figures: SystemFigures
    rows: int
    # How many rows have a value, by name.
    known: Mapping[str, int]
    # Counts of the latencies in equal bins.
    histogram: Mapping[str, Any] | None
    slowest: tuple[Outlier, ...]
    dearest: tuple[Outlier, ...]
    # What is missing, and the column of the data that would add it; empty if nothing is.
    absent: str

    @classmethod
    def of(cls, run: Run, usage: Usage | None = None) -> SystemStrip:
        """The strip of a run; `usage` if it is read already."""
        usage = read_usage(run) if usage is None else usage
        extremes = {name: _largest(usage[name]) for name in ("latency_s", "cost_usd") if name in usage}
        places = sorted({row for rows in extremes.values() for row in rows})
        ids = read_table(run.folder.samples, ["id"])["id"] if places else ()
        names = {row: one_line(ids[row].as_py(), 40) for row in places}
        texts = {"latency_s": seconds, "cost_usd": dollars}
        outliers = {
            name: tuple(
                Outlier(names[row], row + 1, float(usage[name][row]), texts[name](float(usage[name][row])))
                for row in rows
            )
            for name, rows in extremes.items()
        }
        return cls(
            figures=SystemFigures.of(usage),
            rows=run.info.rows,
            known={name: int(np.count_nonzero(~np.isnan(values))) for name, values in usage.items()},
            histogram=_histogram(usage["latency_s"]) if "latency_s" in usage else None,
            slowest=outliers.get("latency_s", ()),
            dearest=outliers.get("cost_usd", ()),
            absent=_absent(usage),
        )

    @property
    def partly(self) -> str:
        """The figures that only some rows have: `latency of 38 of 40 rows`; empty if all rows have them."""
        some = {_WORDS[name]: count for name, count in self.known.items() if count < self.rows}
        return ", ".join(f"{words} of {count:,} of {self.rows:,} rows" for words, count in some.items())


_WORDS = {"latency_s": "latency", "input_tokens": "tokens in", "output_tokens": "tokens out", "cost_usd": "cost"}


def _absent(usage: Usage) -> str:
    missing = [name for name in METRICS if name not in usage]
    if not missing:
        return ""
    if usage:
        return f"Not in the metadata: {', '.join(missing)}."
    return f"No {', '.join(_WORDS.values())} of the system: add {', '.join(missing)} to the metadata of the rows."


def _largest(values: np.ndarray) -> list[int]:
    """The rows with the largest values, at most three; none if all values are equal."""
    known = np.flatnonzero(~np.isnan(values))
    if len(known) < 2 or values[known].min() == values[known].max():
        return []
    return [int(row) for row in known[np.argsort(-values[known], kind="stable")][:_MOST_OUTLIERS]]


def _histogram(values: np.ndarray) -> dict[str, Any]:
    known = values[~np.isnan(values)]
    high = float(known.max()) or 1.0
    counts = np.histogram(known, bins=_BINS, range=(0.0, high))[0]
    return {"low": 0.0, "high": high, "counts": [int(count) for count in counts]}


@dataclass(frozen=True)
class SampleUsage:
    """Latency, tokens and cost of one sample, with its rank in the run: `9.10 s, slowest of 40`. Empty if not known."""

    # By name; None if the row has no number.
    amounts: Mapping[str, float | None]
    latency: str
    tokens: str
    cost: str

    @classmethod
    def of(cls, usage: Usage, row: int) -> SampleUsage:
        """The numbers of a row, from 0."""
        value = {name: unless_nan(values[row]) for name, values in usage.items()}
        latency, cost = value.get("latency_s"), value.get("cost_usd")
        return cls(
            value,
            "" if latency is None else seconds(latency) + _rank(usage["latency_s"], latency, "slowest", "fastest"),
            _tokens(value.get("input_tokens"), value.get("output_tokens")),
            "" if cost is None else dollars(cost) + _rank(usage["cost_usd"], cost, "most expensive", "cheapest"),
        )


def _rank(values: np.ndarray, value: float, most: str, least: str) -> str:
    """`, slowest of 40`, `, 3rd slowest of 40`; empty if all values are equal."""
    known = values[~np.isnan(values)]
    if known.min() == known.max():
        return ""
    above = int(np.count_nonzero(known > value))
    if value == known.min():
        return f", {least} of {len(known):,}"
    place = f"{_ordinal(above + 1)} " if above else ""
    return f", {place}{most} of {len(known):,}"


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"
