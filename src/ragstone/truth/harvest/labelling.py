"""How far the signals of a log can be trusted: beside what people have labelled, and beside the ratings of the users themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragstone.errors import InputError, Problem
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.truth.harvest.index import Index, Judged, find_rows
from ragstone.truth.harvest.weighing import FEATURES

_IDS = ("response_id", "responseId", "answer_id", "sample_id", "id")
_LABELS = ("label", "good", "correct", "verdict")
_GOOD, _BAD = (
    {"good", "true", "1", "1.0", "yes", "right", "correct"},
    {"bad", "false", "0", "0.0", "-1", "no", "wrong", "incorrect"},
)
_RATINGS = ("like", "dislike")


@dataclass(frozen=True)
class Labelled:
    """Answers of a log that have a signal and that people have labelled."""

    features: np.ndarray
    good: np.ndarray
    # Labels without use: of answers that the log does not have, and of answers without a signal.
    unknown: int
    silent: int


def read_labels(path: str) -> dict[str, bool]:
    """Labels by answer; rows are `{response_id, label}`, and the later of two labels counts."""
    report, found = Report(), {}
    for row in Source(path).rows(report):
        answer, word = _first(row.values, _IDS), str(_first(row.values, _LABELS)).strip().lower()
        if answer is None or word not in _GOOD | _BAD:
            report.problem(row.where, f"needs the id of an answer, and a label that is good or bad; got {word!r}")
        else:
            found[str(answer)] = word in _GOOD
    report.raise_problems(path)
    if not found:
        raise InputError(
            path, [Problem("has no labels", hint='write rows such as {"response_id": "…", "label": "good"}')]
        )
    return found


def join_labels(labels: Mapping[str, bool], index: Index, judged: Judged) -> Labelled:
    """The labels beside the signals of the answers that they are about."""
    rows = find_rows(index, labels)
    good = np.array(list(labels.values()), dtype=bool)
    known = rows >= 0
    useful = known & judged.has_signal[rows]
    features = judged.features[rows[useful]].astype(float)
    return Labelled(features, good[useful], int((~known).sum()), int((known & ~useful).sum()))


@dataclass(frozen=True)
class Agreement:
    """Of the answers that have this signal and one rating, how many were liked."""

    liked: int
    rated: int


def agreement_with_ratings(judged: Judged) -> dict[str, Agreement]:
    """Every other signal beside the ratings of users: a first look at what it is worth, for nothing."""
    likes, dislikes = (judged.features[:, FEATURES.index(name)] > 0 for name in _RATINGS)
    rated = likes != dislikes
    found = {}
    for place, name in enumerate(FEATURES):
        here = rated & (judged.features[:, place] != 0)
        if name not in _RATINGS and here.any():
            found[name] = Agreement(int((here & likes).sum()), int(here.sum()))
    return found


def _first(row: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)
