"""User signals in a log, and the ground truth harvested from it, in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.report.table import Cell, Column, Table, columns
from ragstone.text.feedback import MEANINGS
from ragstone.truth.harvest.learn_weights import Learned, agreement_with_ratings, calibration, calibration_error
from ragstone.truth.harvest.pipeline import Harvest, Surveyed
from ragstone.truth.harvest.signals import FEATURES, VERDICTS, Weights
from ragstone.views.phrases import counted, one_line

_MOST_STRATA = 12


def signals_report(survey: Surveyed, weights: Weights) -> RenderableType:
    """Each signal with its count, its weight and its agreement with ratings; then the answers by verdict."""
    counts = np.count_nonzero(survey.judged.features, axis=0)
    agreements = agreement_with_ratings(survey.judged)
    table = _table("signal", "answers", "weight", "alone right", "liked, if rated", last="meaning")
    for (name, weight, confidence), count in zip(weights.lines(), counts, strict=True):
        rated = agreements.get(name)
        liked = "" if rated is None else f"{rated.liked:,} of {rated.rated:,}"
        meaning = Cell(MEANINGS[name], tone="muted")
        table.add(name, f"{count:,}", f"{weight:+.1f}", f"{confidence:.0%}", liked, meaning)
    return Group(table, Text(), _verdicts(survey))


def _verdicts(survey: Surveyed) -> Text:
    counts = np.bincount(survey.judged.verdicts, minlength=len(VERDICTS))
    silent = len(survey.index) - int(survey.judged.has_signal.sum())
    good, bad, unclear = (int(count) for count in counts)
    return Text.assemble(
        f"{len(survey.index):,} answers: ",
        (f"{good:,} good", "green"),
        ", ",
        (f"{bad:,} bad", "red"),
        f", {unclear - silent:,} unclear, {silent:,} without a signal",
    )


def calibration_report(probabilities: np.ndarray, good: np.ndarray) -> RenderableType:
    """Predicted probabilities compared with human labels, in ten bins."""
    bins = calibration(probabilities, good)
    table = _table("probability", "answers", "predicted", "good")
    for one in bins:
        table.add(f"{one.low:.1f} to {one.high:.1f}", f"{one.count:,}", f"{one.said:.2f}", f"{one.good:.2f}")
    return Group(table, Text(f"calibration error {calibration_error(bins):.3f} over {len(good):,} labelled answers"))


def learning_report(learned: Learned, before: Weights) -> RenderableType:
    """The learned weights compared with the old ones, and whether they are better."""
    if learned.loss_after is None:
        return Text(f"nothing learned: {learned.reason}")
    losses = (
        f"log-loss on held-out answers ({learned.labels:,} labels, {learned.good:,} good): "
        f"{learned.loss_before:.3f} before, {learned.loss_after:.3f} learned ({learned.gain_in_errors:+.1f} standard errors)"
    )
    if not learned.won:
        return Text(f"{losses}\nthe weights stay unchanged: {learned.reason}")
    table = _table("signal", "before", "learned")
    table.add("prior", f"{before.prior:+.2f}", f"{learned.weights.prior:+.2f}")
    for name in FEATURES:
        table.add(name, f"{before.weights[name]:+.2f}", f"{learned.weights.weights[name]:+.2f}")
    return Group(Text(losses), table)


def left_out_report(counts: Mapping[str, int], first: Mapping[str, str]) -> RenderableType | None:
    """Records that were left out, by reason, with the first record of each."""
    if not counts:
        return None
    table = _table("left out", "times", last="first")
    for reason, times in sorted(counts.items(), key=lambda item: -item[1]):
        table.add(reason, f"{times:,}", Cell(one_line(first.get(reason, ""), 60), tone="muted"))
    return table


def harvest_report(harvest: Harvest) -> RenderableType:
    """The number of exchanges sampled per stratum, and the resulting cases."""
    counts: Mapping[str, Any] = harvest.counts
    table = _table("stratum", "in the log", "sampled", "weight")
    for one in sorted(harvest.strata, key=lambda one: -one.size)[:_MOST_STRATA]:
        table.add(one_line(one.name, 60), f"{one.size:,}", f"{one.drawn:,}", f"{one.weight:,.1f}")
    more = len(harvest.strata) - _MOST_STRATA
    cases = ", ".join(f"{counts['cases'].get(verdict, 0):,} {verdict}" for verdict in VERDICTS)
    lines = [
        *([f"… and {more:,} more strata"] if more > 0 else []),
        f"{counted(counts['rows'], 'row')} in {counted(counts['parts'], 'part')} read, {counted(counts['exchanges'], 'exchange')}, "
        f"{counts['drawn']:,} sampled, {counts['duplicates_among_drawn']:,} of them duplicates: {cases}",
    ]
    if counts["masked"]:
        lines.append("redacted: " + ", ".join(counted(number, kind) for kind, number in counts["masked"].items()))
    return Group(table, Text("\n".join(lines)))


def _table(first: str, *numbers: str, last: str = "") -> Table:
    texts = [Column(last, wrap="words")] if last else []
    return Table([Column(first), *columns(*numbers), *texts], heading_style="bold")
