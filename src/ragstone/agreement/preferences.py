"""Preferences between the answers of two systems, joined with the difference of their scores.

A row of the result is a pair: one sample, system A and system B. Labels and differences are positive if B is better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ragstone.agreement.labels import Joined, Label, comparable, name_some, rate, systems_by_name
from ragstone.engine.metric_choice import choose_metrics
from ragstone.errors import UnknownNameError, UsageError
from ragstone.formats.preferences import PairRow, is_paired, read_pair_rows
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.registry.expression import split_metrics
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import Run
from ragstone.storage.scores import read_ids, read_scores

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Preferences:
    """The rows of some files, with a label, scores or both."""

    source: str
    rows: tuple[PairRow, ...]


def read_preferences(
    sources: Sequence[Any], words: Mapping[str, float] | None = None, renames: Mapping[str, str] | None = None
) -> Preferences | None:
    """Read files or tables of pairs; None if they are not about pairs."""
    opened = [Source(source, {theirs: ours for ours, theirs in (renames or {}).items()}) for source in sources]
    paired = {is_paired(source): source for source in opened}
    if True not in paired:
        return None
    if False in paired:
        raise UsageError(f"{paired[True]} has labels of pairs and {paired[False]} has labels of answers; use one kind")
    rows: list[PairRow] = []
    for source in opened:
        report = Report()
        rows += read_pair_rows(source, words or {}, report)
        report.raise_problems(source.name)
    return Preferences(", ".join(source.name for source in opened), tuple(rows))


def join_preferences(
    runs: Sequence[Run], preferences: Preferences, metrics: Sequence[str] = (), annotators: Sequence[str] = ()
) -> Joined:
    """Join labels with the differences of scores: those of two or more runs, otherwise those of the files.

    `metrics` may name an annotator, such as a judge model, who is then compared with the others. `annotators` are patterns
    (`expert_*`) of the people whose labels count. Several labels of one annotator for a pair are averaged.
    """
    rows, lost = _find_systems(runs, preferences)
    asked, known = split_metrics(metrics), {row.annotator for row in rows if row.label is not None}
    judges = [name for name in asked if name in known]
    labels: dict[Key, dict[str | int, list[float]]] = {}
    scores: dict[str, dict[Key, float]] = {}
    for row in rows:
        key, is_judge = (row.sample_id, str(row.system_a), str(row.system_b)), row.annotator in judges
        for name, value in ({str(row.annotator): row.label} if is_judge else row.scores).items():
            scores.setdefault(name, {})[key] = np.nan if value is None else value
        counts = not annotators or any(fnmatchcase(row.annotator or "", pattern) for pattern in annotators)
        if row.label is not None and counts and not is_judge:
            mine = labels.setdefault(key, {})
            mine.setdefault(row.annotator or len(mine), []).append(row.label)
    if not labels:
        reason = "; ".join(lost) or "fill in the column label, or name another: --map label=THEIRS"
        raise UsageError(f"{preferences.source} has no label that can be used: {reason}")
    rest = [name for name in asked if name not in judges]
    if runs and (rest or not judges):
        found, differing = comparable(runs, choose_metrics(runs, rest))
        scores |= _subtract_scores(runs, [metric.metric for metric in found], list(labels))
        lost += differing
    else:
        found = [_declare(name) for name in _choose(preferences.source, rest, judges, scores)]
    return _make_joined(
        runs, labels, [*map(_declare, judges), *found], scores, lost, {row.sample_id: row.input for row in rows}
    )


def _make_joined(
    runs: Sequence[Run],
    labels: Mapping[Key, Mapping[str | int, Sequence[float]]],
    metrics: Sequence[MetricInfo],
    scores: Mapping[str, Mapping[Key, float]],
    remarks: Sequence[str],
    inputs: Mapping[str, str],
) -> Joined:
    pairs, means = (
        tuple(labels),
        [{who: float(np.mean(some)) for who, some in mine.items()} for mine in labels.values()],
    )
    given = [
        [Label("", one, None, who if isinstance(who, str) else None) for who, one in mine.items()] for mine in means
    ]
    ratings, annotators = rate(given)
    better = [side for side, some in (("A", ratings < 0), ("B", ratings > 0)) if not some.any()]
    scale = "numbers below 0 mean that A is better, above 0 that B is better"
    return Joined(
        runs=tuple(runs),
        metrics=tuple(metrics),
        systems=np.unique(["\0".join(pair[1:]) for pair in pairs], return_inverse=True)[1],
        places=np.arange(len(pairs)),
        inputs=np.unique([inputs[pair[0]] for pair in pairs], return_inverse=True)[1],
        ratings=ratings,
        annotators=annotators,
        rounds=np.zeros(len(pairs), dtype=np.int64),
        chances=np.full(len(pairs), np.nan),
        scores={one.metric: np.array([scores[one.metric].get(pair, np.nan) for pair in pairs]) for one in metrics},
        everything={},
        remarks=(*remarks, *(f"no label says that {side} is better; {scale}" for side in better)),
        pairs=pairs,
    )


def _find_systems(runs: Sequence[Run], preferences: Preferences) -> tuple[list[PairRow], list[str]]:
    """The rows whose answers are in the runs, each pair in one order, and remarks about the others."""
    if len(runs) == 1:
        raise UsageError("a preference compares two systems: name the runs of both, as in `ragstone agree OLD NEW`")
    known, ids = systems_by_name(runs), [set(read_ids(run)) for run in runs]
    rows: list[PairRow] = []
    lost: list[str] = []
    first: dict[tuple[str, frozenset[str]], str] = {}
    for row in preferences.rows:
        one, other = row.system_a, row.system_b
        if one is None or other is None:
            if len(runs) != 2:
                raise UsageError("the labels do not name system_a and system_b: add them, or name two runs (A, then B)")
            one, other = (run.id for run in runs)
        if runs and not (one in known and other in known):
            lost += [name for name in (one, other) if name not in known]
        elif runs and not (row.sample_id in ids[known[one]] and row.sample_id in ids[known[other]]):
            lost.append(f"sample {row.sample_id}")
        else:
            one, other = (runs[known[name]].id if runs else name for name in (one, other))
            swap = first.setdefault((row.sample_id, frozenset((one, other))), one) != one
            sign = -1 if swap else 1
            label = None if row.label is None else sign * row.label
            scores = {name: sign * value for name, value in row.scores.items()}
            one, other = (other, one) if swap else (one, other)
            rows.append(row._replace(system_a=one, system_b=other, label=label, scores=scores))
    return rows, [f"{len(lost)} labels are for what these runs do not have: {name_some(lost)}"] if lost else []


def _declare(name: str) -> MetricInfo:
    return MetricInfo.declare(name, bounds=(None, None))


def _choose(source: str, asked: Sequence[str], judges: Sequence[str], scores: Mapping[str, Any]) -> Sequence[str]:
    """The names of the scores in the files: those asked for, otherwise all."""
    for name in asked:
        if name not in scores:
            raise UnknownNameError(
                "score or annotator", name, scores, f"{source} has {', '.join(scores) or 'no scores'}."
            )
    if not scores:
        raise UsageError(
            f"{source} has no scores (f1_a and f1_b): name the runs of both systems, or an annotator with -m"
        )
    return asked or ([] if judges else list(scores))


def _subtract_scores(runs: Sequence[Run], names: Sequence[str], pairs: Sequence[Key]) -> dict[str, dict[Key, float]]:
    """For each metric the score of B minus that of A."""
    known, cells = systems_by_name(runs), [read_scores(run, names) for run in runs]
    rows = [{sample: row for row, sample in enumerate(read_ids(run))} for run in runs]
    differences: dict[str, dict[Key, float]] = {name: {} for name in names}
    for sample, one, other in pairs:
        for name, found in differences.items():
            ours, theirs = (cells[run][name].values[rows[run][sample]] for run in (known[one], known[other]))
            found[sample, one, other] = float(theirs - ours)
    return differences
