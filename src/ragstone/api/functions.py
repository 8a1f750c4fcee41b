"""The functions of `import ragstone` that collect answers, evaluate them, and compare and check runs."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import re
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar, Unpack

from ragstone.analysis.alignment import note_of_itself
from ragstone.analysis.comparison import compare_runs
from ragstone.analysis.differences import Settings
from ragstone.analysis.gate_conditions import NOT_WORSE, Inconclusive, parse_inconclusive, read_checks
from ragstone.analysis.gates import check_gate
from ragstone.api.older_arguments import NOTE, accepts_older
from ragstone.api.public_run import Path, Run, as_run
from ragstone.api.shown_results import Comparison, Gate, Quote, shown_as
from ragstone.data.dataset import Dataset
from ragstone.engine import evaluate as engine
from ragstone.engine.ask_system import SystemOptions
from ragstone.engine.progress import Progress, Report
from ragstone.engine.quote import quote as quote_run
from ragstone.engine.request import Metrics
from ragstone.errors import StopRunError, UnknownNameError, UsageError
from ragstone.formats import open_reader, read_dataset, write_dataset
from ragstone.report.progress import reporting
from ragstone.stats.intervals import CORRECTIONS, Correction
from ragstone.storage import runs
from ragstone.storage.places import open_place
from ragstone.tools.judging_options import Judge, Model, as_judge
from ragstone.tools.keywords import describe_unknown, refuses_unknown_names
from ragstone.tools.model_options import ModelOptions
from ragstone.truth.collect import ERROR
from ragstone.truth.collect import collect as ask_all
from ragstone.truth.join import TruthReader
from ragstone.truth.llm_tasks import Work
from ragstone.truth.needed_facts import FactsRequest, read_with_facts
from ragstone.truth.store import TruthStore

# A limit of a metric: a number, or a text with a unit or a share of the baseline: "200ms", "10%".
Limits = Mapping[str, float | str]
COLLECTED = (".jsonl", ".parquet", ".csv")
P = ParamSpec("P")
R = TypeVar("R")
# Set by a cancelled `evaluate_async`, whose work is in another thread.
_CANCELLED: ContextVar[threading.Event | None] = ContextVar("cancelled", default=None)
_LOGGER = logging.getLogger("ragstone")
_ARGUMENTS = {
    "--map": "columns",
    "--format": "format",
    "--split-contexts": "split_contexts",
    "--encoding": "encoding",
    "--resume": "resume",
    "-m": "metrics",
}
_OPTION = re.compile(r"(?<![\w-])(?:--[a-z-]+|-m)(?![\w-])")


def log_note(remark: str) -> None:
    """Log a remark as a warning; without any set-up of logging, Python prints it on standard error."""
    named = dict.fromkeys(one for one in _OPTION.findall(remark) if one in _ARGUMENTS)
    translated = ", ".join(f"{option} is {_ARGUMENTS[option]}=" for option in named)
    _LOGGER.warning("note: %s%s", remark, f" (in Python, {translated})" if named else "")


@accepts_older
def evaluate(
    data: Any,
    metrics: Metrics | None = None,
    out: Path | None = None,
    *,
    judge: Judge | Model | None = None,
    checker: Model | None = None,
    facts: bool = False,
    name: str = "",
    columns: Mapping[str, str] | None = None,
    limit: int | None = None,
    params: Mapping[str, str | int | float | bool] | None = None,
    resume: bool = False,
    backend: str = "local",
    progress: bool | Report | None = None,
) -> Run:
    """Evaluate what a RAG system retrieved and answered.

    Args:
        data: Path or URL (two for formats of two files), a list of dicts, a `Dataset`, or a pandas, polars, Arrow or Hugging Face table.
        metrics: Names of metrics or sets, and functions; by default all fast metrics that the data allows.
        out: Folder or s3:// root under which the run is stored; without it the run lives as long as the object.
        judge: Judge model such as "openai/gpt-4o-mini", or a `Judge` with options; by default the local judge.
        checker: Model, or function of claims and texts, that checks claims in place of the judge.
        facts: Find the facts that references need in the chunks, accept the sure ones, and score against them. They are stored under `out`.
        name: Name of the run.
        columns: Our field names and those of the data: `{"question": "prompt"}`.
        limit: Use at most this many samples.
        params: How the evaluated system was set up, for comparisons of many runs: `{"chunk_size": 256}`.
        resume: Continue an interrupted run of the same data and metrics.
        backend: Execution backend, "local" or "ray", and the number of workers: "ray:64"; one per core by default.
        progress: True shows a bar, False nothing; by default a bar in a notebook. A function gets each `Progress`.
    """
    used, (place, workers) = as_judge(judge, checker), _read_backend(backend)
    how: dict[str, Any] = {"columns": columns, "limit": limit, "name": name, "params": params, "resume": resume}
    how |= {"backend": place, "workers": workers, "note": NOTE.get() or log_note}
    how |= {"matcher": used.matcher, "concurrency": used.concurrency, **used.options}
    cancelled = _CANCELLED.get()
    with reporting(progress) as report:

        def show(step: Progress) -> None:
            if cancelled is not None and cancelled.is_set():
                raise StopRunError("cancelled")
            report(step)

        if facts:
            data = _read_with_facts(data, used, out, columns, limit, show)
        done = engine.evaluate(data, metrics, out, progress=show, **how)
    return Run(done.folder)


def _read_with_facts(
    data: Any, judge: Judge, out: Path | None, columns: Mapping[str, str] | None, limit: int | None, report: Report
) -> TruthReader:
    """The data with facts that are found now; how many were accepted is logged."""
    rows = list(data) if isinstance(data, Iterator) else data
    options = ModelOptions.from_keywords(judge.options)
    store = None if out is None else TruthStore(open_place(out))
    request = FactsRequest(Work(options.judge, options, judge.concurrency), store, report=report)
    reader, found = read_with_facts(lambda: open_reader(rows, None, columns, limit), request)
    (NOTE.get() or log_note)(found.sentence)
    return reader


def _read_backend(text: str) -> tuple[str, int | None]:
    """The backend and its number of workers in "ray:64"."""
    name, colon, workers = text.partition(":")
    if colon and not workers.lstrip("-").isdigit():
        raise UsageError(f"backend must be a name, or a name and a number of workers as in ray:64, got {text!r}")
    return name, int(workers) if colon else None


def _in_thread(function: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    """The async twin of a function. A cancelled call stops with the next finished row, and then ends."""

    @functools.wraps(function)
    async def twin(*positional: P.args, **keywords: P.kwargs) -> R:
        cancelled = threading.Event()
        token = _CANCELLED.set(cancelled)
        work = asyncio.create_task(asyncio.to_thread(function, *positional, **keywords))
        _CANCELLED.reset(token)
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            cancelled.set()
            with suppress(Exception):
                await work
            raise

    twin.__name__ = twin.__qualname__ = f"{function.__name__}_async"
    twin.__doc__ = f"Await `{function.__name__}`, with the same arguments, without blocking the event loop."
    return twin


evaluate_async = _in_thread(evaluate)


@accepts_older
def quote(
    data: Any,
    metrics: Metrics | None = None,
    *,
    judge: Judge | Model | None = None,
    checker: Model | None = None,
    columns: Mapping[str, str] | None = None,
    limit: int | None = None,
) -> Quote:
    """Estimate calls, tokens, cost and time of `evaluate` with the same arguments. No call is made."""
    used = as_judge(judge, checker)
    how: dict[str, Any] = {"matcher": used.matcher, "concurrency": used.concurrency, **used.options}
    return shown_as(Quote, quote_run(data, metrics, columns=columns, limit=limit, **how))


def collect(
    system: Any,
    questions: Any,
    out: Path | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    limit: int | None = None,
    repeats: int = 1,
    resume: bool = False,
    progress: bool | Report | None = None,
    **options: Unpack[SystemOptions],
) -> Dataset:
    """Ask a RAG system all questions; returns rows with its answers and chunks, which `evaluate` takes.

    A question that fails is a row without an answer; its metadata has the reason as `system_error`. Latency, tokens and price go into
    the metadata as far as they are known. Other options are those of `ragstone truth collect`: `concurrency`, `timeout_s`, `budget`,
    `cache`, `version`, `template`, `base_url`, `parameters`, `deadline_s`, `requests_per_minute`, `tokens_per_minute`.

    Args:
        system: A function of the question (plain or async), a chain, `"rag.py:answer"`, `"cmd:./rag"`, a model name or a URL.
        questions: The questions, as any data of `evaluate`; their ground truth is kept.
        out: File for the rows: .jsonl, .parquet or .csv. The answers so far are kept next to it.
        columns: Our field names and those of the data: `{"question": "prompt"}`.
        limit: Use at most this many questions.
        repeats: Times each question is asked.
        resume: Keep the answers of an interrupted call with the same `out`, and ask only the others.
        progress: True shows a bar, False nothing; by default a bar in a notebook. A function gets each `Progress`.
    """
    for name in options.keys() - SystemOptions.__annotations__.keys():
        raise TypeError(describe_unknown("collect", name, [*SystemOptions.__annotations__, *_COLLECT]))
    place = None if out is None else open_place(out)
    if resume and place is None:
        raise UsageError("resume needs out: the answers so far are kept next to that file")
    if place and not str(place).endswith(COLLECTED):
        raise UsageError(f"'{place}' must end in {', '.join(COLLECTED)}")
    samples = list(read_dataset(questions, columns=columns, limit=limit))
    journal = f"{place.path}.partial" if place and place.is_local else None
    with reporting(progress) as report:
        found = ask_all(
            samples, system, journal=journal, resume=resume, repeats=repeats, progress=report, note=log_note, **options
        )
    failed = [row for row in found.samples if row.answer is None]
    if failed:
        first = f"{failed[0].id}: {failed[0].metadata.get(ERROR)}"
        log_note(f"{len(failed):,} of {len(found.samples):,} questions have no answer, as {first}")
    rows = Dataset.from_samples(found.samples, found.system)
    if place:
        write_dataset(rows.table.to_batches(), place.url)
    return rows


_COLLECT = inspect.signature(collect).parameters


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
        cluster: Column whose equal values are resampled together; conversations or rows of one question by default, "none" for single rows.
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
    max_new_failures: int | None = None,
    cluster: str | None = None,
    max_failed: float = runs.MOST_FAILED,
    inconclusive: Inconclusive = "fail",
    root: Path | None = None,
) -> Gate:
    """May this run ship? Decides by confidence intervals: passes, fails or cannot tell.

    Args:
        run: A run, or its path, id or name.
        min: Minimum means: `{"recall@5": 0.8}`.
        max: Maximum means.
        against: The baseline of `max_new_failures`, `max_drop`, `max_rise` and `max_worse`. Without any of them, it
            fails if more rows fail newly than are fixed, or if a headline metric is significantly worse, as in `compare`.
        max_drop: Maximum loss against the baseline: one number for all headline metrics, or a number per metric.
        max_rise: Maximum rise of metrics that should be low: `{"latency_p95": "0.2s", "cost": "10%"}`.
        max_worse: Maximum number of samples that may be worse than in the baseline: `{"fact_recall": 0}`.
        max_new_failures: Maximum number of rows that are wrong and were clearly better in the baseline.
        cluster: Column whose equal values are resampled together; conversations or rows of one question by default, "none" for single rows.
        max_failed: Share of failed cells above which the gate cannot tell.
        inconclusive: What "cannot tell" counts as: "fail", or "pass" for a warning only.
        root: Folder or s3:// root of runs that are given by id or name.
    """
    given: dict[str, Any] = {"min": min, "max": max, "max-drop": max_drop, "max-rise": max_rise, "max-worse": max_worse}
    given["max-new-failures"] = max_new_failures
    limits = {kind: value for kind, value in given.items() if value is not None and value != {}}
    changes = [name for name in ("max-new-failures", "max-drop", "max-rise", "max-worse") if given[name] is not None]
    if not limits and against is None:
        raise UsageError(
            "a gate needs a condition: min={'recall@5': 0.8}, max=…, or against=RUN, also with max_drop=0.02"
        )
    if against is None and changes:
        raise UsageError("max_new_failures, max_drop, max_rise and max_worse need against=RUN: the baseline")
    checks = [*read_checks(limits, None), *(NOT_WORSE if against is not None and not changes else ())]
    baseline = None if against is None else as_run(against, root)
    checked = as_run(run, root)
    decision = check_gate(checked, checks, baseline, Settings(cluster=cluster), max_failed)
    note, counts_as = note_of_itself(checked.folder, baseline), parse_inconclusive("inconclusive", inconclusive)
    return shown_as(Gate, replace(decision, note=note, inconclusive=counts_as))
