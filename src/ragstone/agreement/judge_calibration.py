"""Calibrates a judge by the exam or by human labels, and stores the result for later runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ragstone.agreement.labels import Joined
from ragstone.data.signature import Signature
from ragstone.errors import UsageError
from ragstone.stats.judge_error import LEAST_LABELLED, JudgeError
from ragstone.stats.platt import LEAST_PAIRS, PlattFit
from ragstone.storage.run_info import MetricInfo
from ragstone.tools.calibrations import EXAM, LABELS, MATCH, SUPPORT, store_error, store_map
from ragstone.tools.judge_exam import VERDICTS, Answer

# What the levels of a judge are assumed to differ by on other data. The local judge's differ by 0.02 to 0.07 between domains;
# the items of the exam are short and clear.
BETWEEN_LABELS, BETWEEN_EXAM = 0.05, 0.1
_MATCH_METRIC, _CALIBRATED = "answer_match", ";calibrated="

_NO_LEVELS = f"no levels: it needs {LEAST_LABELLED} accepted and {LEAST_LABELLED} refused inputs, and higher values for accepted ones"


@dataclass(frozen=True)
class Calibrated:
    """The measurement of one kind of value. `fit` is None for values that are not probabilities of tokens."""

    what: str
    pairs: int
    accepted: int
    fit: PlattFit | None = None
    error: JudgeError | None = None
    why_not: str = ""

    @property
    def is_mapped(self) -> bool:
        """Whether later runs calibrate the probabilities."""
        return self.fit is not None and self.fit.improves

    @classmethod
    def by_exam(cls, answers: Iterable[Answer], tokens: Any, later: Sequence[Any]) -> Self:
        """Calibrate the verdicts of a judge on claims.

        `tokens` is the uncalibrated checker that answered by tokens, None if the answers came as JSON. `later` opens the checkers
        of later runs, which have the calibration in their signatures.
        """
        rows = [
            (likely, truth, answer.text, answer.task == VERDICTS)
            for answer in answers
            for likely, truth in answer.pairs
        ]
        values = np.array([row[0] for row in rows])
        truth, alone = (np.array([row[at] for row in rows], dtype=bool) for at in (1, 3))
        groups = np.array([row[2] for row in rows])
        fit = None
        if tokens is not None:
            fit = PlattFit.measure(values, truth, groups, is_balanced=True)
            found = fit.map if fit and fit.improves else None
            store_map(SUPPORT, tokens.uncalibrated, tokens.prompt_hash("verdicts"), found, EXAM)
            values = fit.held_out if fit and found else values
        error = JudgeError.from_labels(values[alone], truth[alone], groups[alone], BETWEEN_EXAM)
        for open_checker in later:
            checker = open_checker()
            store_error(checker.signature, error, EXAM, checker.prompt_hash("verdicts"))
        return cls("claims", len(rows), int(truth.sum()), fit, error, "" if error else _NO_LEVELS)

    @classmethod
    def by_labels(cls, joined: Joined) -> list[Self]:
        """Measure every metric of a judge at the labelled rows. Rows chosen by `--label-next` do not count: they are not random."""
        said = joined.ratings[~np.isnan(joined.ratings)]
        if not len(said) or not np.isin(said, (0.0, 1.0)).all():
            raise UsageError("--calibrate needs labels of yes and no (1 and 0)")
        judged = [metric for metric in joined.metrics if _is_judged(metric)]
        if not judged:
            raise UsageError("--calibrate needs a metric from 0 to 1 of a judge, such as answer_match with --judge")
        return [found for metric in judged for found in cls._of_metric(joined, metric)]

    @classmethod
    def _of_metric(cls, joined: Joined, metric: MetricInfo) -> Iterator[Self]:
        scores, labels = joined.scores[metric.metric], joined.labels
        rows = ~np.isnan(scores) & (labels != 0.5) & (joined.rounds == 0)
        values, accepted, groups = scores[rows], labels[rows] > 0.5, joined.inputs[rows]
        if not len(values):
            return
        error = JudgeError.from_labels(values, accepted, groups, BETWEEN_LABELS)
        store_error(str(metric.signature), error, LABELS)
        fit = _fit_match(joined, metric, values, accepted, groups)
        if fit and not fit.improves:
            store_map(MATCH, *_judge_of(joined), None, LABELS)
        if fit and fit.improves:
            key = _judge_of(joined)
            store_map(MATCH, *key, fit.map, LABELS)
            error = JudgeError.from_labels(fit.held_out, accepted, groups, BETWEEN_LABELS)
            store_error(_calibrated_signature(metric.signature, f"{MATCH}/{fit.map}"), error, LABELS)
        why_not = "" if error else _NO_LEVELS
        yield cls(metric.metric, len(values), int(accepted.sum()), fit, error, why_not)


def _is_judged(metric: MetricInfo) -> bool:
    by_judge = bool(metric.signature.llms) or metric.signature.is_local
    return by_judge and metric.bounds == (0.0, 1.0) and metric.better == "higher"


def _fit_match(
    joined: Joined, metric: MetricInfo, values: np.ndarray, accepted: np.ndarray, groups: np.ndarray
) -> PlattFit | None:
    """The calibration of answer_match, if its values are token probabilities that are not calibrated yet."""
    tool = metric.signature.tools.get("grader")
    is_plain = tool is not None and f"{MATCH}/" not in str(tool).partition(_CALIBRATED)[2]
    between = (values > 0) & (values < 1)
    if metric.metric != _MATCH_METRIC or not is_plain or not all(_judge_of(joined)) or between.sum() < LEAST_PAIRS:
        return None
    return PlattFit.measure(values, accepted.astype(float), groups)


def _judge_of(joined: Joined) -> tuple[str, str]:
    """The signature of the judge that matched answers by tokens, and of its prompts; empty without one."""
    stored = (joined.runs[0].info.raw.get("token_judges") or {}).get(MATCH) or {}
    return str(stored.get("judge", "")), str(stored.get("prompts", ""))


def _calibrated_signature(signature: Signature, part: str) -> str:
    """The signature of the same metric with the calibrated judge."""
    tool = str(signature.tools["grader"])
    judge, _, others = tool.partition(_CALIBRATED)
    return str(signature).replace(
        f"grader:{tool}", f"grader:{judge}{_CALIBRATED}{'+'.join(filter(None, [part, others]))}"
    )
