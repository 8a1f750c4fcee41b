"""Judges asked about pairs, one after the other: who cannot judge pairs is told before anybody is paid, and all share one budget."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ragstone.engine.evaluation import evaluate
from ragstone.engine.judging import Judging, JudgingOptions
from ragstone.errors import UsageError
from ragstone.llm.budget import parse_budget
from ragstone.storage.runs import Run

METRICS = ("pair.win", "pair.consistency", "pair.first_seat")
# A deadline that has passed is one that passes at once.
_NO_TIME = 1e-3


class Asking:
    """Runs over pairs under one root; money and time are for all of them together."""

    def __init__(self, judges: Sequence[Any], out: str | None, options: Mapping[str, Any], **watching: Any) -> None:
        self._out, self._options, self._watching = out, dict(options), watching
        self._began = time.monotonic()
        if (budget := self._options.get("budget")) is not None:
            self._options["budget"] = parse_budget(budget)
        for judge in judges:
            _check_judge(judge, self._options)

    def ask(self, judge: Any, rows: Sequence[Mapping[str, Any]], name: str, **more: Any) -> Run:
        """What one judge says of each pair, as a stored run."""
        options = {**self._options, **self._watching, **more}
        if (seconds := options.get("deadline_s")) is not None:
            options["deadline_s"] = max(seconds - (time.monotonic() - self._began), _NO_TIME)
        return evaluate(rows, METRICS, self._out, name=name, judge=judge, **options)


def _check_judge(judge: Any, options: Mapping[str, Any]) -> None:
    known = {name: options[name] for name in JudgingOptions.__annotations__ if name in options}
    tools = Judging(cast("JudgingOptions", {**known, "judge": judge}), concurrency=1).tools
    if "pair_judge" not in tools:
        raise UsageError(
            f"{judge} cannot say which of two answers is better; name a language model, as in --judge openai/gpt-4o-mini"
        )
