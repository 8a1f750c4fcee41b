"""Evaluates a dataset and stores the run."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import Any, Unpack

from ragstone.engine.code_revision import code_revision
from ragstone.engine.exam import Exam
from ragstone.engine.execute import execute, run_to_end
from ragstone.engine.ingest import Profile, ingest
from ragstone.engine.plan import Plan
from ragstone.engine.progress import Progress, Report, silent
from ragstone.engine.request import DEFAULT_CONCURRENCY, Request, make_request
from ragstone.engine.results import (
    call_totals,
    describe_run,
    finish_tables,
    ladder_totals,
    now,
    verdict_totals,
    write_json,
)
from ragstone.errors import (
    InterruptedRunError,
    MissingExtraError,
    StopRunError,
    StorageError,
    UnknownNameError,
    UsageError,
)
from ragstone.formats import Reader, open_reader
from ragstone.llm.batch_calls import batch_notes
from ragstone.llm.wrappers import ordinary_calls
from ragstone.storage.leftovers import temporary_folder
from ragstone.storage.places import Place, open_place, read_json
from ragstone.storage.run_info import write_run_info
from ragstone.storage.runs import Run, RunFolder, read_table, unfinished_runs
from ragstone.text.matchers import Matcher
from ragstone.tools.judging_options import JudgingOptions
from ragstone.tools.open_tools import Opened

BACKENDS = ("local", "ray")
# Called with each remark about the data or the run.
Note = Callable[[str], object]


def unheard(remark: str) -> None:
    """Ignore the remark."""


def evaluate(
    data: Any,
    metrics: str | Sequence[str] | None = None,
    out: str | os.PathLike[str] | None = None,
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
    progress: Report = silent,
    note: Note = unheard,
    command: str = "",
    run_id: str | None = None,
    branch: str = "",
    **judging: Unpack[JudgingOptions],
) -> Run:
    """Evaluate what a RAG system retrieved and answered; returns the stored run.

    `data` is a path or URL (two for formats of two files), a list of dicts, or a pandas, polars, Arrow or Hugging Face
    table. `metrics` are metric strings or names of sets; all that the data allows and that take little time by default. `out` is the folder or
    `s3://` root under which the run is stored; without it the run lives as long as the returned object. `columns`
    maps our field names to those of the data; `split_contexts` separates the chunks of a cell, `encoding` is that of a text file. `params` says how the evaluated system was set up (`{"chunk_size": 256}`), so
    that a comparison of many runs reads as a table. `backend` is `local` or `ray`: the execution backend, and `workers` the number of
    workers, by default one per core. `note` is called with each remark about the data. `command` resumes the run; the viewer shows it if the run is killed. `run_id` names the run's
    folder: a finished run of that name is returned as it is, an unfinished one of the same data is continued.
    `branch` is the git branch to store; by default that of the CI job or of the working folder. A metric that needs a
    model gets the one that is named: `judge="openai/gpt-4o-mini"`; `JudgingOptions` lists the other options.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"limit must be 1 or more, got {limit}")
    request = replace(
        make_request(metrics, matcher, name, concurrency, judging),
        params=_check_params(params),
        backend=check_backend(backend, workers, bool(judging.get("batch"))),
        workers=workers,
        command=command,
        run_id=run_id,
        code=code_revision(branch),
    )
    try:
        # Mistakes in names and definitions raise an error before the data is read.
        request.plan()
        reader = open_reader(data, format, columns, limit, split_contexts, encoding)
        if out is not None:
            return _evaluate(reader, request, open_place(out), resume, progress, note)
        return _evaluate_in_temporary_folder(reader, request, resume, progress, note)
    finally:
        request.close()


def _evaluate_in_temporary_folder(reader: Reader, request: Request, resume: bool, progress: Report, note: Note) -> Run:
    home = temporary_folder()
    try:
        run = _evaluate(reader, request, open_place(home.name), resume, progress, note)
    except BaseException as error:
        home.cleanup()
        if isinstance(error, InterruptedRunError):
            raise InterruptedRunError("stopped; without `out` nothing is kept") from None
        raise
    # Other objects of the same run share its folder.
    weakref.finalize(run.folder, home.cleanup)
    return run


