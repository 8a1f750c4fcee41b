"""The HTML report of one run or one sample, and the data that it reads once: verdict, advice, parts, metrics, slices, worst samples, and provenance."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.analysis.aggregate import aggregate
from ragstone.analysis.cause_names import Outcome
from ragstone.analysis.cause_texts import cause_label, people_text
from ragstone.analysis.diagnosis import Diagnosis, diagnose
from ragstone.analysis.differences import is_of_all_rows
from ragstone.analysis.explain import Cell
from ragstone.analysis.sample_evidence import read_cases_at
from ragstone.analysis.sample_order import find_worst, measure_quality
from ragstone.analysis.slices import RunSlice, find_columns, slice_run
from ragstone.report.html import charts
from ragstone.report.html.page import render_page
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import Run, read_batches, read_table
from ragstone.storage.scores import Scores, read_labels, read_scores, unless_nan
from ragstone.views.diagnosis import DiagnosisView
from ragstone.views.marks import Limits
from ragstone.views.phrases import by_reason, one_line
from ragstone.views.run import FEW, RunView, arrow_of, consistency_dict, headline_metrics
from ragstone.views.sample import SampleView, sample_view
from ragstone.views.system_strip import SystemStrip, Usage, read_usage

# The causes of more samples take minutes; `ragstone diagnose` and the viewer examine all samples.
MOST_DIAGNOSED = 100_000
# Longer texts are shortened in the report; the run contains them in full.
_MOST_CHARACTERS = 4_000
_MOST_CHUNKS = 20


@dataclass(frozen=True)
class RunData:
    """The data of one run."""

    run: Run
    metrics: Sequence[MetricInfo]
    view: RunView
    scores: Mapping[str, Scores]
    ids: pa.ChunkedArray
    quality: np.ndarray
    known: Diagnosis | None = None

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """The diagnosis; it is made when something asks for it."""
        return self.known or diagnose(self.run, MOST_DIAGNOSED)

    def outcome(self, row: int) -> Outcome:
        """The outcome of a row. Only the first rows are diagnosed."""
        outcomes = self.diagnosis.outcomes
        if row < len(outcomes):
            return outcomes[row]
        return Outcome(self.ids[row].as_py(), undecided=f"only the first {len(outcomes):,} samples were diagnosed")


def read_run_data(run: Run, diagnosis: Diagnosis | None = None) -> RunData:
    """Read the data that all parts of a page share; `diagnosis` if it is known already."""
    metrics = run.info["metrics"]
    scores = read_scores(run, [metric["metric"] for metric in metrics])
    ids = read_table(run.folder.samples, ["id"])["id"]
    return RunData(
        run=run,
        metrics=metrics,
        view=RunView.of(run),
        scores=scores,
        ids=ids,
        quality=measure_quality(metrics, scores, len(ids)),
        known=diagnosis,
    )


def show_rows(data: RunData, rows: Collection[int], prefix: str = "s") -> dict[int, SampleView]:
    """The samples of these rows in full, by row number."""
    cases = read_cases_at(data.run, rows)
    cells = read_cells(data.run, [case.sample.id for case in cases.values()])
    return {
        row: sample_view(
            row + 1,
            cases[row],
            data.outcome(row),
            cells.get(cases[row].sample.id, []),
            report_limits(),
            anchor=f"{prefix}{row + 1}",
            quality=unless_nan(data.quality[row]),
        )
        for row in rows
    }


def report_limits() -> Limits:
    """The limits of reports and notebooks."""
    return Limits(_MOST_CHARACTERS, _MOST_CHUNKS, embed=True)


def read_cells(run: Run, ids: Sequence[str]) -> dict[str, list[Cell]]:
    """The scores of these samples with their reasons, in one pass over the file."""
    wanted = pa.array(ids, pa.string())
    cells: dict[str, list[Cell]] = {}
    names = ["sample_id", "metric", "value", "status", "reason"]
    for batch in read_batches(run.folder.scores, names):
        selected = batch.filter(pc.is_in(batch["sample_id"].cast(pa.string()), value_set=wanted))
        for cell in selected.to_pylist():
            cells.setdefault(cell.pop("sample_id"), []).append(Cell(**cell))
    return cells


_COUNTS = ("calls", "cached_calls", "input_tokens", "output_tokens", "cost_usd", "seconds")


def measured(run: Run) -> dict[str, Any]:
    """The provenance of a run: signatures, judge, prompts, versions and cost."""
    info = run.info
    code = info.get("code") or {}
    about = {
        "run": run.id,
        "started": info["created_at"],
        "finished": info["finished_at"],
        "data": f"{info['dataset']['rows']:,} samples, {info['dataset']['format']}, fingerprint {info['dataset']['fingerprint']}",
        **{name: str(value) for name, value in (info.get("judge") or {}).items()},
        **{f"prompt {name}": str(prompt["hash"]) for name, prompt in (info.get("prompts") or {}).items()},
        **{name: str(value) for name, value in info["versions"].items()},
    }
    if code:
        about["code"] = ", ".join(f"{name} {value}" for name, value in code.items())
    return {
        "about": about,
        "params": {name: str(value) for name, value in (info.get("params") or {}).items()},
        "signatures": {metric["metric"]: metric["signature"] for metric in info["metrics"]},
        "not_computed": list(by_reason(info["skipped"].items()).items()),
        "totals": {name: info["totals"].get(name, 0) for name in _COUNTS},
        "models": _models(run),
    }


def _models(run: Run) -> list[dict[str, Any]]:
    """Calls, tokens and cost by model and evidence. The file of calls is read only if there were calls."""
    if not run.info["totals"].get("calls") and not run.info["totals"].get("cached_calls"):
        return []
    columns = ["model", "evidence", "input_tokens", "output_tokens", "cost_usd", "cached", "error", "attempts"]
    calls = read_table(run.folder.calls, columns)
    # What a budget or a deadline forbade was not asked.
    calls = calls.filter(pc.or_(calls["cached"], pc.greater(calls["attempts"], 0)))
    failed = pc.is_valid(calls["error"]).cast("int64")
    table = calls.append_column("failed", failed).set_column(5, "cached", calls["cached"].cast("int64"))
    sums = [(name, "sum") for name in ("input_tokens", "output_tokens", "cost_usd", "cached", "failed")]
    rows = table.group_by(["model", "evidence"]).aggregate([*sums, ([], "count_all")]).to_pylist()
    return sorted(rows, key=lambda row: (str(row["model"]), str(row["evidence"])))


WORST = 20
# More samples are printed only on request: a report should fit on a few sheets.
PRINTED = 5
MOST_SHOWN = 1_000
MOST_LISTED = 500


def run_html(
    run: Run,
    worst: int = WORST,
    slices: Sequence[str] | None = None,
    *,
    all_samples: bool = False,
    selected: Sequence[int] | None = None,
) -> str:
    """One self-contained file. `worst` samples are shown in full; `slices` are columns of the metadata.

    Some of them are printed. With `all_samples`, every sample is shown in full and printed. `selected` are the rows of the
    table and their order; by default all rows, worst first.
    """
    read = read_run_data(run)
    most = MOST_SHOWN if all_samples else worst
    rows = find_worst(read.quality, read.diagnosis.faulty, most) if selected is None else selected[:most]
    shown = show_rows(read, rows)
    data = {
        **run_data(read.view, measure_spreads(read.metrics, read.scores), read_usage(run)),
        "diagnosis": DiagnosisView.of(read.diagnosis, run.info),
        "anchors": {sample.id: sample.anchor for sample in shown.values()},
        "distributions": list(_distributions(read)),
        "slices": [slice_data(run, *one) for one in slices_of(run, read.metrics, read.scores, slices)],
        "shown": list(shown.values()),
        "printed": min(PRINTED, len(shown)),
        "print_all": all_samples,
        "table": _table(read, shown, selected),
    }
    return render_page("run.html", data, aggregate(run, read.diagnosis))


def run_data(view: RunView, spreads: Mapping[str, Any], usage: Usage) -> dict[str, Any]:
    """The data of the page of a run that a report and the viewer share, without its diagnosis and its samples."""
    return {
        "title": one_line(view.run.name, 120),
        "run": describe_run(view.run),
        "system": SystemStrip.of(view.run, usage),
        "judge_failure": view.failure,
        "judged": view.explanations,
        "metrics": metric_rows(view, spreads),
        "consistency": consistency_dict(view.run),
        "measured": measured(view.run),
    }


def describe_run(run: Run) -> dict[str, Any]:
    """The page data that identifies a run: id, name, address in the viewer, size, time and parameters."""
    return {
        "id": run.id,
        "name": one_line(run.name, 120),
        "address": f"/runs/{run.id}",
        "rows": run.info["dataset"]["rows"],
        "finished_at": run.info["finished_at"],
        "params": {str(name): one_line(str(value), 60) for name, value in (run.info.get("params") or {}).items()},
    }


def metric_rows(view: RunView, spreads: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The metrics of a run with their distributions."""
    return [asdict(metric) | {"spread": spreads[metric.metric]} for metric in view.metrics]


