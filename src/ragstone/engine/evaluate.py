"""Evaluates a dataset and stores the run."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Unpack

from ragstone._version import __version__
from ragstone.data.schema import GIVEN_EVIDENCE
from ragstone.data.signature import Signature
from ragstone.engine.exam import Exam
from ragstone.engine.execute import execute, run_to_end
from ragstone.engine.ingest import Profile, ingest
from ragstone.engine.plan import Plan, make_plan
from ragstone.engine.progress import Progress, Report, silent
from ragstone.engine.results import (
    call_totals,
    describe_run,
    finish_tables,
    ladder_totals,
    now,
    verdict_totals,
    write_json,
)
from ragstone.errors import InterruptedRunError, StopRunError, StorageError, UnknownNameError, UsageError
from ragstone.evidence.fact_matches import with_matcher
from ragstone.formats import Reader, open_reader
from ragstone.registry import resolve_metrics
from ragstone.storage.leftovers import temporary_folder
from ragstone.storage.places import Place, open_place, read_json
from ragstone.storage.run_info import write_run_info
from ragstone.storage.runs import Run, RunFolder, read_table, unfinished_runs
from ragstone.text.matchers import Matcher
from ragstone.tools.calibrations import MATCH
from ragstone.tools.judging_options import JudgingOptions
from ragstone.tools.open_tools import TOOLS, Judging, Opened, open_matcher
from ragstone.tools.protocols import Tool
from ragstone.tools.roles import LOCAL_ROLES

DEFAULT_CONCURRENCY = 16
BACKENDS = ("local", "ray")
# Called with each remark about the data or the run.
Note = Callable[[str], object]


def unheard(remark: str) -> None:
    """Ignore the remark."""


# Default local models take some seconds for this many rows, the local judge some minutes: 1 to 8 on two cores, by processor
# and length of the chunks. For more rows, their metrics must be named.
MOST_ROWS_UNNAMED = 1_000
MOST_ROWS_JUDGED = 500
_UNMEASURED = (
    "metrics of local models are left out for more than {:,} rows; name them, as in -m quick,semantic_similarity"
)
_UNJUDGED = "metrics of the local judge are left out for more than {:,} rows; ask for them with --judge local"


@dataclass(frozen=True)
class Request:
    """The settings of a run, without the data."""

    metrics: Sequence[str]
    matcher: Matcher
    # As it was chosen: a name can be sent to another process, a model that is open cannot.
    chosen_matcher: str | Matcher
    judging: Judging
    name: str = ""
    concurrency: int = DEFAULT_CONCURRENCY
    params: Mapping[str, Any] = field(default_factory=dict)
    backend: str = "local"
    workers: int | None = None
    # How to resume the run, for the viewer.
    command: str = ""

    @property
    def tools(self) -> dict[str, Tool]:
        """For planning: what can be used, and how it signs."""
        return {"matcher": self.matcher, **self.judging.tools}

    def plan(self, profile: Profile | None = None) -> Plan:
        """The plan for the data; without a profile, a plan that only checks names and definitions."""
        present: Collection[str] = profile.present if profile else ()
        given = present if profile else GIVEN_EVIDENCE.keys()
        absent = TOOLS.keys() - self.tools.keys()
        if profile:
            absent |= self.left_out(profile).keys()
        catalogue = with_matcher(self.tools)
        # The default set leaves out metrics whose tools are absent.
        chosen = resolve_metrics(
            self.metrics,
            out_of_reach=lambda spec: not absent.isdisjoint(catalogue.closure(spec.needs, given).tools),
            pointless=profile.is_pointless if profile else lambda _: False,
        )
        return profile.plan(chosen, self.tools) if profile else make_plan(chosen, present, self.tools, catalogue)

    def left_out(self, profile: Profile) -> dict[str, str]:
        """The default tools that are too slow for this many rows, each with the note for the user."""
        if "quick" not in self.metrics:
            return {}
        notes = {}
        for tool in self.judging.unnamed:
            most, words = (MOST_ROWS_JUDGED, _UNJUDGED) if tool in LOCAL_ROLES else (MOST_ROWS_UNNAMED, _UNMEASURED)
            if profile.rows > most:
                notes[tool] = words.format(most)
        return notes

    def close(self) -> None:
        """Close the tools if nothing used them."""
        run_to_end(self.judging.close(), waits=self.judging.is_open)

    def describe_tools(self, plan: Plan) -> dict[str, str]:
        """The signature of each tool that was named or is needed."""
        return {"matcher": self.matcher.signature, **self.judging.describe(plan.needs)}

    def describe(self, plan: Plan) -> dict[str, Any]:
        """Its part of the manifest of a run."""
        return {
            **({"name": self.name} if self.name else {}),
            "params": dict(self.params),
            "tools": self.describe_tools(plan),
            "judge": self.judging.describe(plan.needs) or None,
            **self.describe_errors(plan),
            **self._describe_languages(plan),
        }

    def _describe_languages(self, plan: Plan) -> dict[str, Any]:
        """The languages that the local judge was measured on, if any metric uses it."""
        used = any(Signature.parse(step.signature).uses_local_judge for step in plan.metrics)
        card = self.judging.card if used else None
        return {"judge_languages": list(card.languages)} if card else {}

    def describe_errors(self, plan: Plan) -> dict[str, Any]:
        """The measured error of each metric of a judge, and of the causes that the local judge finds."""
        card, known = self.judging.card, {}
        for step in plan.metrics:
            signature, name = Signature.parse(step.signature), step.metric.spec.name
            if signature.llms or signature.is_local:
                found = self.judging.calibrations.error_of(name, step.signature, self.tools.get("checker"))
                by_card = card.error_of(name) if card and signature.is_local else None
                if error := found or (by_card and by_card.as_dict()):
                    known[step.name] = error
        is_local = any(Signature.parse(step.signature).is_local for step in plan.metrics)
        rates = dict(card.cause_rates) if card and is_local else {}
        return {"judge_error": known or None, "cause_rates": rates or None, "token_judges": self._token_judges(plan)}

    def _token_judges(self, plan: Plan) -> dict[str, Any] | None:
        """The judge whose probabilities labels of this run can calibrate."""
        grader: Any = self.tools.get("grader") if "grader" in plan.needs else None
        if not hasattr(grader, "token_prompts"):
            return None
        return {MATCH: {"judge": grader.uncalibrated, "prompts": grader.token_prompts}}

    def identity(self, profile: Profile, plan: Plan) -> dict[str, Any]:
        """The settings that must be equal for an interrupted run to be resumed."""
        return {
            "fingerprint": profile.fingerprint,
            "metrics": [*(step.signature for step in plan.metrics), *plan.skipped],
            "waits": plan.waits,
            "tools": self.describe_tools(plan),
            "ragstone": __version__,
        }


def evaluate(
    data: Any,
    metrics: str | Sequence[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
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
    **judging: Unpack[JudgingOptions],
) -> Run:
    """Evaluate what a RAG system retrieved and answered; returns the stored run.

    `data` is a path or URL (two for formats of two files), a list of dicts, or a pandas, polars, Arrow or Hugging Face
    table. `metrics` are metric strings or names of sets; all that the data allows and that take little time by default. `out` is the folder or
    `s3://` root under which the run is stored; without it the run lives as long as the returned object. `columns`
    maps our field names to those of the data. `params` says how the evaluated system was set up (`{"chunk_size": 256}`), so
    that a comparison of many runs reads as a table. `backend` is `local` or `ray`: the execution backend, and `workers` the number of
    workers, by default one per core. `note` is called with each remark about the data. `command` resumes the run; the viewer shows it if the run is killed. A metric that needs a
    model gets the one that is named: `judge="openai/gpt-4o-mini"`; `JudgingOptions` lists the other options.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"limit must be 1 or more, got {limit}")
    request = replace(
        make_request(metrics, matcher, name, concurrency, judging),
        params=_check_params(params),
        backend=_check_backend(backend, workers),
        workers=workers,
        command=command,
    )
    try:
        # Mistakes in names and definitions raise an error before the data is read.
        request.plan()
        reader = open_reader(data, format, columns, limit)
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
    weakref.finalize(run, home.cleanup)
    return run


