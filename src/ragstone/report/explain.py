"""One sample of a run in the terminal and as JSON: texts, claims, facts, chunks, the cause of failure, and scores."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.analysis.explain import Cell, Explanation, Working
from ragstone.analysis.fact_causes import near_sentence, say_otherwise
from ragstone.analysis.sample_evidence import Case
from ragstone.data.share import Items
from ragstone.data.verdict import UNSURE, Verdict
from ragstone.engine.metric_choice import find_metric, say_more
from ragstone.number_format import number
from ragstone.report.table import Column, Table
from ragstone.report.text import indented, plain, title
from ragstone.storage.images import image_name
from ragstone.views.judged_items import count_view, item_texts
from ragstone.views.marks import FULL, Limits
from ragstone.views.phrases import one_line, visible
from ragstone.views.sample import ClaimGroup, ClaimView, SampleView, sample_view

_SHORT, _LINE = 300, 80
_MOST_CLAIMS, _MOST_CHUNKS = 6, 5
_QUOTED = re.compile(r"(?:the table in )?chunk (\d+)")
_TABLE_ROW = re.compile(r"^\s*\|.*\|\s*$", re.MULTILINE)
# Groups of judged items that belong to one family of metrics.
_FAMILIES = {"nuggets": "nugget.", "grades": "grade.", "corpus": "factscore", "chunk-grades": "umbrela."}
# The parts of the view that JSON has in addition to the evidence.
_SHOWN = ("claims", "facts", "judged", "steps")


def explanation_view(explanation: Explanation, limits: Limits) -> SampleView:
    """The view of an explained sample."""
    return sample_view(explanation.row + 1, explanation.case, explanation.outcome, explanation.cells, limits)


def explanation_report(explanation: Explanation, full: bool = False) -> RenderableType:
    """The sample with its evidence; unless `full` is set, what decides."""
    view, most = explanation_view(explanation, Limits(FULL)), None if full else _SHORT
    working = explanation.working
    parts = [_head(explanation, view, most), *_working_parts(explanation)]
    if working is None:
        parts += _findings_part(view, full)
    quoted: set[str] = set()
    for group in view.claims:
        parts += _claims_part(explanation.case, group, full, quoted)
    parts += _facts_part(view)
    parts += _judged_parts(view, working, full)
    parts += _steps_part(view)
    parts += _chunks_part(view, full, quoted)
    if working is None:
        parts += _scores_part(view, full)
    if full or working:
        parts += _judge_part(explanation, most)
    return Group(*parts)


def explanation_dict(explanation: Explanation) -> dict[str, Any]:
    """The sample, its evidence, cause, scores and calls as JSON, and the view that all outputs draw."""
    view, working, outcome = explanation_view(explanation, Limits(FULL)), explanation.working, explanation.outcome
    shown, sample = asdict(view), explanation.case.sample
    # The data of an image is long.
    contexts = sample.contexts and [
        replace(chunk, image=image_name(chunk.image)) if chunk.image else chunk for chunk in sample.contexts
    ]
    return {
        "run": explanation.run,
        "row": view.row,
        "sample": asdict(replace(sample, contexts=contexts)),
        "evidence": {name: evidence_json(value) for name, value in explanation.case.evidence.items()},
        "status": view.status,
        "wrong": view.wrong,
        "cause": view.cause or None,
        "undecided": view.undecided or None,
        "why": view.why,
        "findings": [finding.as_dict() for finding in outcome.findings],
        **{name: shown[name] for name in _SHOWN},
        "chunks": [
            {"rank": chunk.rank, "marks": [asdict(mark) for mark in chunk.badges]} for chunk in view.chunks or ()
        ],
        "scores": [asdict(cell) for cell in explanation.cells],
        "working": _working_dict(explanation, working) if working else None,
        "calls": list(explanation.calls),
    }


def _working_dict(explanation: Explanation, working: Working) -> dict[str, Any]:
    counts = [_count_dict(explanation.case, count) for count in working.counts]
    return {"meaning": working.meaning, "formula": working.formula, "counts": counts}


def _count_dict(case: Case, count: Items) -> dict[str, Any]:
    """All items of a share as JSON; `above` and `below` are the numbers of those in numerator and denominator."""
    texts = item_texts(case, count)
    return {
        "kind": count.kind,
        "above": count.above,
        "below": count.below,
        "numerator": count.sums[0],
        "denominator": count.sums[1],
        "items": [
            {"number": n, "text": texts[n - 1] if n <= len(texts) else None, "above": part, "below": size}
            for n, part, size in count.parts
        ],
    }


def evidence_json(value: Any) -> Any:
    """Evidence as JSON values."""
    if isinstance(value, list):
        return [evidence_json(item) for item in value]
    if isinstance(value, Verdict):
        return str(value) if value.support is None and not value.reason else value.as_dict()
    return asdict(value) if hasattr(value, "__dataclass_fields__") else value


def _head(explanation: Explanation, view: SampleView, most: int | None) -> RenderableType:
    heading = Text.assemble(
        plain(view.id, "bold"), f"  row {view.row:,} of {explanation.rows:,} in ", plain(explanation.run)
    )
    asked = [(f"{turn.number} {turn.role}", turn.text) for turn in view.turns]
    asked += [("question", view.question), ("judged as", view.standalone), ("rewritten", view.rewritten)]
    table = _labelled()
    for label, text in asked:
        if text:
            table.add(Text(label, style="dim"), _cut(text, most))
    if view.answer is not None:
        table.add(Text("answer", style="dim"), _cut("".join(piece.text for piece in view.answer), most))
    for at, text in enumerate(view.references):
        table.add(Text("or" if at else "reference", style="dim"), _cut(text, most))
    if view.unanswerable:
        table.add("", "the documents do not contain the answer")
    return Group(heading, table)


def _findings_part(view: SampleView, full: bool) -> Iterator[RenderableType]:
    yield title(view.why)
    if not full:
        yield from [indented(f"{one.about}: {one.why}") for one in view.findings if one.cause == view.cause][:1]
        return
    table = _labelled()
    for finding in view.findings:
        table.add(finding.cause, f"{finding.about}: {finding.why}")
    yield table


def _words(text: str, full: bool) -> str:
    """The words of a verdict; its probability only in full: people get one number per row."""
    return text if full else re.sub(r" [01]\.\d+$", "", text)


def _telling_claims(group: ClaimGroup) -> list[ClaimView]:
    """The first claims, those with a doubt before others; of the reference only those with a doubt."""
    doubtful = [one for one in group.rows if any(mark and mark.tone != "good" for mark in (one.said, *one.marks))]
    others = [one for one in group.rows if one not in doubtful and group.whose == "answer"]
    return sorted([*doubtful, *others][:_MOST_CLAIMS], key=lambda claim: claim.number)


def _passages(case: Case, claim: ClaimView) -> Iterator[str]:
    """The passages of chunks that decide about a claim: `chunk 1: "…"`."""
    ranks = claim.says or [rank for mark in claim.marks if mark.tone == UNSURE for rank in mark.ranks]
    texts = {rank: chunk.text for rank, chunk in enumerate(case.sample.contexts or (), 1) if rank in ranks}
    if near := near_sentence(claim.text, texts, 0.0):
        yield f"chunk {near[0]}: {near[1]}"
    if claim.denies:
        yield say_otherwise(case, claim.text, claim.denies).replace(" says ", ": ", 1)


def _claims_part(case: Case, group: ClaimGroup, full: bool, quoted: set[str]) -> Iterator[RenderableType]:
    """The claims with their verdicts; unless `full`, with passages that are not `quoted` yet."""
    claims = group.rows if full else _telling_claims(group)
    more = len(group.rows) - len(claims)
    if not claims:
        return
    marks = [mark for claim in claims for mark in (claim.said, *claim.marks) if mark]
    unsure = "? unsure, " if any(mark.tone == UNSURE for mark in marks) else ""
    yield Text.assemble(
        (f"\nclaims of the {group.whose}", "bold"), (f"   ✓ supported, ✗ contradicted, {unsure}· not mentioned", "dim")
    )
    cited = any(claim.cites for claim in group.rows)
    table = _numbered(
        group.other if any(claim.said for claim in group.rows) else "",
        "chunks" if any(claim.marks for claim in group.rows) else "",
        *([Column("citations", wrap="words")] if cited else []),
    )
    for claim in claims:
        text, passages = plain(claim.text), () if full else dict.fromkeys(_passages(case, claim)).keys() - quoted
        quoted.update(passages)
        text.append("".join(f"\n{visible(passage)}" for passage in sorted(passages)), style="dim")
        said, cites = (f"{mark.sign} {_words(mark.words, full)}" if mark else "" for mark in (claim.said, claim.cites))
        behind = "  ".join(mark.short for mark in claim.marks)
        table.add(str(claim.number), text, said, behind, *([cites] if cited else []))
    yield table
    if more:
        yield Text(f"  and {more:,} more with --full")


def _facts_part(view: SampleView) -> Iterator[RenderableType]:
    if view.facts:
        yield title("facts")
        table = _numbered("chunks")
        for fact in view.facts:
            table.add(str(fact.number), fact.text, fact.mark.short)
        yield table


def _judged_parts(view: SampleView, working: Working | None, full: bool) -> Iterator[RenderableType]:
    """Nuggets, checklists and reasons; of one metric, only what it counts."""
    for group in view.judged:
        if not _belongs(working.cell.metric, group.key) if working else group.key.startswith("reasons-") and not full:
            continue
        yield title(group.title[0].lower() + group.title[1:])
        table = _numbered("verdict")
        for row in group.rows:
            text = Text(row.text)
            if row.reason:
                text.append(f"\n{one_line(row.reason, _SHORT)}", style="dim")
            table.add(str(row.number), text, f"{row.sign} {_words(row.words, full)} {row.note}".strip())
        yield table


def _belongs(metric: str, group: str) -> bool:
    """Whether a group of judged items is behind a score."""
    if group in _FAMILIES:
        return metric.startswith(_FAMILIES[group])
    if group.startswith("checklist-"):
        return metric.startswith("checklist") and group == f"checklist-{metric.partition('.')[2] or 'own'}"
    return not metric.startswith(("nugget", "checklist", "grade", "umbrela"))


def _steps_part(view: SampleView) -> Iterator[RenderableType]:
    steps = view.steps
    if steps is None:
        return
    yield title("steps" if steps.rows else "no steps were made")
    looked = any(step.facts is not None for step in steps.rows)
    table = _numbered("chunks", "new", "facts first found" if looked else "")
    for step in steps.rows:
        chunks = ("–", "") if step.chunks is None else (str(step.chunks), str(step.new))
        seconds = "" if step.seconds is None else f"  {step.seconds:.2f} s"
        surplus = "  (not expected)" if step.expected is False else ""
        text = f"{one_line(step.label, _SHORT)}{seconds}{surplus}"
        table.add(str(step.number), text, *chunks, ", ".join(map(str, step.facts or ())))
    if steps.rows:
        yield table
    if steps.more:
        yield Text(f"  and {steps.more:,} more steps")
    if steps.missed:
        more = f" and {steps.more_missed:,} more" if steps.more_missed else ""
        yield Text(f"  expected but not made: {'; '.join(steps.missed)}{more}")


def _chunks_part(view: SampleView, full: bool, quoted: set[str]) -> Iterator[RenderableType]:
    """The chunks; unless `full`, the start of the first ones that claims do not quote."""
    ranks = {int(found[1]) for text in quoted if (found := _QUOTED.match(text))}
    chunks = [chunk for chunk in view.chunks or () if chunk.rank not in ranks]
    if view.chunks is None or (view.chunks and not chunks):
        return
    yield title(f"{'other ' if ranks else ''}retrieved chunks" if chunks else "nothing was retrieved")
    table = _numbered()
    for chunk in chunks if full else chunks[:_MOST_CHUNKS]:
        # The claims name their chunks.
        marks = "; ".join(f"{mark.sign} {mark.words}" for mark in chunk.badges if full or " claim" not in mark.words)
        image = f"image: {chunk.image.name}" if chunk.image else ""
        names = (chunk.id, chunk.label if chunk.page else "", image)
        name = "".join(f"{visible(part)}  " for part in names if part)
        head = f"{name}{marks}"
        most = None if full else max(_LINE - len(head), _LINE // 2) if view.claims else _SHORT
        text = _cut("".join(piece.text for piece in chunk.pieces), most)
        table.add(str(chunk.rank), Text.assemble((head, "bold"), "\n" if full else "  " * bool(head), text))
    if chunks:
        yield table
    if (more := len(chunks) - _MOST_CHUNKS) > 0 and not full:
        yield Text(f"  and {more:,} more with --full")


def _scores_part(view: SampleView, full: bool) -> Iterator[RenderableType]:
    shown = view.scores if full else view.telling_scores
    more = len(view.scores) - len(shown)
    heading = title(f"scores ({say_more(more)})" if more else "scores")
    if not full:
        yield heading.append(
            "  " + ", ".join(f"{one.metric} {_reason(one) or number(one.value)}" for one in shown), "not bold"
        )
        return
    yield heading
    table = Table([Column(wrap="words"), Column(align="right"), Column(wrap="words")], indent=2)
    for cell in shown:
        table.add(cell.metric, number(cell.value), _reason(cell))
    yield table


def _working_parts(explanation: Explanation) -> Iterator[RenderableType]:
    working = explanation.working
    if working is None:
        return
    cell = working.cell
    yield title(f"{cell.metric} = {number(cell.value)}" + (f"  {_reason(cell)}" if cell.reason else ""))
    table = _labelled()
    for label, text in (("meaning", working.meaning), ("formula", working.formula)):
        if text:
            table.add(Text(label, style="dim"), Text(text))
    for count in working.counts:
        table.add(Text("here", style="dim"), "\n".join(count_view(explanation.case, count, cell.metric).lines))
    if not working.counts:
        for name, value in working.inputs.items():
            written = json.dumps(evidence_json(value), ensure_ascii=False)
            table.add(Text(name, style="dim"), one_line(written, _SHORT))
    if find_metric(cell.metric) is None:
        table.add("", "not defined here: --metrics-file FILE shows its formula and the items that it counts")
    yield table


def _judge_part(explanation: Explanation, most: int | None) -> Iterator[RenderableType]:
    replies = [call for call in explanation.calls if call["reply"] or call["error"]]  # embeddings have no reply text
    if not replies:
        return
    yield title("replies of the judge")
    table = _numbered()
    for at, call in enumerate(replies, start=1):
        head = f"{call['evidence']}, prompt {call['prompt']}, {call['model']}{', from the cache' if call['cached'] else ''}"
        body = Text.assemble(plain(head, "bold"), "\n", _cut(call["reply"] or "", most))
        if call["error"]:
            body.append(f"\nfailed: {visible(call['error'])}")
        table.add(str(at), body)
    yield table


def _reason(cell: Cell) -> str:
    return f"{cell.status}: {visible(cell.reason)}" if cell.reason else ""


def _cut(text: str, most: int | None) -> Text:
    """The start of a text in one line; the rows of a table stay lines."""
    if most is None or not _TABLE_ROW.search(text):
        return plain(text) if most is None else Text(one_line(text, most))
    return plain(text if len(text) <= most else f"{text[:most].rpartition(chr(10))[0] or text[:most]}\n…")


def _labelled() -> Table:
    """A label and a text."""
    return Table([Column(), Column(wrap="words")], indent=2)


def _numbered(*headings: str | Column) -> Table:
    """A number, a text, and columns of marks."""
    columns = [one if isinstance(one, Column) else Column(one) for one in headings]
    return Table([Column(align="right", width=4), Column(wrap="words"), *columns])
