"""Runs, comparisons, leaderboards and gates as Markdown, for pull requests."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from ragstone.compare.cause_moves import Moves
from ragstone.compare.cause_texts import failing_text, percent
from ragstone.compare.comparison import ChangedSample, Comparison
from ragstone.compare.diagnosis import Diagnosis, diagnose
from ragstone.compare.gates import Gate
from ragstone.compare.leaderboard import Leaderboard
from ragstone.compare.sample_order import worst_rows
from ragstone.compare.signs import people_of
from ragstone.data.summary import ALL
from ragstone.report.comparison import (
    changed_most,
    difference_table,
    failed_lines,
    headline,
    method_line,
    moves_line,
    not_compared_lines,
    verdict_cell,
)
from ragstone.report.consistency import consistency_dict
from ragstone.report.diagnosis import disagreement, reason_line
from ragstone.report.diagnosis import headline as diagnosis_headline
from ragstone.report.gates import gate_table, left_out_line, undecided_line
from ragstone.report.html.run_data import MOST_DIAGNOSED
from ragstone.report.judge_failure import judge_failure
from ragstone.report.leaderboard import letter, order_runs, parameter_text
from ragstone.report.run import judge_lines, metrics_table
from ragstone.report.table import Column, Table, columns
from ragstone.report.table import escape_markdown as escape
from ragstone.report.text import number, one_line, p_value, signed
from ragstone.storage.runs import Run, read_table

_OUTCOMES = {"passes": "✅ passes", "fails": "❌ fails", "cannot tell": "❔ cannot tell"}


def run_markdown(run: Run, worst: int = 5) -> str:
    """One run with its worst samples, at most `worst` of them."""
    diagnosis = diagnose(run, MOST_DIAGNOSED)
    totals = run.info["totals"]
    cost = "unknown cost" if totals.get("cost_usd") is None else f"${totals['cost_usd']:.2f}"
    metrics = {metric["metric"]: metric for metric in run.info["metrics"]}
    advice = [
        f"{number}. {escape(item.text)} <sub>{escape('; '.join(map(reason_line, item.because)))}</sub>"
        for number, item in enumerate(diagnosis.advice, start=1)
    ]
    failure = judge_failure(run)
    rows = [row for row in run.summary() if row.slice == ALL]
    lines = [
        *([f"**{escape(failure)}**", ""] if failure else []),
        f"### {escape(run.name)}: {escape(diagnosis_headline(diagnosis))}",
        "",
        f"{run.info['dataset']['rows']:,} samples, run `{escape(run.id)}`, {totals.get('calls', 0):,} model calls, {cost}",
        "",
        *(part for line in judge_lines(run.info) for part in (escape(line), "")),
        *([escape(disagreement(diagnosis)), ""] if diagnosis.disagreeing else []),
        *([*advice, ""] if advice else []),
        *metrics_table(rows, metrics, people_of(run.info, rows)).markdown(),
        *_consistency(run),
        *_causes(diagnosis),
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


def _causes(diagnosis: Diagnosis) -> list[str]:
    numbers = columns("main cause of", "samples", "judge is sure")
    table = Table([*columns("cause", "part", align="left"), *numbers, Column("meaning")])
    for count in diagnosis.causes:
        cause, likely = count.cause, percent(count.probability)
        table.add(
            cause.name, cause.part or "information", f"{count.main:,}", f"{count.samples:,}", likely, cause.meaning
        )
    return _folded(f"why {failing_text(diagnosis)}", table)


def _worst(run: Run, diagnosis: Diagnosis, most: int) -> list[str]:
    samples = read_table(run.folder.samples, ["id", "question", "answer"])
    rows = worst_rows(run, [row for row, outcome in enumerate(diagnosis.outcomes) if outcome.cause], most)
    table = Table(columns("sample", "question", "answer", "cause", align="left"))
    for row, sample in zip(rows, samples.take(pa.array(rows, pa.int64())).to_pylist(), strict=True):
        cause = diagnosis.outcomes[row].cause if row < len(diagnosis.outcomes) else None
        texts = (one_line(sample[name] or "", 100) for name in ("question", "answer"))
        table.add(sample["id"], *texts, cause.name if cause else "–")
    return _folded(f"the {len(rows)} worst samples", table)


def comparison_markdown(comparison: Comparison, show: int = 3, moves: Moves | None = None) -> str:
    """Two runs: the result, the samples that B fixes and breaks, the metrics that differ, and the other metrics folded."""
    differing = [item for item in comparison.metrics if item.verdict in ("better", "worse")]
    others = [item for item in comparison.metrics if item not in differing]
    runs = (f"{escape(run.name)} (`{escape(run.id)}`)" for run in (comparison.before, comparison.after))
    lines = [
        f"### {escape(headline(comparison))}",
        "",
        "A: {}, B: {}, ".format(*runs) + f"{len(comparison.pairs)} pairs",
        "",
    ]
    lines += [escape(failing), ""] if (failing := moves_line(moves)) else []
    lines += difference_table(comparison, differing).markdown() if differing else []
    lines += _folded("metrics without a verdict of better or worse", difference_table(comparison, others))
    for column in dict.fromkeys(part.column for part in comparison.slices):
        lines += [f"**by {escape(column)}**", "", *_slices(comparison, column)]
    lines += _changed(comparison.changed, show)
    remarks = [*comparison.remarks, *failed_lines(comparison.metrics), *not_compared_lines(comparison)]
    lines += [f"- {escape(line)}" for line in remarks]
    return "\n".join([*lines, "", f"<sub>{escape(method_line(comparison))}</sub>"]) + "\n"


def _slices(comparison: Comparison, column: str) -> list[str]:
    table = Table([*columns(column, "metric", align="left"), *columns("pairs", "difference", "p"), Column("verdict")])
    for part in comparison.slices:
        for item in part.metrics if part.column == column else ():
            if item.verdict in ("better", "worse"):
                numbers = (str(item.pairs), signed(item.difference), p_value(item.corrected_p))
                table.add(part.label, item.metric, *numbers, verdict_cell(item.verdict))
    return table.markdown() if table.rows else ["no slice shows a difference", ""]


def _changed(changed: Sequence[ChangedSample], show: int) -> list[str]:
    table = Table([Column("sample"), Column("gain", "right"), *columns("question", "metrics", align="left")])
    for samples in changed_most(changed, show):
        for sample in samples:
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
            cells.append("–" if place is None else f"{place.mean:.3f} {place.letters}".strip())
        table.add(letter(run), board.runs[run].name, *map(parameter_text, board.values(run)), *cells)
    note = f"The data do not show a difference between runs that share a letter ({board.samples} samples)."
    lines = [*table.markdown(), note, *(f"- {escape(line)}" for line in board.remarks)]
    lines += [
        f"- {escape(name)} not ranked, the signatures differ: {escape(change)}"
        for name, change in board.refused.items()
    ]
    return "\n".join(lines) + "\n"


def gate_comment(gate: Gate, comparison: Comparison | None) -> str:
    """A gate for a pull request, with the comparison folded. It has no texts of samples: others may read it."""
    if comparison is None:
        return gate_markdown(gate)
    summary = "<details><summary>all metrics against the baseline</summary>"
    return f"{gate_markdown(gate)}\n{summary}\n\n{comparison_markdown(comparison, show=0)}\n</details>\n"


def gate_markdown(gate: Gate) -> str:
    """The outcome of a gate and its conditions with reasons."""
    table = gate_table(list(gate.checks))
    reasons = Table([*table.columns, Column("reason")])
    for row, item in zip(table.rows, gate.checks, strict=True):
        reasons.add(*row.cells, item.why)
    against = f" against {escape(gate.baseline)}" if gate.baseline else ""
    heading = f"### Gate of {escape(gate.run)}{against}: {_OUTCOMES[gate.outcome]}"
    notes = [gate.note, *gate.remarks, left_out_line(gate) if gate.left_out else "", undecided_line(gate)]
    more = [part for note in notes if note for part in (escape(note), "")]
    return "\n".join([heading, "", *reasons.markdown(), *more]).rstrip() + "\n"
