"""Which answers are held against each other: the same question, two systems, as rows that can be evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ragstone.data.types import Chunk, Sample
from ragstone.errors import UsageError
from ragstone.evidence.pairs import OTHER_ANSWER, SHOW_REFERENCE
from ragstone.storage.runs import Run

# So many systems meet each other on every question; of more only some pairs do, or the calls would grow with their square.
MOST_ALL = 3
# What a row says about itself.
QUESTION, ONE, OTHER = "pair_sample", "pair_one", "pair_other"


@dataclass(frozen=True)
class Pairing:
    """Rows for a judge of pairs, the systems' names, and what could not be paired."""

    rows: list[dict[str, Any]]
    systems: tuple[str, ...]
    questions: int
    # Questions that not all systems have, or that one of them left without an answer; ids under which they were asked different ones.
    left_out: int
    # Questions without a reference, where references were to be shown.
    bare: int = 0


def pair_runs(
    runs: Sequence[Run], with_reference: bool = False, every_pair: bool = False, limit: int | None = None, seed: int = 0
) -> Pairing:
    """Every question that all systems answered: each pair of systems where there are few, else each system once a question."""
    systems = name_systems(runs)
    answers = [{sample.id: sample for sample in run.samples} for run in runs]
    shared = [name for name in answers[0] if _can_be_paired([found.get(name) for found in answers])]
    everybody = len({name for found in answers for name in found})
    if not shared:
        raise UsageError(
            "these runs have no question in common that all of them answered; they are paired by the id of the sample, "
            "under which all must have been asked the same"
        )
    chosen = shared[:limit]
    bare = sum(not any(found[name].references for found in answers) for name in chosen) if with_reference else 0
    if bare == len(chosen):
        raise UsageError("these runs have no references that could be shown; leave out --with-reference")
    pairs = _schedule(len(runs), len(chosen), every_pair or len(runs) <= MOST_ALL, seed)
    rows = [
        _row(answers[one][name], answers[other][name], (systems[one], systems[other]), with_reference, len(runs) > 2)
        for name, meetings in zip(chosen, pairs, strict=True)
        for one, other in meetings
    ]
    return Pairing(rows, systems, len(chosen), everybody - len(shared), bare)


def _can_be_paired(samples: Sequence[Sample | None]) -> bool:
    """Whether all have the sample, asked the same and answered."""
    questions = {(sample.question or "").strip() for sample in samples if sample and sample.answer is not None}
    return len(questions) == 1 and all(sample and sample.answer is not None for sample in samples)


def name_systems(runs: Sequence[Run]) -> tuple[str, ...]:
    """A name for each run: the user's where they differ, else with its id."""
    paths, names = [run.path for run in runs], [run.name for run in runs]
    if twice := [path for path in paths if paths.count(path) > 1]:
        raise UsageError(f"the run {twice[0]} is named twice; a system cannot be held against itself")
    return tuple(
        run.name if names.count(run.name) == 1 else f"{run.name} ({run.id})" if run.name != run.id else run.id
        for run in runs
    )


def _schedule(systems: int, questions: int, every_pair: bool, seed: int) -> Iterator[list[tuple[int, int]]]:
    """Who meets whom on each question.

    Rounds of a tournament in which everybody plays once a round, and every pair meets equally often over all rounds.
    """
    everyone = list(combinations(range(systems), 2))
    rounds = _rounds(systems)
    order = np.random.default_rng(seed).permutation(questions)
    for place in order:
        yield everyone if every_pair else rounds[place % len(rounds)]


def _rounds(systems: int) -> list[list[tuple[int, int]]]:
    """The circle method: one stands still, the others move on by one; with an odd number one pauses each round."""
    circle: list[int | None] = [*range(systems), *([None] if systems % 2 else [])]
    rounds = []
    for _ in range(len(circle) - 1):
        half = len(circle) // 2
        met = zip(circle[:half], reversed(circle[half:]), strict=True)
        rounds.append(
            [(min(one, other), max(one, other)) for one, other in met if one is not None and other is not None]
        )
        circle = [circle[0], circle[-1], *circle[1:-1]]
    return rounds


def _row(one: Sample, other: Sample, names: tuple[str, str], with_reference: bool, several: bool) -> dict[str, Any]:
    chunks = {chunk.text: chunk for sample in (one, other) for chunk in sample.contexts or ()}
    references = one.references or other.references
    row: dict[str, Any] = {
        "id": f"{one.id}/{names[0]}/{names[1]}" if several else one.id,
        "question": one.question,
        "answer": one.answer,
        "contexts": [_as_dict(chunk) for chunk in chunks.values()],
        "references": references,
        "metadata": {
            **one.metadata,
            QUESTION: one.id,
            ONE: names[0],
            OTHER: names[1],
            OTHER_ANSWER: other.answer,
            SHOW_REFERENCE: bool(with_reference and references),
        },
    }
    return {name: value for name, value in row.items() if value is not None}


def _as_dict(chunk: Chunk) -> dict[str, Any]:
    return {"text": chunk.text, "id": chunk.id, "source": chunk.source}