def _check_backend(name: str, workers: int | None) -> str:
    """The backend of that name."""
    if name not in BACKENDS:
        raise UnknownNameError("backend", name, BACKENDS, f"Choose from: {', '.join(BACKENDS)}.")
    if workers is not None and workers < 1:
        raise UsageError(f"workers must be 1 or more, got {workers}")
    return name


def _check_params(params: Mapping[str, Any] | None) -> dict[str, Any]:
    """Parameters as they are stored: names and plain values."""
    for name, value in (params or {}).items():
        if not isinstance(name, str) or not name or not isinstance(value, str | int | float | bool):
            raise UsageError(f"params: {name!r} must be a name with a text, number or truth value, got {value!r}")
    return dict(params or {})


def make_request(
    metrics: str | Sequence[str] | None,
    matcher: str | Matcher,
    name: str,
    concurrency: int,
    judging: JudgingOptions,
    dry_run: bool = False,
) -> Request:
    """A checked request."""
    chosen = [metrics] if isinstance(metrics, str) else list(metrics) if metrics else ["quick"]
    concurrency = max(1, concurrency)
    models = Judging(judging, concurrency, dry_run)
    models.tools  # noqa: B018  (a wrong name or a missing key raises an error before the data is read)
    return Request(chosen, open_matcher(matcher), matcher, models, name, concurrency)


def _evaluate(reader: Reader, request: Request, root: Place, resume: bool, progress: Report, note: Note) -> Run:
    fresh = RunFolder.create(root)
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
    if resume:
        folder = _continue_or_start(folder, root, identity, note)
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
        parts = _work(plan, folder, request, opened, profile, progress, exam)
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
) -> int:
    """Compute all parts with the chosen backend; returns their number."""
    if request.backend == "ray":
        from ragstone.engine.backends.ray import work_on_ray as many  # noqa: PLC0415  (heavy, and only by name)
    else:
        from ragstone.engine.backends.processes import fits  # noqa: PLC0415
        from ragstone.engine.backends.processes import work_in_processes as many  # noqa: PLC0415

        if not fits(plan, profile.rows, request.workers):
            return run_to_end(_execute_and_close(plan, folder, request, opened, progress, exam), plan.waits)
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
) -> int:
    try:
        await exam.ask(opened.tools)
        return await execute(plan, folder, {**request.tools, **opened.tools}, request.concurrency, progress)
    finally:
        await opened.close()


def _continue_or_start(fresh: RunFolder, root: Place, identity: dict[str, Any], note: Note) -> RunFolder:
    """The newest interrupted run of the same data, metrics and tools; the fresh folder if there is none."""
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
