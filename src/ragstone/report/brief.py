"""Results in a few lines of plain text, for the Python prompt; and whole reports as text."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType

from ragstone.compare.cause_texts import causes_text, failing_text
from ragstone.compare.comparison import Comparison
from ragstone.compare.diagnosis import Diagnosis
from ragstone.compare.explain import Explanation
from ragstone.compare.gate_conditions import Checked
from ragstone.compare.gates import Gate
from ragstone.compare.sample_order import telling_metrics
from ragstone.compare.worst_samples import WorstSample
from ragstone.engine.metric_choice import pick_headlines
from ragstone.engine.quote import Quote
from ragstone.report.comparison import headline as comparison_headline
from ragstone.report.comparison import run_label
from ragstone.report.diagnosis import headline
from ragstone.report.explain import cause_title
from ragstone.report.gates import MARKS, ORDER, value_texts
from ragstone.report.text import counted, number, one_line, p_value, signed, signed_interval
from ragstone.storage.missing_scores import MissingScores
from ragstone.storage.runs import Run

_WIDTH = 100
# Longer lines are cut.
_LINE = 180
_MOST = 5
_VERDICTS = {"worse": "▼", "better": "▲"}


def as_text(report: RenderableType) -> str:
    """A report of the terminal as plain text."""
    stream = io.StringIO()
    Console(file=stream, width=_WIDTH, color_system=None, highlight=False).print(report)
    return "\n".join(line.rstrip() for line in stream.getvalue().rstrip().splitlines())


def run_brief(run: Run) -> str:
    """Name and size of a run, some means, and the number of missing cells."""
    rows = {row.metric: row for row in run.summary()}
    chosen = telling_metrics(run.info.metrics, _MOST)
    means = [f"{metric.metric} {number(rows[metric.metric].mean)}" for metric in chosen]
    more = len(run.info.metrics) - len(chosen)
    # Metrics that were not computed have a row in the summary too, but no cells.
    computed = [rows[metric.metric] for metric in run.info.metrics if metric.metric in rows]
    skipped, failed = (sum(getattr(row, name) for row in computed) for name in ("n_skipped", "n_failed"))
    counts = f"{counted(run.info.rows, 'sample')}, {counted(len(run.info.metrics), 'metric')}"
    return _lines(
        f"Run {run.name}{f' ({run.id})' if run.name != run.id else ''}: {counts}",
        ", ".join(means) + (f" and {more} more" if more else ""),
        f"{failed:,} failed and {skipped:,} skipped cells: run.missing" if failed or skipped else "",
    )


def diagnosis_brief(diagnosis: Diagnosis, name: str) -> str:
    """The headline, the causes and the first advice."""
    failing = [failing_text(diagnosis), causes_text(diagnosis)] if diagnosis.failing else []
    if len(whole := ": ".join(failing)) <= _LINE:
        failing = [whole]
    return _lines(
        f"Diagnosis of {name}: {headline(diagnosis)}",
        *failing,
        *(f"→ {item.text}" for item in diagnosis.advice[:2]),
    )


def explanation_brief(explanation: Explanation) -> str:
    """The sample, its question and answer, and the cause or the score."""
    sample, working, outcome = explanation.case.sample, explanation.working, explanation.outcome
    cause = outcome.cause
    why = f"{cause_title(outcome)}: {cause.name}, {cause.part}" if cause else f"cause unknown: {outcome.undecided}"
    if working:
        why = f"{working.cell.metric} = {number(working.cell.value)} {working.cell.reason or ''}".rstrip()
    return _lines(
        f"Sample {sample.id}, row {explanation.row + 1:,} of {explanation.rows:,} in {explanation.run}",
        f"question: {sample.question or ''}",
        f"answer: {sample.answer or ''}",
        why if working or cause or outcome.undecided else "no fault found",
    )


def worst_brief(samples: Sequence[WorstSample], name: str) -> str:
    """One line per sample: row, id, quality, cause and question."""
    lines = [
        f"{sample.row:>3} {sample.id}  {number(sample.quality, 2)}  {sample.cause or '–'}  {sample.question}"
        for sample in samples[:_MOST]
    ]
    more = len(samples) - len(lines)
    return _lines(f"{counted(len(samples), 'worst sample')} of {name}", *lines, f"and {more} more" if more else "")


def missing_brief(missing: Sequence[MissingScores], name: str) -> str:
    """The number of cells by status, and the most common reasons."""
    cells: Counter[str] = Counter()
    for item in missing:
        cells[item.status] += 1 if item.status == "not computed" else item.count
    counts = [f"{cells[status]:,} cells {status}" for status in ("failed", "skipped")]
    counts.append(f"{counted(cells['not computed'], 'metric')} not computed")
    lines = [f"{item.metric}, {item.status}, {item.count:,} cells: {item.reason}" for item in missing[:_MOST]]
    more = len(missing) - len(lines)
    return _lines(f"Missing scores of {name}: {', '.join(counts)}", *lines, f"and {more} more" if more else "")


def comparison_brief(comparison: Comparison) -> str:
    """The result in a sentence, then the metrics that differ most clearly."""
    order = [item for verdict in _VERDICTS for item in comparison.metrics if item.verdict == verdict]
    if not order:
        picked = pick_headlines([item.metric for item in comparison.metrics if item.verdict])
        order = [item for item in comparison.metrics if item.metric in picked]
    lines = [
        f"{_VERDICTS.get(item.verdict or '', '·')} {item.metric} {number(item.before)} → {number(item.after)}, "
        f"{signed(item.difference)} ({signed_interval(item.low, item.high)}), p {p_value(item.corrected_p)}"
        for item in order[:_MOST]
    ]
    more = len(order) - len(lines)
    before, after = (_lettered(run, comparison) for run in (comparison.before, comparison.after))
    names = f"{before} → {after}, {counted(len(comparison.pairs), 'pair')}"
    return _lines(
        f"Comparison {names}",
        comparison_headline(comparison),
        *lines,
        f"and {more} more" if more > 0 else "",
    )


def _lettered(run: Run, comparison: Comparison) -> str:
    """The name of a run, after the letter that the headline has in its place."""
    label = run_label(run, comparison)
    return run.name if label == run.name else f"{label} {run.name}"


def _value(item: Checked) -> str:
    value, interval = value_texts(item)
    return f"{value} ({interval})" if interval else value


def gate_brief(gate: Gate) -> str:
    """The outcome, then the conditions; those that do not pass come first."""
    against = f" against {gate.baseline}" if gate.baseline else ""
    order = sorted(gate.checks, key=lambda item: ORDER.index(item.outcome))
    lines = [
        f"{MARKS[item.outcome]} {item.condition}: {_value(item)}{f', {item.why}' if item.why else ''}"
        for item in order[:_MOST]
    ]
    more = len(order) - len(lines)
    return _lines(f"Gate of {gate.run}{against}: {gate.outcome}", *lines, f"and {more} more" if more else "")


def quote_brief(quote: Quote) -> str:
    """Calls, tokens, cost and time of the whole run."""
    total = quote.total
    cost = "price unknown" if total.cost_usd is None else f"{total.cost_usd:.4f} usd"
    tokens = f"{total.input_tokens:,.0f} tokens in, {total.output_tokens:,.0f} out"
    return _lines(
        f"Quote for {counted(quote.rows, 'row')}: {total.calls:,.0f} calls, {tokens}, {cost}, {total.seconds:,.0f} s"
    )


def _lines(first: str, *others: str) -> str:
    return "\n".join([one_line(first, _LINE), *_indented(others)])


def _indented(lines: Sequence[str]) -> Iterator[str]:
    for line in filter(None, lines):
        yield f"  {one_line(line, _LINE)}"
