"""A comparison of two runs in the terminal and as JSON, and the sentences that all outputs share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.text import Text

from ragstone.compare.cause_moves import Moves
from ragstone.compare.comparison import ChangedSample, Comparison, Slice
from ragstone.compare.differences import EQUAL, Difference
from ragstone.engine.metric_choice import pick_headlines, say_more
from ragstone.report.run import metric_label, part_of
from ragstone.report.table import TONES, Cell, Column, Table, columns, interval_strip
from ragstone.report.text import (
    by_reason,
    counted,
    number,
    one_line,
    p_value,
    places_for,
    section,
    signed,
    signed_interval,
    title,
    visible,
)
from ragstone.storage.runs import Run

CORRECTIONS = {
    "joint": "corrected for all metrics together (step-down maximum)",
    "holm": "corrected for the number of metrics (Holm)",
    "bh": "corrected for the false discovery rate (Benjamini-Hochberg)",
    "none": "not corrected for the number of metrics",
}
_TONES = {"better": "good", "worse": "bad", "no evidence": "muted", "too few rows": "unsure"}
_MARKS = {"better": "▲", "worse": "▼"}
_STRIP = 19
_SCALES = (0.1, 0.2, 0.5, 1.0)
_MOST_COLUMNS = 5
_MOST_DECIDED = 3
# More pairs than this are no practical advice.
_MOST_PAIRS = 100_000
# The kinds of `Moves`, and how many ids of each are named.
MOVES = ("fixed by B", "newly failing", "still failing")
_MOST_NAMED = 10
# Runs with more samples are not diagnosed for a comparison.
MOST_MOVED = 2_000


def headline(comparison: Comparison) -> str:
    """The result in a sentence or two."""
    verdicts = ("better", "worse", "no evidence", "too few rows")
    better, worse, none, few = (len(comparison.having(word)) for word in verdicts)
    new, old = (run_label(run, comparison) for run in (comparison.after, comparison.before))
    pairs = len(comparison.pairs)
    if not better + worse + none + few:
        return "There is nothing to compare: both runs share no metric with a direction and the same signature."
    if all(item.note == EQUAL for item in comparison.metrics if item.verdict):
        return f"{new} and {old} have the same scores {_where_equal(comparison)}."
    if not better + worse + none:
        return f"{pairs} pair{'s are' if pairs != 1 else ' is'} too few to tell {new} from {old}."
    rest = f"; {none + few} show{'s' if none + few == 1 else ''} no evidence" if none + few else ""
    if better and worse:
        return f"{new} is better than {old} in {counted(better, 'metric')} and worse in {worse}{rest}."
    if better or worse:
        verdict, opposite = ("better", "worse") if better else ("worse", "better")
        return f"{new} is {verdict} than {old} in {counted(better or worse, 'metric')}, {opposite} in none{rest}."
    return f"There is no evidence that {new} differs from {old}, in any of {counted(none + few, 'metric')}."


def _where_equal(comparison: Comparison) -> str:
    """In which pairs equal runs are equal: a pair may lack the score of one run."""
    items, pairs = comparison.metrics, len(comparison.pairs)
    one_sided = max(item.skipped_before + item.skipped_after for item in items)
    if one_sided:
        return f"wherever both have one; in {one_sided} of {pairs} pairs only one of them has a score"
    if any(item.failed for item in items):
        return "wherever both have one; some scores failed"
    return f"in all {pairs} pairs"


def deciding_line(items: Sequence[Difference]) -> str:
    """How many pairs would decide the metrics without evidence that need the fewest; empty if there is none."""
    needed = sorted((count, item.metric) for item in items if (count := item.enough_pairs) is not None)
    near = [f"{count:,} for {metric}" for count, metric in needed[:_MOST_DECIDED] if count <= _MOST_PAIRS]
    if not near:
        return ""
    return f"If the differences stay, about this many pairs would decide one metric tested alone: {', '.join(near)}."


def run_label(run: Run, comparison: Comparison) -> str:
    """The name of a run, or A and B if both runs have the same name or none."""
    before, after = comparison.before, comparison.after
    if before.name != after.name and (before.name != before.id or after.name != after.id):
        return run.name
    return "A" if run is comparison.before else "B"


def method_line(comparison: Comparison, detectable: bool = True, tested: bool = True) -> str:
    """How intervals, p-values and detectable differences are computed; `tested` if the p-values are shown."""
    settings = comparison.settings
    units = f"clusters by {settings.cluster}" if settings.cluster else "pairs"
    limit = f"{1 - settings.level:.2g}"
    test = (
        f"p: sign-flip test, {CORRECTIONS[settings.correction]}; below {limit} the verdict is better or worse."
        if tested
        else f"The verdict is better or worse if a sign-flip test, {CORRECTIONS[settings.correction]}, has p below {limit}; "
        "a wider terminal or --json shows p."
    )
    return f"Interval of B − A: {settings.level:.0%} bootstrap over {units}, per metric. {test}" + (
        " MDE: the smallest true difference that this many pairs detect with 80 % power." if detectable else ""
    )


def failed_lines(items: Sequence[Difference]) -> list[str]:
    """Failed and skipped scores, grouped by their counts. Both means use only the pairs with two values."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for item in items:
        if item.failed or item.skipped:
            counts = (item.pairs, item.skipped, item.failed, item.skipped_before, item.skipped_after)
            groups.setdefault(counts, []).append(item.metric)
    return [
        f"{', '.join(names)}: {pairs} of {pairs + skipped + failed} pairs"
        f"{f', {skipped} skipped' if skipped else ''}{_only_by(one_sided)}{f', {failed} failed' if failed else ''}"
        for (pairs, skipped, failed, *one_sided), names in groups.items()
    ]


