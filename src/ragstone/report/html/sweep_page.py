"""The HTML page of a sweep: leaderboard, main effects, quality against cost and latency."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragstone.report.html import charts
from ragstone.report.html.page import render_page
from ragstone.report.leaderboard import parameter_text
from ragstone.report.sweep import EXPLANATION, asked_line, effect_line, failed_lines, headline, is_clear, stopped_lines
from ragstone.sweep.results import LEVEL, Standing, SweepResults
from ragstone.views.run import DIRECTION


def sweep_html(results: SweepResults) -> str:
    """One self-contained file."""
    return render_page("sweep.html", sweep_data(results), results.as_dict())


def sweep_data(results: SweepResults) -> dict[str, Any]:
    """The page of a sweep, which the file and the viewer draw."""
    scored = [one for one in results.standings if one.mean is not None]
    ends = [end for one in scored for end in (one.interval or (one.mean or 0.0,))]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    scale = charts.strip_scale(low, high) if high > low else charts.strip_scale(low - 0.5, high + 0.5)
    reach = max(
        (abs(end) for one in results.effects for item in one.levels for end in item.interval or ()), default=1.0
    )
    effects = charts.strip_scale(-(reach or 1.0), reach or 1.0)
    return {
        "title": f"Sweep {results.name}",
        "results": results,
        "arrow": DIRECTION[results.better].strip(),
        "level": f"{100 * LEVEL:g} %",
        "headline": headline(results),
        "asked": asked_line(results),
        "rows": [_row(one, results, scale) for one in scored],
        "axis": charts.strip_axis(scale),
        "has_latency": any(one.latency_s is not None for one in scored),
        "has_price": any(one.cost_usd is not None for one in scored),
        "explanation": EXPLANATION,
        "effects": list(_effects(results, effects)),
        "effect_axis": charts.strip_axis(effects),
        "effect_line": effect_line(results).strip(),
        "tradeoffs": [{**panel.as_dict(), "plot": charts.tradeoff(panel.as_dict())} for panel in results.panels],
        "stopped": stopped_lines(results),
        "failed": failed_lines(results),
    }


def _row(one: Standing, results: SweepResults, scale: charts.Scale) -> dict[str, Any]:
    low, high = one.interval or (None, None)
    tone = "good" if one.rank == 1 else "none"
    return {
        "one": one,
        "values": [parameter_text(one.parameters.get(name)) for name in results.parameters],
        "strip": charts.interval_strip(scale, one.mean, low, high, tone),
    }


def _effects(results: SweepResults, scale: charts.Scale) -> Iterator[dict[str, Any]]:
    for effect in results.effects:
        levels = []
        for level in effect.levels:
            low, high = level.interval or (None, None)
            tone = "none"
            if low is not None and high is not None and (low > 0 or high < 0):
                tone = "good" if (low > 0) == (results.better == "higher") else "bad"
            strip = "" if level.difference is None else charts.interval_strip(scale, level.difference, low, high, tone)
            levels.append({"level": level, "text": parameter_text(level.level), "strip": strip})
        yield {"name": effect.parameter, "levels": levels, "note": effect.note, "is_clear": is_clear(effect)}
