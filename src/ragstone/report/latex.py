"""A run and a comparison as LaTeX tables for papers."""

from __future__ import annotations

import re

from ragstone.compare.comparison import Comparison
from ragstone.compare.signs import people_of
from ragstone.data.summary import ALL
from ragstone.report.comparison import difference_table, method_line
from ragstone.report.run import metrics_table
from ragstone.report.table import escape_latex
from ragstone.storage.runs import Run


def run_latex(run: Run) -> str:
    """The means of a run with their intervals."""
    metrics = {metric["metric"]: metric for metric in run.info["metrics"]}
    rows = [row for row in run.summary() if row.slice == ALL]
    table = metrics_table(rows, metrics, people_of(run.info, rows))
    wanted = ("metric", "mean", "95 % interval", "scored")
    table = table.select(at for at, column in enumerate(table.columns) if column.heading in wanted)
    caption = f"{escape_latex(run.name)}: means with 95\\,\\% intervals over {run.info['dataset']['rows']} samples."
    return table.latex(caption, f"tab:{_label(run.name)}")


def comparison_latex(comparison: Comparison) -> str:
    """Both means, the difference with its interval, the corrected p and the verdict."""
    table = difference_table(comparison, comparison.metrics)
    table = table.select(at for at, column in enumerate(table.columns) if column.heading != "MDE")
    before, after = comparison.before.name, comparison.after.name
    names = f"A: {escape_latex(before)}, B: {escape_latex(after)}, {len(comparison.pairs)} pairs"
    caption = f"{names}. {escape_latex(method_line(comparison, detectable=False))}"
    return table.latex(caption, f"tab:{_label(before)}-{_label(after)}")


def _label(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "run"
