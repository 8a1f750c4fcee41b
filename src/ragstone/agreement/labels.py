"""Human labels from a CSV, JSONL or Parquet file, joined with the scores of runs.

Each label is for one sample of one system by one annotator. Labels without a matching row are reported.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ragstone.engine.metric_choice import choose_metrics
from ragstone.errors import InputError, Problem, UnknownNameError, UsageError
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.stats.correlation import Scored
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import Run
from ragstone.storage.scores import read_ids, read_scores

# Common label words; the user can define others.
WORDS: Mapping[str, float] = {
    word: value
    for value, words in (
        (1.0, ("yes", "y", "good", "true", "right", "correct", "pass", "passed")),
        (0.0, ("no", "n", "bad", "false", "wrong", "incorrect", "fail", "failed")),
    )
    for word in words
}


# The round of a label whose row was not drawn, in a file and as a number: estimated means leave it out.
BY_HAND, NOT_DRAWN = "none", -1


@dataclass(frozen=True)
class Label:
    """One label; for rows selected by `--label-next` also the round and the selection probability."""

    sample_id: str
    value: float
    system: str | None = None
    annotator: str | None = None
    chance: float | None = None
    round: int = 0


@dataclass(frozen=True)
class Labels:
    """All labels of a file, and the number of rows without a label, in total and per round."""

    source: str
    labels: tuple[Label, ...]
    empty: int
    pending: Mapping[int, int] = field(default_factory=dict)


def read_human(
    source: str | os.PathLike[str] | Any,
    words: Mapping[str, float] | None = None,
    renames: Mapping[str, str] | None = None,
) -> Labels:
    """Read the labels of a file or table; `words` maps words such as 'ok' to numbers, `renames` maps column names."""
    opened = Source(source, {theirs: ours for ours, theirs in (renames or {}).items()})
    _check_columns(opened, renames or {})
    worth = {word.casefold(): value for word, value in {**WORDS, **(words or {})}.items()}
    report, found, empty = Report(), [], []
    for row in opened.rows(report):
        label = _read_row(row.values, row.where, worth, report)
        if label is None:
            empty.append(_round(row.values))
        else:
            found.append(label)
    report.raise_problems(opened.name)
    _check_twice(opened.name, found)
    return Labels(opened.name, tuple(found), len(empty), {number: empty.count(number) for number in set(empty) - {0}})


def read_labels(files: Sequence[str], values: Sequence[str], renames: Mapping[str, str]) -> Labels:
    """Read and merge the labels of several files; `values` defines words as `ok=0.5`."""
    return merge_labels([read_human(file, parse_words(values), renames) for file in files])


def merge_labels(parts: Sequence[Labels]) -> Labels:
    """Merge the labels of several files."""
    labels = [label for part in parts for label in part.labels]
    source = ", ".join(part.source for part in parts)
    _check_twice(source, labels)
    pending: Counter[int] = Counter()
    for part in parts:
        pending.update(part.pending)
    return Labels(source, tuple(labels), sum(part.empty for part in parts), pending)


def _check_columns(source: Source, renames: Mapping[str, str]) -> None:
    for name in ("sample_id", "label"):
        if renames.get(name, name) not in source.columns:
            raise UnknownNameError(
                "column",
                renames.get(name, name),
                source.columns,
                f"{source.name} has {', '.join(sorted(source.columns))}; it needs sample_id and label, for several runs "
                f"also system. Map other names: --map {name}=THEIRS.",
            )


def _read_row(row: Mapping[str, Any], where: str, worth: Mapping[str, float], report: Report) -> Label | None:
    sample, cell = _text(row.get("sample_id")), row.get("label")
    if _text(cell) is None:
        return None
    if sample is None:
        report.problem(where, "is empty", "sample_id", "name the sample that the label is for")
        return None
    value, chance = _number(cell, worth), _number(row.get("chance"), {})
    if value is None:
        hint = f"a number, or one of {', '.join(worth)}; define other words with --value {cell}=0.5"
        report.problem(where, f"cannot be read: {cell!r}", "label", hint)
        return None
    if chance is not None and not 0 < chance <= 1:
        report.problem(where, f"must be above 0 and at most 1, got {chance}", "chance", "do not edit this column")
        return None
    return Label(sample, value, _text(row.get("system")), _text(row.get("annotator")), chance, _round(row))


def _round(row: Mapping[str, Any]) -> int:
    """The round in which a row was selected; 0 if it has no selection probability."""
    if _text(row.get("round")) == BY_HAND:
        return NOT_DRAWN
    number = _number(row.get("round"), {})
    return 0 if _text(row.get("chance")) is None else int(number) if number is not None and number >= 1 else 1


def _text(cell: Any) -> str | None:
    text = "" if cell is None else str(cell).strip()
    return None if not text or text == "nan" else text


def _number(cell: Any, worth: Mapping[str, float]) -> float | None:
    text = _text(cell)
    if text is None:
        return None
    if text.casefold() in worth:
        return worth[text.casefold()]
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def _check_twice(source: str, labels: list[Label]) -> None:
    """An error if an annotator has labelled a row twice."""
    seen: set[tuple[str | None, str, str]] = set()
    problems = []
    for label in labels:
        key = (label.system, label.sample_id, label.annotator or "")
        if label.annotator is not None and key in seen:
            of = f" of {label.system}" if label.system else ""
            problems.append(Problem(f"{label.annotator} has labelled sample {label.sample_id}{of} twice"))
        seen.add(key)
    if problems:
        raise InputError(source, problems)


def parse_words(pairs: Sequence[str]) -> dict[str, float]:
    """Parse `ok=0.5` pairs."""
    words = {}
    for pair in pairs:
        word, _, text = pair.rpartition("=")
        value = _number(text, {})
        if not word.strip() or value is None:
            raise UsageError(f"--value {pair}: write it as WORD=NUMBER, for instance --value ok=0.5")
        words[word.strip()] = value
    return words


_MOST_NAMED = 3


@dataclass(frozen=True)
class Joined:
    """The labelled rows of some runs: the ratings, and the scores of every metric (nan if missing)."""

    runs: tuple[Run, ...]
    metrics: tuple[MetricInfo, ...]
    # One row per labelled answer: its run, its row in that run, and its input.
    systems: np.ndarray
    places: np.ndarray
    inputs: np.ndarray
    # One column per annotator, nan without a rating; the label is the mean.
    ratings: np.ndarray
    annotators: tuple[str, ...]
    # The round in which each row was selected, and the probability (nan in round 0, which is uniform).
    rounds: np.ndarray
    chances: np.ndarray
    scores: Mapping[str, np.ndarray]
    # All scores of all runs, run by run, labelled or not.
    everything: Mapping[str, tuple[np.ndarray, ...]]
    remarks: tuple[str, ...]
    # For preferences, the sample and the two systems of each row; labels and scores are of B, minus those of A.
    pairs: tuple[tuple[str, str, str], ...] = ()

    @property
    def labels(self) -> np.ndarray:
        """The mean rating of each row."""
        return np.asarray(np.nanmean(self.ratings, axis=1))

    def scored(self, metric: str, turned: bool = False, each: bool = False) -> Scored:
        """The labelled rows with a score of this metric, or `each` of their labels; negated if lower is better."""
        scores = self.scores[metric] * (-1 if turned else 1)
        rows = Scored(scores, self.labels, self.inputs, self.systems)
        if each:
            places, columns = np.nonzero(~np.isnan(self.ratings))
            rows = rows.take(places)._replace(labels=self.ratings[places, columns])
        return rows.take(~np.isnan(rows.scores))


def join(runs: Sequence[Run], labels: Labels, metrics: Sequence[str] = ()) -> Joined:
    """Join labels with the scores of these metrics (by default all common metrics); there may be no labels yet."""
    chosen, differing = comparable(runs, choose_metrics(runs, metrics))
    placed, lost = _place(runs, labels)
    if labels.labels and not placed:
        raise UsageError(f"{labels.source}: no label matches a sample of these runs: {'; '.join(lost)}")
    keys = list(placed)
    names = [metric.metric for metric in chosen]
    cells = [read_scores(run, names) for run in runs]
    systems, places = np.array(keys, dtype=np.int64).reshape(-1, 2).T
    ratings, annotators = rate(list(placed.values()))
    ids = [read_ids(run) for run in runs]
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


def comparable(runs: Sequence[Run], metrics: Sequence[MetricInfo]) -> tuple[list[MetricInfo], list[str]]:
    """The metrics with the same signature in all runs, and a remark about the others."""
    signatures = [{metric.metric: metric.signature for metric in run.info.metrics} for run in runs]
    mixed = [metric.metric for metric in metrics if len({side[metric.metric] for side in signatures}) > 1]
    able = [metric for metric in metrics if metric.metric not in mixed]
    if not able:
        raise UsageError(
            f"the signatures of {name_some(mixed)} differ between these runs (for example another judge or version), so their "
            "scores cannot be combined. Use one run, or evaluate the runs in the same way."
        )
    return able, [f"left out, because the signatures differ between the runs: {', '.join(mixed)}"] if mixed else []


def _place(runs: Sequence[Run], labels: Labels) -> tuple[dict[tuple[int, int], list[Label]], list[str]]:
    """The labels by run and row, and remarks about labels without a row."""
    known = systems_by_name(runs)
    rows = [{name: place for place, name in enumerate(read_ids(run))} for run in runs]
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
    lost = [f"{count} labels are for '{name}', which is not one of these runs" for name, count in systems.items()]
    if samples:
        lost.append(f"{len(samples)} labels are for samples that their run does not have: {name_some(samples)}")
    return dict(sorted(placed.items())), lost


def systems_by_name(runs: Sequence[Run]) -> dict[str, int]:
    """The runs by id, and by name if the name is unique."""
    names = [run.name for run in runs]
    known = {run.name: place for place, run in enumerate(runs) if names.count(run.name) == 1}
    return known | {run.id: place for place, run in enumerate(runs)}


def _system(label: Label, known: Mapping[str, int], runs: Sequence[Run]) -> int | None:
    if label.system is not None:
        return known.get(label.system)
    if len(runs) == 1:
        return 0
    raise UsageError(
        f"the labels have no system, and there are {len(runs)} runs. Add a column system with "
        f"{' or '.join(run.name for run in runs)}, or use one run."
    )


def rate(given: Sequence[Sequence[Label]]) -> tuple[np.ndarray, tuple[str, ...]]:
    """One column per annotator; labels without an annotator fill extra columns in order."""
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
    """The probability that each row was labelled: lower than its selection probability if a round is incomplete."""
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
        yield "estimates assume that the rows of a round are labelled from the top"


def name_some(names: Sequence[str]) -> str:
    """The first names and the number of others."""
    few = list(dict.fromkeys(names))
    more = f" and {len(few) - _MOST_NAMED} more" if len(few) > _MOST_NAMED else ""
    return ", ".join(few[:_MOST_NAMED]) + more
