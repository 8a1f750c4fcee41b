"""One sample of a run, told: what was asked and answered, which chunk says what, why it fails, how a score came about."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ragstone.compare.cases import Case
from ragstone.compare.counting import Counted
from ragstone.compare.explanation import Cell, Explanation, Working
from ragstone.compare.findings import SPLIT, Finding
from ragstone.report.plain import one_line, plain, visible

YES, NO = "entailment", "contradiction"
_MARK = {YES: "✓", NO: "✗"}
_SAID = {YES: "✓ says so", NO: "✗ says otherwise"}
_SHORT = 300


def explanation_report(found: Explanation, full: bool = False) -> RenderableType:
    """The whole story; long texts are cut unless they are wanted in full."""
    most = None if full else _SHORT
    parts = [_head(found, most), *_working_parts(found)]
    if found.working is None:
        parts += _findings_part(found)
    parts += _claims_part(found.case, "answer", "reference")
    parts += _claims_part(found.case, "reference", "answer")
    parts += _facts_part(found.case)
    parts += _chunks_part(found, most)
    if found.working is None:
        parts += _scores_part(found.cells)
    parts += _judge_part(found, most)
    return Group(*parts)


def explanation_dict(found: Explanation) -> dict[str, Any]:
    """For programs: the sample, its evidence, cause, scores and calls."""
    return {
        "run": found.run,
        "row": found.row + 1,
        "sample": asdict(found.case.sample),
        "evidence": {name: _as_json(value) for name, value in found.case.evidence.items()},
        "cause": found.outcome.cause.name if found.outcome.cause else None,
        "undecided": found.outcome.undecided or None,
        "findings": [finding.as_dict() for finding in found.outcome.findings],
        "scores": [asdict(cell) for cell in found.cells],
        "working": _working_dict(found.working) if found.working else None,
        "calls": list(found.calls),
    }


def _working_dict(working: Working) -> dict[str, Any]:
    return {
        "meaning": working.meaning,
        "formula": working.formula,
        "counts": [{"kind": count.kind, "above": count.above, "below": count.below} for count in working.counts],
    }


def _as_json(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    return asdict(value) if hasattr(value, "__dataclass_fields__") else value


def _head(found: Explanation, most: int | None) -> RenderableType:
    sample = found.case.sample
    title = Text.assemble(plain(sample.id, "bold"), f"  row {found.row + 1:,} of {found.rows:,} in ", plain(found.run))
    table = _labelled()
    for label, text in (("question", sample.question), ("answer", sample.answer)):
        if text is not None:
            table.add_row(Text(f"  {label}", style="dim"), _cut(text, most))
    for number, text in enumerate(sample.references or (), start=1):
        label = "reference" if number == 1 else "or"
        table.add_row(Text(f"  {label}", style="dim"), _cut(text, most))
    if sample.answerable is False:
        table.add_row("", Text("the documents do not hold the answer"))
    return Group(title, table)


def _findings_part(found: Explanation) -> Iterator[RenderableType]:
    outcome = found.outcome
    if outcome.undecided:
        yield _title(f"nothing can be said about why: {outcome.undecided}")
    elif outcome.cause is None:
        yield _title("no fault found" if outcome.findings or outcome.seen_by else "no fault looked for")
    else:
        blamed = f", {outcome.cause.part}" if outcome.cause.part else ""
        yield _title(f"why it fails: {outcome.cause.name}{blamed}")
    if outcome.findings:
        table = _labelled()
        for finding in outcome.findings:
            table.add_row(Text(f"  {finding.cause.name}"), _finding_text(finding))
        yield table


def _finding_text(finding: Finding) -> Text:
    about = finding.kind if finding.kind == "answer" else f"{finding.kind} {finding.number}"
    return Text.assemble(f"{about}: ", finding.why)


def _claims_part(case: Case, whose: str, other: str) -> Iterator[RenderableType]:
    claims = case.claims(whose)
    if not claims:
        return
    yield Text.assemble((f"\nclaims of the {whose}", "bold"), ("   ✓ says so, ✗ says otherwise, · is silent", "dim"))
    verdicts, rows = case.verdicts(f"{whose}_claims_in_{other}"), case.matrix(f"{whose}_claims_in_contexts")
    together = case.verdicts(f"{whose}_claims_in_all_contexts")
    table = _numbered(other if verdicts else "", "chunks" if rows else "")
    for number, claim in enumerate(claims):
        said = _SAID.get(verdicts[number], "· is silent") if number < len(verdicts) else ""
        where = _chunk_marks(rows[number]) if number < len(rows) else ""
        if number < len(together) and together[number] == YES and "✓" not in where:
            where += " ✓ together"
        table.add_row(str(number + 1), plain(claim.text), said, where.strip())
    yield table


def _chunk_marks(row: Sequence[str]) -> str:
    """`✓ 1, 3  ✗ 2`: the chunks that say so, and those that say otherwise."""
    found = [
        f"{mark} {', '.join(str(rank) for rank, word in enumerate(row, 1) if word == verdict)}"
        for verdict, mark in _MARK.items()
        if verdict in row
    ]
    return "  ".join(found) or "· none"


def _facts_part(case: Case) -> Iterator[RenderableType]:
    if not case.sample.facts or not case.has("fact_matches"):
        return
    yield _title("facts")
    table = _numbered("chunks")
    for number, fact in enumerate(case.sample.facts):
        chunks = dict.fromkeys(match.chunk + 1 for match in case.evidence["fact_matches"] if match.fact == number)
        table.add_row(str(number + 1), plain(fact.text), f"✓ {', '.join(map(str, chunks))}" if chunks else "· none")
    yield table


def _chunks_part(found: Explanation, most: int | None) -> Iterator[RenderableType]:
    contexts = found.case.sample.contexts
    if contexts is None:
        return
    yield _title("retrieved chunks" if contexts else "nothing was retrieved")
    table = _numbered()
    for rank, chunk in enumerate(contexts, start=1):
        marks = "; ".join(_marks(found, rank)) or "· nothing that is needed"
        name = f"{visible(chunk.id)}  " if chunk.id else ""
        table.add_row(str(rank), Text.assemble((f"{name}{marks}", "bold"), "\n", _cut(chunk.text, most)))
    if contexts:
        yield table


def _marks(found: Explanation, rank: int) -> Iterator[str]:
    """What a chunk is good for: the claims that it makes or contradicts, the facts that it holds or has a part of."""
    case = found.case
    for whose in ("reference", "answer"):
        rows = case.matrix(f"{whose}_claims_in_contexts")
        for verdict, mark in _MARK.items():
            numbers = [number for number, row in enumerate(rows, 1) if len(row) >= rank and row[rank - 1] == verdict]
            if numbers:
                yield f"{mark} {_counted(f'{whose} claim', numbers)}"
    matches = case.evidence.get("fact_matches") or ()
    if facts := list(dict.fromkeys(match.fact + 1 for match in matches if match.chunk == rank - 1)):
        yield f"✓ {_counted('fact', facts)}"
    cut = [
        one.number for one in found.outcome.findings if one.cause is SPLIT and one.kind == "fact" and rank in one.chunks
    ]
    if cut:
        yield f"a part of {_counted('fact', cut)}"
    if not case.has("fact_matches") and not case.has("reference_claims_in_contexts"):
        yield "·"


def _counted(kind: str, numbers: Sequence[int]) -> str:
    return f"{kind}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def _scores_part(cells: Sequence[Cell]) -> Iterator[RenderableType]:
    yield _title("scores")
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for cell in cells:
        table.add_row(plain(f"  {cell.metric}"), _value(cell), plain(_reason(cell)))
    yield table


def _working_parts(found: Explanation) -> Iterator[RenderableType]:
    working = found.working
    if working is None:
        return
    cell = working.cell
    yield _title(f"{cell.metric} = {_value(cell)}" + (f"  {_reason(cell)}" if cell.reason else ""))
    table = _labelled()
    if working.meaning:
        table.add_row(Text("  meaning", style="dim"), Text(working.meaning))
    if working.formula:
        table.add_row(Text("  formula", style="dim"), Text(working.formula))
    for count in working.counts:
        table.add_row(Text("  here", style="dim"), _count_text(found.case, count))
    if not working.counts:
        for name, value in working.inputs.items():
            table.add_row(
                Text(f"  {name}", style="dim"), Text(one_line(json.dumps(_as_json(value), ensure_ascii=False), 300))
            )
    yield table


def _count_text(case: Case, count: Counted) -> Text:
    """`2 of 3 facts = 0.667`, then each of the three with a mark at the two."""
    plural = {"entity": "entities"}.get(count.kind, f"{count.kind}s")
    value = "" if count.value is None else f" = {count.value:.3f}"
    text = Text(f"{len(count.above)} of {len(count.below)} {plural}{value}")
    names = _item_texts(case, count.kind)
    for number in count.below:
        mark = "✓" if number in count.above else "·"
        name = f": {one_line(names[number - 1], 200)}" if number <= len(names) else ""
        if name or count.kind == "chunk":
            text.append(f"\n{mark} {count.kind} {number}{name}")
    return text


def _item_texts(case: Case, kind: str) -> list[str]:
    if kind.endswith(" claim"):
        return [claim.text for claim in case.claims(kind.removesuffix(" claim"))]
    if kind == "fact":
        return [fact.text for fact in case.sample.facts or ()]
    if kind == "entity":
        return list(case.evidence.get("reference_entities") or ())
    return []


def _judge_part(found: Explanation, most: int | None) -> Iterator[RenderableType]:
    spoken = [call for call in found.calls if call["reply"] or call["error"]]  # embeddings are no words
    if not spoken:
        return
    yield _title("the judge's words")
    table = _numbered()
    for number, call in enumerate(spoken, start=1):
        head = f"{call['evidence']}, prompt {call['prompt']}, {call['model']}{', from the cache' if call['cached'] else ''}"
        said = call["reply"] or ""
        body = Text.assemble(plain(head, "bold"), "\n", _cut(said, most))
        if call["error"]:
            body.append(f"\nfailed: {visible(call['error'])}")
        table.add_row(str(number), body)
    yield table


def _value(cell: Cell) -> str:
    return "–" if cell.value is None else f"{cell.value:.3f}"


def _reason(cell: Cell) -> str:
    return f"{cell.status}: {visible(cell.reason)}" if cell.reason else ""


def _title(text: str) -> Text:
    return Text(f"\n{visible(text)}", style="bold")


def _cut(text: str, most: int | None) -> Text:
    return plain(text) if most is None else Text(one_line(text, most))


def _labelled() -> Table:
    """A label and a text."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    return table


def _numbered(*heads: str) -> Table:
    """A number, a text, and columns of marks that do not wrap."""
    named = any(heads)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=named, header_style="dim")
    table.add_column("", justify="right", min_width=4)
    table.add_column("", overflow="fold")
    for head in heads:
        table.add_column(head, no_wrap=True)
    return table
