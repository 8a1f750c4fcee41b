"""The functions of `import ragstone` that evaluate, compare and check runs."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from ragstone.api.public_run import Path, Run, as_run
from ragstone.api.shown_results import Comparison, Gate, Quote, shown_as
from ragstone.compare.baselines import note_of_itself
from ragstone.compare.comparison import compare_runs
from ragstone.compare.differences import Settings
from ragstone.compare.gate_conditions import Inconclusive, parse_inconclusive, read_checks
from ragstone.compare.gates import MOST_FAILED, check_gate
from ragstone.engine import evaluate as engine
from ragstone.engine.progress import Report
from ragstone.engine.quote import quote as quote_run
from ragstone.engine.request import DEFAULT_CONCURRENCY
from ragstone.errors import UnknownNameError, UsageError
from ragstone.report.progress import reporting
from ragstone.stats.intervals import CORRECTIONS, Correction
from ragstone.storage import runs
from ragstone.text.matchers import Matcher
from ragstone.tools.judging_options import JudgingOptions, lists_model_options
from ragstone.tools.keywords import refuses_unknown_names

# A limit of a metric: a number, or a text with a unit or a share of the baseline: "200ms", "10%".
Limits = Mapping[str, float | str]
_LOGGER = logging.getLogger("ragstone")
_ARGUMENTS = {
    "--map": "columns",
    "--format": "format",
    "--split-contexts": "split_contexts",
    "--encoding": "encoding",
    "-m": "metrics",
}
_OPTION = re.compile(r"(?<![\w-])(?:--[a-z-]+|-m)(?![\w-])")


def log_note(remark: str) -> None:
    """Log a remark as a warning; without any set-up of logging, Python prints it on standard error."""
    named = dict.fromkeys(one for one in _OPTION.findall(remark) if one in _ARGUMENTS)
    translated = ", ".join(f"{option} is {_ARGUMENTS[option]}=" for option in named)
    _LOGGER.warning("note: %s%s", remark, f" (in Python, {translated})" if named else "")


@lists_model_options
def evaluate(
    data: Any,
    metrics: str | Sequence[str] | None = None,
    out: Path | None = None,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    split_contexts: str | None = None,
    encoding: str | None = None,
    limit: int | None = None,
    matcher: str | Matcher = "citation",
    name: str = "",
    concurrency: int = DEFAULT_CONCURRENCY,
    resume: bool = False,
    params: Mapping[str, str | int | float | bool] | None = None,
    backend: str = "local",
    workers: int | None = None,
    progress: bool | Report | None = None,
    note: engine.Note = log_note,
    **models: Unpack[JudgingOptions],
) -> Run:
    """Evaluate what a RAG system retrieved and answered.

    Args:
        data: Path or URL (two for formats of two files), a list of dicts, or a pandas, polars, Arrow or Hugging Face table.
        metrics: Metrics or names of sets; by default all fast metrics that the data allows.
        out: Folder or s3:// root under which the run is stored; without it the run lives as long as the object.
        format: Format of the data; detected by default.
        columns: Our field names and those of the data: `{"question": "prompt"}`.
        split_contexts: Text between the chunks of one cell, such as "||"; without it such a cell is one chunk.
        encoding: Encoding of a text file that is not UTF-8: "cp1252".
        limit: Use at most this many samples.
        matcher: How facts are found in chunks: "citation", "fuzzy", or your own.
        name: Name of the run.
        concurrency: Maximum number of calls at a time.
        resume: Continue an interrupted run of the same data and metrics.
        params: How the evaluated system was set up, for comparisons of many runs: `{"chunk_size": 256}`.
        backend: Execution backend: "local" or "ray".
        workers: Number of worker processes; one per core by default.
        progress: True shows a bar, False nothing; by default a bar in a notebook. A function gets each `Progress`.
        note: Called with each remark about the data or the run; by default they are warnings of the logger "ragstone".
    """
    reading = {"format": format, "columns": columns, "split_contexts": split_contexts, "encoding": encoding}
    how: dict[str, Any] = {"limit": limit, "matcher": matcher, "name": name, "params": params, "resume": resume}
    how |= {"concurrency": concurrency, "backend": backend, "workers": workers, **reading, **models}
    with reporting(progress) as report:
        done = engine.evaluate(data, metrics, out, progress=report, note=note, **how)
    return Run(done.folder)


@lists_model_options
def quote(
    data: Any,
    metrics: str | Sequence[str] | None = None,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    split_contexts: str | None = None,
    encoding: str | None = None,
    limit: int | None = None,
    matcher: str | Matcher = "citation",
    concurrency: int = DEFAULT_CONCURRENCY,
    **models: Unpack[JudgingOptions],
) -> Quote:
    """Estimate calls, tokens, cost and time of `evaluate` with the same arguments. No call is made."""
    reading: dict[str, Any] = {"format": format, "columns": columns, "limit": limit}
    reading |= {"split_contexts": split_contexts, "encoding": encoding}
    options: dict[str, Any] = {"matcher": matcher, "concurrency": concurrency, **models}
    return shown_as(Quote, quote_run(data, metrics, **reading, **options))


@refuses_unknown_names
def compare(
    before: runs.Run | Path,
    after: runs.Run | Path,
    metrics: str | Sequence[str] = (),
    *,
    slices: Sequence[str] = (),
    cluster: str | None = None,
    correction: Correction = "joint",
    anyway: bool = False,
    root: Path | None = None,
) -> Comparison:
    """Is `after` better than `before`? Paired differences with interval, corrected p and verdict.

    Args:
        before: The old version: a run, or its path, id or name.
        after: The new version, evaluated on the same questions.
        metrics: Metrics to compare; all that both runs have by default.
        slices: Metadata columns; also compares the samples of each value.
        cluster: Column whose equal values are resampled together; conversations by default, "none" for single rows.
        correction: Correction for many metrics: "joint", "holm", "bh" or "none".
        anyway: Compare although metrics or judges differ.
        root: Folder or s3:// root of runs that are given by id or name.
    """
    if correction not in CORRECTIONS:
        raise UnknownNameError("correction", correction, CORRECTIONS, f"Choose from: {', '.join(CORRECTIONS)}.")
    settings = Settings(cluster=cluster, correction=correction)
    pair = (as_run(before, root), as_run(after, root))
    return shown_as(Comparison, compare_runs(*pair, metrics, slices, settings, anyway))


@refuses_unknown_names
def gate(
    run: runs.Run | Path,
    *,
    min: Limits | None = None,
    max: Limits | None = None,
    against: runs.Run | Path | None = None,
    max_drop: float | Limits | None = None,
    max_rise: Limits | None = None,
    max_worse: Mapping[str, int] | None = None,
    cluster: str | None = None,
    max_failed: float = MOST_FAILED,
    inconclusive: Inconclusive = "fail",
    root: Path | None = None,
) -> Gate:
    """May this run ship? Decides by confidence intervals: passes, fails or cannot tell.

    Args:
        run: A run, or its path, id or name.
        min: Minimum means: `{"recall@5": 0.8}`.
        max: Maximum means.
        against: The baseline of `max_drop`, `max_rise` and `max_worse`.
        max_drop: Maximum loss against the baseline: one number for all headline metrics, or a number per metric.
        max_rise: Maximum rise of metrics that should be low: `{"latency_p95": "0.2s", "cost": "10%"}`.
        max_worse: Maximum number of samples that may be worse than in the baseline: `{"fact_recall": 0}`.
        cluster: Column whose equal values are resampled together; conversations by default, "none" for single rows.
        max_failed: Share of failed cells above which the gate cannot tell.
        inconclusive: What "cannot tell" counts as: "fail", or "pass" for a warning only.
        root: Folder or s3:// root of runs that are given by id or name.
    """
    given: dict[str, Any] = {"min": min, "max": max, "max-drop": max_drop, "max-rise": max_rise, "max-worse": max_worse}
    limits = {kind: value for kind, value in given.items() if value is not None and value != {}}
    changes = [name for name in ("max-drop", "max-rise", "max-worse") if given[name] is not None]
    if against is not None and not changes:
        raise UsageError("against needs max_drop, max_rise or max_worse: the largest allowed change")
    if not limits:
        raise UsageError(
            "a gate needs a condition: min={'recall@5': 0.8}, max=…, or against=RUN with max_drop=0.02 "
            "or max_worse={'recall@5': 0}"
        )
    if against is None and changes:
        raise UsageError("max_drop, max_rise and max_worse need against=RUN: the baseline")
    checks = read_checks(limits, None)
    baseline = None if against is None else as_run(against, root)
    checked = as_run(run, root)
    decision = check_gate(checked, checks, baseline, Settings(cluster=cluster), max_failed)
    note, counts_as = note_of_itself(checked.folder, baseline), parse_inconclusive("inconclusive", inconclusive)
    return shown_as(Gate, replace(decision, note=note, inconclusive=counts_as))
