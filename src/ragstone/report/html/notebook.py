"""Results as HTML for notebooks: the tables and pictures of the reports, with their style and without scripts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from markupsafe import Markup

from ragstone.compare.cause_texts import fail_word, failing_text
from ragstone.compare.comparison import Comparison
from ragstone.compare.diagnosis import Diagnosis
from ragstone.compare.explain import Explanation
from ragstone.compare.gate_conditions import Checked
from ragstone.compare.gates import Gate
from ragstone.compare.sample_order import telling_metrics
from ragstone.report.comparison import changed_most, failed_lines, method_line, not_compared_lines
from ragstone.report.comparison import headline as comparison_headline
from ragstone.report.diagnosis import disagreement, headline
from ragstone.report.explain import count_text
from ragstone.report.gates import MARKS, TONES, gate_notes, value_texts
from ragstone.report.html import charts
from ragstone.report.html.comparison_page import difference_groups, reach_of
from ragstone.report.html.notebook_style import notebook_style
from ragstone.report.html.page import render_fragment
from ragstone.report.html.run_data import read_run_data, show_rows
from ragstone.report.html.run_page import (
    HEADLINES,
    PARTS,
    advice_rows,
    cause_rows,
    metric_groups,
    part_data,
    tally_data,
)
from ragstone.report.html.sample_data import show_sample
from ragstone.report.judge_failure import judge_failure
from ragstone.report.run import judge_lines
from ragstone.report.text import by_reason
from ragstone.storage.missing_scores import MissingScores
from ragstone.storage.runs import Run

_CHANGED = 5


def _fragment(template: str, data: Mapping[str, Any]) -> str:
    body = render_fragment(template, data)
    return f"<style>\n{notebook_style(body)}</style>\n{body}"


def run_fragment(run: Run) -> str:
    """The metrics of a run with their intervals, and the reasons for missing scores. Nothing is diagnosed."""
    read = read_run_data(run)
    headlines = telling_metrics(read.metrics, HEADLINES)
    data = {
        "run": run,
        "rows": run.info.rows,
        "count": len(read.metrics),
        "judge_failure": judge_failure(run),
        "headlines": list(metric_groups(read, headlines)),
        "groups": list(metric_groups(read, [metric for metric in read.metrics if metric not in headlines])),
        "axis": charts.strip_axis(charts.strip_scale(0, 1)),
        "judged": list(judge_lines(run.info)),
        "missing": list(by_reason((row.metric, row.reason or "") for row in run.summary()).items()),
    }
    return _fragment("notebook_run.html", data)


def diagnosis_fragment(diagnosis: Diagnosis, name: str) -> str:
    """The headline, the advice, both parts with their metrics, and the causes."""
    data = {
        "name": name,
        "headline": headline(diagnosis),
        "failing": failing_text(diagnosis),
        "fail_word": fail_word(diagnosis, 2),
        "diagnosis": diagnosis,
        "advice": advice_rows(diagnosis),
        "tally": tally_data(diagnosis),
        "parts": [part_data(diagnosis, part) for part in PARTS],
        "causes": list(cause_rows(diagnosis)),
        "disagreement": disagreement(diagnosis),
    }
    return _fragment("notebook_diagnosis.html", data)


def explanation_fragment(explanation: Explanation) -> str:
    """One sample with its evidence; with a metric, how its score was computed."""
    cells = [asdict(cell) for cell in explanation.cells]
    shown = show_sample(explanation.row, explanation.case, explanation.outcome, cells, None)
    working = explanation.working
    data = {
        "title": f"Sample {explanation.row + 1:,} of {explanation.rows:,} in {explanation.run}",
        "samples": [shown],
        "working": working,
        "counts": [count_text(explanation.case, count).plain for count in working.counts] if working else [],
    }
    return _fragment("notebook_samples.html", data)


def worst_fragment(run: Run, diagnosis: Diagnosis, rows: Collection[int]) -> str:
    """These rows of a run, each folded; row numbers count from 1."""
    read = read_run_data(run, diagnosis)
    shown = show_rows(read, [row - 1 for row in rows])
    data = {"title": f"Worst samples of {run.name}", "samples": list(shown.values()), "working": None, "counts": []}
    return _fragment("notebook_samples.html", data)


def comparison_fragment(comparison: Comparison) -> str:
    """The differences of all metrics, and the samples that changed most."""
    names = {item.metric for item in comparison.metrics}
    compared = [metric for metric in comparison.after.info.metrics if metric.metric in names]
    headlines = {metric.metric for metric in telling_metrics(compared, HEADLINES)}
    reach = reach_of(comparison.metrics)
    gained, lost = changed_most(comparison.changed, _CHANGED)
    data = {
        "names": (comparison.before.name, comparison.after.name),
        "pairs": len(comparison.pairs),
        "headline": comparison_headline(comparison),
        "headlines": list(difference_groups(comparison, reach, headlines)),
        "groups": list(difference_groups(comparison, reach, names - headlines)),
        "axis": charts.strip_axis(charts.strip_scale(-reach, reach)),
        "changed": [*lost, *gained],
        "remarks": [*comparison.remarks, *failed_lines(comparison.metrics), *not_compared_lines(comparison)],
        "method": method_line(comparison),
    }
    return _fragment("notebook_comparison.html", data)


def gate_fragment(gate: Gate) -> str:
    """The outcome and all conditions, each with its interval and its limit."""
    data = {
        "gate": gate,
        "tones": TONES,
        "marks": MARKS,
        "rows": [_condition_row(item) for item in gate.checks],
        "notes": list(gate_notes(gate)),
    }
    return _fragment("notebook_gate.html", data)


def _condition_row(item: Checked) -> dict[str, Any]:
    value, interval = value_texts(item)
    return {
        "condition": item.condition,
        "why": item.why,
        "value": value,
        "interval": interval,
        "strip": _condition_strip(item),
        "rows": item.rows,
        "failed": item.failed,
        "outcome": item.outcome,
    }


def _condition_strip(item: Checked) -> Markup | str:
    """The interval with the limit, around 0 for a change; nothing for values outside 0 to 1."""
    if item.value is None or item.interval is None or item.check.relative:
        return ""
    low, high, limit = item.interval.low, item.interval.high, item.check.limit
    if item.check.is_change:
        limit = limit if item.lower_is_better else -limit
        reach = max(abs(low), abs(high), abs(limit)) * 1.1 or 0.1
        scale = charts.strip_scale(-reach, reach)
    elif min(low, limit) >= 0 and max(high, limit) <= 1:
        scale = charts.strip_scale(0, 1)
    else:
        return ""
    return charts.interval_strip(scale, item.value, low, high, TONES[item.outcome], limit)


def missing_fragment(missing: Sequence[MissingScores], name: str) -> str:
    """The cells without a value, by metric and reason."""
    return _fragment("notebook_missing.html", {"name": name, "rows": missing})
