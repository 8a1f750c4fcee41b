"""Rescores a stored run with new ground truth or other metrics from its stored evidence, without any call."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import pyarrow as pa

from ragstone.data.signature import Signature
from ragstone.engine.execute import execute, run_to_end
from ragstone.engine.ingest import Profile, ingest
from ragstone.engine.progress import Progress, Report, silent
from ragstone.engine.results import finish_tables, now, write_json, write_run
from ragstone.engine.stored_evidence import StoredEvidence, StoredTool
from ragstone.errors import StorageError, UnknownNameError, UsageError
from ragstone.formats import Reader, find_format
from ragstone.registry import CATALOGUE, Metric, parse_metric, resolve_metrics
from ragstone.storage.leftovers import RESCORES
from ragstone.storage.places import Place, open_place, read_json
from ragstone.storage.runs import Run, RunFolder, read_table, unfinished_runs
from ragstone.text.matchers import MATCHERS, make_matcher
from ragstone.tools.protocols import Tool

# The key in plan.json that names the run that is rescored.
_UNDEFINED = "its definition is not loaded; name its file with --metrics-file"

# Parts of the manifest that a rescored run keeps.
_KEPT = ("params", "code", "tools", "judge", "judge_error", "judge_languages", "token_judges", "prompts")


class StoredReader(Reader):
    """The samples of a stored run, as if they were read from a file."""

    def __init__(self, run: Run) -> None:
        super().__init__([], find_format(run.info["dataset"]["format"]))
        self._run = run
        self.options = list(run.info["dataset"].get("arguments") or ())
        self.schema = run.samples.table.schema

    @property
    def name(self) -> str:
        """The sources as the user of the run named them."""
        return str(self._run.info["dataset"]["path"])

    @property
    def folder(self) -> str | None:
        """The folder of its data."""
        folder: str | None = self._run.info["dataset"].get("folder")
        return folder

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The samples as they were evaluated."""
        self.report.clear()
        yield from self._run.samples.table.to_batches()


def rescore(
    run: Run,
    reader: Reader | None = None,
    out: str | Place | None = None,
    *,
    metrics: Sequence[str] | None = None,
    name: str = "",
    progress: Report = silent,
) -> Run:
    """A new run from the evidence of a stored one; no model is called.

    `reader` has the same samples in the same order with other ground truth; `metrics` are those to compute, by default those of the
    run. Metrics and evidence without a model are computed again. The output of models is used if its input is unchanged; other
    cells are skipped as out of date. The new run is stored next to the old one unless `out` names another root.
    """
    root = _root_of(run) if out is None else open_place(out) if isinstance(out, str) else out
    _remove_dead(root)
    folder = RunFolder.create(root)
    try:
        source = reader or StoredReader(run)
        with folder.owned():
            # With a plan, the folder is listed as unfinished if this process is killed.
            write_json(folder.plan, {RESCORES: run.id, "name": name, "bounds": {}, "created_at": now()})
            profile = ingest(source, folder.samples, progress)
            if read_table(folder.samples, ["id"])["id"].to_pylist() != run.samples.table["id"].to_pylist():
                raise UsageError(f"the samples are not those of run {run.id}, or not in the same order")
            _compute(run, folder, profile, metrics, source, name, progress)
    except BaseException:
        with suppress(StorageError):  # the first error matters
            folder.discard()
        raise
    return Run(folder)


def _remove_dead(root: Place) -> None:
    """Removes the folders of rescores that were killed: they contain nothing that is not computed again."""
    for folder in unfinished_runs(root):
        plan = read_json(folder.plan)
        if isinstance(plan, dict) and RESCORES in plan and not folder.is_worked_on():
            with suppress(StorageError):
                folder.discard()