def _only_by(one_sided: Sequence[int]) -> str:
    """How many pairs only one run skipped: a run that declines more is compared on the samples that both answer."""
    parts = [f"{count} only by {letter}" for letter, count in zip("AB", one_sided, strict=True) if count]
    return f" ({', '.join(parts)})" if parts else ""


def not_compared_lines(comparison: Comparison) -> Iterator[str]:
    """Metrics that were not compared, with the reason."""
    for change, names in by_reason(comparison.refused.items()).items():
        yield f"{', '.join(names)}: not compared, the signatures differ: {change}"
    for letter, only in (("A", comparison.only_before), ("B", comparison.only_after)):
        if only:
            yield f"only in {letter}: {', '.join(only)}"


def changed_most(changed: Sequence[ChangedSample], most: int) -> tuple[list[ChangedSample], list[ChangedSample]]:
    """The samples with the largest gains and those with the largest losses, at most `most` of each."""
    gained = [sample for sample in changed if sample.gain > 0]
    lost = [sample for sample in reversed(changed) if sample.gain < 0]
    return gained[:most], lost[:most]


def comparison_dict(comparison: Comparison, moves: Moves | None = None) -> dict[str, Any]:
    """The comparison as JSON. `failing` are the samples that B fixes and breaks; null if they are not known."""
    pairs = comparison.pairs
    return {
        "headline": headline(comparison),
        "before": _run_dict(comparison.before),
        "after": _run_dict(comparison.after),
        "pairs": len(pairs),
        "paired_by": pairs.by,
        "only_before": list(pairs.only_before),
        "only_after": list(pairs.only_after),
        "other_question": list(pairs.renamed),
        "settings": asdict(comparison.settings),
        "remarks": list(comparison.remarks),
        "metrics": [_difference_dict(item) for item in comparison.metrics],
        "refused": dict(comparison.refused),
        "metrics_only_before": list(comparison.only_before),
        "metrics_only_after": list(comparison.only_after),
        "slices": [
            {
                "column": part.column,
                "label": part.label,
                "pairs": part.pairs,
                "metrics": [_difference_dict(item) for item in part.metrics],
            }
            for part in comparison.slices
        ],
        "changed": [
            {
                "id": sample.id,
                "question": sample.question,
                "gain": sample.gain,
                "metrics": [{"metric": name, "before": old, "after": new} for name, old, new in sample.metrics],
            }
            for sample in comparison.changed
        ],
        "failing": moves._asdict() if moves else None,
    }


def _difference_dict(item: Difference) -> dict[str, Any]:
    """One metric as JSON."""
    values = asdict(item)
    del values["joint_p"]
    values["bounds"] = list(item.bounds)
    values["tally"] = item.tally._asdict() if item.tally else None
    return values


def _run_dict(run: Run) -> dict[str, Any]:
    return {"run": run.path, "id": run.id, "name": run.name, "params": run.info.get("params") or {}}