def measure_spreads(metrics: Sequence[MetricInfo], scores: Mapping[str, Scores]) -> dict[str, dict[str, Any]]:
    """The histogram of each metric."""
    found = {}
    for metric in metrics:
        values = scores[metric.metric].values
        low, high = value_range(values, metric.bounds)
        counts = [int(count) for count in charts.count_values(values, low, high)]
        found[metric.metric] = {"low": low, "high": high, "counts": counts}
    return found


def value_range(values: np.ndarray, bounds: Sequence[float | None]) -> tuple[float, float]:
    """The bounds of a metric, or the range of its values if it has no bounds."""
    low, high = bounds
    present = values[~np.isnan(values)]
    least, most = (float(present.min()), float(present.max())) if len(present) else (0.0, 1.0)
    low, high = (least if low is None else low), (most if high is None else high)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _distributions(data: RunData) -> Iterator[dict[str, Any]]:
    for metric in data.view.metrics:
        scores = data.scores[metric.metric]
        if np.any(~np.isnan(scores.values)) and not is_of_all_rows(metric.metric, data.run, scores):
            plot = charts.histogram(scores.values, *value_range(scores.values, metric.bounds), metric.mean)
            yield {"metric": metric.metric, "arrow": metric.arrow, "mean": metric.mean, "plot": plot}


