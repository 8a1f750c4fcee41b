"""Runs, comparisons, leaderboards and gates as Markdown, for pull requests."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from ragstone.analysis.cause_names import Outcome
from ragstone.analysis.cause_texts import status_text
from ragstone.analysis.comparison import ChangedSample, Comparison
from ragstone.analysis.diagnosis import Diagnosis, diagnose
from ragstone.analysis.gates import Gate
from ragstone.analysis.leaderboard import Leaderboard
from ragstone.analysis.sample_order import worst_rows
from ragstone.number_format import number, p_value, signed
from ragstone.report.comparison import difference_table, verdict_cell
from ragstone.report.gates import gate_table, left_out_line, undecided_line
from ragstone.report.html.run_page import MOST_DIAGNOSED
from ragstone.report.leaderboard import letter, order_runs, parameter_text, remark_lines
from ragstone.report.run import metrics_table
from ragstone.report.table import Column, Table, columns
from ragstone.report.table import escape_markdown as escape
from ragstone.storage.runs import Run, read_table
from ragstone.views.comparison import ComparisonView
from ragstone.views.diagnosis import DiagnosisView
from ragstone.views.moved_rows import MovedRow
from ragstone.views.phrases import counted, one_line
from ragstone.views.run import RunView, consistency_dict

_OUTCOMES = {"passes": "✅ passes", "fails": "❌ fails", "cannot tell": "❔ cannot tell"}


def run_markdown(run: Run, worst: int = 5) -> str:
    """One run with its worst samples, at most `worst` of them."""
    diagnosis = diagnose(run, MOST_DIAGNOSED)
    totals = run.info["totals"]
    cost = "unknown cost" if totals.get("cost_usd") is None else f"${totals['cost_usd']:.2f}"
    view, shown = RunView.of(run), DiagnosisView.of(diagnosis, run.info)
    advice = [
        f"{number}. {escape(item.text)} <sub>{escape(item.reasons)}</sub>"
        for number, item in enumerate(shown.advice, start=1)
    ]
    lines = [
        *([f"**{escape(view.failure)}**", ""] if view.failure else []),
        f"### {escape(run.name)}: {escape(shown.statuses_text or shown.headline)}",
        "",
        *([escape(shown.headline), ""] if shown.statuses_text else []),
        f"{run.info['dataset']['rows']:,} samples, run `{escape(run.id)}`, {totals.get('calls', 0):,} model calls, {cost}",
        "",
        *(part for line in (*view.explanations, shown.disagreement) if line for part in (escape(line), "")),
        *(["Commands that would decide it, cheapest first:", ""] if shown.steps else []),
        *(f"- `{step.command}`: {escape(step.purpose)}" for step in shown.steps),
        *([""] if shown.steps else []),
        *([*advice, ""] if advice else []),
        *metrics_table(view.headlines).markdown(),
        *_folded(counted(len(view.others), "more metric"), metrics_table(view.others)),
        *_consistency(run),
        *_causes(shown),
        *_worst(run, diagnosis, worst),
    ]
    lines += [f"- not computed: {escape(name)}: {escape(reason)}" for name, reason in run.info["skipped"].items()]
    return "\n".join(lines).rstrip() + "\n"


def _folded(summary: str, table: Table) -> list[str]:
    """A table that the reader can unfold. Nothing if it has no rows."""
    if not table.rows:
        return []
    return [f"<details><summary>{summary}</summary>", "", *table.markdown(), "</details>", ""]


def _consistency(run: Run) -> list[str]:
    """The spread of each metric within repeated questions; nothing if no question was asked twice."""
    found = consistency_dict(run)
    if found is None:
        return []
    table = Table([Column("metric"), *columns("standard deviation within a question", "share of the variance")])
    for row in found["rows"]:
        table.add(row["metric"], number(row["within"]), "–" if row["share"] is None else f"{row['share']:.0%}")
    return [f"{escape(found['headline'])}.", "", *_folded("spread within questions", table)]


def _causes(view: DiagnosisView) -> list[str]:
    numbers = columns("main cause of", "samples")
    table = Table([*columns("cause", "part", align="left"), *numbers, Column("meaning")])
    for cause in view.causes:
        main = f"{cause.main - cause.look:,}{f' + {cause.look:,} to look at' if cause.look else ''}"
        table.add(cause.name, cause.part or "information", main, f"{cause.samples:,}", cause.meaning)
    notes = [part for note in view.notes for part in (escape(note), "")]
    return [*_folded(f"why {view.failing_text}", table), *notes]


def _worst(run: Run, diagnosis: Diagnosis, most: int) -> list[str]:
    samples = read_table(run.folder.samples, ["id", "question", "answer"])
    rows = worst_rows(run, diagnosis.faulty, most)
    table = Table(columns("sample", "status", "question", "answer", "cause", align="left"))
    for row, sample in zip(rows, samples.take(pa.array(rows, pa.int64())).to_pylist(), strict=True):
        found = diagnosis.outcomes[row] if row < len(diagnosis.outcomes) else Outcome(sample["id"])
        texts = (one_line(sample[name] or "", 100) for name in ("question", "answer"))
        table.add(sample["id"], status_text(found), *texts, found.cause.name if found.cause else "–")
    return _folded(f"the {len(rows)} worst samples", table)


def comparison_markdown(view: ComparisonView, show: int = 3) -> str:
    """Two runs: the rows that B fixes and breaks, the headline metrics, and the explored metrics folded."""
    comparison = view.comparison
    runs = (f"{escape(run.name)} (`{escape(run.id)}`)" for run in (comparison.before, comparison.after))
    lines = [
        f"### {escape(view.headline)}",
        "",
        "A: {}, B: {}, ".format(*runs) + f"{len(comparison.pairs)} pairs",
        "",
        *_moved(view.listed(show)),
        *(part for line in view.lines() for part in (escape(line), "")),
        *difference_table(view, view.headlines).markdown(),
        *_folded(view.others_text, difference_table(view, view.others)),
    ]
    for column in dict.fromkeys(part.column for part in comparison.slices):
        lines += [f"**by {escape(column)}**", "", *_slices(comparison, column)]
    lines += _changed(view.changed(show))
    lines += [f"- {escape(line)}" for line in (*view.cautions, *view.remarks)]
    return "\n".join([*lines, "", f"<sub>{escape(view.method)}</sub>"]) + "\n"


def _slices(comparison: Comparison, column: str) -> list[str]:
    table = Table([*columns(column, "metric", align="left"), *columns("pairs", "difference", "p"), Column("verdict")])
    for part in comparison.slices:
        for item in part.metrics if part.column == column else ():
            if item.verdict in ("better", "worse"):
                numbers = (str(item.pairs), signed(item.difference), p_value(item.corrected_p))
                table.add(part.label, item.metric, *numbers, verdict_cell(item.verdict))
    return table.markdown() if table.rows else ["no slice shows a difference", ""]


def _moved(rows: Sequence[MovedRow]) -> list[str]:
    """Newly failing rows first, with both answers."""
    table = Table(
        [
            Column("row"),
            *columns("became", "wrong", "question", "answer of A", "answer of B", "what changed", align="left"),
        ]
    )
    for row in rows:
        texts = (one_line(text, 100) for text in (row.question, *row.answers))
        table.add(row.id, row.kind, "{:.0%} → {:.0%}".format(*row.wrong), *texts, row.what_changed)
    return table.markdown() if table.rows else []


def _changed(changed: Sequence[ChangedSample]) -> list[str]:
    table = Table([Column("sample"), Column("gain", "right"), *columns("question", "metrics", align="left")])
    for sample in changed:
        scores = ", ".join(f"{name} {old:.2f} → {new:.2f}" for name, old, new in sample.metrics)
        table.add(sample.id, signed(sample.gain), one_line(sample.question, 80), scores)
    return ["**changed most**", "", *table.markdown()] if table.rows else []


def leaderboard_markdown(board: Leaderboard, by: str | None = None) -> str:
    """One row per run, one column per parameter or metric."""
    table = Table(
        [*columns("", "run", align="left"), *columns(*board.parameters, *(item.metric for item in board.rankings))]
    )
    for run in order_runs(board, by):
        cells = []
        for ranking in board.rankings:
            place = next((place for place in ranking.places if place.run == run), None)
            cells.append("–" if place is None else f"{number(place.mean)} {place.letters}".strip())
        table.add(letter(run), board.runs[run].name, *map(parameter_text, board.values(run)), *cells)
    note = f"The data do not show a difference between runs that share a letter ({board.samples} samples)."
    return "\n".join([*table.markdown(), note, *(f"- {escape(line)}" for line in remark_lines(board))]) + "\n"


def gate_comment(gate: Gate, comparison: Comparison | None) -> str:
    """A gate for a pull request, with the comparison folded. It has no texts of samples: others may read it."""
    if comparison is None:
        return gate_markdown(gate)
    summary = "<details><summary>all metrics against the baseline</summary>"
    return f"{gate_markdown(gate)}\n{summary}\n\n{comparison_markdown(ComparisonView.diagnosed(comparison), show=0)}\n</details>\n"


def gate_markdown(gate: Gate) -> str:
    """The outcome of a gate and its conditions with reasons."""
    table = gate_table(list(gate.checks))
    reasons = Table([*table.columns, Column("reason")])
    for row, item in zip(table.rows, gate.checks, strict=True):
        reasons.add(*row.cells, item.why)
    against = f" against {escape(gate.baseline)}" if gate.baseline else ""
    heading = (
        f"### Gate of {escape(gate.run)}{against}: {_OUTCOMES[gate.outcome]}{gate.said.removeprefix(gate.outcome)}"
    )
    notes = [gate.note, *gate.remarks, left_out_line(gate) if gate.left_out else "", undecided_line(gate)]
    more = [part for note in notes if note for part in (escape(note), "")]
    return "\n".join([heading, "", *reasons.markdown(), *more]).rstrip() + "\n"
