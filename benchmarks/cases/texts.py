"""Texts and facts to scores, beside the tools that people use: lists of Python strings in, a list of values a metric out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.cases.million import ROWS_VARIABLE
from benchmarks.contestants import Contestant, Heavy, Light, Ragstone
from benchmarks.peers.environment import peer_python
from benchmarks.processes import Finished, measure
from benchmarks.results import Result
from benchmarks.samples import answers_file, facts_file, grounded_file
from benchmarks.timing import medians

_LEXICAL = ("exact_match", "token_precision", "token_recall", "token_f1")
_GROUNDED = (*_LEXICAL, "k_precision")
_ROUGE = ("rouge_1", "rouge_2", "rouge_l")
_FACTS = ("fact_recall", "fact_precision", "fact_f1", "fact_mrr_mean")
# Many rows are these, over and over.
_SCALE_ROWS = 10_000
_SCALES = (10_000, 100_000, 1_000_000)


@dataclass(frozen=True)
class Comparison:
    """Metrics of ours, the rows, and the peers with what each should take at least; None where it is only shown."""

    name: str
    metrics: tuple[str, ...]
    file: Callable[[int, bool], Path]
    rows: int
    light: Mapping[str, float | None] = field(default_factory=dict)
    heavy: Mapping[str, float | None] = field(default_factory=dict)
    matcher: str = "citation"
    foreign: bool = False

    @property
    def data(self) -> Path:
        """The file with the rows."""
        return self.file(self.rows, self.foreign)


_COMPARISONS = (
    Comparison("lexical", _LEXICAL, answers_file, 10_000, {"squad": 5}),
    Comparison("lexical, not ASCII", _LEXICAL, answers_file, 10_000, {"squad": None}, foreign=True),
    Comparison("lexical + k_precision", _GROUNDED, grounded_file, 4_000, {"squad": 5}),
    Comparison("lexical + k_precision, not ASCII", _GROUNDED, grounded_file, 4_000, {"squad": None}, foreign=True),
    Comparison("ROUGE", _ROUGE, answers_file, 2_000, heavy={"rouge": 15}),
    Comparison(
        "ROUGE, stems",
        tuple(f"{name}(stem=true)" for name in _ROUGE),
        answers_file,
        2_000,
        heavy={"rouge_stemmed": None},
    ),
    Comparison("citation facts", _FACTS, facts_file, 1_000, {"citations": None}, {"dial": 25}),
    Comparison("citation facts, not ASCII", _FACTS, facts_file, 1_000, heavy={"dial": None}, foreign=True),
    Comparison("fuzzy facts", _FACTS, facts_file, 1_000, {"fuzzy": 1, "fuzzy_open": None}, matcher="fuzzy"),
    Comparison("fuzzy facts, not ASCII", _FACTS, facts_file, 1_000, {"fuzzy": None}, matcher="fuzzy", foreign=True),
)


def run(peers: bool) -> list[Result]:
    """Microseconds a row of ours, how many times as long each peer takes, whether the values are the same; memory; growth."""
    results = [result for comparison in _COMPARISONS for result in _compare(comparison, peers)]
    return [*results, *_growth()]


def _compare(comparison: Comparison, peers: bool) -> Iterator[Result]:
    ours = Ragstone(comparison.metrics, comparison.data, comparison.matcher)
    wanted = {**comparison.light, **(comparison.heavy if peers else {})}
    others: dict[str, Contestant] = {
        name: (Light if name in comparison.light else Heavy)(name, comparison.data) for name in wanted
    }
    times = medians({"": ours.turn, **{name: other.turn for name, other in others.items()}})
    own, *rest = (times[name] / comparison.rows * 1e6 for name in ("", *others))
    yield Result(comparison.name, own, "µs/row", note=f"{len(comparison.metrics)} metrics, {comparison.rows:,} rows")
    for (name, other), theirs in zip(others.items(), rest, strict=True):
        title, note = f"{comparison.name}: {other.title}", f"{theirs:,.1f} µs/row"
        yield Result(f"{title} takes", theirs / own, "×", at_least=wanted[name], note=note)
        apart = _difference(ours, other, comparison.metrics)
        yield Result(f"{title} differs by", apart, "at most", at_most=1e-9, binding=True)
    if not comparison.foreign:
        yield from _memory(comparison, others)


def _difference(ours: Contestant, other: Contestant, metrics: tuple[str, ...]) -> float:
    """The largest difference between two values of one cell; a cell without a value differs from every number."""
    sides = [np.array([values.values[name] for name in metrics], dtype=float) for values in (ours, other)]
    return float(np.nan_to_num(np.abs(np.subtract(*sides)), nan=np.inf).max())


def _memory(comparison: Comparison, others: Mapping[str, Contestant]) -> Iterator[Result]:
    """Peak memory beyond that of the lists themselves, each in a process of its own."""
    alone, whole = _our_process(comparison, 1, ()), _our_process(comparison, 1, comparison.metrics)
    title = f"{comparison.name}: memory for"
    yield Result(f"{title} Ragstone", (whole.peak_bytes - alone.peak_bytes) / 1e9, "GB")
    for name, other in others.items():
        python = peer_python() if name in comparison.heavy else Path(sys.executable)
        peaks = [
            measure([str(python), "-m", "benchmarks.peers.runner", who, str(comparison.data)]).peak_bytes
            for who in ("nothing", name)
        ]
        yield Result(f"{title} {other.title}", max(peaks[1] - peaks[0], 0) / 1e9, "GB")


def _growth() -> Iterator[Result]:
    """Lexical metrics of more and more rows."""
    comparison = Comparison("lexical", _LEXICAL, answers_file, _SCALE_ROWS)
    most = int(os.environ.get(ROWS_VARIABLE, max(_SCALES)))
    for rows in (rows for rows in _SCALES if rows <= most):
        alone, whole = (_our_process(comparison, rows // _SCALE_ROWS, metrics) for metrics in ((), _LEXICAL))
        memory = f"{(whole.peak_bytes - alone.peak_bytes) / 1e9:.2f} GB beyond the lists"
        yield Result(f"lexical, {rows:,} rows", float(whole.output) / rows * 1e6, "µs/row", note=memory)


def _our_process(comparison: Comparison, times: int, metrics: tuple[str, ...]) -> Finished:
    command = [sys.executable, "-m", "benchmarks.contestants", str(comparison.data), str(times), comparison.matcher]
    return measure([*command, *metrics])
