"""Comparisons, leaderboards and gates as Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragstone.compare.changes import ChangedSample
from ragstone.compare.comparison import Comparison
from ragstone.compare.differences import Difference
from ragstone.compare.gates import Checked, Gate
from ragstone.compare.leaderboard import Leaderboard
from ragstone.report.comparing import failed_lines, headline, method_line
from ragstone.report.comparison import chance, number, signed
from ragstone.report.gates import left_out_line
from ragstone.report.leaderboard import letter, order_runs
from ragstone.report.plain import one_line, visible

_MARKS = {"better": "🟢 better", "worse": "🔴 worse", "no evidence": "no evidence", "too few rows": "too few rows"}
_OUTCOMES = {"passes": "✅ passes", "fails": "❌ fails", "cannot tell": "❔ cannot tell"}


def comparison_markdown(found: Comparison, show: int = 3) -> str:
    """Two runs: the answer, the telling metrics, the rest folded away."""
    told = [item for item in found.metrics if item.verdict in ("better", "worse")]
    rest = [item for item in found.metrics if item not in told]
    lines = [
        f"### {escape(headline(found))}",
        "",
        f"A: {_run(found, 'A')}, B: {_run(found, 'B')}, {len(found.pairs)} pairs",
        "",
    ]
    lines += _difference_table(told) if told else []
    if rest:
        lines += [
            "<details><summary>metrics without a verdict of better or worse</summary>",
            "",
            *_difference_table(rest),
            "</details>",
            "",
        ]
    lines += _slices(found)
    lines += _changed(found.changed, show)
    lines += [f"- {escape(line)}" for line in _remark_lines(found)]
    return "\n".join([*lines, "", f"<sub>{escape(method_line(found))}</sub>"]) + "\n"


def leaderboard_markdown(found: Leaderboard, by: str | None = None) -> str:
    """Several runs: a row a run, a column a parameter or metric; runs that share a letter cannot be told apart."""
    heads = ["", "run", *found.parameters, *(ranking.metric for ranking in found.rankings)]
    rows = []
    for run in order_runs(found, by):
        cells = []
        for ranking in found.rankings:
            place = next((place for place in ranking.places if place.run == run), None)
            cells.append("–" if place is None else f"{place.mean:.3f} {place.letters}".strip())
        values = ["–" if value is None else escape(str(value)) for value in found.values(run)]
        rows.append((letter(run), escape(found.runs[run].name), *values, *cells))
    lines = [*_table(heads, rows), f"Runs that share a letter cannot be told apart ({found.samples} samples)."]
    lines += [f"- {escape(line)}" for line in found.remarks]
    lines += [
        f"- {escape(name)} not ranked, made in different ways: {escape(what)}" for name, what in found.refused.items()
    ]
    return "\n".join(lines) + "\n"


def gate_markdown(found: Gate) -> str:
    """A gate: the outcome and each condition."""
    against = f" against {escape(found.baseline)}" if found.baseline else ""
    rows = [_gate_row(item) for item in found.checks]
    heads = ("condition", "value", "95 % interval", "rows", "failed", "outcome", "")
    title = f"### Gate of {escape(found.run)}{against}: {_OUTCOMES[found.outcome]}"
    more = ["", escape(left_out_line(found))] if found.left_out else []
    return "\n".join([title, "", *_table(heads, rows), *more]) + "\n"


def _gate_row(item: Checked) -> tuple[str, ...]:
    drop = item.check.kind == "max-drop"
    interval = "–" if item.interval is None else f"{item.interval.low:.3f} to {item.interval.high:.3f}"
    value = signed(item.value) if drop else number(item.value)
    return (
        escape(str(item.check)),
        value,
        interval,
        str(item.rows),
        str(item.failed),
        _OUTCOMES[item.outcome],
        escape(item.why),
    )


def _difference_table(items: Sequence[Difference]) -> list[str]:
    rows = [
        (
            escape(item.metric),
            number(item.before),
            number(item.after),
            signed(item.difference),
            "–" if item.low is None else f"{signed(item.low)} to {signed(item.high)}",
            chance(item.corrected_p),
            _MARKS[item.verdict] if item.verdict else "–",
        )
        for item in items
    ]
    return _table(("metric", "A", "B", "difference", "95 % interval", "p", "verdict"), rows)


def _slices(found: Comparison) -> list[str]:
    lines: list[str] = []
    for column in dict.fromkeys(part.column for part in found.slices):
        rows = [
            (
                escape(part.label),
                escape(item.metric),
                item.pairs,
                signed(item.difference),
                chance(item.corrected_p),
                _MARKS[item.verdict],
            )
            for part in found.slices
            if part.column == column
            for item in part.metrics
            if item.verdict in ("better", "worse")
        ]
        lines += [f"**by {escape(column)}**", ""]
        lines += (
            _table((column, "metric", "pairs", "difference", "p", "verdict"), rows)
            if rows
            else ["no slice shows a difference", ""]
        )
    return lines


def _changed(changed: Sequence[ChangedSample], show: int) -> list[str]:
    gained = [sample for sample in changed if sample.gain > 0][:show]
    lost = [sample for sample in reversed(changed) if sample.gain < 0][:show]
    rows = [
        (
            escape(sample.id),
            signed(sample.gain),
            escape(one_line(sample.question, 80)),
            ", ".join(f"{escape(name)} {old:.2f} → {new:.2f}" for name, old, new in sample.metrics),
        )
        for sample in (*gained, *lost)
    ]
    return ["**changed most**", "", *_table(("sample", "gain", "question", "metrics"), rows)] if rows else []


def _remark_lines(found: Comparison) -> Iterable[str]:
    yield from found.remarks
    yield from failed_lines(found.metrics)
    for name, what in found.refused.items():
        yield f"{name} was not compared, it was made in different ways: {what}"
    for word, only in (("A", found.only_before), ("B", found.only_after)):
        if only:
            yield f"only in {word}: {', '.join(only)}"


def _run(found: Comparison, which: str) -> str:
    run = found.before if which == "A" else found.after
    return f"{escape(run.name)} (`{escape(run.id)}`)"


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = ["| " + " | ".join(escape(str(head)) for head in heads) + " |", "|" + "---|" * len(heads)]
    return [*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows), ""]


def escape(text: str) -> str:
    """Text from data that cannot become markup: no table cells, no tags, no links, no mentions."""
    line = " ".join(visible(text).split())
    for sign in "\\`*_{}[]<>|#@":
        line = line.replace(sign, f"\\{sign}" if sign not in "<>@" else f"&#{ord(sign)};")
    return line
