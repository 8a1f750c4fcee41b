"""Ranked lists of ids, and who scores them: from Python strings to a list of values for each metric.

`python -m benchmarks.rankings WHO SHAPE ROWS` makes the lists and scores them once, to see how much memory that takes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from random import Random

Lists = tuple[list[list[str]], list[dict[str, int]]]
Values = dict[str, list[float]]

METRICS = ("mrr", "map", "ndcg@10", "precision@10", "recall@10")
IDS = 100
_JUDGED, _FOUND = 5, 3
_DOCUMENTS = 200_000
_SEED = 20_240_229
_THEIRS = dict(zip(METRICS, ("recip_rank", "map", "ndcg_cut_10", "P_10", "recall_10"), strict=True))
# How ids look: like hashes and numbers with leading zeros, or of any length. Each is a string of its own, as if read
# from a file; those of a pool are shared, as if a retriever had looked them up in its index.
SHAPES: dict[str, Callable[[int], str]] = {
    "ids of one length": lambda number: f"doc-{number:06d}-{number % 31:02d}",
    "ids of any length": lambda number: f"d{number * 7}",
    "ids of a pool": [f"doc-{number:06d}-{number % 31:02d}" for number in range(_DOCUMENTS)].__getitem__,
}


def make_lists(shape: str, rows: int) -> Lists:
    """A hundred retrieved ids a row, and grades for five, of which three are among them."""
    random = Random(_SEED)
    name = SHAPES[shape]
    retrieved, relevance = [], []
    for _ in range(rows):
        numbers = random.sample(range(_DOCUMENTS), IDS + _JUDGED - _FOUND)
        judged = [*random.sample(numbers[:IDS], _FOUND), *numbers[IDS:]]
        retrieved.append([name(number) for number in numbers[:IDS]])
        relevance.append({name(number): grade for number, grade in zip(judged, (1, 3, 0, 2, 1), strict=True)})
    return retrieved, relevance


def ragstone(lists: Lists) -> Values:
    """Ours."""
    from ragstone.engine.in_memory import score_rankings

    scores = score_rankings(*lists, METRICS)
    return {name: [value for value in column if value is not None] for name, column in scores.items()}


def samples(lists: Lists) -> Values:
    """Ours by the long way: sample objects, the samples table, one batch through the engine."""
    import asyncio

    from ragstone.data.dataset import samples_table
    from ragstone.data.types import Chunk, Sample
    from ragstone.engine.batch import evaluate_batch
    from ragstone.engine.plan import make_plan
    from ragstone.registry import resolve_metrics

    rows = [
        Sample(str(number), contexts=[Chunk("", name) for name in ids], relevance=dict(grades))
        for number, (ids, grades) in enumerate(zip(*lists, strict=True))
    ]
    batch = samples_table(rows).to_batches()[0]
    plan = make_plan(resolve_metrics(METRICS), ("contexts", "relevance"), {})
    found = asyncio.run(evaluate_batch(plan, batch, {}, asyncio.Semaphore(1)))
    return {name: cells.values.tolist() for name, cells in found.cells.items()}


def pytrec(lists: Lists) -> Values:
    """pytrec_eval: trec_eval's own C code, with the mappings that it wants."""
    grades = {str(number): judged for number, judged in enumerate(lists[1])}
    run = {str(number): {name: -float(rank) for rank, name in enumerate(ids)} for number, ids in enumerate(lists[0])}
    measures = {"recip_rank", "map", "ndcg_cut.10", "P.10", "recall.10"}
    found = import_module("pytrec_eval").RelevanceEvaluator(grades, measures).evaluate(run)
    return {ours: [found[query][theirs] for query in grades] for ours, theirs in _THEIRS.items()}


def nothing(lists: Lists) -> Values:  # noqa: ARG001
    """Only the lists."""
    return {}


def main(arguments: Sequence[str]) -> None:
    who, shape, rows = arguments
    {"ragstone": ragstone, "pytrec": pytrec, "nothing": nothing}[who](make_lists(shape, int(rows)))


if __name__ == "__main__":
    main(sys.argv[1:])
