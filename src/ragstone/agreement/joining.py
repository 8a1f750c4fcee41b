"""Labels beside scores: each label finds its row in its run, and what finds none is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragstone.agreement.human import Label, Labels
from ragstone.engine.chosen import choose_metrics
from ragstone.errors import UsageError
from ragstone.stats.levels import Scored
from ragstone.storage.runs import Run, read_table
from ragstone.storage.scores import read_scores

_MOST_NAMED = 3


@dataclass(frozen=True)
class Joined:
    """The labelled rows of some runs: who said what, and every metric's score (nan where it has none)."""

    runs: tuple[Run, ...]
    metrics: tuple[Mapping[str, Any], ...]
    # A row a labelled answer: its run, its place in that run, the input that it answers.
    systems: np.ndarray
    places: np.ndarray
    inputs: np.ndarray
    # A column an annotator, nan where somebody said nothing; the label is their mean.
    ratings: np.ndarray
    annotators: tuple[str, ...]
    # The round in which each row was picked for labelling, and how likely it was to be (nan in round 0, which is even).
    rounds: np.ndarray
    chances: np.ndarray
    scores: Mapping[str, np.ndarray]
    # All scores of all runs, run by run, labelled or not.
    everything: Mapping[str, tuple[np.ndarray, ...]]
    remarks: tuple[str, ...]

    @property
    def labels(self) -> np.ndarray:
        """The mean of what people said of each row."""
        return np.asarray(np.nanmean(self.ratings, axis=1))

    def scored(self, metric: str, turned: bool = False) -> Scored:
        """The labelled rows that this metric has scored; turned round where lower is better."""
        there = ~np.isnan(self.scores[metric])
        return Scored(self.scores[metric] * (-1 if turned else 1), self.labels, self.inputs, self.systems).take(there)


def join(runs: Sequence[Run], labels: Labels, metrics: Sequence[str] = ()) -> Joined:
    """Put the labels beside the scores of these metrics (all that the runs share by default); there may be none yet."""
    chosen, differing = _comparable(runs, choose_metrics(runs, metrics))
    placed, lost = _place(runs, labels)
    if labels.labels and not placed:
        raise UsageError(f"{labels.source}: no label belongs to a sample of these runs: {'; '.join(lost)}")
    keys = list(placed)
    names = [metric["metric"] for metric in chosen]
    cells = [read_scores(run, names) for run in runs]
    systems, places = np.array(keys, dtype=np.int64).reshape(-1, 2).T
    ratings, annotators = _rate(list(placed.values()))
    ids = [_ids(run) for run in runs]
    inputs = np.array([ids[system][place] for system, place in keys], dtype=object)
    return Joined(
        runs=tuple(runs),
        metrics=tuple(chosen),
        systems=systems,
        places=places,
        inputs=np.unique(inputs.astype(str), return_inverse=True)[1],
        ratings=ratings,
        annotators=annotators,
        rounds=np.array([given[0].round for given in placed.values()]),
        chances=_chances(list(placed.values()), labels.pending),
        scores={name: np.array([cells[system][name].values[place] for system, place in keys]) for name in names},
        everything={name: tuple(side[name].values for side in cells) for name in names},
        remarks=(*_count(runs, labels, placed), *lost, *differing),
    )


def _comparable(runs: Sequence[Run], metrics: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], list[str]]:
    """The metrics that all runs made in the same way, and which were not."""
    signatures = [{metric["metric"]: metric["signature"] for metric in run.info["metrics"]} for run in runs]
    mixed = [metric["metric"] for metric in metrics if len({side[metric["metric"]] for side in signatures}) > 1]
    able = [metric for metric in metrics if metric["metric"] not in mixed]
    if not able:
        raise UsageError(
            f"these runs made {_some(mixed)} in different ways (another judge or version, say), so that their scores "
            "cannot be put together. Ask about one run, or evaluate them alike."
        )
    return able, [f"left out, made in different ways by these runs: {', '.join(mixed)}"] if mixed else []


