"""A diagnosis in the terminal and as JSON: which part limits quality, why samples fail, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.analysis.diagnosis import Diagnosis
from ragstone.report.run import metric_label
from ragstone.report.table import Cell, Column, Table, columns
from ragstone.report.text import title
from ragstone.storage.runs import Run, read_table
from ragstone.text.questions import MADE_ID
from ragstone.views.diagnosis import CauseView, DiagnosisView
from ragstone.views.phrases import one_line, visible

_BAR = 10
_TONES = {"good": "green", "bad": "bad", "bad unsure": "unsure"}
_QUESTION_WIDTH = 30


def short_report(diagnosis: Diagnosis) -> RenderableType:
    """The end of the full report of a run: the headline, the causes and the most important advice."""
    view, table = DiagnosisView.of(diagnosis), _arrow_table()
    table.add("", Cell(view.headline, tone="strong"))
    if view.causes_text:
        table.add("", f"{view.failing_text}: {view.causes_text}")
    if view.disagreement:
        table.add("", view.disagreement)
    for item in view.advice[:2]:
        table.add("→", f"{item.text} ({item.numbers})")
    return Group(title("diagnosis"), table)


def full_report(diagnosis: Diagnosis, name: str, labels: Mapping[str, str] | None = None) -> RenderableType:
    """The numbers, the causes with their samples, and the advice. `labels` name samples whose ids say nothing."""
    view = DiagnosisView.of(diagnosis)
    heading = Text("diagnosis of ", style="bold")
    heading.append(visible(name))
    parts: list[RenderableType] = [heading, Text(), Text(view.headline, style="bold")]
    if view.tally_parts:
        counts = "; ".join(f"{count:,} {words}" for words, count, _ in view.tally_parts)
        parts.append(Text(f"Of {sum(view.tally.values()):,} expected claims or facts: {counts}."))
    if any(part.readings for part in view.parts):
        parts += [Text(), _readings_table(view)]
    parts += _causes(view, labels or {})
    if view.advice:
        table = _arrow_table()
        for item in view.advice:
            table.add("→", Text.assemble(item.text, (f"\n{item.reasons}", "dim")))
        parts += [title("what to do"), table]
    parts += [Text(f"\n{note}") for note in (*view.notes, view.disagreement) if note]
    return Group(*parts)


def _arrow_table() -> Table:
    return Table([Column(align="right", width=3), Column(wrap="words")])


def _readings_table(view: DiagnosisView) -> Table:
    headings = columns("score", "95 % interval", "good", "rows")
    table = Table([Column("metric", wrap="name"), *headings, Column(wrap="words")])
    for part in view.parts:
        for reading in part.readings:
            table.add(
                metric_label(reading.metric, reading.better).strip(),
                reading.shown,
                reading.interval,
                reading.good,
                str(reading.rows),
                Cell(reading.state, tone=_TONES.get(reading.tone, "")),
                group=part.name,
            )
    return table


def _causes(view: DiagnosisView, labels: Mapping[str, str]) -> Iterator[RenderableType]:
    failing = [cause for cause in view.causes if cause.part]
    others = [cause for cause in view.causes if not cause.part]
    if view.causes_title:
        yield title(view.causes_title)
    if failing:
        yield _causes_table(failing, labels)
    if others:
        yield title("information")
        yield _causes_table(others, labels)


def _causes_table(causes: Sequence[CauseView], labels: Mapping[str, str]) -> Table:
    """One row per cause: the samples with it as the main cause, those that only need a look, all with it, and examples."""
    main = ["wrong", "look"] if any(cause.look for cause in causes) else ["main"] if causes[0].part else []
    table = Table([Column("cause"), *columns(*main, "all"), Column("samples", wrap="words")], indent=2)
    most = max(cause.main for cause in causes) or 1
    for cause in causes:
        name = Text(cause.name)
        if main:
            name.append(f"\n  {cause.part}", style="dim")
        bar = "█" * max(1, round(_BAR * cause.main / most)) + " " if cause.main else ""
        shown = ", ".join(visible(labels.get(example, example)) for example in cause.examples)
        more = f" and {cause.more} more" if cause.more else ""
        samples = Text.assemble((bar, "cyan"), f"{shown}{more}", (f"\n{cause.meaning}", "dim"))
        counts = (*(cause.main - cause.look, cause.look)[: len(main)], cause.samples)
        table.add(name, *map(str, counts), samples)
    return table


def diagnosis_dict(diagnosis: Diagnosis) -> dict[str, Any]:
    """The diagnosis as JSON, with every failing sample and its findings."""
    view = DiagnosisView.of(diagnosis)
    return {
        "headline": view.headline,
        "limits": diagnosis.limits,
        "sure": diagnosis.sure,
        "parts": {part.name: part.state or None for part in view.parts},
        "samples": view.samples,
        "looked_at": view.looked_at,
        "failing": view.failing,
        "statuses": view.statuses,
        "text": view.failing_text,
        "by_facts": diagnosis.by_facts,
        "by_local_judge": diagnosis.by_local_judge,
        "local_judge_disagrees": [reading.as_dict() for reading in diagnosis.disagreeing],
        "undecided": view.undecided,
        "reference_claims": view.tally or None,
        "numbers": [reading.as_dict() for reading in diagnosis.readings],
        "causes": [
            {
                "cause": cause.name,
                "part": cause.part or None,
                "meaning": cause.meaning,
                "main_of": cause.main,
                "look": cause.look,
                "samples": cause.samples,
                "items": cause.items,
                "probability": cause.probability,
                "examples": list(cause.examples),
            }
            for cause in view.causes
        ],
        "advice": [{"text": item.text, "sure": item.sure, "because": list(item.because)} for item in view.advice],
        "outcomes": [
            {
                "id": outcome.sample_id,
                "status": outcome.status,
                "wrong": outcome.wrong,
                "labelled_by": list(outcome.labelled_by),
                "cause": outcome.cause.name if outcome.cause else None,
                "findings": [finding.as_dict() for finding in outcome.findings],
            }
            for outcome in diagnosis.outcomes
        ],
    }


def sample_labels(run: Run) -> dict[str, str]:
    """The row number and the first words of the question, by id, of the samples whose id was made from the question."""
    rows = read_table(run.folder.samples, ["id", "question"]).to_pylist()
    return {
        row["id"]: f'row {number} "{one_line(row["question"] or "", _QUESTION_WIDTH)}"'
        for number, row in enumerate(rows, start=1)
        if MADE_ID.fullmatch(row["id"])
    }
