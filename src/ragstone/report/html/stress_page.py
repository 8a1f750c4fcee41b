"""The HTML report of a stress test: one curve per ability, for one or several generators on the same beds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ragstone.report.html.charts import Series, Spot, curve_plot
from ragstone.report.html.page import render_page, without
from ragstone.report.stress import MEANINGS, OVERALL, RATES, remark_lines
from ragstone.stress.beds import ATTACKS, BEDS
from ragstone.stress.results import Contrast, Curve, StressTest, as_dict

_TONES = ("good", "bad", "none")


def stress_html(tests: Sequence[StressTest], contrasts: Sequence[Sequence[Contrast]] = ()) -> str:
    """One self-contained file."""
    data = {
        "title": "Stress test",
        "systems": [
            {"name": test.system, "run": test.run, "tone": _tone(number), "rows": len(test.rows.ids)}
            for number, test in enumerate(tests)
        ],
        "headline": _headline(tests),
        "figures": list(_figures(tests)),
        "beds": list(_beds(tests)),
        "places": _places(tests),
        "contrasts": [{"name": test.system, "rows": rows} for test, rows in zip(tests[1:], contrasts, strict=True)],
        "remarks": list(remark_lines(tests[0])),
    }
    embedded = {
        "schema": "ragstone.stress",
        "version": 1,
        "tests": [without(as_dict(test), "run", "beds") for test in tests],
    }
    return render_page("stress.html", data, embedded)


def _tone(number: int) -> str:
    return _TONES[min(number, 2)]


def _headline(tests: Sequence[StressTest]) -> str:
    parts = []
    for test in tests:
        curve = test.main("noise")
        if curve and curve.robustness:
            lost = "" if curve.drop is None else f", {_lost(curve)}"
            parts.append(f"{test.system}: {curve.robustness.value:.0%} correct if a passage contains the answer{lost}")
        mains = [curve for bed in ATTACKS if (curve := test.main(bed)) and curve.lower_is_better]
        shares = [f"{curve.robustness.value:.0%} of {curve.bed}" for curve in mains if curve.robustness]
        if shares:
            parts.append(f"{test.system}: attacks succeed in {', '.join(shares)} rows")
    return "; ".join(parts) + "." if parts else "The results per ability are below."


def _lost(curve: Curve) -> str:
    points = round(100 * (curve.drop or 0.0))
    if not points:
        return f"none lost up to a rate of {curve.rates[-1]:g}"
    return f"{abs(points)} points {'lost' if points > 0 else 'gained'} up to a rate of {curve.rates[-1]:g}"


def _figures(tests: Sequence[StressTest]) -> Iterator[dict[str, Any]]:
    for bed in BEDS:
        mains = [(number, curve) for number, test in enumerate(tests) if (curve := test.main(bed))]
        if mains:
            values = [{"tone": _tone(number), "robustness": curve.robustness} for number, curve in mains]
            yield {"bed": bed, "metric": mains[0][1].metric, "values": values}


def _beds(tests: Sequence[StressTest]) -> Iterator[dict[str, Any]]:
    for bed in BEDS:
        metrics = dict.fromkeys(curve.metric for test in tests for curve in test.curves if curve.bed == bed)
        shown = [_plotted(tests, bed, metric) for metric in metrics]
        if shown:
            pairs = list(enumerate(tests))
            groups = [(_tone(number), group) for number, test in pairs for group in test.groups if group.bed == bed]
            losses = [(_tone(number), loss) for number, test in pairs for loss in test.losses if loss.bed == bed]
            yield {"name": bed, "meaning": MEANINGS[bed], "curves": shown, "groups": groups, "losses": losses}


def _plotted(tests: Sequence[StressTest], bed: str, metric: str) -> dict[str, Any]:
    curves = [
        (number, curve)
        for number, test in enumerate(tests)
        for curve in test.curves
        if (curve.bed, curve.metric) == (bed, metric)
    ]
    series = [
        Series(
            tests[number].system, _tone(number), [Spot(one.rate, one.mean, one.low, one.high) for one in curve.points]
        )
        for number, curve in curves
    ]
    first = curves[0][1]
    axis = RATES[first.is_attack, False]
    label = f"{metric} by {axis}: " + "; ".join(
        f"{one.name}: " + ", ".join(f"{spot.mean:.2f} at {spot.x:g}" for spot in one.spots if spot.mean is not None)
        for one in series
    )
    rows = [{"tone": _tone(number), "curve": curve} for number, curve in curves]
    several = any(len(one.spots) > 1 for one in series)
    plot = curve_plot(series, label, axis) if several else ""
    heads = {"rates": RATES[first.is_attack, first.is_shifted], "overall": OVERALL[first.is_attack]}
    return {"metric": metric, "plot": plot, "rows": rows, **heads}


def _places(tests: Sequence[StressTest]) -> Any:
    shown = [(number, test) for number, test in enumerate(tests) if len(test.places) > 1]
    if not shown:
        return None
    series = [
        Series(test.system, _tone(number), [Spot(one.place, one.mean, one.low, one.high) for one in test.places])
        for number, test in shown
    ]
    return curve_plot(
        series, "rgb.accuracy by the position of the passage that contains the answer", "position of the passage"
    )