def comparison_report(
    comparison: Comparison, show: int = 3, full: bool = True, moves: Moves | None = None
) -> RenderableType:
    """The differences of all metrics or of the headline metrics, and the samples that changed most.

    `moves` are the samples that B fixes and breaks, if known.
    """
    items: Sequence[Difference] = comparison.metrics
    if not full:
        picked = pick_headlines([item.metric for item in items])
        first = [item for item in items if item.metric in picked]
        # Metrics that differ or failed are always shown.
        others = [item for item in items if item.metric not in picked and (item.verdict in _MARKS or item.failed)]
        items = [*first, *others]
    return _Report(comparison, items, show, moves)


def moves_line(moves: Moves | None) -> str:
    """`Samples that seem to fail: 2 fixed by B (q1, q7), …`, with the first ids; empty if there are none."""
    if not moves or not any(moves):
        return ""
    parts = (_named(ids, kind) for ids, kind in zip(moves, MOVES, strict=True))
    return f"Samples that seem to fail: {', '.join(parts)}."


def _named(ids: Sequence[str], kind: str) -> str:
    more = len(ids) - _MOST_NAMED
    names = [*(one_line(name, 24) for name in ids[:_MOST_NAMED]), *([f"{more} more"] if more > 0 else [])]
    listed = ", ".join(names)
    return f"{len(ids)} {kind}{f' ({listed})' if listed else ''}"


class _Report:
    """The report; needs the width of the terminal to shorten questions."""

    def __init__(self, comparison: Comparison, items: Sequence[Difference], show: int, moves: Moves | None) -> None:
        self._comparison = comparison
        self._items = items
        self._show = show
        self._moves = moves

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        comparison, items = self._comparison, self._items
        more = len(comparison.metrics) - len(items)
        directed = sum(item.verdict is not None for item in comparison.metrics)
        # Without any verdict the headline has the number itself.
        is_counted = more and any(item.verdict in _MARKS for item in comparison.metrics)
        scope = f" That counts all {directed} metrics with a better direction." if is_counted else ""
        yield from _runs(comparison)
        yield Text(f"\n{visible(headline(comparison))}{scope}", style="bold")
        if deciding := deciding_line(items):
            yield Text(visible(deciding))
        if failing := moves_line(self._moves):
            yield Text(failing)
        yield Text()
        table = difference_table(comparison, items)
        yield table
        if more:
            yield Text(f"\n{say_more(more)}")
        lines = [*not_compared_lines(comparison)]
        lines += ["--anyway compares metrics with different signatures"] if comparison.refused else []
        yield from section("not compared", lines)
        notes = by_reason((item.metric, item.note) for item in items)
        noted = [f"{', '.join(names)}: {note}" for note, names in notes.items()]
        yield from section("remarks", [*comparison.remarks, *failed_lines(items), *noted])
        for column in dict.fromkeys(part.column for part in comparison.slices):
            yield from _slices([part for part in comparison.slices if part.column == column], comparison)
        yield from _changed(comparison.changed, self._show, options.max_width)
        headings = table.fitted_headings(console, options)
        yield Text(f"\n{method_line(comparison, 'MDE' in headings, 'p' in headings)}", style="dim")


def _runs(comparison: Comparison) -> Iterator[RenderableType]:
    for letter, run in (("A", comparison.before), ("B", comparison.after)):
        params = "".join(f", {name} {value}" for name, value in (run.info.get("params") or {}).items())
        text = Text(f"{letter}  ", style="bold")
        text.append(visible(run.name))
        text.append(visible(f"  {run.id}, {counted(run.info['dataset']['rows'], 'sample')}{params}"), style="dim")
        yield text


def difference_table(comparison: Comparison, items: Sequence[Difference]) -> Table:
    """One row per metric: both means, the difference with its interval, p, MDE and verdict."""
    scale = _scale(items)
    side, end = (_STRIP - 1) // 2, f"{scale:g}".removeprefix("0")
    ruler = f"{f'-{end} worse':<{side}}│{f'better {end}':>{side}}"
    table = Table(
        [
            Column("metric", wrap="name"),
            *columns("A", "B", "B − A", f"{comparison.settings.level:.0%} interval"),
            Column(ruler, priority=1, drawn=True),
            Column("p", "right", priority=2),
            Column("MDE", "right", priority=3),
            Column("verdict"),
        ]
    )
    parts = {metric["metric"]: part_of(metric) for metric in comparison.after.info["metrics"]}
    for item in items:
        interval = None if item.low is None or item.high is None else (item.low, item.high)
        places = places_for(item.bounds, item.before, item.after)
        table.add(
            metric_label(item.metric, item.better),
            Cell(number(item.before, places), item.before),
            Cell(number(item.after, places), item.after),
            Cell(signed(item.difference, places), item.difference),
            Cell(signed_interval(item.low, item.high, places), interval),
            _strip(item, scale),
            Cell(p_value(item.corrected_p), item.corrected_p),
            Cell(number(item.detectable, places), item.detectable),
            verdict_cell(item.verdict),
            group=visible(parts[item.metric]),
        )
    return table