def check_backend(name: str, workers: int | None, in_batches: bool = False) -> str:
    """Return the backend of that name; raises if it cannot be used."""
    if name == "ray" and in_batches:
        raise UsageError("batches are collected in one process: repeat the command without --backend ray.")
    if name not in BACKENDS:
        raise UnknownNameError("backend", name, BACKENDS, f"Choose from: {', '.join(BACKENDS)}.")
    if name == "ray" and find_spec("ray") is None:
        # Before the data is read.
        raise MissingExtraError("--backend ray", "ray")
    if workers is not None and workers < 1:
        raise UsageError(f"workers must be 1 or more, got {workers}")
    return name


def _check_params(params: Mapping[str, Any] | None) -> dict[str, Any]:
    """Parameters as they are stored: names and plain values."""
    for name, value in (params or {}).items():
        if not isinstance(name, str) or not name or not isinstance(value, str | int | float | bool):
            raise UsageError(f"params: {name!r} must be a name with a text, number or truth value, got {value!r}")
    return dict(params or {})


def _evaluate(reader: Reader, request: Request, root: Place, resume: bool, progress: Report, note: Note) -> Run:
    fresh = RunFolder.create(root, request.run_id)
    if request.run_id and fresh.manifest.exists():
        return Run(fresh)
    with fresh.owned():  # a killed process leaves a folder that `ragstone doctor` recognises
        return _evaluate_in(fresh, reader, request, root, resume, progress, note)


def _evaluate_in(
    folder: RunFolder, reader: Reader, request: Request, root: Place, resume: bool, progress: Report, note: Note
) -> Run:
    try:
        profile = ingest(reader, folder.samples, progress)
    except BaseException as error:
        with suppress(StorageError):  # what went wrong first is what matters
            folder.discard()
        if isinstance(error, KeyboardInterrupt):
            raise InterruptedRunError("stopped while reading the data; nothing was stored") from None
        raise
    for remark in (*reader.report.notes, *filter(None, [profile.advice])):
        note(remark)
    for remark in sorted({words for tool, words in request.left_out(profile).items() if tool != "estimator"}):
        note(remark)
    plan = request.plan(profile)
    identity = request.identity(profile, plan)
    if resume or request.run_id:
        folder = _continue_or_start(folder, root, identity, note, request.run_id)
    try:
        truth = reader.report.info.get("truth")
        problem = _compute(folder, plan, request, profile, identity, truth, progress, note)
    except KeyboardInterrupt:
        raise InterruptedRunError(f"stopped; {_what_is_kept(folder)}") from None
    except StopRunError as error:
        if folder.holds_work():
            raise StopRunError(f"{error}\n{_what_is_kept(folder)}") from error
        with suppress(StorageError):
            folder.discard()
        raise
    if problem:
        note(problem)
    return Run(folder)


def _what_is_kept(folder: RunFolder) -> str:
    done = len(folder.finished_parts())
    return (
        f"{done} finished part{'s are' if done != 1 else ' is'} kept in {folder.place}.\n"
        "Repeat the command with --resume to continue."
    )