def _place(runs: Sequence[Run], labels: Labels) -> tuple[dict[tuple[int, int], list[Label]], list[str]]:
    """The labels by run and row, and what could not be placed."""
    known = _names(runs)
    rows = [{name: place for place, name in enumerate(_ids(run))} for run in runs]
    placed: dict[tuple[int, int], list[Label]] = {}
    systems: dict[str, int] = {}
    samples: list[str] = []
    for label in labels.labels:
        system = _system(label, known, runs)
        place = None if system is None else rows[system].get(label.sample_id)
        if system is None:
            systems[str(label.system)] = systems.get(str(label.system), 0) + 1
        elif place is None:
            samples.append(label.sample_id)
        else:
            placed.setdefault((system, place), []).append(label)
    lost = [f"{count} labels are for '{name}', which is none of these runs" for name, count in systems.items()]
    if samples:
        lost.append(f"{len(samples)} labels are for samples that their run does not have: {_some(samples)}")
    return dict(sorted(placed.items())), lost


def _names(runs: Sequence[Run]) -> dict[str, int]:
    """What a run answers to: its id, and its name where it is the only one of that name."""
    names = [run.name for run in runs]
    known = {run.name: place for place, run in enumerate(runs) if names.count(run.name) == 1}
    return known | {run.id: place for place, run in enumerate(runs)}


def _system(label: Label, known: Mapping[str, int], runs: Sequence[Run]) -> int | None:
    if label.system is not None:
        return known.get(label.system)
    if len(runs) == 1:
        return 0
    raise UsageError(
        f"the labels do not say which system they are for, and there are {len(runs)} runs. Add a column system with "
        f"{' or '.join(run.name for run in runs)}, or ask about one run."
    )


def _ids(run: Run) -> list[str]:
    return [str(name) for name in read_table(run.folder.samples, ["id"])["id"].to_pylist()]


def _rate(given: Sequence[Sequence[Label]]) -> tuple[np.ndarray, tuple[str, ...]]:
    """A column an annotator; labels without a name fill columns of their own in their order."""
    named = dict.fromkeys(label.annotator for labels in given for label in labels if label.annotator is not None)
    unnamed = max((sum(label.annotator is None for label in labels) for labels in given), default=0)
    columns: dict[Any, int] = {name: place for place, name in enumerate([*named, *range(unnamed)])}
    table = np.full((len(given), len(columns)), np.nan)
    for row, labels in enumerate(given):
        nameless = 0
        for label in labels:
            key: Any = nameless if label.annotator is None else label.annotator
            nameless += label.annotator is None
            table[row, columns[key]] = label.value
    return table, tuple(name if isinstance(name, str) else f"annotator {name + 1}" for name in columns)


def _chances(given: Sequence[Sequence[Label]], pending: Mapping[int, int]) -> np.ndarray:
    """How likely each row was to be labelled: less than to be picked, where part of a round is still to do."""
    rounds = [labels[0].round for labels in given]
    done = {number: rounds.count(number) / (rounds.count(number) + pending.get(number, 0)) for number in set(rounds)}
    found = [(labels[0].chance, labels[0].round) for labels in given]
    return np.array([np.nan if chance is None else chance * done[number] for chance, number in found])


def _count(runs: Sequence[Run], labels: Labels, placed: Mapping[tuple[int, int], Any]) -> Iterator[str]:
    for place, run in enumerate(runs):
        if not any(system == place for system, _ in placed):
            yield f"{run.name} has no labels"
    if labels.empty:
        yield f"{labels.empty} rows of {labels.source} have no label yet"
    if any(labels.pending.values()):
        yield "estimates take it that the rows of a round are labelled from the top"


def _some(names: Sequence[str]) -> str:
    few = list(dict.fromkeys(names))
    more = f" and {len(few) - _MOST_NAMED} more" if len(few) > _MOST_NAMED else ""
    return ", ".join(few[:_MOST_NAMED]) + more
