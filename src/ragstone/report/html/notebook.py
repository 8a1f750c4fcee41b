"""Results as HTML for notebooks: the tables and pictures of the reports, with their style and without scripts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from markupsafe import Markup

from ragstone.analysis.diagnosis import Diagnosis
from ragstone.analysis.explain import Explanation
from ragstone.analysis.gate_conditions import Checked
from ragstone.analysis.gates import Gate
from ragstone.report.explain import explanation_view
from ragstone.report.gates import MARKS, TONES, gate_notes, value_texts
from ragstone.report.html import charts
from ragstone.report.html.comparison_page import comparison_data
from ragstone.report.html.page import read_asset, render_fragment
from ragstone.report.html.run_page import measure_spreads, metric_rows, read_run_data, report_limits, show_rows
from ragstone.storage.runs import Run
from ragstone.storage.scores import MissingScores
from ragstone.views.comparison import ComparisonView
from ragstone.views.diagnosis import DiagnosisView
from ragstone.views.judged_items import count_view
from ragstone.views.phrases import by_reason

_CHANGED = 5


def _fragment(template: str, data: Mapping[str, Any]) -> str:
    body = render_fragment(template, data)
    return f"<style>\n{notebook_style(body)}</style>\n{body}"


def run_fragment(run: Run) -> str:
    """The metrics of a run with their intervals, and the reasons for missing scores. Nothing is diagnosed."""
    read = read_run_data(run)
    missing = by_reason([*((one.metric, one.reason) for one in read.view.metrics), *read.view.absent.items()])
    metrics = metric_rows(read.view, measure_spreads(read.metrics, read.scores))
    data = {"view": read.view, "metrics": metrics, "run": run, "missing": list(missing.items())}
    return _fragment("notebook_run.html", data)


def diagnosis_fragment(diagnosis: Diagnosis, name: str) -> str:
    """The headline, the advice, both parts with their metrics, and the causes."""
    data = {"name": name, "diagnosis": DiagnosisView.of(diagnosis), "anchors": {}}
    return _fragment("notebook_diagnosis.html", data)


def explanation_fragment(explanation: Explanation) -> str:
    """One sample with its evidence; with a metric, how its score was computed."""
    working = explanation.working
    data = {
        "title": f"Sample {explanation.row + 1:,} of {explanation.rows:,} in {explanation.run}",
        "samples": [explanation_view(explanation, report_limits())],
        "working": working,
        "counts": ["\n".join(count_view(explanation.case, one, working.cell.metric).lines) for one in working.counts]
        if working
        else [],
    }
    return _fragment("notebook_samples.html", data)


def worst_fragment(run: Run, diagnosis: Diagnosis, rows: Collection[int]) -> str:
    """These rows of a run, each folded; row numbers count from 1."""
    read = read_run_data(run, diagnosis)
    shown = show_rows(read, [row - 1 for row in rows])
    data = {"title": f"Worst samples of {run.name}", "samples": list(shown.values()), "working": None, "counts": []}
    return _fragment("notebook_samples.html", data)


def comparison_fragment(view: ComparisonView) -> str:
    """The rows that moved, the differences of all metrics, the causes, and the samples whose scores changed most."""
    data = {**comparison_data(view), "changed": view.changed(_CHANGED), "moved": view.listed(_CHANGED)}
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


# Twice, so that the rules win against those of the notebook for tables.
_SCOPE = ".ragstone.ragstone"
# How notebooks, editors and documentation sites mark their theme.
_THEMES = {
    "light": ('[data-jp-theme-light="true"]', ".vscode-light", '[theme="light"]', '[data-md-color-scheme="default"]'),
    "dark": ('[data-jp-theme-light="false"]', ".vscode-dark", '[theme="dark"]', '[data-md-color-scheme="slate"]'),
}
_OWN = """{scope} { background: var(--paper); color: var(--ink); font: 14px/1.5 var(--sans); font-variant-numeric: tabular-nums; padding: .6rem .8rem; max-width: 1100px; text-align: left; }
{scope} .headline { font-size: 1.25rem; } {scope} h3 { font-size: 1rem; color: inherit; } {scope} h4 { font-size: .8rem; color: var(--soft); }
{scope} tbody tr:nth-child(n) { background: none; } {scope} table { table-layout: auto; border: 0; margin: 0; color: inherit; } {scope} th, {scope} td { max-width: none; white-space: normal; }
{scope} .n, {scope} .fix { white-space: nowrap; } {scope} .n { text-align: right; } {scope} mark { padding: 0 .1em; }
"""
_DARK_MEDIA = "(prefers-color-scheme: dark)"


def notebook_style(fragment: str) -> str:
    """The style sheet of a fragment of HTML."""
    # The elements and the classes of a fragment, classes with a dot
    elements = re.findall(r"<([a-z][a-z0-9]*)", fragment)
    classes = re.findall(r'\bclass="?([^">]*)', fragment)
    used = {*elements, *(f".{name}" for names in classes for name in names.split())}
    light, dark = _variables()
    lines = [f".ragstone {{ {light} }}", f"@media {_DARK_MEDIA} {{ .ragstone {{ {dark} }} }}"]
    for theme, variables in (("light", light), ("dark", dark)):
        lines.append(f"{', '.join(f'{mark} .ragstone' for mark in _THEMES[theme])} {{ {variables} }}")
    for media, selectors, declarations in _rules():
        kept = [f"{_SCOPE} {selector}" for selector in selectors if _needs(selector) <= used]
        if kept:
            rule = f"{', '.join(kept)} {{ {declarations} }}"
            lines.append(f"@media {media} {{ {rule} }}" if media else rule)
    return "\n".join([*lines, _OWN.replace("{scope}", _SCOPE)])


@cache
def _needs(selector: str) -> frozenset[str]:
    """The elements and classes without which a selector matches nothing."""
    bare = re.sub(r"\[[^\]]*\]|::?[\w-]+(\([^)]*\))?", "", selector)
    elements = re.findall(r"(?:^|[\s>+~])([a-z][a-z0-9]*)", bare)
    return frozenset({*elements, *(f".{name}" for name in re.findall(r"\.([\w-]+)", bare))})


@cache
def _variables() -> tuple[str, str]:
    """The colours and fonts in light and dark."""
    light, dark = (
        " ".join(declarations.split()) for declarations in re.findall(r":root \{(.*?)\}", _sheet(), re.DOTALL)[:2]
    )
    return light.replace("color-scheme: light dark", "color-scheme: light"), f"color-scheme: dark; {dark}"


@cache
def _sheet() -> str:
    """The style sheet of the pages without comments and without what is only for paper."""
    text = re.sub(r"/\*.*?\*/", "", read_asset("style.css"), flags=re.DOTALL)
    return re.sub(r"^@media print \{.*?^\}", "", text, flags=re.DOTALL | re.MULTILINE)


@cache
def _rules() -> tuple[tuple[str, tuple[str, ...], str], ...]:
    """The rules of the style sheet: media condition, selectors and declarations."""
    return tuple(_read_rules())


def _read_rules() -> Iterator[tuple[str, tuple[str, ...], str]]:
    media = ""
    for condition, selectors, declarations, end in re.findall(r"@media ([^{]*)\{|([^{}@]+)\{([^{}]*)\}|(\})", _sheet()):
        if condition or end:
            media = condition.strip()
        elif not {":root", "html", "body"} & {name.split()[0] for name in selectors.split(",")}:
            names = tuple(name.strip() for name in selectors.split(","))
            yield media, names, " ".join(declarations.split())
