"""The whole walk: data in, a stored run out."""

from __future__ import annotations

import os
import tempfile
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Unpack

from ragstone._version import __version__
from ragstone.data.schema import GIVEN_EVIDENCE
from ragstone.engine.execution import execute, run_to_end
from ragstone.engine.finishing import call_totals, finish_tables, ladder_totals
from ragstone.engine.ingest import ingest
from ragstone.engine.judging import Judging, JudgingOptions, Opened
from ragstone.engine.manifests import describe_run, now, write_json
from ragstone.engine.matching import open_matcher
from ragstone.engine.planning import TOOLS, Plan, Tool, make_plan
from ragstone.engine.profiling import Profile
from ragstone.engine.progress import Progress, Report, silent
from ragstone.engine.roles import LOCAL_ROLES
from ragstone.errors import InterruptedRunError, StopRunError, StorageError, UnknownNameError, UsageError
from ragstone.formats import Reader, open_reader
from ragstone.registry import CATALOGUE, resolve_metrics
from ragstone.storage.places import Place, open_place, read_json
from ragstone.storage.runs import Run, RunFolder, unfinished_runs
from ragstone.text.matchers import Matcher

DEFAULT_CONCURRENCY = 16
BACKENDS = ("local", "ray")
# Is told each remark about the data or the run.
Note = Callable[[str], object]


def unheard(remark: str) -> None:
    """Say nothing."""


# A model on this machine that nobody named takes some seconds for so many rows, the local judge about a minute; for more
# its metrics must be asked for.
MOST_ROWS_UNNAMED = 1_000
MOST_ROWS_JUDGED = 200
_UNMEASURED = (
    "metrics of local models are left out for more than {:,} rows; name them, as in -m quick,semantic_similarity"
)
_UNJUDGED = "metrics of the local judge are left out for more than {:,} rows; ask for them with --judge local"


