"""Judges asked about pairs, one after the other: who cannot judge pairs is told before anybody is paid, and all share one budget."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ragstone.engine.evaluation import Request, evaluate, make_request, unheard
from ragstone.engine.judging import JudgingOptions
from ragstone.engine.profiling import Profiler
from ragstone.errors import UsageError
from ragstone.formats import open_reader
from ragstone.llm.budget import parse_budget
from ragstone.storage.places import open_place
from ragstone.storage.runs import Run, finished_runs

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
        if options.get("resume") and self._out is not None:
            finished = _find_finished(judge, rows, self._out, options)
            if finished is not None:
                options.get("note", unheard)(f"{judge} has been asked all of it: run {finished.id}")
                return finished
        return evaluate(rows, METRICS, self._out, name=name, judge=judge, **options)


def _check_judge(judge: Any, options: Mapping[str, Any]) -> None:
    if "pair_judge" not in _make_request(judge, options).tools:
        raise UsageError(
            f"{judge} cannot say which of two answers is better; name a language model, as in --judge openai/gpt-4o-mini"
        )


def _make_request(judge: Any, options: Mapping[str, Any]) -> Request:
    known = {name: options[name] for name in JudgingOptions.__annotations__ if name in options}
    return make_request(METRICS, "citation", "", 1, cast("JudgingOptions", {**known, "judge": judge}))


def _find_finished(judge: Any, rows: Sequence[Mapping[str, Any]], out: str, options: Mapping[str, Any]) -> Run | None:
    """The newest run in which the judge was asked exactly this and failed nowhere: of several judges some may have been done."""
    profiler = Profiler(open_reader(rows))
    for _ in profiler.batches():
        pass
    request, profile = _make_request(judge, options), profiler.profile()
    wanted = request.identity(profile, request.plan(profile))
    for run in finished_runs(open_place(out)):
        signatures = [*(metric["signature"] for metric in run.info["metrics"]), *run.info["skipped"]]
        found = (run.info["dataset"]["fingerprint"], signatures, run.info["tools"], run.info["versions"]["ragstone"])
        same = found == tuple(wanted[name] for name in ("fingerprint", "metrics", "tools", "ragstone"))
        if same and not run.summary()["pair.win"].n_failed:
            return run
    return None
