"""The HTML report of one run: verdict, advice, parts, metrics, slices, worst samples, and provenance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.compare.aggregate import aggregate
from ragstone.compare.cause_names import Part
from ragstone.compare.cause_texts import HOW_SURE, cause_label, fail_word, failing_text, sure_text
from ragstone.compare.diagnosis import Diagnosis
from ragstone.compare.differences import is_of_all_rows
from ragstone.compare.sample_order import find_worst, telling_metrics
from ragstone.compare.signs import Reading
from ragstone.compare.slices import find_columns, slice_run
from ragstone.data.summary import SummaryRow
from ragstone.report.consistency import consistency_dict
from ragstone.report.diagnosis import disagreement, headline, limit_text, reason_line, short_name, state_text, weakness
from ragstone.report.html import charts
from ragstone.report.html.page import render_page
from ragstone.report.html.run_data import RunData, read_run_data, show_rows
from ragstone.report.html.sample_data import Shown
from ragstone.report.judge_failure import judge_failure
from ragstone.report.run import DIRECTION, judge_lines, part_of, people_text
from ragstone.report.text import by_reason, interval_text, one_line
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import Run, read_table
from ragstone.storage.scores import read_labels, unless_nan

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
        "signatures": [(metric["metric"], metric["signature"]) for metric in info["metrics"]],
        "not_computed": list(by_reason(info["skipped"].items()).items()),
        "totals": {name: info["totals"].get(name, 0) for name in _COUNTS},
        "models": _models(run),
    }


def _models(run: Run) -> list[dict[str, Any]]:
    """Calls, tokens and cost by model and evidence. The file of calls is read only if there were calls."""
    if not run.info["totals"].get("calls") and not run.info["totals"].get("cached_calls"):
        return []
    columns = ["model", "evidence", "input_tokens", "output_tokens", "cost_usd", "cached", "error"]
    calls = read_table(run.folder.calls, columns)
    failed = pc.is_valid(calls["error"]).cast("int64")
    table = calls.append_column("failed", failed).set_column(5, "cached", calls["cached"].cast("int64"))
    sums = [(name, "sum") for name in ("input_tokens", "output_tokens", "cost_usd", "cached", "failed")]
    rows = table.group_by(["model", "evidence"]).aggregate([*sums, ([], "count_all")]).to_pylist()
    return sorted(rows, key=lambda row: (str(row["model"]), str(row["evidence"])))


WORST = 20
# More samples are printed only on request: a report should fit on a few sheets.
PRINTED = 5
MOST_SHOWN = 1_000
HEADLINES = 12
MOST_LISTED = 500
_MOST_SLICE_METRICS = 5
_MOST_COLUMNS = 6
_MOST_EXAMPLES = 3
PARTS: tuple[Part, Part] = ("retriever", "generator")
STATE_TONES = {
    "good": "good",
    "seems good": "good unsure",
    "bad": "bad",
    "seems bad": "bad unsure",
    "unclear": "unsure",
    "": "",
}


def run_html(run: Run, worst: int = WORST, slices: Sequence[str] | None = None, *, all_samples: bool = False) -> str:
    """One self-contained file. `worst` samples are shown in full; `slices` are columns of the metadata.

    Some of them are printed. With `all_samples`, every sample is shown in full and printed.
    """
    read = read_run_data(run)
    rows = find_worst(read.quality, read.faulty, MOST_SHOWN if all_samples else worst)
    headlines = telling_metrics(read.metrics, HEADLINES)
    shown = show_rows(read, rows)
    data = {
        "title": run.name,
        "run": run,
        "headline": headline(read.diagnosis),
        "failing": failing_text(read.diagnosis),
        "fail_word": fail_word(read.diagnosis, 2),
        "judge_failure": judge_failure(run),
        "judged": [*judge_lines(run.info), *filter(None, [disagreement(read.diagnosis)])],
        "diagnosis": read.diagnosis,
        "rows": len(read.ids),
        "tally": tally_data(read.diagnosis),
        "parts": [part_data(read.diagnosis, part) for part in PARTS],
        "advice": advice_rows(read.diagnosis),
        "causes": list(cause_rows(read.diagnosis, shown)),
        "headlines": list(metric_groups(read, headlines)),
        "groups": list(metric_groups(read, [metric for metric in read.metrics if metric not in headlines])),
        "axis": charts.strip_axis(charts.strip_scale(0, 1)),
        "distributions": list(_distributions(read)),
        "consistency": consistency_dict(run),
        "slices": list(_slices(read, slices)),
        "worst": list(shown.values()),
        "printed": min(PRINTED, len(shown)),
        "print_all": all_samples,
        "listed": _listed(read, shown),
        "measured": measured(run),
    }
    return render_page("run.html", data, aggregate(run, read.diagnosis))


def tally_data(diagnosis: Diagnosis) -> dict[str, Any] | None:
    """The expected claims or facts as a picture: in the answer, retrieved only, not retrieved."""
    if not diagnosis.tally:
        return None
    parts = [
        ("in the answer", diagnosis.tally["said"], "good"),
        ("retrieved, not in the answer", diagnosis.tally["ignored"], "silent"),
        ("not retrieved", diagnosis.tally["missing"], "bad"),
        *([("unsure", diagnosis.tally["unsure"], "unsure")] if diagnosis.tally["unsure"] else []),
    ]
    return {"plot": charts.stacked(parts), "parts": parts, "total": diagnosis.tally.total()}


def part_data(diagnosis: Diagnosis, part: Part) -> dict[str, Any]:
    """The state of a part of the system, and its metrics with their limits."""
    readings = [reading for reading in diagnosis.readings if reading.sign.part == part]
    return {
        "name": part,
        "state": diagnosis.parts[part],
        "tone": STATE_TONES[diagnosis.parts[part]],
        "blamed": diagnosis.blamed(part),
        "readings": [_reading(reading) for reading in readings],
    }


def _reading(reading: Reading) -> dict[str, Any]:
    sign = reading.sign
    limit = None if sign.better == "none" else sign.limit
    scale = charts.strip_scale(0, 1)
    return {
        "metric": short_name(reading),
        "arrow": DIRECTION[sign.better].strip(),
        "mean": reading.mean,
        "limit": limit_text(reading),
        "rows": reading.rows,
        "state": state_text(reading),
        "tone": STATE_TONES[reading.state],
        "strip": charts.interval_strip(
            scale, reading.mean, reading.low, reading.high, STATE_TONES[reading.state], limit
        ),
    }


def advice_rows(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """The advice and its reasons."""
    return [
        {
            "text": item.text,
            "doubt": "" if item.sure else weakness(item, diagnosis),
            "because": [reason_line(why) for why in item.because],
        }
        for item in diagnosis.advice
    ]


def cause_rows(diagnosis: Diagnosis, shown: Mapping[int, Shown] | None = None) -> Iterator[dict[str, Any]]:
    """One row per cause, with the shown samples that have it; without a page, with the ids of some samples."""
    most = max((count.shown for count in diagnosis.causes), default=1) or 1
    by_id = {sample.id: sample for sample in (shown or {}).values()}
    for count in diagnosis.causes:
        yield {
            "name": count.cause.name,
            "part": count.cause.part or "",
            "meaning": count.cause.meaning,
            "main": count.main,
            "samples": count.samples,
            "items": count.items,
            "sure": sure_text(count),
            "how_sure": HOW_SURE,
            "bar": charts.bar(count.shown / most, f"{count.shown:,} samples", "bad" if count.cause.fails else "silent"),
            "examples": [
                by_id.get(name, {"id": name, "anchor": ""}) for name in count.examples if name in by_id or shown is None
            ][:_MOST_EXAMPLES],
        }


def metric_groups(data: RunData, metrics: Sequence[MetricInfo]) -> Iterator[dict[str, Any]]:
    """The metrics by the part of the system that they judge, with interval and distribution."""
    for part in dict.fromkeys(part_of(metric) for metric in metrics):
        rows = [_metric_row(data, metric) for metric in metrics if part_of(metric) == part]
        yield {"name": part, "rows": rows}


def _metric_row(data: RunData, metric: Mapping[str, Any]) -> dict[str, Any]:
    row = data.summary[metric["metric"]]
    values = data.scores[metric["metric"]].values
    return {
        "metric": row.metric,
        "arrow": DIRECTION[metric["better"]].strip(),
        "better": metric["better"],
        "mean": row.mean,
        "interval": interval_text(row.ci_low, row.ci_high),
        "strip": _strip(row, metric),
        "people": people_text(data.people[row.metric].interval()) if row.metric in data.people else "",
        "spark": charts.spark(values, *value_range(values, metric["bounds"])) if np.any(~np.isnan(values)) else "",
        "row": row,
    }


def _strip(row: SummaryRow, metric: Mapping[str, Any]) -> str:
    if not fits_unit_line(metric, row.mean, row.ci_low):
        return ""
    return charts.interval_strip(charts.strip_scale(0, 1), row.mean, row.ci_low, row.ci_high)


def fits_unit_line(metric: Mapping[str, Any], *ends: float | None) -> bool:
    """Whether a metric fits on the shared line from 0 to 1. A cosine fits unless it is negative."""
    low, high = metric["bounds"]
    return high == 1.0 and low is not None and low >= -1.0 and all(end is None or end >= 0 for end in ends)


def value_range(values: np.ndarray, bounds: Sequence[float | None]) -> tuple[float, float]:
    """The bounds of a metric, or the range of its values if it has no bounds."""
    low, high = bounds
    present = values[~np.isnan(values)]
    least, most = (float(present.min()), float(present.max())) if len(present) else (0.0, 1.0)
    low, high = (least if low is None else low), (most if high is None else high)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _distributions(data: RunData) -> Iterator[dict[str, Any]]:
    for metric in data.metrics:
        values = data.scores[metric["metric"]].values
        if np.any(~np.isnan(values)) and not is_of_all_rows(metric["metric"], data.run, data.scores[metric["metric"]]):
            mean = data.summary[metric["metric"]].mean
            plot = charts.histogram(values, *value_range(values, metric["bounds"]), mean)
            yield {"metric": metric["metric"], "arrow": DIRECTION[metric["better"]].strip(), "mean": mean, "plot": plot}


def _slices(data: RunData, columns: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    able = [m for m in data.metrics if not is_of_all_rows(m["metric"], data.run, data.scores[m["metric"]])]
    bounded = [metric for metric in able if tuple(metric["bounds"]) == (0.0, 1.0)] or able
    metrics = telling_metrics(bounded, _MOST_SLICE_METRICS)
    scale = charts.strip_scale(0, 1)
    for column in find_columns(data.run) if columns is None else columns:
        parts = slice_run(read_labels(data.run, column), column, metrics, data.scores)
        yield {
            "column": column,
            "metrics": [
                {
                    "metric": metric["metric"],
                    "arrow": DIRECTION[metric["better"]].strip(),
                    "rows": [
                        {
                            "label": part.label,
                            "rows": part.rows,
                            "row": (row := part.metrics[place]),
                            "strip": charts.interval_strip(scale, row.mean, row.ci_low, row.ci_high),
                            "interval": interval_text(row.ci_low, row.ci_high),
                        }
                        for part in parts
                    ],
                }
                for place, metric in enumerate(metrics)
            ],
        }


def _listed(data: RunData, shown: Mapping[int, Shown]) -> dict[str, Any]:
    """The table of samples, worst first, limited so that the file stays small."""
    total = len(data.ids)
    # If no metric has a direction, the samples keep their order.
    rows = (find_worst(data.quality, data.faulty, total) or list(range(total)))[:MOST_LISTED]
    metrics = telling_metrics(data.metrics, _MOST_COLUMNS)
    questions = (
        read_table(data.run.folder.samples, ["question"])["question"].take(pa.array(rows, pa.int64())).to_pylist()
    )
    return {
        "metrics": [(metric["metric"], DIRECTION[metric["better"]].strip()) for metric in metrics],
        "total": total,
        "rows": [
            {
                "id": data.ids[row].as_py(),
                "row": row + 1,
                "question": one_line(question or "", 110),
                "anchor": shown[row].anchor if row in shown else "",
                "cause": cause_label(data.diagnosis, data.outcome(row)),
                "quality": unless_nan(data.quality[row]),
                "values": [unless_nan(data.scores[metric["metric"]].values[row]) for metric in metrics],
            }
            for row, question in zip(rows, questions, strict=True)
        ],
    }