def _compute(
    run: Run,
    folder: RunFolder,
    profile: Profile,
    metrics: Sequence[str] | None,
    source: Reader,
    name: str,
    progress: Report,
) -> None:
    started, created = time.perf_counter(), now()
    tools = stored_tools(run)
    wanted, undefined = _find_metrics(run, metrics)
    plan = profile.plan(wanted, tools)
    plan = replace(plan, skipped={**plan.skipped, **undefined})
    work = execute(plan, folder, tools, 1, progress, StoredEvidence(run))
    parts = run_to_end(work, plan.waits)
    progress(Progress("finishing", profile.rows, profile.rows))
    finish_tables(plan, folder, parts, profile)
    truth = source.report.info.get("truth") or run.info.get("truth")
    old = (run.info.get("rescored") or {"name": run.name})["name"]
    more = {
        **{part: run.info.get(part) for part in _KEPT},
        "name": name or (f"{old} on {truth['name']}@{truth['version']}" if truth else f"{old}, rescored"),
        "truth": truth,
        "rescored": {"run": run.id, "name": run.name, "path": run.path},
    }
    write_run(folder, plan, profile, created, started, {}, more)


def _find_metrics(run: Run, names: Sequence[str] | None) -> tuple[list[Metric], dict[str, str]]:
    """The metrics that were asked for, those of the run by default; and the run's that are not defined here."""
    if names is not None:
        return resolve_metrics(names), {}
    found: dict[str, Metric] = {}
    undefined: dict[str, str] = {}
    for name in [*(item["metric"] for item in run.info["metrics"]), *run.info["skipped"]]:
        try:
            metric = parse_metric(name, stored=True)
            found[str(metric)] = metric
        except UnknownNameError:
            undefined[name] = _UNDEFINED
    return list(found.values()), undefined


def _root_of(run: Run) -> Place:
    """The root under which a run is stored, as `<root>/runs/<id>`."""
    place = run.folder.place
    url = place.url.rstrip("/").rsplit("/", 2)
    path = place.path.rsplit("/", 2)[0]
    return Place(place.files, path, url[0] if len(url) == 3 else path)


@dataclass
class PromptedTool(StoredTool):
    """A stored tool that used prompts from files."""

    hashes: Mapping[str, str]

    def prompt_hash(self, name: str) -> str:
        """The hash of the prompt in the stored run."""
        return self.hashes.get(name, "unknown")


def stored_tools(run: Run) -> dict[str, Tool]:
    """The tools of a stored run: a matcher without a model is opened, all others are `StoredTool`s."""
    signatures: dict[str, str] = run.info["tools"]
    hashes = {name: prompt["hash"] for name, prompt in (run.info.get("prompts") or {}).items()}
    # A judge may ask with other prompts in place of a declared one: the evidence has their hashes under its name.
    for piece in run.info["evidence"]:
        hashes |= {name: digest for signature in _signatures(run, piece) for name, digest in signature.prompts}
    matcher = signatures.get("matcher", "citation/").partition("/")[0]
    tools: dict[str, Tool] = {"matcher": make_matcher(matcher)} if matcher in MATCHERS else {}
    for tool, signature in signatures.items():
        if tool not in tools:
            prompted = _was_prompted(run, tool, hashes)
            tools[tool] = PromptedTool(tool, signature, hashes) if prompted else StoredTool(tool, signature)
    return tools


def _was_prompted(run: Run, tool: str, hashes: Mapping[str, str]) -> bool:
    """Whether the signature of evidence that the tool made names a prompt."""
    for piece in run.info["evidence"]:
        spec = CATALOGUE.evidence(piece)
        if spec is not None and tool in spec.needs and spec.prompts:
            asked = {prompt for signature in _signatures(run, piece) for prompt in signature.prompts}
            return any((name, hashes.get(name)) in asked for name in spec.prompts)
    return False


def _signatures(run: Run, piece: str) -> list[Signature]:
    column = read_table(run.folder.evidence(piece), ["signature"])["signature"]
    return [Signature.parse(text) for text in column.unique().to_pylist()]
