"""A judge that was trained, in the terminal: how it stands beside the metrics on rows that it did not see."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.agreement.training import Training
from ragstone.models.trained import PREFIX
from ragstone.report.agreeing import COEFFICIENT, standing
from ragstone.report.agreement import agreement_report
from ragstone.report.comparison import number
from ragstone.report.plain import visible


def training_report(found: Training, path: str) -> RenderableType:
    """The judge, its agreement with people among the metrics, and how to use it."""
    card = found.judge.card
    name = f"{PREFIX}{card.name}"
    reads = ", ".join(["question and answer", *card.uses])
    over = " and ".join(card.models.values()) or "words alone (no local model is there: pip install 'ragstone[local]')"
    return Group(
        Text(f"{name}: trained on {card.labels} labels; reads {reads}; over {visible(over)}\n", style="dim"),
        agreement_report(found.agreement, more="`ragstone agree … --full`"),
        Text(f"\n{visible(_advice(found, name))}", style="bold"),
        *(Text(f"  {visible(remark)}") for remark in found.remarks),
        Text(
            f"\n{name} is judged by folds that did not see the question. It lies in {visible(path)}.\n"
            f"use it: ragstone run DATA --judge {name} -m trained_grade",
            style="dim",
        ),
    )


def _advice(found: Training, name: str) -> str:
    """Whether it was worth it."""
    item = next((each for each in found.agreement.metrics if each.metric == name), None)
    if item is None:
        return f"{name} says the same of every answer: these labels have nothing that it can learn from."
    kind, _ = standing(found.agreement, item)
    best = found.agreement.metrics[0]
    if item is best:
        return f"{name} agrees with people at least as well as every metric of these runs."
    place = f"place {found.agreement.metrics.index(item) + 1} of {len(found.agreement.metrics)}"
    value = f"{COEFFICIENT[found.agreement.settings.coefficient]} {number(found.agreement.main(item).value)}"
    named = f"{name} ({value}, {place})"
    if kind == "less":
        return f"{named} agrees with people less than {best.metric}: use that metric, or label more rows."
    return f"{named} is not told apart from {best.metric}, which needs no training; more labels may tell."
