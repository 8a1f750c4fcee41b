"""Each family of metrics on rows in memory, beside the plain way and beside the tools that people use."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.contestants import Contestant, Heavy, Light, Ragstone
from benchmarks.results import Result
from benchmarks.samples import full_file
from benchmarks.timing import medians

_ROWS = 20_000
_LEXICAL = ("exact_match", "contains", "token_precision", "token_recall", "token_f1", "k_precision")


@dataclass(frozen=True)
class Comparison:
    """A family of ours and its peers: those that need nothing, and those that need an environment of their own."""

    family: str
    metrics: tuple[str, ...]
    light: tuple[str, ...] = ()
    heavy: tuple[str, ...] = ()


_COMPARISONS = (
    Comparison("lexical", _LEXICAL, light=("squad",)),
    Comparison("retrieval", ("precision@5", "recall@5", "mrr", "ndcg@5"), light=("ranking",), heavy=("pytrec",)),
    Comparison("facts", ("fact_recall", "fact_precision", "fact_f1", "fact_mrr_mean"), ("citations",), ("dial",)),
    Comparison("rouge", ("rouge_1", "rouge_2", "rouge_l"), heavy=("rouge",)),
)


def run(peers: bool) -> list[Result]:
    """Microseconds a row of ours, how many times as long each peer takes, and whether the values are the same."""
    data = full_file(_ROWS)
    return [result for comparison in _COMPARISONS for result in _compare(comparison, data, peers)]


def _compare(comparison: Comparison, data: Path, peers: bool) -> list[Result]:
    ours, others = Ragstone(comparison.metrics, data), _others(comparison, data, peers)
    times = medians({contestant.title: contestant.turn for contestant in (ours, *others)})
    per_row = {title: seconds / _ROWS * 1e6 for title, seconds in times.items()}
    own = per_row[ours.title]
    results = [Result(comparison.family, own, "µs/row", note=f"{len(comparison.metrics)} metrics")]
    for other in others:
        name, theirs = f"{comparison.family}: {other.title}", per_row[other.title]
        apart = _difference(ours, other, comparison.metrics)
        results += [
            Result(f"{name} takes", theirs / own, "×", note=f"{theirs:,.1f} µs/row"),
            Result(f"{name} differs by", apart, "at most", at_most=1e-9, binding=True),
        ]
    return results


def _others(comparison: Comparison, data: Path, peers: bool) -> list[Contestant]:
    others: list[Contestant] = [Light(name, data) for name in comparison.light]
    if peers:
        others += [Heavy(name, data) for name in comparison.heavy]
    elif "pytrec" in comparison.heavy and find_spec("pytrec_eval"):
        others.append(Light("pytrec", data))
    return others


def _difference(ours: Contestant, other: Contestant, metrics: tuple[str, ...]) -> float:
    """The largest difference between two values of one cell."""
    return max(float(np.abs(np.asarray(ours.values[name]) - np.asarray(other.values[name])).max()) for name in metrics)
