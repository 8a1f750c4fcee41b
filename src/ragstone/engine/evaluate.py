"""Evaluates a dataset and stores the run."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import Any, Unpack

from ragstone.engine.code_revision import code_revision
from ragstone.engine.exam import Exam
from ragstone.engine.execute import execute, run_to_end
from ragstone.engine.ingest import Profile, ingest
from ragstone.engine.plan import Plan
from ragstone.engine.progress import Progress, Report, silent
from ragstone.engine.quote import seconds_of_large
from ragstone.engine.request import Metrics, RunRequest, make_request
from ragstone.engine.results import cascade_totals, finish_tables, now, write_json, write_run
from ragstone.errors import (
    InterruptedRunError,
    MissingExtraError,
    StopRunError,
    StorageError,
    UnknownNameError,
    UsageError,
)
from ragstone.formats import Reader, open_reader
from ragstone.llm.concurrency import call_notes
from ragstone.llm.wrappers import ordinary_calls
from ragstone.storage.durable import Checkpoint
from ragstone.storage.leftovers import temporary_folder
from ragstone.storage.places import Place, open_place, read_json
from ragstone.storage.runs import MOST_FAILED, Run, RunFolder, free_name, read_table, unfinished_runs
from ragstone.text.matchers import Matcher
from ragstone.tools.judging_options import DEFAULT_CONCURRENCY, JudgingOptions
from ragstone.tools.open_tools import Opened

BACKENDS = ("local", "ray")
# Called with each remark about the data or the run.
Note = Callable[[str], object]


def unheard(remark: str) -> None:
    """Ignore the remark."""


def evaluate(
    data: Any,
    metrics: Metrics | None = None,
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

    `ragstone.evaluate` describes most arguments, `JudgingOptions` lists those of models. `command` resumes the run; the viewer
    shows it if the run is killed. `run_id` names the run's folder: a finished run of that name is returned as it is, an unfinished
    one of the same data is continued. `branch` is the git branch to store; by default that of the CI job or of the working folder.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"limit must be 1 or more, got {limit}")
    request = replace(
        make_request(metrics, matcher, name, concurrency, judging, large=True),
        params=_check_params(params or {}),
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
            return _Evaluation(reader, request, open_place(out), resume, progress, note).run()
        home = temporary_folder()
        try:
            run = _Evaluation(reader, request, open_place(home.name), resume, progress, note).run()
        except BaseException as error:
            home.cleanup()
            if isinstance(error, InterruptedRunError):
                raise InterruptedRunError("stopped; without `out` nothing is kept") from None
            raise
        # Other objects of the same run share its folder.
        weakref.finalize(run.folder, home.cleanup)
        return run
    finally:
        request.close()


def _check_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as they are stored: names and plain values."""
    for name, value in params.items():
        if not isinstance(name, str) or not name or not isinstance(value, str | int | float | bool):
            raise UsageError(f"params: {name!r} must be a name with a text, number or truth value, got {value!r}")
    return dict(params)


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


