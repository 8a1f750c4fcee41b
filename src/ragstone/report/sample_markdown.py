"""One sample as Markdown, for an issue."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ragstone.analysis.cause_texts import wrong_text
from ragstone.number_format import number
from ragstone.report.table import Table, columns
from ragstone.report.table import escape_markdown as escape
from ragstone.views.phrases import one_line, visible
from ragstone.views.run import arrow_of
from ragstone.views.sample import SampleView

_MAX_TITLE = 120
_MAX_TEXT = 20_000


class Nearest(NamedTuple):
    """The sentence of a chunk that is nearest to a claim or fact."""

    rank: int
    text: str


def sample_markdown(view: SampleView, run: str, nearest: Mapping[str, Nearest], better: Mapping[str, str]) -> str:
    """Question, answer, status, cause, what is not supported with the nearest sentences, and the scores that matter.

    `nearest` has keys such as `answer-1` and `fact-2`; `better` the direction of each metric.
    """
    wrong = wrong_text(view.status, view.wrong)
    cause = f", {view.cause} ({view.part}): {view.meaning}" if view.cause else ""
    table = Table(columns("metric", "score", align="left"))
    for cell in view.telling_scores:
        table.add(
            f"{cell.metric} {arrow_of(better.get(cell.metric, 'none'))}".strip(),
            number(cell.value) if cell.value is not None else f"{cell.status}: {one_line(cell.reason or '', 200)}",
        )
    answer = None if view.answer is None else "".join(piece.text for piece in view.answer)
    lines = [
        f"### {escape(one_line(view.question, _MAX_TITLE)) or '(no question)'}",
        "",
        f"**{escape(view.status)}**{wrong}{escape(cause)}",
        "",
        f"Sample {escape(one_line(view.id, _MAX_TITLE))} of {escape(one_line(run, _MAX_TITLE))}",
        "",
        *_text("Question", view.question),
        *_text("Answer", "(none)" if answer is None else answer),
        *(line for text in view.references for line in _text("Reference", text)),
        *_findings(view),
        *_claims(view, nearest),
        *_facts(view, nearest),
        *(["**Scores**", "", *table.markdown()] if table.rows else []),
    ]
    return "\n".join(lines).rstrip() + "\n"


def fence(text: str) -> list[str]:
    """A block of code that no text can end: its fence is longer than every run of backticks in the text."""
    shown = visible(text[:_MAX_TEXT]) + (" …" if len(text) > _MAX_TEXT else "")
    marks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    return [f"{marks}text", *shown.split("\n"), marks]


def _text(title: str, text: str) -> list[str]:
    return [f"**{title}**", "", *fence(text), ""]


def _findings(view: SampleView) -> list[str]:
    if not view.findings:
        return []
    lines = [f"- {escape(one.cause)}, {escape(one.about)}: {escape(one.why)}" for one in view.findings]
    return ["**What seems wrong**", "", *lines, ""]


def _claims(view: SampleView, nearest: Mapping[str, Nearest]) -> list[str]:
    """The claims that are not supported by the other text and a chunk."""
    lines = []
    for group in view.claims:
        for claim in group.rows:
            if claim.tone == "good" and all(mark.tone == "good" for mark in claim.marks):
                continue
            said = [f"{group.other}: {claim.said.words}"] if claim.said else []
            words = ", ".join([*said, *(mark.words for mark in claim.marks)])
            label = f"{group.whose[0].upper()}{claim.number}"
            lines += [
                f"- **{label}** {escape(claim.text)} ({escape(words)})",
                *_near(nearest, f"{group.whose}-{claim.number}"),
            ]
    return ["**Claims**", "", *lines, ""] if lines else []


def _facts(view: SampleView, nearest: Mapping[str, Nearest]) -> list[str]:
    lines = []
    for fact in view.facts:
        if fact.mark.tone != "good":
            lines += [f"- **F{fact.number}** {escape(fact.text)} ({escape(fact.mark.words)})"]
            lines += _near(nearest, f"fact-{fact.number}")
    return ["**Facts**", "", *lines, ""] if lines else []


def _near(nearest: Mapping[str, Nearest], key: str) -> list[str]:
    """The nearest sentence as a block inside the item of a list."""
    found = nearest.get(key)
    if found is None:
        return []
    return [f"  Nearest text, chunk {found.rank}:", "", *(f"  {line}" for line in fence(found.text)), ""]
