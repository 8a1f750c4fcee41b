"""The report of one run: verdict, what to do, parts, metrics, slices, worst samples, how it was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ragstone.compare.aggregate import aggregate
from ragstone.compare.corpus import is_of_all_rows
from ragstone.compare.diagnosis import Diagnosis
from ragstone.compare.findings import Part
from ragstone.compare.signs import Reading
from ragstone.compare.slices import find_columns, slice_run
from ragstone.compare.worst import find_worst, telling_metrics
from ragstone.data.summary import SummaryRow
from ragstone.report.diagnosis import headline, reason_line
from ragstone.report.html import plots
from ragstone.report.html.gathering import Gathered, gather, show_rows
from ragstone.report.html.measured import measured
from ragstone.report.html.page import render_page
from ragstone.report.html.samples import Shown
from ragstone.report.judged import judge_lines
from ragstone.report.plain import one_line
from ragstone.report.terminal import DIRECTION, part_of
from ragstone.storage.labels import read_labels
from ragstone.storage.runs import Run, read_table

WORST = 20
MOST_LISTED = 500
_MOST_SLICE_METRICS = 5
_MOST_COLUMNS = 6
PARTS: tuple[Part, Part] = ("retriever", "generator")
STATE_TONES = {"good": "good", "seems good": "good unsure", "bad": "bad", "seems bad": "bad unsure", "": ""}


def run_html(run: Run, worst: int = WORST, slices: Sequence[str] | None = None) -> str:
    """One file that opens anywhere; so many samples in full, cut into slices by these columns of the metadata."""
    found = gather(run)
    rows = find_worst(found.quality, found.faulty, worst)
    shown = show_rows(found, rows)
    data = {
        "title": run.name,
        "run": run,
        "headline": headline(found.diagnosis),
        "judged": list(judge_lines(run.info)),
        "found": found.diagnosis,
        "rows": len(found.ids),
        "tally": _tally(found.diagnosis),
        "parts": [_part(found.diagnosis, part) for part in PARTS],
        "advice": advice_rows(found.diagnosis),
        "causes": list(cause_rows(found.diagnosis, shown)),
        "groups": list(metric_groups(found)),
        "axis": plots.strip_axis(plots.strip_scale(0, 1)),
        "distributions": list(_distributions(found)),
        "slices": list(_slices(found, slices)),
        "worst": list(shown.values()),
        "listed": _listed(found, shown),
        "measured": measured(run),
    }
    return render_page("run.html", data, aggregate(run, found.diagnosis))


def _tally(found: Diagnosis) -> dict[str, Any] | None:
    if not found.tally:
        return None
    parts = [
        ("said", found.tally["said"], "good"),
        ("retrieved, not said", found.tally["ignored"], "silent"),
        ("not retrieved", found.tally["missing"], "bad"),
    ]
    return {"plot": plots.stacked(parts), "parts": parts, "total": found.tally.total()}


def _part(found: Diagnosis, part: Part) -> dict[str, Any]:
    readings = [reading for reading in found.readings if reading.sign.part == part]
    return {
        "name": part,
        "state": found.parts[part],
        "tone": STATE_TONES[found.parts[part]],
        "blamed": found.blamed(part),
        "readings": [_reading(reading) for reading in readings],
    }


def _reading(reading: Reading) -> dict[str, Any]:
    sign = reading.sign
    limit = None if sign.better == "none" else sign.limit
    scale = plots.strip_scale(0, 1)
    return {
        "metric": sign.metric.removeprefix("ragchecker."),
        "arrow": DIRECTION[sign.better].strip(),
        "mean": reading.mean,
        "limit": {"higher": f"≥ {sign.limit:g}", "lower": f"≤ {sign.limit:g}", "none": "–"}[sign.better],
        "rows": reading.rows,
        "state": reading.state,
        "tone": STATE_TONES[reading.state],
        "strip": plots.interval_strip(
            scale, reading.mean, reading.low, reading.high, STATE_TONES[reading.state], limit
        ),
    }


def advice_rows(found: Diagnosis) -> list[dict[str, Any]]:
    """What to do, and what says so."""
    return [
        {"text": item.text, "sure": item.sure, "because": [reason_line(why) for why in item.because]}
        for item in found.advice
    ]


def cause_rows(found: Diagnosis, shown: Mapping[int, Shown]) -> Iterator[dict[str, Any]]:
    """A row a cause, with the shown samples that have it."""
    most = max((count.samples for count in found.causes), default=1)
    by_id = {sample.id: sample for sample in shown.values()}
    for count in found.causes:
        yield {
            "name": count.cause.name,
            "part": count.cause.part or "",
            "meaning": count.cause.meaning,
            "main": count.main,
            "samples": count.samples,
            "items": count.items,
            "bar": plots.bar(
                count.samples / most, f"{count.samples:,} samples", "bad" if count.cause.fails else "silent"
            ),
            "examples": [by_id[name] for name in count.examples if name in by_id][:3],
        }


def metric_groups(found: Gathered) -> Iterator[dict[str, Any]]:
    """The metrics by the part of the system that they judge, each with its interval and its distribution."""
    for part in dict.fromkeys(part_of(metric) for metric in found.metrics):
        metrics = [metric for metric in found.metrics if part_of(metric) == part]
        yield {"name": part, "rows": [_metric_row(found, metric) for metric in metrics]}


def _metric_row(found: Gathered, metric: Mapping[str, Any]) -> dict[str, Any]:
    row = found.summary[metric["metric"]]
    values = found.scores[metric["metric"]].values
    return {
        "metric": row.metric,
        "arrow": DIRECTION[metric["better"]].strip(),
        "better": metric["better"],
        "mean": row.mean,
        "interval": interval_words(row),
        "strip": _strip(row, metric),
        "spark": plots.spark(values, *_range(values, metric)) if np.any(~np.isnan(values)) else "",
        "row": row,
    }


def _strip(row: SummaryRow, metric: Mapping[str, Any]) -> str:
    if not fits_the_line(metric, row.mean, row.ci_low):
        return ""
    return plots.interval_strip(plots.strip_scale(0, 1), row.mean, row.ci_low, row.ci_high)


def fits_the_line(metric: Mapping[str, Any], *ends: float | None) -> bool:
    """Whether a metric can be drawn on the line from 0 to 1 that all share; a cosine can too, unless it is negative."""
    low, high = metric["bounds"]
    return high == 1.0 and low is not None and low >= -1.0 and all(end is None or end >= 0 for end in ends)


def interval_words(row: SummaryRow) -> str:
    """Both ends, or a dash."""
    return "–" if row.ci_low is None or row.ci_high is None else f"{row.ci_low:.3f} – {row.ci_high:.3f}"


def _range(values: np.ndarray, metric: Mapping[str, Any]) -> tuple[float, float]:
    """The metric's own bounds, or those of its values where it has none."""
    low, high = metric["bounds"]
    least, most = float(np.nanmin(values)), float(np.nanmax(values))
    low, high = (least if low is None else low), (most if high is None else high)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _distributions(found: Gathered) -> Iterator[dict[str, Any]]:
    for metric in found.metrics:
        values = found.scores[metric["metric"]].values
        if np.any(~np.isnan(values)) and not is_of_all_rows(
            metric["metric"], found.run, found.scores[metric["metric"]]
        ):
            mean = found.summary[metric["metric"]].mean
            plot = plots.histogram(values, *_range(values, metric), mean)
            yield {"metric": metric["metric"], "arrow": DIRECTION[metric["better"]].strip(), "mean": mean, "plot": plot}


