"""Measurements of judges: the calibration of their probabilities, and their levels on accepted and refused rows.

`ragstone judge-check` and `ragstone agree` measure with `--calibrate`. The records are in the cache of replies, by the
signature of the judge and the hashes of its prompts, or by the signature of a metric.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.llm.cache import make_key, open_cache
from ragstone.stats.judge_error import JudgeError
from ragstone.stats.logit import Platt

# What a probability is about: a claim and its evidence, or an answer and its reference.
SUPPORT, MATCH = "support", "match"
_VERSION = 1
# Means of single claims against one text, which the exam measures. Claims in several chunks are easier to support.
CLAIM_MEANS = ("ragchecker.precision", "ragchecker.recall")
EXAM, LABELS = "the exam", "labels"


class Calibrations:
    """The records that one run uses. Each is read once, so that all tools of a run agree.

    `known` is False to use none, or the records of another process, in place of those in the cache.
    """

    def __init__(self, known: bool | Mapping[str, Any] | None = True) -> None:
        self.records: dict[str, Any] = dict(known) if isinstance(known, Mapping) else {}
        self._reads_cache = known is True or known is None

    def map_for(self, task: str, judge: str, prompts: str) -> Platt | None:
        """How the probabilities of a judge are calibrated; `judge` is its signature without calibration."""
        record = self._read(_map_key(task, judge, prompts))
        try:
            return Platt(float(record["slope"]), float(record["intercept"])) if record else None
        except (KeyError, TypeError, ValueError):
            return None

    def error_of(self, metric: str, signature: str, checker: Any) -> dict[str, Any] | None:
        """The measured levels behind a metric: by labels of the same signature, otherwise of its claims by the exam."""
        records = [self._read(_error_key(signature))]
        if metric in CLAIM_MEANS and hasattr(checker, "prompt_hash"):
            records.append(self._read(_error_key(checker.signature, checker.prompt_hash("verdicts"))))
        for record in filter(None, records):
            try:
                return {**JudgeError.from_json(record).as_dict(), "source": str(record["source"])}
            except (KeyError, TypeError, ValueError):
                continue
        return None

    def _read(self, key: str) -> Any:
        if key not in self.records:
            self.records[key] = open_cache().read(key) if self._reads_cache else None
        return self.records[key]


def store_map(task: str, judge: str, prompts: str, found: Platt | None, source: str) -> None:
    """Store or, with None, remove the calibration of a judge."""
    record = {"slope": found.slope, "intercept": found.intercept, "source": source} if found else None
    open_cache().write(_map_key(task, judge, prompts), record)


def store_error(signature: str, error: JudgeError | None, source: str, prompts: str = "") -> None:
    """Store or, with None, remove the levels behind a metric, or of the claims of a judge with these prompts."""
    record = {**error.as_dict(), "source": source} if error else None
    open_cache().write(_error_key(signature, prompts), record)


def _map_key(task: str, judge: str, prompts: str) -> str:
    return make_key({"calibration": _VERSION, "task": task, "judge": judge, "prompts": prompts})


def _error_key(signature: str, prompts: str = "") -> str:
    return make_key({"judge_error": _VERSION, "signature": signature, "prompts": prompts})