@dataclass(frozen=True)
class Request:
    """What a run was asked for, apart from the data."""

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

    @property
    def tools(self) -> dict[str, Tool]:
        """For planning: what can be used, and how it signs."""
        return {"matcher": self.matcher, **self.judging.tools}

    def plan(self, profile: Profile | None = None) -> Plan:
        """What is to be done with the data; before it is read, whether it could be done at all."""
        present = profile.present if profile else ()
        given = present if profile else GIVEN_EVIDENCE.keys()
        absent = TOOLS.keys() - self.tools.keys()
        if profile:
            absent |= self.left_out(profile).keys()
        # Who asks for nothing in particular is not told about all that a judge could do.
        chosen = resolve_metrics(self.metrics, out_of_reach=lambda spec: bool(CATALOGUE.rests_on(spec, given) & absent))
        return make_plan(chosen, present, self.tools, partial=profile.partial if profile else ())

    def left_out(self, profile: Profile) -> dict[str, str]:
        """The tools that nobody named and that would take long for so many rows; each with what is said about it."""
        if "quick" not in self.metrics:
            return {}
        found = {}
        for tool in self.judging.unnamed:
            most, words = (MOST_ROWS_JUDGED, _UNJUDGED) if tool in LOCAL_ROLES else (MOST_ROWS_UNNAMED, _UNMEASURED)
            if profile.rows > most:
                found[tool] = words.format(most)
        return found

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
        }

    def identity(self, profile: Profile, plan: Plan) -> dict[str, Any]:
        """What must be equal for an interrupted run to be continued: what is computed, from what, in which parts."""
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
    **judging: Unpack[JudgingOptions],
) -> Run:
    """Evaluate what a RAG system retrieved and answered; returns the stored run.

    `data` is a path or URL (two for formats of two files), a list of dicts, or a pandas, polars, Arrow or Hugging Face
    table. `metrics` are metric strings or names of sets; all that the data allows and that take little time by default. `out` is the folder or
    `s3://` root under which the run is stored; without it the run lives as long as the returned object. `columns`
    maps our field names to those of the data. `params` says how the evaluated system was set up (`{"chunk_size": 256}`), so
    that a comparison of many runs reads as a table. `backend` is `local` or `ray`: who works on the parts of the run, with how many
    workers; all cores by default. `note` is called with each remark about the data. A metric that needs a
    model gets the one that is named: `judge="openai/gpt-4o-mini"`; `JudgingOptions` lists what else can be said about it.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"limit must be 1 or more, got {limit}")
    request = replace(
        make_request(metrics, matcher, name, concurrency, judging),
        params=check_params(params),
        backend=check_backend(backend, workers),
        workers=workers,
    )
    # What is wrong with names and definitions shows before the data is read.
    request.plan()
    reader = open_reader(data, format, columns, limit)
    if out is not None:
        return _evaluate(reader, request, open_place(out), resume, progress, note)
    home = tempfile.TemporaryDirectory(prefix="ragstone-")
    try:
        run = _evaluate(reader, request, open_place(home.name), resume, progress, note)
    except BaseException as error:
        home.cleanup()
        if isinstance(error, InterruptedRunError):
            raise InterruptedRunError("stopped; without `out` nothing is kept") from None
        raise
    weakref.finalize(run, home.cleanup)
    return run


def check_backend(name: str, workers: int | None) -> str:
    """The backend of that name."""
    if name not in BACKENDS:
        raise UnknownNameError("backend", name, BACKENDS, f"There are: {', '.join(BACKENDS)}.")
    if workers is not None and workers < 1:
        raise UsageError(f"workers must be 1 or more, got {workers}")
    return name


def check_params(params: Mapping[str, Any] | None) -> dict[str, Any]:
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
    quoting: bool = False,
) -> Request:
    """What was asked for, checked."""
    chosen = [metrics] if isinstance(metrics, str) else list(metrics) if metrics else ["quick"]
    found = open_matcher(matcher) if isinstance(matcher, str) else matcher
    concurrency = max(1, concurrency)
    return Request(chosen, found, matcher, Judging(judging, concurrency, quoting), name, concurrency)


def _evaluate(reader: Reader, request: Request, root: Place, resume: bool, progress: Report, note: Note) -> Run:
    folder = RunFolder.create(root)
    try:
        profile = ingest(reader, folder.samples, progress)
    except BaseException as error:
        with suppress(StorageError):  # what went wrong first is what matters
            folder.discard()
        if isinstance(error, KeyboardInterrupt):
            raise InterruptedRunError("stopped while reading the data; nothing was stored") from None
        raise
    for remark in reader.report.notes:
        note(remark)
    for remark in sorted({words for tool, words in request.left_out(profile).items() if tool != "estimator"}):
        note(remark)
    plan = request.plan(profile)
    identity = request.identity(profile, plan)
    if resume:
        folder = _continue_or_start(folder, root, identity, note)
    try:
        truth = reader.report.info.get("truth")
        problem = _compute(folder, plan, request, profile, identity, truth, progress)
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
        "Repeat the command with --resume to go on from there."
    )


def _compute(
    folder: RunFolder,
    plan: Plan,
    request: Request,
    profile: Profile,
    identity: dict[str, Any],
    truth: dict[str, Any] | None,
    progress: Report,
) -> str | None:
    """Returns what went wrong without failing the run, if anything did."""
    started = time.perf_counter()
    if not folder.plan.exists():
        # Beside what a resumed run must have in common, what those want to know who look at it meanwhile.
        about = {"name": request.name, "bounds": {step.name: step.metric.spec.bounds for step in plan.metrics}}
        write_json(folder.plan, {**identity, **about, "created_at": now()})
    created = read_json(folder.plan)["created_at"]
    with folder.owned():
        opened = request.judging.open(replies=folder.replies)
        parts = _work(plan, folder, request, opened, profile, progress)
        progress(Progress("finishing", profile.rows, profile.rows))
        finish_tables(plan, folder, parts, profile.rows)
        prompts = opened.prompts(name for step in plan.evidence for name in step.spec.prompts)
        ladder = {"ladder": ladder_totals(folder, parts)} if request.judging.has_ladder else {}
        totals = {**call_totals(folder), **ladder, "seconds": round(time.perf_counter() - started, 3)}
        content = describe_run(folder, plan, profile, created, totals) | request.describe(plan) | {"prompts": prompts}
        write_json(folder.manifest, {**content, "truth": truth})
        folder.remove_scaffold()
    return opened.problem


def _work(plan: Plan, folder: RunFolder, request: Request, opened: Opened, profile: Profile, progress: Report) -> int:
    """All parts of the run, by whoever was chosen to work on them; returns how many there are."""
    if request.backend == "ray":
        from ragstone.engine.backends.ray import work_on_ray as many  # noqa: PLC0415  (heavy, and only by name)
    else:
        from ragstone.engine.backends.processes import fits  # noqa: PLC0415
        from ragstone.engine.backends.processes import work_in_processes as many  # noqa: PLC0415

        if not fits(plan, profile.rows, request.workers):
            return run_to_end(_execute_and_close(plan, folder, request, opened, progress), plan.waits)
    from ragstone.engine.backends.running import run_parts  # noqa: PLC0415
    from ragstone.engine.backends.worker import make_kit  # noqa: PLC0415

    kit = make_kit(plan, folder, request.chosen_matcher, request.judging.options, request.concurrency)
    return run_parts(plan, folder, kit, partial(many, workers=request.workers), progress)


async def _execute_and_close(plan: Plan, folder: RunFolder, request: Request, opened: Opened, progress: Report) -> int:
    try:
        return await execute(plan, folder, {**request.tools, **opened.tools}, request.concurrency, progress)
    finally:
        await opened.close()


def _continue_or_start(fresh: RunFolder, root: Place, identity: dict[str, Any], note: Note) -> RunFolder:
    """The newest interrupted run of the same data, metrics and tools; the fresh folder if there is none."""
    for folder in unfinished_runs(root):
        plan = read_json(folder.plan)
        if isinstance(plan, dict) and plan.items() >= identity.items():
            fresh.discard()
            note(f"going on with run {folder.id}: {len(folder.finished_parts())} parts are finished")
            return folder
    note("there is no interrupted run of this data with these metrics; starting a new one")
    return fresh