@dataclass(frozen=True)
class _Evaluation:
    """One evaluation: its data and settings, and the root under which the run is stored."""

    reader: Reader
    request: RunRequest
    root: Place
    resume: bool
    progress: Report
    note: Note

    def run(self) -> Run:
        fresh = RunFolder.create(self.root, self.request.run_id)
        if self.request.run_id and fresh.manifest.exists():
            return Run(fresh)
        with fresh.owned():  # a killed process leaves a folder that `ragstone doctor` recognises
            run = self._evaluate(fresh, self._read(fresh))
        if run.failed_share > MOST_FAILED:
            self.note(f"{run.failed_share:.0%} of the cells failed: ragstone show {run.id} has the reasons")
        return run

    def _read(self, folder: RunFolder) -> Profile:
        """Store the samples, and pass on the remarks about them."""
        try:
            profile = ingest(self.reader, folder.samples, self.progress)
        except BaseException as error:
            with suppress(StorageError):  # the first error matters
                folder.discard()
            if isinstance(error, KeyboardInterrupt):
                raise InterruptedRunError("stopped while reading the data; nothing was stored") from None
            raise
        left_out = {words for tool, words in self.request.left_out(profile).items() if tool != "estimator"}
        sees = any(getattr(tool, "sees_images", False) for tool in self.request.tools.values())
        if profile.texts_beside_images and not sees:
            left_out.add(
                f"rows with a chunk that has a text and an image: {profile.texts_beside_images:,}. Only the text is read, "
                "because the judge does not see images"
            )
        for remark in (*self.reader.report.notes, *filter(None, [profile.advice]), *sorted(left_out)):
            self.note(remark)
        return profile

    def _evaluate(self, folder: RunFolder, profile: Profile) -> Run:
        plan = None
        try:
            plan = self._settle_plan(folder, profile)
            identity = self.request.identity(profile, plan)
            if self.resume or self.request.run_id:
                folder = self._continue_or_start(folder, identity)
            self._compute(folder, plan, profile, identity)
        except KeyboardInterrupt:
            raise InterruptedRunError(f"stopped; {self._what_is_kept(folder, plan)}") from None
        except StopRunError as error:
            if folder.holds_work():
                raise StopRunError(f"{error}\n{self._what_is_kept(folder, plan)}") from error
            with suppress(StorageError):
                folder.discard()
            raise
        return Run(folder)

    def _settle_plan(self, fresh: RunFolder, profile: Profile) -> Plan:
        """The plan. How verdicts are asked for is fixed before the first one: as in the run to resume, or by a trial."""
        judging, again = self.request.judging, self.resume or self.request.run_id
        plan = self.request.plan(profile)
        # The cascade goes on where it was stopped, however long it takes.
        if not (again and self._find_unfinished(fresh, self.request.identity(profile, plan))):
            estimate = partial(seconds_of_large, self.request, profile, fresh.samples)
            if remark := judging.settle_large(estimate):
                self.note(remark)
                plan = self.request.plan(profile)
        if not (models := judging.untried(plan.needs)):
            return plan
        for way in ("tokens", "json") if again else ():
            judging.settle_verdicts(dict.fromkeys(models, way))
            plan = self.request.plan(profile)
            if self._find_unfinished(fresh, self.request.identity(profile, plan)):
                return plan
        judging.settle_verdicts(run_to_end(judging.try_tokens(models, self.note)))
        return self.request.plan(profile)

    def _record_budget(self, folder: RunFolder, settled: dict[str, Any]) -> None:
        """Store the budget of this attempt for the viewer; a resumed run may have another one."""
        limit, budget = None, self.request.judging.options.get("budget")
        if budget is not None:
            from ragstone.llm.budget import parse_budget  # noqa: PLC0415  (slow import)

            limit = parse_budget(budget).limit_usd
        if settled.get("budget_usd") != limit:
            write_json(folder.plan, {**settled, "budget_usd": limit})

    def _compute(self, folder: RunFolder, plan: Plan, profile: Profile, identity: dict[str, Any]) -> None:
        request, started = self.request, time.perf_counter()
        if not folder.plan.exists():
            # The name and the bounds are for the viewer, which shows a run while it is computed.
            unnamed = folder.id if request.run_id or " in memory" in profile.path else ""
            name = request.name or unnamed or free_name(self.root, profile.path)
            about = {"name": name, "bounds": {step.name: step.metric.spec.bounds for step in plan.metrics}}
            write_json(folder.plan, {**identity, **about, "command": request.command, "created_at": now()})
        settled = read_json(folder.plan)
        with folder.owned():
            self._record_budget(folder, settled)
            opened = request.judging.open(replies=folder.replies)
            exam = Exam(request.judging, plan, profile.rows, self.note)
            parts = self._compute_parts(folder, plan, opened, profile.rows, exam)
            self.progress(Progress("finishing", profile.rows, profile.rows))
            finish_tables(plan, folder, parts, profile)
            ladder = {"ladder": cascade_totals(folder, parts)} if request.judging.has_cascade else {}
            more = request.describe(plan) | {
                "prompts": opened.prompts(name for step in plan.evidence for name in step.spec.prompts),
                "truth": self.reader.report.info.get("truth"),
                "judge_check": exam.look_back(folder),
            }
            if settled.get("name") and "name" not in more:
                more["name"] = settled["name"]
            write_run(folder, plan, profile, settled["created_at"], started, ladder, more)
        if opened.problem:
            self.note(opened.problem)

    def _compute_parts(self, folder: RunFolder, plan: Plan, opened: Opened, rows: int, exam: Exam) -> int:
        """Compute all parts with the chosen backend; returns their number."""
        request = self.request

        async def execute_and_close() -> int:
            try:
                with call_notes(self.note):
                    with ordinary_calls():
                        await exam.ask(opened.tools)
                    tools = {**request.tools, **opened.tools}
                    return await execute(plan, folder, tools, request.rows_at_once, self.progress)
            finally:
                await opened.close()

        if request.backend == "ray":
            from ragstone.engine.backends.ray import work_on_ray as many  # noqa: PLC0415  (heavy, and only by name)
        else:
            from ragstone.engine.backends.processes import fits  # noqa: PLC0415
            from ragstone.engine.backends.processes import work_in_processes as many  # noqa: PLC0415

            if not fits(plan, rows, request.workers, self.note):
                return run_to_end(execute_and_close(), plan.waits)
        from ragstone.engine.backends.processes import run_parts  # noqa: PLC0415
        from ragstone.engine.backends.worker import make_kit  # noqa: PLC0415

        # Workers on other machines use the calibrations of this one.
        judging: JudgingOptions = {**request.judging.full_options, "calibration": request.judging.calibrations.records}
        kit = make_kit(plan, folder, request.chosen_matcher, judging, request.concurrency)
        try:
            return run_parts(plan, folder, kit, partial(many, workers=request.workers), self.progress)
        finally:
            run_to_end(opened.close())

    def _find_unfinished(self, fresh: RunFolder, identity: dict[str, Any]) -> RunFolder | None:
        """The newest interrupted run of the same data, metrics and tools; with a `run_id`, only the folder of that name."""
        if self.request.run_id:
            return fresh if Checkpoint(fresh.plan).matches(identity) else None
        settings = {name: value for name, value in identity.items() if name != "fingerprint"}
        for folder in unfinished_runs(self.root):
            if not Checkpoint(folder.plan).matches(settings):
                continue
            # Earlier versions made the fingerprint in another way.
            same = folder.fingerprint(str(read_json(folder.plan).get("fingerprint"))) == identity["fingerprint"]
            # Parts are in the order of the ids.
            if same and read_table(folder.samples, ["id"]) == read_table(fresh.samples, ["id"]):
                return folder
        return None

    def _continue_or_start(self, fresh: RunFolder, identity: dict[str, Any]) -> RunFolder:
        """The interrupted run, or the fresh folder; finished parts of other data in it are removed."""
        found = self._find_unfinished(fresh, identity)
        if self.request.run_id:
            if found is None:
                fresh.remove_scaffold()
            return fresh
        if found is None:
            self.note("there is no interrupted run of this data with these metrics; starting a new one")
            return fresh
        fresh.discard()
        self.note(f"resuming run {found.id}: {len(found.finished_parts())} parts are finished")
        return found

    def _what_is_kept(self, folder: RunFolder, plan: Plan | None) -> str:
        done, cached = len(folder.finished_parts()), plan is not None and self.request.judging.caches(plan.needs)
        replies = "Replies so far are in the cache and are not asked again.\n" if cached else ""
        return (
            f"{done} finished part{'s are' if done != 1 else ' is'} kept in {folder.place}.\n{replies}"
            "Repeat the command with --resume to continue."
        )
