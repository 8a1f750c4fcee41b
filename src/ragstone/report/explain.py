"""One sample of a run in the terminal and as JSON: texts, claims, facts, chunks, the cause of failure, and scores."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.compare.cause_names import PROBABLE, SPLIT, Outcome, how_sure
from ragstone.compare.cause_texts import HOW_SURE
from ragstone.compare.citations import citation_texts, cited_claims
from ragstone.compare.earlier_turns import earlier_turns, standalone_question, turn_behind
from ragstone.compare.explain import ITEM, OTHER_ANSWER, Cell, Counted, Explanation, Working
from ragstone.compare.sample_evidence import Case
from ragstone.compare.step_counts import call_text, describe_steps, missed_calls
from ragstone.data.types import ScoredVerdict
from ragstone.evidence.conversation import carried_words
from ragstone.metrics.consistency import read_other_answers
from ragstone.report.judged_items import judged_groups
from ragstone.report.table import Column, Table
from ragstone.report.text import number, numbered, one_line, places_for, plain, title, visible

_YES, _NO, _UNSURE = "entailment", "contradiction", "unsure"
_SIGNS = {"good": "✓", "bad": "✗", "unsure": "?", "silent": "·"}
_MARK = {_YES: "✓", _NO: "✗", _UNSURE: "?"}
_VERDICTS = {_YES: "✓ supported", _NO: "✗ contradicted", _UNSURE: "? unsure"}
_NOT_MENTIONED = "· not mentioned"
_SHORT = 300
COUNTED = (
    "A claim counts with the judge's probability of support, averaged with the share of its words that the text has."
)


def explanation_report(explanation: Explanation, full: bool = False) -> RenderableType:
    """The sample with its evidence. Long texts are shortened unless `full` is set."""
    most = None if full else _SHORT
    parts = [_head(explanation, most), *_working_parts(explanation)]
    if explanation.working is None:
        parts += _findings_part(explanation)
    parts += _claims_part(explanation.case, "answer", "reference")
    parts += _claims_part(explanation.case, "reference", "answer")
    parts += _facts_part(explanation.case)
    parts += _judged_parts(explanation)
    parts += _steps_part(explanation.case)
    parts += _chunks_part(explanation, most)
    if explanation.working is None:
        parts += _scores_part(explanation.cells)
    parts += _judge_part(explanation, most)
    return Group(*parts)


def explanation_dict(explanation: Explanation) -> dict[str, Any]:
    """The sample, its evidence, cause, scores and calls as JSON."""
    return {
        "run": explanation.run,
        "row": explanation.row + 1,
        "sample": asdict(explanation.case.sample),
        "evidence": {name: evidence_json(value) for name, value in explanation.case.evidence.items()},
        "cause": explanation.outcome.cause.name if explanation.outcome.cause else None,
        "undecided": explanation.outcome.undecided or None,
        "findings": [finding.as_dict() for finding in explanation.outcome.findings],
        "scores": [asdict(cell) for cell in explanation.cells],
        "working": _working_dict(explanation.working) if explanation.working else None,
        "calls": list(explanation.calls),
    }


def _working_dict(working: Working) -> dict[str, Any]:
    return {
        "meaning": working.meaning,
        "formula": working.formula,
        "counts": [_count_dict(count) for count in working.counts],
    }


def _count_dict(count: Counted) -> dict[str, Any]:
    whole = {"kind": count.kind, "above": count.above, "below": count.below}
    if not count.is_soft:
        return whole
    parts = [{"number": number, "above": above, "below": below} for number, above, below in count.parts]
    return {**whole, "parts": parts}


def evidence_json(value: Any) -> Any:
    """Evidence as JSON values."""
    if isinstance(value, list):
        return [evidence_json(item) for item in value]
    if isinstance(value, ScoredVerdict):
        return str(value) if value.supported is None and not value.reason else value.as_dict()
    return asdict(value) if hasattr(value, "__dataclass_fields__") else value


def _head(explanation: Explanation, most: int | None) -> RenderableType:
    sample = explanation.case.sample
    heading = Text.assemble(
        plain(sample.id, "bold"), f"  row {explanation.row + 1:,} of {explanation.rows:,} in ", plain(explanation.run)
    )
    table = _labelled()
    for turn in earlier_turns(explanation.case):
        table.add(Text(f"{turn.number} {turn.role}", style="dim"), _cut(turn.text, most))
    completed, rewritten = standalone_question(explanation.case), sample.rewritten_question
    asked = (("question", sample.question), ("judged as", completed), ("rewritten", rewritten))
    for label, text in (*asked, ("answer", sample.answer)):
        if text is not None:
            table.add(Text(label, style="dim"), _cut(text, most))
    for at, text in enumerate(sample.references or (), start=1):
        label = "reference" if at == 1 else "or"
        table.add(Text(label, style="dim"), _cut(text, most))
    if sample.answerable is False:
        table.add("", "the documents do not contain the answer")
    return Group(heading, table)


def _findings_part(explanation: Explanation) -> Iterator[RenderableType]:
    outcome = explanation.outcome
    if outcome.undecided:
        yield title(f"the cause is unknown: {outcome.undecided}")
    elif outcome.cause is None:
        yield title("no fault found" if outcome.findings or outcome.seen_by else "not checked for faults")
    else:
        blamed = f", {outcome.cause.part}" if outcome.cause.part else ""
        yield title(f"{cause_title(outcome)}: {outcome.cause.name}{blamed}")
    if outcome.findings:
        table = _labelled()
        for finding in outcome.findings:
            table.add(finding.cause.name, f"{finding.about}: {finding.explained}")
        yield table
        if any(finding.probability is not None for finding in outcome.findings):
            yield Text(HOW_SURE, style="dim")


def cause_title(outcome: Outcome) -> str:
    """The words before the main cause, which is only possible if the judge itself is not sure of it."""
    likely = outcome.probability(outcome.cause.name) if outcome.cause else None
    if likely is None:
        return "why it fails"
    return f"{'why it seems to fail' if likely >= PROBABLE else 'possible cause'} ({how_sure(likely)})"


def _claims_part(case: Case, whose: str, other: str) -> Iterator[RenderableType]:
    claims = case.claims(whose)
    if not claims:
        return
    verdicts, rows = case.verdicts(f"{whose}_claims_in_{other}"), case.matrix(f"{whose}_claims_in_contexts")
    together = case.verdicts(f"{whose}_claims_in_all_contexts")
    seen = {*verdicts, *together, *(word for row in rows for word in row)}
    unsure = "? unsure, " if _UNSURE in seen else ""
    yield Text.assemble(
        (f"\nclaims of the {whose}", "bold"), (f"   ✓ supported, ✗ contradicted, {unsure}· not mentioned", "dim")
    )
    cites = [f"{_SIGNS[one.tone]} {one.words}" for one in cited_claims(case)] if whose == "answer" else []
    table = _numbered(
        other if verdicts else "", "chunks" if rows else "", *([Column("citations", wrap="words")] if cites else [])
    )
    for at, claim in enumerate(claims):
        verdict = _verdict_text(verdicts[at]) if at < len(verdicts) else ""
        marks = _chunk_marks(rows[at]) if at < len(rows) else ""
        if at < len(together) and together[at] in (_YES, _UNSURE) and (mark := _MARK[together[at]]) not in marks:
            marks += f" {mark} together" if "✓" not in marks else ""
        if whose == "answer" and (turn := turn_behind(case, at + 1)):
            marks = f"{'' if marks == '· none' else marks}  ✓ turn {turn}"
        table.add(str(at + 1), claim.text, verdict, marks.strip(), *cites[at : at + 1])
    yield table


def _verdict_text(verdict: str) -> str:
    """`? unsure 0.52`: the verdict and, from the local judge, the probability of support."""
    text = _VERDICTS.get(verdict, _NOT_MENTIONED)
    likely = verdict.supported if isinstance(verdict, ScoredVerdict) else None
    return text if likely is None else f"{text} {likely:.2f}"


def _chunk_marks(row: Sequence[str]) -> str:
    """`✓ 1, 3  ✗ 2`: the chunks that support a claim, those that contradict it, and those that perhaps support it."""
    marks = [
        f"{mark} {', '.join(str(rank) for rank, word in enumerate(row, 1) if word == verdict)}"
        for verdict, mark in _MARK.items()
        if verdict in row
    ]
    return "  ".join(marks) or "· none"


def _facts_part(case: Case) -> Iterator[RenderableType]:
    if not case.sample.facts or not case.has("fact_matches"):
        return
    yield title("facts")
    table = _numbered("chunks")
    for at, fact in enumerate(case.sample.facts):
        chunks = dict.fromkeys(match.chunk + 1 for match in case.evidence["fact_matches"] if match.fact == at)
        table.add(str(at + 1), fact.text, f"✓ {', '.join(map(str, chunks))}" if chunks else "· none")
    yield table


def _judged_parts(explanation: Explanation) -> Iterator[RenderableType]:
    """Nuggets, checklists and reasons; of one metric, only what it counts."""
    for group in judged_groups(explanation.case):
        if explanation.working and not _belongs(explanation.working, group["key"]):
            continue
        yield title(group["title"][0].lower() + group["title"][1:])
        table = _numbered("verdict")
        for row in group["rows"]:
            text = Text(row["text"])
            if row["reason"]:
                text.append(f"\n{one_line(row['reason'], _SHORT)}", style="dim")
            table.add(str(row["number"]), text, f"{row['sign']} {row['words']} {row['note']}".strip())
        yield table


def _belongs(working: Working, group: str) -> bool:
    """Whether a group of judged items is behind a score."""
    family = {"nuggets": "nugget.", "grades": "grade.", "corpus": "factscore"}.get(group)
    if family is not None:
        return working.cell.metric.startswith(family)
    if group.startswith("checklist-"):
        listed = working.cell.metric.partition(".")[2] or "own"
        return working.cell.metric.startswith("checklist") and group == f"checklist-{listed}"
    return not working.cell.metric.startswith(("nugget", "checklist", "grade"))


def _steps_part(case: Case) -> Iterator[RenderableType]:
    if case.sample.steps is None:
        return
    steps = describe_steps(case)
    yield title("steps" if steps else "no steps were made")
    looked = any(step.facts is not None for step in steps)
    table = _numbered("chunks", "new", "facts first found" if looked else "")
    for step in steps:
        chunks = ("–", "") if step.chunks is None else (str(step.chunks), str(step.new))
        seconds = "" if step.seconds is None else f"  {step.seconds:.2f} s"
        surplus = "  (not expected)" if step.expected is False else ""
        text = f"{one_line(step.label, _SHORT)}{seconds}{surplus}"
        table.add(str(step.number), text, *chunks, ", ".join(map(str, step.facts or ())))
    if steps:
        yield table
    if missed := missed_calls(case):
        yield Text(f"  expected but not made: {'; '.join(one_line(call, 200) for call in missed)}")


def _chunks_part(explanation: Explanation, most: int | None) -> Iterator[RenderableType]:
    contexts = explanation.case.sample.contexts
    if contexts is None:
        return
    yield title("retrieved chunks" if contexts else "nothing was retrieved")
    table = _numbered()
    for rank, chunk in enumerate(contexts, start=1):
        marks = "; ".join(_marks(explanation, rank)) or "· not relevant"
        name = f"{visible(chunk.id)}  " if chunk.id else ""
        table.add(str(rank), Text.assemble((f"{name}{marks}", "bold"), "\n", _cut(chunk.text, most)))
    if contexts:
        yield table


def _marks(explanation: Explanation, rank: int) -> Iterator[str]:
    """The claims that a chunk supports or contradicts, and the facts that it contains in full or in part."""
    case = explanation.case
    for whose in ("reference", "answer"):
        rows = case.matrix(f"{whose}_claims_in_contexts")
        for verdict, mark in _MARK.items():
            numbers = [number for number, row in enumerate(rows, 1) if len(row) >= rank and row[rank - 1] == verdict]
            if numbers:
                yield f"{mark} {numbered(f'{whose} claim', numbers)}"
    matches = case.evidence.get("fact_matches") or ()
    if facts := list(dict.fromkeys(match.fact + 1 for match in matches if match.chunk == rank - 1)):
        yield f"✓ {numbered('fact', facts)}"
    cut = [
        one.number
        for one in explanation.outcome.findings
        if one.cause is SPLIT and one.kind == "fact" and rank in one.chunks
    ]
    if cut:
        yield f"part of {numbered('fact', cut)}"
    if not case.has("fact_matches") and not case.has("reference_claims_in_contexts"):
        yield "·"


def _scores_part(cells: Sequence[Cell]) -> Iterator[RenderableType]:
    yield title("scores")
    table = Table([Column(wrap="words"), Column(align="right"), Column(wrap="words")], indent=2)
    for cell in cells:
        # The quantile of one row is its value.
        if "(q=" not in cell.metric:
            table.add(cell.metric, _score(cell), _reason(cell))
    yield table


def _score(cell: Cell) -> str:
    is_small = cell.metric.startswith(("system.", "metadata."))
    return number(cell.value, places_for((None, None) if is_small else (None, 1.0), cell.value))


def _working_parts(explanation: Explanation) -> Iterator[RenderableType]:
    working = explanation.working
    if working is None:
        return
    cell = working.cell
    yield title(f"{cell.metric} = {_score(cell)}" + (f"  {_reason(cell)}" if cell.reason else ""))
    table = _labelled()
    if working.meaning:
        table.add(Text("meaning", style="dim"), Text(working.meaning))
    if working.formula:
        table.add(Text("formula", style="dim"), Text(working.formula))
    for count in working.counts:
        table.add(Text("here", style="dim"), count_text(explanation.case, count))
    if not working.counts:
        for name, value in working.inputs.items():
            written = json.dumps(evidence_json(value), ensure_ascii=False)
            table.add(Text(name, style="dim"), one_line(written, _SHORT))
    yield table


def count_text(case: Case, count: Counted) -> Text:
    """`2 of 3 facts = 0.667`, then one line per fact with a mark; for probabilities `1.35 of 3 …` with what each adds."""
    plural = {"entity": "entities"}.get(count.kind, f"{count.kind}s")
    value = "" if count.value is None else f" = {count.value:.3f}"
    above, below = count.sums
    text = Text(f"{_amount(above)} of {_amount(below)} {plural}{value}")
    names = item_texts(case, count.kind)
    for position, part, whole in count.parts:
        mark = "✓" if part else "·"
        if count.is_soft:
            mark = f"{part:.2f}" if whole in (0.0, 1.0) else f"{part:.2f} of {whole:.2f}"
        name = f": {one_line(names[position - 1], 200)}" if position <= len(names) else ""
        if name or count.kind == "chunk":
            text.append(f"\n{mark} {count.kind} {position}{name}")
    if count.is_soft and count.kind.endswith(" claim") and case.judged_locally:
        text.append(f"\n{COUNTED}", style="dim")
    return text


def _amount(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:.2f}"


def item_texts(case: Case, kind: str) -> list[str]:
    """The texts of the claims, facts or entities that a share counts; empty for other items."""
    if kind.endswith(" claim"):
        return [claim.text for claim in case.claims(kind.removesuffix(" claim"))]
    if kind == "fact":
        return [fact.text for fact in case.sample.facts or ()]
    if kind == "carried word":
        return carried_words(case.sample.question or "", case.evidence.get("standalone_question") or "")
    if kind == "question":
        return [*(turn.text for turn in case.sample.history or () if turn.role == "user"), case.sample.question or ""]
    if kind == "citation":
        return citation_texts(case)
    if kind in ("step", "expected step"):
        steps = case.sample.steps if kind == "step" else case.sample.expected_steps
        return [call_text(step) for step in steps or ()]
    if kind == OTHER_ANSWER:
        return read_other_answers(case.sample.metadata)
    if kind == "entity":
        return list(case.evidence.get("reference_entities") or ())
    if kind.endswith(ITEM):
        return [check["item"] for check in case.evidence.get(f"{kind.removesuffix(ITEM)}_checks") or ()]
    return []


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
    return plain(text) if most is None else Text(one_line(text, most))


def _labelled() -> Table:
    """A label and a text."""
    return Table([Column(), Column(wrap="words")], indent=2)


def _numbered(*headings: str | Column) -> Table:
    """A number, a text, and columns of marks."""
    columns = [one if isinstance(one, Column) else Column(one) for one in headings]
    return Table([Column(align="right", width=4), Column(wrap="words"), *columns])
