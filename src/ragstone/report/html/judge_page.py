"""The HTML reports about judges: agreement of metrics with people, and the audit of a judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.agreement.audit import Audit, Finding
from ragstone.agreement.audit_probes import Effect
from ragstone.agreement.metric_agreement import Agreement, Gain, MetricAgreement, MixtureFit
from ragstone.metrics.mixed import FAMILY
from ragstone.number_format import interval_text, number, p_value, signed, signed_interval
from ragstone.report.agreement import (
    COEFFICIENT,
    agreement_dict,
    formula,
    headline,
    mixture_dict,
    mixture_verdict,
    standing,
)
from ragstone.report.html.charts import Scale, interval_strip, strip_axis, strip_scale
from ragstone.report.html.page import render_page, without
from ragstone.report.judges import METHOD, audit_dict, audit_headline, effect_words
from ragstone.stats.intervals import Interval

_TONES = {
    "best": "good",
    "less": "bad",
    "maybe": "none",
    "biased": "bad",
    "fair": "good",
    "effect": "bad",
    "none seen": "good",
}
_SIGNS = {"good": "✓", "bad": "✗", "none": "?"}
_HIGHEST = 1.0


def agreement_html(agreement: Agreement, fit: MixtureFit | None = None, path: str = "") -> str:
    """One self-contained file about metrics and labels."""
    coefficient = COEFFICIENT[agreement.settings.coefficient]
    lows = [main.interval.low for item in agreement.metrics if (main := agreement.main(item)).interval]
    scale = strip_scale(-_HIGHEST if any(low < 0 for low in lows) else 0.0, _HIGHEST)
    metrics = _section(
        "metrics",
        "Metrics",
        f"{coefficient} between scores and labels; intervals: bootstrap over inputs.",
        ("metric", coefficient, "95 % interval", "rows"),
        scale,
        [_metric_row(agreement, item, scale) for item in agreement.metrics],
    )
    # Without questions, answers and paths.
    embedded: dict[str, Any] = {"agreement": without(agreement_dict(agreement), "runs", "disagreements")}
    sections = [metrics]
    if fit is not None:
        embedded["mixture"] = mixture_dict(fit, path)
        sections.append(_mixture_section(fit, coefficient))
    names = ", ".join(run.name for run in agreement.joined.runs) or "preferences"
    return _render("Agreement with people", names, headline(agreement), sections, embedded)


def audit_html(audit: Audit) -> str:
    """One self-contained file about a judge."""
    sections = []
    if audit.findings:
        scale = strip_scale(-_HIGHEST, _HIGHEST)
        intro = "A judge is fair if the interval contains the fair value."
        columns: tuple[str, ...] = ("bias", "measured", "95 % interval", "fair", "n")
        rows = [_finding_row(finding, scale) for finding in audit.findings]
        sections.append(_section("pairs", "Pairs", intro, columns, scale, rows))
    for task in dict.fromkeys(effect.task for effect in audit.effects):
        mine = [effect for effect in audit.effects if effect.task == task]
        reach = max([effect.possible or 0.0 for effect in mine] + [0.1])
        scale = strip_scale(-reach, reach)
        columns = ("effect", "change", "95 % interval", "p", "up", "same", "down")
        rows = [_effect_row(effect, scale) for effect in mine]
        sections.append(_section(task, task.capitalize(), METHOD, columns, scale, rows))
    embedded = {"audit": without(audit_dict(audit), "runs")}
    words, _ = audit_headline(audit)
    return _render("Audit of a judge", audit.judge, f"{audit.judge}: {words}.", sections, embedded)


def _render(kind: str, name: str, verdict: str, sections: list[dict[str, Any]], embedded: dict[str, Any]) -> str:
    data = {"title": f"{kind}: {name}", "kind": kind, "name": name, "headline": verdict, "sections": sections}
    return render_page("judge.html", data, {"schema": "ragstone.judge", "version": 1, **embedded})


def _section(
    name: str, title: str, intro: str, columns: Sequence[str], scale: Scale, rows: list[dict[str, Any]]
) -> dict[str, Any]:
    return {"id": name, "title": title, "intro": intro, "columns": columns, "axis": strip_axis(scale), "rows": rows}


def _row(
    name: str,
    cells: Sequence[str],
    drawn: tuple[Scale, float | None, Interval | None],
    verdict: tuple[str, str],
    about: str = "",
) -> dict[str, Any]:
    (scale, value, interval), (kind, words) = drawn, verdict
    tone = _TONES.get(kind, "none")
    low, high = interval or (None, None)
    strip = interval_strip(scale, value, low, high, tone if tone != "none" else "")
    chip = {"tone": tone, "sign": _SIGNS[tone], "words": words}
    return {"name": name, "cells": cells, "strip": strip, "chip": chip, "about": about}


def _metric_row(agreement: Agreement, item: MetricAgreement, scale: Scale) -> dict[str, Any]:
    main = agreement.main(item)
    cells = (number(main.value), _ends(main.interval), f"{item.rows:,}")
    kind, words = standing(agreement, item)
    return _row(item.metric, cells, (scale, main.value, main.interval), (kind, words or kind))


def _mixture_section(fit: MixtureFit, coefficient: str) -> dict[str, Any]:
    gains = (f"{FAMILY}.{fit.mixture.name}", fit.fitted), ("equal weights", fit.equal)
    ends = [abs(end) for _, gain in gains for end in gain.interval or ()]
    scale = strip_scale(-max([*ends, 0.05]), max([*ends, 0.05]))
    intro = f"{formula(fit)}. {mixture_verdict(fit)} Cross-validated by input; the gain is over the best single score."
    rows = [_gain_row(name, gain, scale) for name, gain in gains]
    return _section("mixture", "Mixture", intro, ("score", coefficient, "gain", "95 % interval"), scale, rows)


def _gain_row(name: str, gain: Gain, scale: Scale) -> dict[str, Any]:
    cells = (number(gain.agreement), signed(gain.difference), _signed_ends(gain.interval))
    verdict = ("best", "gain") if gain.shown else ("maybe", "no gain shown")
    return _row(name, cells, (scale, gain.difference, gain.interval), verdict)


def _finding_row(finding: Finding, scale: Scale) -> dict[str, Any]:
    cells = (number(finding.value), _ends(finding.interval), f"{finding.fair:.1f}", str(finding.n))
    about = ". ".join(part for part in (finding.words, finding.advice) if part)
    drawn = (scale, finding.value, finding.interval)
    return _row(finding.name, cells, drawn, (finding.verdict, finding.verdict), about)


def _effect_row(effect: Effect, scale: Scale) -> dict[str, Any]:
    change = "–" if effect.value is None else signed(effect.value)
    p = "–" if effect.p is None else p_value(effect.p)
    cells = (change, _signed_ends(effect.interval), p, *map(str, effect.counts))
    drawn = (scale, effect.value if effect.interval else None, effect.interval)
    return _row(effect.name, cells, drawn, (effect.verdict, effect.verdict), effect_words(effect))


def _ends(interval: Interval | None) -> str:
    return "–" if interval is None else interval_text(*interval)


def _signed_ends(interval: Interval | None) -> str:
    return "–" if interval is None else signed_interval(*interval)