def slices_of(
    run: Run, metrics: Sequence[MetricInfo], scores: Mapping[str, Scores], columns: Sequence[str] | None = None
) -> Iterator[tuple[str, tuple[RunSlice, ...]]]:
    """The slices by columns of the metadata, with a few headline metrics: those from 0 to 1, if the run has some."""
    able = [metric for metric in metrics if not is_of_all_rows(metric.metric, run, scores[metric.metric])]
    chosen = headline_metrics([metric for metric in able if tuple(metric.bounds) == (0.0, 1.0)] or able, FEW)
    for column in find_columns(run) if columns is None else columns:
        yield column, tuple(slice_run(read_labels(run, column), column, chosen, scores))


def slice_data(run: Run, column: str, parts: Sequence[RunSlice]) -> dict[str, Any]:
    """The slices of a column as page data."""
    names = [row.metric for row in parts[0].metrics] if parts else []
    known = {metric.metric: metric for metric in run.info.metrics}
    return {
        "column": column,
        "metrics": names,
        "arrows": [arrow_of(known[name].better) for name in names],
        "rows": [
            {
                "label": one_line(part.label, 80),
                "key": f"{column}={part.label}",
                "samples": part.rows,
                "cells": [
                    {"mean": row.mean, "low": row.ci_low, "high": row.ci_high, "rows": row.n_ok} for row in part.metrics
                ],
            }
            for part in parts
        ],
    }


def _table(data: RunData, shown: Mapping[int, SampleView], selected: Sequence[int] | None) -> dict[str, Any]:
    """The table of samples, worst first or as selected, limited so that the file stays small."""
    total = len(data.ids)
    # If no metric has a direction, the samples keep their order.
    order = selected if selected is not None else find_worst(data.quality, data.diagnosis.faulty, total)
    rows = list(order if order or selected is not None else range(total))[:MOST_LISTED]
    metrics = headline_metrics(data.metrics, FEW)
    questions = read_table(data.run.folder.samples, ["question"])["question"].take(pa.array(rows, pa.int64()))
    return {
        "total": total,
        "selected": None if selected is None else len(selected),
        "columns": [{"metric": metric.metric, "arrow": arrow_of(metric.better)} for metric in metrics],
        "rows": [
            {
                "id": data.ids[row].as_py(),
                "row": row + 1,
                "question": one_line(question or "", 110),
                "address": f"#{shown[row].anchor}" if row in shown else "",
                "cause": cause_label(data.diagnosis, data.outcome(row)),
                "status": data.outcome(row).status,
                "wrong": data.outcome(row).wrong,
                "labelled": people_text(data.outcome(row).labelled_by),
                "quality": unless_nan(data.quality[row]),
                "values": [unless_nan(data.scores[metric.metric].values[row]) for metric in metrics],
            }
            for row, question in zip(rows, questions.to_pylist(), strict=True)
        ],
    }


def sample_html(view: SampleView, run: str) -> str:
    """The file; `run` is the name of the run. Metadata are left out: they may name people and places."""
    data = {"title": one_line(f"{view.id} in {run}", 120), "sample": view, "run": run}
    embedded = {
        "schema": "ragstone.sample",
        "version": 1,
        "run": run,
        "id": view.id,
        "question": view.question,
        "status": view.status,
        "wrong": view.wrong,
        "cause": view.cause or None,
        "scores": [asdict(cell) for cell in view.scores],
    }
    return render_page("one_sample.html", data, embedded)