def _slices(found: Gathered, columns: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    able = [m for m in found.metrics if not is_of_all_rows(m["metric"], found.run, found.scores[m["metric"]])]
    bounded = [metric for metric in able if tuple(metric["bounds"]) == (0.0, 1.0)] or able
    metrics = telling_metrics(bounded, _MOST_SLICE_METRICS)
    scale = plots.strip_scale(0, 1)
    for column in find_columns(found.run) if columns is None else columns:
        parts = slice_run(read_labels(found.run, column), column, metrics, found.scores)
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
                            "strip": plots.interval_strip(scale, row.mean, row.ci_low, row.ci_high),
                            "interval": interval_words(row),
                        }
                        for part in parts
                    ],
                }
                for place, metric in enumerate(metrics)
            ],
        }


def _listed(found: Gathered, shown: Mapping[int, Shown]) -> dict[str, Any]:
    """The table of samples, the worst first; only so many, so that the file stays small."""
    total = len(found.ids)
    # Where no metric has a better direction, nothing is the worst: all in their order.
    rows = (find_worst(found.quality, found.faulty, total) or list(range(total)))[:MOST_LISTED]
    metrics = telling_metrics(found.metrics, _MOST_COLUMNS)
    questions = (
        read_table(found.run.folder.samples, ["question"])["question"].take(pa.array(rows, pa.int64())).to_pylist()
    )
    return {
        "metrics": [(metric["metric"], DIRECTION[metric["better"]].strip()) for metric in metrics],
        "total": total,
        "rows": [
            {
                "id": found.ids[row].as_py(),
                "row": row + 1,
                "question": one_line(question or "", 110),
                "anchor": shown[row].anchor if row in shown else "",
                "cause": outcome.cause.name if (outcome := found.outcome(row)).cause else "",
                "quality": _number(found.quality[row]),
                "values": [_number(found.scores[metric["metric"]].values[row]) for metric in metrics],
            }
            for row, question in zip(rows, questions, strict=True)
        ],
    }


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
