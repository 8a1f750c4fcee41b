"""Results in a few lines of plain text, for the Python prompt; and whole reports as text."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence

from rich.console import Console, RenderableType

from ragstone.analysis.diagnosis import Diagnosis
from ragstone.analysis.explain import Explanation
from ragstone.analysis.gate_conditions import Checked
from ragstone.analysis.gates import Gate
from ragstone.analysis.sample_order import WorstSample
from ragstone.engine.quote import Quote
from ragstone.number_format import number, p_value, signed, signed_interval
from ragstone.report.gates import MARKS as GATE_MARKS
from ragstone.report.gates import ORDER, value_texts
from ragstone.storage.runs import Run
from ragstone.storage.scores import MissingScores
from ragstone.text.questions import MADE_ID
from ragstone.views.comparison import MARKS, ComparisonView
from ragstone.views.diagnosis import DiagnosisView
from ragstone.views.phrases import counted, one_line
from ragstone.views.run import FEW, RunView, headline_metrics
from ragstone.views.sample import cause_line, lack_of

_WIDTH = 100
# Longer lines are cut.
_LINE = 180
_MOST = 5


def as_text(report: RenderableType) -> str:
    """A report of the terminal as plain text."""
    stream = io.StringIO()
    Console(file=stream, width=_WIDTH, color_system=None, highlight=False).print(report)
    return "\n".join(line.rstrip() for line in stream.getvalue().rstrip().splitlines())


def run_brief(run: Run) -> str:
    """Name and size of a run, some means, and the number of missing cells."""
    view = RunView.of(run)
    few = {metric.metric for metric in headline_metrics(run.info.metrics, FEW)}
    means = [f"{metric.metric} {metric.shown}" for metric in view.metrics if metric.metric in few]
    more = len(view.metrics) - len(means)
    skipped, failed = (sum(getattr(metric, name) for metric in view.metrics) for name in ("skipped", "failed"))
    counts = f"{counted(run.info.rows, 'sample')}, {counted(len(view.metrics), 'metric')}"
    return _lines(
        f"Run {run.name}{f' ({run.id})' if run.name != run.id else ''}: {counts}",
        view.failure or "",
        ", ".join(means) + (f" and {more} more" if more else ""),
        f"{failed:,} failed and {skipped:,} skipped cells: run.missing" if failed or skipped else "",
    )


def diagnosis_brief(diagnosis: Diagnosis, name: str) -> str:
    """The headline, the causes and the first advice."""
    view = DiagnosisView.of(diagnosis)
    failing = [view.failing_text, view.causes_text] if view.causes_text else []
    if len(whole := ": ".join(failing)) <= _LINE:
        failing = [whole]
    return _lines(f"Diagnosis of {name}: {view.headline}", *failing, *(f"→ {item.text}" for item in view.advice[:2]))


def explanation_brief(explanation: Explanation) -> str:
    """The sample, its question and answer, and the cause or the score."""
    sample, working = explanation.case.sample, explanation.working
    why = cause_line(explanation.outcome)
    if working:
        why = f"{working.cell.metric} = {number(working.cell.value)} {working.cell.reason or ''}".rstrip()
    return _lines(
        f"Sample {sample.id}, row {explanation.row + 1:,} of {explanation.rows:,} in {explanation.run}",
        f"question: {sample.question or ''}",
        f"answer: {sample.answer or ''}",
        why,
    )


def worst_brief(samples: Sequence[WorstSample], name: str) -> str:
    """One line per sample: row, id unless it was made of the question, status and cause or the worst score, and question."""
    lines = [
        f"{sample.row:>3} {'' if MADE_ID.fullmatch(sample.id) else sample.id}  {_fault(sample)}  {sample.question}"
        for sample in samples
    ]
    return _lines(f"{counted(len(samples), 'worst sample')} of {name}", *lines)


def _fault(sample: WorstSample) -> str:
    lack = {name: share for name, value in sample.scores.items() if (share := lack_of(name, value)) is not None}
    if sample.status != "no judgement" or not lack:
        return f"{sample.status}  {sample.cause or '–'}"
    worst = max(lack, key=lack.__getitem__)
    return f"{worst} {number(sample.scores[worst])}"


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


def comparison_brief(view: ComparisonView) -> str:
    """The rows and the metrics in a sentence each, then the headline metrics that differ, worse first; or all of them."""
    order = [row for verdict in ("worse", "better") for row in view.headlines if row.verdict == verdict]
    order = order or [row for row in view.headlines if row.verdict]
    lines = [
        f"{MARKS.get(row.word, '·')} {row.metric} {number(row.before)} → {number(row.after)}, "
        f"{signed(row.difference)} ({signed_interval(row.low, row.high)}), p {p_value(row.corrected_p)}"
        for row in order[:_MOST]
    ]
    more = len(order) - len(lines)
    # The name of a run stands after the letter that the headline has in its place.
    runs = zip(view.labels, (view.comparison.before, view.comparison.after), strict=True)
    names = " → ".join(run.name if label == run.name else f"{label} {run.name}" for label, run in runs)
    return _lines(
        f"Comparison {names}, {counted(len(view.comparison.pairs), 'pair')}",
        view.headline,
        view.unclear(),
        view.summary,
        *lines,
        f"and {more} more" if more > 0 else "",
    )


def _value(item: Checked) -> str:
    value, interval = value_texts(item)
    return f"{value} ({interval})" if interval else value


def gate_brief(gate: Gate) -> str:
    """The outcome, then the conditions; those that do not pass come first."""
    against = f" against {gate.baseline}" if gate.baseline else ""
    order = sorted(gate.checks, key=lambda item: ORDER.index(item.outcome))
    lines = [
        f"{GATE_MARKS[item.outcome]} {item.condition}: {_value(item)}{f', {item.why}' if item.why else ''}"
        for item in order[:_MOST]
    ]
    more = len(order) - len(lines)
    return _lines(f"Gate of {gate.run}{against}: {gate.said}", *lines, f"and {more} more" if more else "")


def quote_brief(quote: Quote) -> str:
    """Calls, tokens, cost and time of the whole run."""
    total = quote.total
    cost = "price unknown" if total.cost_usd is None else f"{total.cost_usd:.4f} usd"
    tokens = f"{total.input_tokens:,.0f} tokens in, {total.output_tokens:,.0f} out"
    return _lines(
        f"Quote for {counted(quote.rows, 'row')}: {total.calls:,.0f} calls, {tokens}, {cost}, {total.seconds:,.0f} s"
    )


def _lines(first: str, *others: str) -> str:
    return "\n".join([one_line(first, _LINE), *(f"  {one_line(line, _LINE)}" for line in filter(None, others))])