def _compute(
    folder: RunFolder,
    plan: Plan,
    request: Request,
    profile: Profile,
    identity: dict[str, Any],
    truth: dict[str, Any] | None,
    progress: Report,
    note: Note,
) -> str | None:
    """Returns what went wrong without failing the run, if anything did."""
    started = time.perf_counter()
    if not folder.plan.exists():
        # The name and the bounds are for the viewer, which shows a run while it is computed.
        about = {"name": request.name, "bounds": {step.name: step.metric.spec.bounds for step in plan.metrics}}
        write_json(folder.plan, {**identity, **about, "command": request.command, "created_at": now()})
    created = read_json(folder.plan)["created_at"]
    with folder.owned():
        opened = request.judging.open(replies=folder.replies)
        exam = Exam(request.judging, plan, profile.rows, note)
        parts = _work(plan, folder, request, opened, profile, progress, exam, note)
        progress(Progress("finishing", profile.rows, profile.rows))
        finish_tables(plan, folder, parts, profile)
        prompts = opened.prompts(name for step in plan.evidence for name in step.spec.prompts)
        ladder = {"ladder": ladder_totals(folder, parts)} if request.judging.has_ladder else {}
        verdicts = verdict_totals(folder, (name for name, _ in plan.stored_evidence()))
        totals = {**call_totals(folder), **ladder, **verdicts, "seconds": round(time.perf_counter() - started, 3)}
        content = describe_run(folder, plan, profile, created, totals) | request.describe(plan) | {"prompts": prompts}
        write_run_info(folder.manifest, {**content, "truth": truth, "judge_check": exam.look_back(folder)})
        folder.remove_scaffold()
    return opened.problem


def _work(
    plan: Plan,
    folder: RunFolder,
    request: Request,
    opened: Opened,
    profile: Profile,
    progress: Report,
    exam: Exam,
    note: Note,
) -> int:
    """Compute all parts with the chosen backend; returns their number."""
    if request.backend == "ray":
        from ragstone.engine.backends.ray import work_on_ray as many  # noqa: PLC0415  (heavy, and only by name)
    else:
        from ragstone.engine.backends.processes import fits  # noqa: PLC0415
        from ragstone.engine.backends.processes import work_in_processes as many  # noqa: PLC0415

        if not fits(plan, profile.rows, request.workers):
            return run_to_end(_execute_and_close(plan, folder, request, opened, progress, exam, note), plan.waits)
    from ragstone.engine.backends.processes import run_parts  # noqa: PLC0415
    from ragstone.engine.backends.worker import make_kit  # noqa: PLC0415

    # Workers on other machines use the calibrations of this one.
    judging: JudgingOptions = {**request.judging.options, "calibration": request.judging.calibrations.records}
    kit = make_kit(plan, folder, request.chosen_matcher, judging, request.concurrency)
    try:
        return run_parts(plan, folder, kit, partial(many, workers=request.workers), progress)
    finally:
        run_to_end(opened.close())


async def _execute_and_close(
    plan: Plan,
    folder: RunFolder,
    request: Request,
    opened: Opened,
    progress: Report,
    exam: Exam,
    note: Note,
) -> int:
    try:
        with ordinary_calls():
            await exam.ask(opened.tools)
        with batch_notes(note):
            return await execute(plan, folder, {**request.tools, **opened.tools}, request.rows_at_once, progress)
    finally:
        await opened.close()


def _continue_or_start(
    fresh: RunFolder, root: Place, identity: dict[str, Any], note: Note, run_id: str | None
) -> RunFolder:
    """The newest interrupted run of the same data, metrics and tools; the fresh folder if there is none.

    A folder with a name of its own is the only candidate; finished parts of other data in it are removed.
    """
    if run_id:
        plan = read_json(fresh.plan) if fresh.plan.exists() else None
        if not isinstance(plan, dict) or not plan.items() >= identity.items():
            fresh.remove_scaffold()
        return fresh
    for folder in unfinished_runs(root):
        plan = read_json(folder.plan)
        if (
            not isinstance(plan, dict)
            or not plan.items() >= {**identity, "fingerprint": plan.get("fingerprint")}.items()
        ):
            continue
        same = folder.fingerprint(str(plan["fingerprint"])) == identity["fingerprint"]
        if same and read_table(folder.samples, ["id"]) == read_table(fresh.samples, ["id"]):  # parts are in this order
            fresh.discard()
            note(f"resuming run {folder.id}: {len(folder.finished_parts())} parts are finished")
            return folder
    note("there is no interrupted run of this data with these metrics; starting a new one")
    return fresh
