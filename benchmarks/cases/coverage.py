"""Coverage of the intervals that `ragstone run` prints, by simulation: the share of samples whose 95 % interval holds the truth.

Eight shapes of scores, three sizes. A share between 93 and 97 % is right; with ten rows between 92 and 98 %. A gate of
identical systems may fail in at most 5 % of cases, with 8 metrics and with 59.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.results import Result
from ragstone.analysis.differences import Settings, measure
from ragstone.analysis.gate_conditions import Check
from ragstone.analysis.gates import judge_drops
from ragstone.stats.corpus_intervals import sums_interval
from ragstone.stats.intervals import mean_interval
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.scores import Scores

SIZES = (10, 25, 100)
SAMPLES = 4000
_BLEU_SAMPLES = 1500
_POPULATION = 200_000


class Shape(NamedTuple):
    """A distribution of scores between 0 and 1."""

    draw: Callable[[np.random.Generator, int], np.ndarray]
    mean: float


def _mostly(value: float, share: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    """One value for a share of the rows, uniform otherwise."""
    return lambda random, size: np.where(random.random(size) < share, value, random.random(size))


SHAPES = {
    "95 % zeros, rare harm": Shape(_mostly(0.0, 0.95), 0.025),
    "85 % zeros": Shape(_mostly(0.0, 0.85), 0.075),
    "beta(.2, 3)": Shape(lambda random, size: random.beta(0.2, 3, size), 0.2 / 3.2),
    "faithfulness: 80 % ones": Shape(_mostly(1.0, 0.8), 0.9),
    "uniform": Shape(lambda random, size: random.random(size), 0.5),
    "normal around .8": Shape(lambda random, size: np.clip(random.normal(0.8, 0.05, size), 0, 1), 0.8),
    "two humps": Shape(
        lambda random, size: np.where(random.random(size) < 0.5, random.beta(2, 8, size), random.beta(8, 2, size)), 0.5
    ),
}


def covered(shape: Shape, size: int, samples: int, seed: int = 0) -> float:
    """The share of samples whose interval holds the mean of the shape."""
    random = np.random.default_rng(seed)
    hits = 0
    for _ in range(samples):
        interval = mean_interval(shape.draw(random, size), bounds=(0.0, 1.0))
        hits += interval is not None and interval.low <= shape.mean <= interval.high
    return hits / samples


def covered_bleu(size: int, samples: int, seed: int = 0) -> float:
    """The same for corpus BLEU, from n-gram counts of made-up sentences."""
    random = np.random.default_rng(seed)
    truth = float(_bleu(_counts(random, _POPULATION).sum(axis=0)))
    hits = 0
    for _ in range(samples):
        interval = sums_interval(_counts(random, size), _bleu, bounds=(0.0, 100.0))
        hits += interval is not None and interval.low <= truth <= interval.high
    return hits / samples


def _counts(random: np.random.Generator, size: int) -> np.ndarray:
    """One row per sentence: its length, the reference's length, then matches and total for 1- to 4-grams."""
    length = random.integers(6, 26, size)
    reference = np.maximum(3, (length * random.normal(1, 0.15, size)).round())
    quality = random.beta(2, 1.5, size)
    columns = [length, reference]
    for order in range(4):
        total = np.maximum(length - order, 0)
        columns += [random.binomial(total, quality ** (1 + 0.45 * order)), total]
    return np.stack(columns, axis=1).astype(np.float64)


def _bleu(sums: np.ndarray) -> np.ndarray:
    matches, totals = sums[..., 2::2], sums[..., 3::2]
    logs = np.log(np.maximum(matches, 0.5) / np.maximum(totals, 1)).mean(axis=-1)
    return np.asarray(100 * np.exp(logs + np.minimum(0, 1 - sums[..., 1] / sums[..., 0])))


def figures(samples: int = SAMPLES, bleu_samples: int = _BLEU_SAMPLES) -> Iterator[tuple[str, int, float]]:
    """Shape, size and coverage, for all."""
    for size in SIZES:
        for name, shape in SHAPES.items():
            yield name, size, covered(shape, size, samples)
        yield "corpus BLEU", size, covered_bleu(size, bleu_samples)


GATE_METRICS = (8, 59)
_GATE_ROWS = 60
_GATE_SAMPLES = 1000
MOST_FALSE_FAILURES = 0.05


def false_failures(metrics: int, samples: int = _GATE_SAMPLES, limit: float = 0.02, seed: int = 0) -> float:
    """The share of gates that fail though both runs come from the same system: correlated scores, half of them 0 or 1."""
    random = np.random.default_rng(seed)
    described = [MetricInfo.declare(f"m{number}") for number in range(metrics)]
    checks = [Check("max-drop", metric.metric, limit) for metric in described]
    settings = Settings(resamples=500)
    failures = 0
    for _ in range(samples):
        difficulty = random.normal(size=(_GATE_ROWS, 1))
        runs = [_scores(difficulty, metrics, random) for _ in range(2)]
        before, after = ({metric.metric: _cells(run[:, at]) for at, metric in enumerate(described)} for run in runs)
        items = measure(described, before, after, settings)
        decided = judge_drops(checks, items, runs[1] - runs[0], None, settings, len(checks))
        failures += any(item.outcome == "fails" for item in decided)
    return failures / samples


def _scores(difficulty: np.ndarray, metrics: int, random: np.random.Generator) -> np.ndarray:
    """One run: rows differ in difficulty, answers in luck, and each metric adds noise of its own."""
    answer = difficulty + random.normal(size=difficulty.shape)
    scores = 1 / (1 + np.exp(-answer - random.normal(size=(len(difficulty), metrics))))
    return np.where(np.arange(metrics) % 2, scores, np.round(scores))


def _cells(values: np.ndarray) -> Scores:
    return Scores(values, np.zeros(len(values), dtype=np.int8))


def limits(size: int) -> tuple[float, float]:
    """The coverage that is allowed for a number of rows."""
    return (0.92, 0.98) if size == 10 else (0.93, 0.97)


def run(peers: bool) -> list[Result]:  # noqa: ARG001
    """One figure per shape and size, and the gate's false failures."""
    gates = [
        Result(
            f"gate of identical systems fails, {count} metrics", false_failures(count), "agreement", MOST_FALSE_FAILURES
        )
        for count in GATE_METRICS
    ]
    return gates + [
        Result(f"{name}, {size} rows", share, "agreement", limits(size)[1], at_least=limits(size)[0])
        for name, size, share in figures()
    ]
