"""What users said of a log's answers, and what was harvested of it, in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ragstone.report.plain import counted, one_line, visible
from ragstone.text.signals import MEANINGS
from ragstone.truth.harvest.labelling import Agreement, agreement_with_ratings
from ragstone.truth.harvest.learning import Learned, calibration, calibration_error
from ragstone.truth.harvest.making import Harvest, Surveyed
from ragstone.truth.harvest.weighing import FEATURES, VERDICTS, Weights

_STRATA_SHOWN = 12


def signals_report(found: Surveyed, weights: Weights) -> RenderableType:
    """Every signal with how often it was seen, its weight and what ratings say of it; then the answers by verdict."""
    seen = np.count_nonzero(found.judged.features, axis=0)
    agreement = agreement_with_ratings(found.judged)
    table = _table(("signal", "answers", "weight", "alone right", "liked, where rated", "what it is"), left=(0, 5))
    for (name, weight, confidence), count in zip(weights.lines(), seen, strict=True):
        agrees = _liked(agreement.get(name))
        table.add_row(
            name, f"{count:,}", f"{weight:+.1f}", f"{confidence:.0%}", agrees, Text(MEANINGS[name], style="dim")
        )
    return Group(table, Text(), _verdicts(found))


def _liked(agreement: Agreement | None) -> str:
    return "" if agreement is None else f"{agreement.liked:,} of {agreement.rated:,}"


def _verdicts(found: Surveyed) -> Text:
    counts = np.bincount(found.judged.verdicts, minlength=len(VERDICTS))
    silent = len(found.index) - int(found.judged.has_signal.sum())
    good, bad, unclear = (int(count) for count in counts)
    text = Text(f"{len(found.index):,} answers: ")
    text.append(f"{good:,} good", style="green")
    text.append(", ")
    text.append(f"{bad:,} bad", style="red")
    text.append(f", {unclear - silent:,} unclear, {silent:,} without a signal")
    return text


def calibration_report(probabilities: np.ndarray, good: np.ndarray) -> RenderableType:
    """What was said beside what people's labels say, in tenths of probability."""
    bins = calibration(probabilities, good)
    table = _table(("probability", "answers", "said", "good"), left=(0,))
    for one in bins:
        table.add_row(f"{one.low:.1f} to {one.high:.1f}", f"{one.count:,}", f"{one.said:.2f}", f"{one.good:.2f}")
    return Group(table, Text(f"calibration error {calibration_error(bins):.3f} over {len(good):,} labelled answers"))


def learning_report(learned: Learned, before: Weights) -> RenderableType:
    """The learned weights beside those before, and whether they win."""
    if learned.loss_after is None:
        return Text(f"nothing learned: {learned.reason}")
    losses = (
        f"log-loss on answers not learned from ({learned.labels:,} labels, {learned.good:,} good): "
        f"{learned.loss_before:.3f} before, {learned.loss_after:.3f} learned ({learned.gain_in_errors:+.1f} standard errors)"
    )
    if not learned.won:
        return Text(f"{losses}\nthe weights stay as they are: {learned.reason}")
    table = _table(("signal", "before", "learned"), left=(0,))
    table.add_row("prior", f"{before.prior:+.2f}", f"{learned.weights.prior:+.2f}")
    for name in FEATURES:
        table.add_row(name, f"{before.weights[name]:+.2f}", f"{learned.weights.weights[name]:+.2f}")
    return Group(Text(losses), table)


def left_out_report(counts: Mapping[str, int], first: Mapping[str, str]) -> RenderableType | None:
    """What was passed over, most first, and where the first of each is."""
    if not counts:
        return None
    table = _table(("left out", "times", "first"), left=(0, 2))
    for reason, times in sorted(counts.items(), key=lambda item: -item[1]):
        table.add_row(Text(visible(reason)), f"{times:,}", Text(one_line(first.get(reason, ""), 60), style="dim"))
    return table


def harvest_report(harvest: Harvest) -> RenderableType:
    """How many exchanges were drawn of which strata, and what became of them."""
    counts: Mapping[str, Any] = harvest.counts
    table = _table(("stratum", "in the log", "drawn", "weight"), left=(0,))
    for one in sorted(harvest.strata, key=lambda one: -one.size)[:_STRATA_SHOWN]:
        table.add_row(Text(one_line(one.name, 60)), f"{one.size:,}", f"{one.drawn:,}", f"{one.weight:,.1f}")
    more = len(harvest.strata) - _STRATA_SHOWN
    cases = ", ".join(f"{counts['cases'].get(verdict, 0):,} {verdict}" for verdict in VERDICTS)
    lines = [
        *([f"… and {more:,} more strata"] if more > 0 else []),
        f"{counted(counts['rows'], 'row')} in {counted(counts['parts'], 'part')} read, {counted(counts['exchanges'], 'exchange')}, "
        f"{counts['drawn']:,} drawn, {counts['duplicates_among_drawn']:,} of them duplicates: {cases}",
    ]
    if counts["masked"]:
        masked = ", ".join(f"{number:,} {kind}{'s' if number > 1 else ''}" for kind, number in counts["masked"].items())
        lines.append(f"masked: {masked}")
    return Group(table, Text("\n".join(lines)))


def _table(titles: tuple[str, ...], left: tuple[int, ...]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, title in enumerate(titles):
        table.add_column(title, justify="left" if place in left else "right", no_wrap=place == 0)
    return table