def verdict_cell(verdict: str | None) -> Cell:
    """A verdict with its mark; a dash for a metric without a direction."""
    return Cell(verdict or "–", tone=_TONES.get(verdict or "", "muted"), mark=_MARKS.get(verdict or "", ""))


def _scale(items: Iterable[Difference]) -> float:
    """The end of the drawn line: the smallest round number that contains all intervals of metrics from 0 to 1."""
    ends = [abs(end) for item in items if _is_drawn(item) for end in (item.low or 0.0, item.high or 0.0)]
    return next((scale for scale in _SCALES if max(ends, default=0.0) <= scale), 1.0)


def _is_drawn(item: Difference) -> bool:
    return item.bounds == (0.0, 1.0) and item.better != "none" and item.low is not None


def _strip(item: Difference, scale: float) -> Text:
    """The interval on a line with 0 in the middle and better on the right."""
    if not _is_drawn(item) or item.gain_interval is None or item.gain is None:
        return Text()
    style = {"better": "green", "worse": "red"}.get(item.verdict or "", "cyan")
    return interval_strip(item.gain, item.gain_interval, (-scale, scale), style, _STRIP)


def _slices(slices: Sequence[Slice], comparison: Comparison) -> Iterator[RenderableType]:
    """The difference per slice, for the metrics with a verdict in a slice or over all samples."""
    groups = (comparison.metrics, *(part.metrics for part in slices))
    telling = {item.metric for group in groups for item in group if item.verdict in _MARKS}
    names = [item.metric for item in slices[0].metrics if item.metric in telling or len(slices[0].metrics) <= 3]
    yield title(f"by {slices[0].column}, B − A")
    if not names:
        yield Text("  no metric shows a difference, over all samples or in a slice")
        return
    cells = {part.label: {item.metric: item for item in part.metrics} for part in slices}
    heads = {part.label: f"{one_line(part.label, 20)} ({part.pairs})" for part in slices}
    # Few slices are columns. Many slices are rows, so that the table stays narrow.
    if len(slices) <= _MOST_COLUMNS or len(slices) < len(names):
        table = Table([Column(wrap="name"), *(Column(head, "right", "words") for head in heads.values())], indent=2)
        for name in names:
            label = metric_label(name, cells[slices[0].label][name].better)
            table.add(label, *(_slice_cell(cells[label][name]) for label in heads))
    else:
        table = Table([Column(wrap="words"), *(Column(visible(name), "right", "words") for name in names)], indent=2)
        for label, head in heads.items():
            table.add(head, *(_slice_cell(cells[label][name]) for name in names))
    yield table
    yield Text("  ▲ better  ▼ worse  ? too few rows  no mark: no evidence", style="dim")


def _slice_cell(item: Difference) -> Text:
    mark = _MARKS.get(item.verdict or "", "?" if item.verdict == "too few rows" else " ")
    return Text(f"{signed(item.difference)} {mark}", style=TONES.get(_TONES.get(item.verdict or "", ""), ""))


def _changed(changed: Sequence[ChangedSample], show: int, width: int) -> Iterator[RenderableType]:
    for heading, samples in zip(("gained most", "lost most"), changed_most(changed, show), strict=True):
        if samples:
            yield title(heading)
        for sample in samples:
            line = Text(f"  {signed(sample.gain)}  {one_line(sample.id, 20)}  ")
            line.append(one_line(sample.question, max(20, width - len(line) - 1)))
            yield line
            scores = [f"{visible(name)} {old:.2f} → {new:.2f}" for name, old, new in sample.metrics]
            yield Padding(Text(", ".join(scores), style="dim"), (0, 0, 0, 10))
