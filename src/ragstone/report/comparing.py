"""A comparison in words and for programs: what the terminal, Markdown and HTML share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ragstone.compare.comparison import Comparison
from ragstone.compare.differences import EQUAL, Difference
from ragstone.storage.runs import Run

CORRECTIONS = {
    "joint": "corrected for all metrics together (step-down maximum)",
    "holm": "corrected for the number of metrics (Holm)",
    "bh": "corrected for the share of false alarms (Benjamini-Hochberg)",
    "none": "not corrected for the number of metrics",
}


def headline(found: Comparison) -> str:
    """The answer in a sentence or two."""
    better, worse, none, few = (len(found.having(word)) for word in ("better", "worse", "no evidence", "too few rows"))
    new, old = run_label(found.after, found), run_label(found.before, found)
    if not better + worse + none + few:
        return "There is nothing to compare: no metric with a better direction is in both runs in the same form."
    if all(item.note == EQUAL for item in found.metrics if item.verdict):
        return f"{new} and {old} have the same scores in all {len(found.pairs)} pairs."
    if not better + worse + none:
        return f"{len(found.pairs)} pair{'s are' if len(found.pairs) != 1 else ' is'} too few to tell {new} from {old}."
    rest = f"; {none + few} show{'s' if none + few == 1 else ''} no evidence" if none + few else ""
    if better and worse:
        return f"{new} is better than {old} in {_metrics(better)} and worse in {worse}{rest}."
    if better or worse:
        word = "better" if better else "worse"
        return f"{new} is {word} than {old} in {_metrics(better or worse)}, {'worse' if better else 'better'} in none{rest}."
    return f"There is no evidence that {new} differs from {old}, in any of {_metrics(none + few)}."


def _metrics(count: int) -> str:
    return f"{count} metric{'s' if count != 1 else ''}"


def run_label(run: Run, found: Comparison) -> str:
    """A run's name, or A and B where both have the same."""
    if found.before.name != found.after.name:
        return run.name
    return "A" if run is found.before else "B"


def method_line(found: Comparison, detectable: bool = True) -> str:
    """How the numbers were made; of detectable differences only where they are shown."""
    units = f"clusters by {found.settings.cluster}" if found.settings.cluster else "pairs"
    return (
        f"Interval of B − A: {found.settings.level:.0%} bootstrap over {units}, for each metric by itself. p: sign-flip test, "
        f"{CORRECTIONS[found.settings.correction]}; below {1 - found.settings.level:.2g} it is a verdict."
        + (" MDE: the true difference that so many pairs would show four times out of five." if detectable else "")
    )


def failed_lines(items: Sequence[Difference]) -> list[str]:
    """Cells that failed or were skipped, grouped by how many."""
    lines: dict[tuple[int, int, int], list[str]] = {}
    for item in items:
        if item.failed or item.skipped:
            lines.setdefault((item.pairs, item.skipped, item.failed), []).append(item.metric)
    return [
        f"{', '.join(names)}: {pairs} of {pairs + skipped + failed} pairs"
        f"{f', {skipped} skipped' if skipped else ''}{f', {failed} failed' if failed else ''}"
        for (pairs, skipped, failed), names in lines.items()
    ]


def comparison_dict(found: Comparison) -> dict[str, Any]:
    """For programs: everything."""
    pairs = found.pairs
    return {
        "headline": headline(found),
        "before": _run_dict(found.before),
        "after": _run_dict(found.after),
        "pairs": len(pairs),
        "paired_by": pairs.by,
        "only_before": list(pairs.only_before),
        "only_after": list(pairs.only_after),
        "other_question": list(pairs.renamed),
        "settings": asdict(found.settings),
        "remarks": list(found.remarks),
        "metrics": [difference_dict(item) for item in found.metrics],
        "refused": dict(found.refused),
        "metrics_only_before": list(found.only_before),
        "metrics_only_after": list(found.only_after),
        "slices": [
            {
                "column": part.column,
                "label": part.label,
                "pairs": part.pairs,
                "metrics": [difference_dict(item) for item in part.metrics],
            }
            for part in found.slices
        ],
        "changed": [
            {
                "id": sample.id,
                "question": sample.question,
                "gain": sample.gain,
                "metrics": [{"metric": name, "before": old, "after": new} for name, old, new in sample.metrics],
            }
            for sample in found.changed
        ],
    }


def difference_dict(item: Difference) -> dict[str, Any]:
    """One metric for programs."""
    values = asdict(item)
    del values["joint_p"]
    values["bounds"] = list(item.bounds)
    values["tally"] = item.tally._asdict() if item.tally else None
    return values


def _run_dict(run: Run) -> dict[str, Any]:
    return {"run": run.path, "id": run.id, "name": run.name, "params": run.info.get("params") or {}}
