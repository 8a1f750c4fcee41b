"""Agreement with people in words and for programs: what the terminal and other outputs share."""

from __future__ import annotations

from typing import Any

from ragstone.agreement.agreeing import ALPHA, Agreement, MetricAgreement
from ragstone.report.plain import counted
from ragstone.stats.intervals import Interval
from ragstone.stats.levels import Correlation
from ragstone.stats.resampled import Estimate

COEFFICIENT = {"spearman": "Spearman", "pearson": "Pearson", "kendall": "Kendall", "somers": "Somers' D"}
LEVEL = {"dataset": "all rows", "sample": "in inputs", "system": "systems", "partial": "in systems"}
MEASURE = {
    "roc_auc": "ROC-AUC",
    "accuracy": "accuracy",
    "f1": "F1",
    "kappa": "kappa",
    "weighted_kappa": "weighted kappa",
    "calibration_error": "calibration error",
}
_LEVELS = {
    "dataset": "over all rows",
    "sample": "across systems within each input, averaged",
    "system": "between the means of systems",
    "partial": "given the system",
}


def labelled_line(found: Agreement) -> str:
    """What was labelled."""
    joined = found.joined
    rows, inputs, systems = len(joined.inputs), len(set(joined.inputs.tolist())), len(set(joined.systems.tolist()))
    labels = joined.labels
    who = f", by {len(joined.annotators)} annotators" if len(joined.annotators) > 1 else ""
    names = ", ".join(run.name for run in joined.runs)
    return (
        f"{names}: {counted(rows, 'labelled answer')} of {counted(systems, 'system')} to {counted(inputs, 'input')}{who}; "
        f"labels from {labels.min():g} to {labels.max():g}, mean {labels.mean():.3f}"
    )


def headline(found: Agreement) -> str:
    """Which metric to trust, in a sentence or two."""
    if not found.metrics:
        return "No metric could be held against people."
    best = found.metrics[0]
    main = found.main(best)
    span = f" ({main.interval.low:.3f} – {main.interval.high:.3f})" if main.interval else ""
    word = COEFFICIENT[found.settings.coefficient]
    if main.interval is not None and main.interval.low <= 0:
        return f"No metric surely agrees with people; {best.metric} comes nearest, {word} {main.value:.3f}{span}."
    text = f"{best.metric} agrees with people most: {word} {main.value:.3f}{span}"
    if len(found.metrics) == 1:
        return text.replace(" most:", ":") + "."
    less = sum(standing(found, item)[0] == "less" for item in found.metrics)
    rest = len(found.metrics) - 1 - less
    beside = [f"{less} agree{'s' if less == 1 else ''} less"] if less else []
    beside += [f"{rest} may be as good"] if rest else []
    return f"{text}; of the other metrics {' and '.join(beside)}."


def standing(found: Agreement, item: MetricAgreement) -> tuple[str, str]:
    """How a metric stands beside the best, as a kind and in words."""
    if item is found.metrics[0]:
        return "best", "best" if len(found.metrics) > 1 else ""
    if item.p_best is None:
        return "maybe", "–"
    p = "p <0.001" if item.p_best < 0.001 else f"p {item.p_best:.3f}"
    return ("less", f"▼ less, {p}") if item.p_best < ALPHA else ("maybe", f"maybe, {p}")


def method_line(found: Agreement) -> str:
    """How the numbers were made."""
    return (
        f"Sorted by {COEFFICIENT[found.settings.coefficient]} {_LEVELS[found.settings.level]}. ↓ lower is better: turned "
        f"round. Intervals: {found.settings.confidence:.0%} bootstrap over inputs, ± is half of one. p: of being the "
        "best one after all, against all others together."
    )


def agreement_dict(found: Agreement) -> dict[str, Any]:
    """For programs: everything."""
    joined, ceiling = found.joined, found.ceiling
    return {
        "headline": headline(found),
        "runs": [{"run": run.path, "id": run.id, "name": run.name} for run in joined.runs],
        "labelled": len(joined.inputs),
        "inputs": len(set(joined.inputs.tolist())),
        "annotators": list(joined.annotators),
        "sorted_by": {"coefficient": found.settings.coefficient, "level": found.settings.level},
        "remarks": list(joined.remarks),
        "metrics": [_metric_dict(item) for item in found.metrics],
        "not_measured": dict(found.lacking),
        "people": None
        if ceiling is None
        else {
            "annotators": ceiling.annotators,
            "shared_rows": ceiling.shared,
            "alpha": {"scale": ceiling.scale, "value": ceiling.alpha, **_ends(ceiling.alpha_interval)},
            "one_against_others": {
                "coefficient": ceiling.coefficient,
                "value": ceiling.correlation,
                **_ends(ceiling.correlation_interval),
            },
        },
        "disagreements": [vars(item) for item in found.disagreements],
    }


def _metric_dict(item: MetricAgreement) -> dict[str, Any]:
    verdicts = item.verdicts
    return {
        "metric": item.metric,
        "better": item.better,
        "rows": item.rows,
        "p_best": item.p_best,
        "correlations": [
            {"coefficient": coefficient, "level": level, **_correlation_dict(cell)}
            for (coefficient, level), cell in item.correlations.items()
        ],
        "verdicts": None
        if verdicts is None
        else {
            "threshold": verdicts.threshold,
            "evenly_split": verdicts.tied,
            **{name: _estimate_dict(cell) for name, cell in verdicts.measures.items()},
        },
    }


def _correlation_dict(cell: Correlation) -> dict[str, Any]:
    return {
        "value": cell.value,
        **_ends(cell.interval),
        "units": cell.units,
        "skipped": cell.skipped,
        "reason": cell.reason or None,
    }


def _estimate_dict(cell: Estimate) -> dict[str, Any]:
    return {"value": cell.value, **_ends(cell.interval)}


def _ends(interval: Interval | None) -> dict[str, float | None]:
    return {"low": interval.low if interval else None, "high": interval.high if interval else None}
