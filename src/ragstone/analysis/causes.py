"""Causes of failures from stored claims and verdicts; `fact_causes` works without a judge.

A reference claim that the answer does not make is searched in the chunks. An answer claim that the reference does not
support is traced to its source. An unsure verdict is not a finding. Chunk numbers are ranks, from 1.

What an agent missed, it never searched for, or its search did not find it. A query asks for a fact or claim if half of its
content words are in the fact, or half of the fact's words in the query. If only one fact or claim is needed, a query also asks
for it if it has half of the question's words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ragstone.analysis.cause_names import (
    CERTAIN,
    EXTRA,
    HALLUCINATED,
    IGNORED,
    LOST,
    LOW,
    MISREAD,
    MISSED,
    MISSING,
    NEVER_SEARCHED,
    NO_ANSWER,
    NOISE,
    NOTHING,
    OWN,
    REFUSED,
    SPLIT,
    UNSUPPORTED,
    Cause,
    Finding,
    Outcome,
)
from ragstone.analysis.fact_causes import (
    FIRST_FEW,
    decide_facts,
    declines,
    judge_answer,
    name_chunks,
    near_sentence,
    say_otherwise,
    trace_facts,
)
from ragstone.analysis.indexed_corpus import Store
from ragstone.analysis.likely_causes import with_likely_cause
from ragstone.analysis.row_status import with_status
from ragstone.analysis.sample_evidence import Case
from ragstone.data.types import Sample
from ragstone.data.verdict import CONTRADICTION as NO
from ragstone.data.verdict import ENTAILMENT as YES
from ragstone.data.verdict import UNSURE, probability_of
from ragstone.text.overlap import content_stems
from ragstone.text.refusals import find_refusal
from ragstone.text.statements import statements
from ragstone.text.words import FoldedText

_HALF = 0.5
_OF_REFERENCE = ("reference_claims", "reference_claims_in_answer", "reference_claims_in_contexts")
_OF_ANSWER = ("answer_claims", "answer_claims_in_contexts")
DO_NOT_FIT = "the numbers of claims and verdicts differ"
NOTHING_TO_GO_BY = "the sample has neither claims with verdicts nor facts"
NO_DATA = "the sample has no chunks and no references"
WITHOUT_ANSWER = "the sample has no answer"


def find_causes(case: Case, store: Store | None = None) -> Outcome:
    """The causes for one sample: from its claims if they are reliable, otherwise from its facts.

    An empty answer and an empty retrieval are facts: they come first, before all verdicts of a judge.
    """
    outcome = with_status(case, _with_certain(case, _find_causes(case, store)))
    return explain_misses(with_likely_cause(case, outcome), case.sample)


def _with_certain(case: Case, outcome: Outcome) -> Outcome:
    facts = list(_certain(case))
    if not facts:
        return outcome
    if any(fact.cause is NOTHING for fact in facts):
        outcome = replace(outcome, findings=tuple(map(_nothing_retrieved, outcome.findings)))
    named = {finding.cause for finding in outcome.findings}
    findings = [*(fact for fact in facts if fact.cause not in named), *outcome.findings]
    findings.sort(key=lambda finding: finding.cause not in CERTAIN)
    return replace(outcome, findings=tuple(findings), undecided="")


def _nothing_retrieved(finding: Finding) -> Finding:
    return replace(finding, cause=NOTHING, probability=None) if finding.cause is MISSING else finding


def _certain(case: Case) -> Iterator[Finding]:
    """An empty answer and an empty retrieval."""
    sample = case.sample
    if case.answer_is_empty:
        yield Finding(NO_ANSWER, "answer", 1, "", (), "it is empty")
    # The steps of an agent say more, an unanswerable question may have no chunks, and "You're welcome!" needs none.
    empty = sample.contexts is not None and not sample.contexts
    if empty and sample.answerable is not False and sample.steps is None and not _is_courtesy(case):
        yield Finding(NOTHING, "chunks", 1, "", (), "nothing was retrieved")


def _is_courtesy(case: Case) -> bool:
    """Whether the answer states nothing and does not decline, by its claims or otherwise by its words."""
    answer = case.sample.answer
    if not answer or case.has("reference_claims") or case.answer_is_empty or declines(case) or find_refusal(answer):
        return False
    claims = case.evidence.get("answer_claims", case.sample.references or None)
    return not (statements(case.sample.question or "", answer) if claims is None else claims)


def _find_causes(case: Case, store: Store | None) -> Outcome:
    if not _fit_together(case):
        return Outcome(case.sample.id, undecided=DO_NOT_FIT)
    unanswerable = case.sample.answerable is False
    if unanswerable and declines(case):
        return Outcome(case.sample.id, seen_by="claims" if case.has(*_OF_ANSWER) else "facts")
    by_claims = _by_claims_or_origin(case, store, unanswerable)
    if by_claims and (unanswerable or not case.sample.facts or case.has(*_OF_REFERENCE)):
        return by_claims if unanswerable or not case.by_facts else _with_facts(by_claims, case, store)
    missing = WITHOUT_ANSWER if case.sample.answer is None else NOTHING_TO_GO_BY
    by_facts = decide_facts(case, store, missing if case.sample.contexts or case.sample.references else NO_DATA)
    if by_claims is None or by_facts.cause or (by_facts.undecided and by_facts.right_by != "nothing"):
        return by_facts
    # Facts say what was retrieved, claims whether the chunks support the answer.
    found = tuple(one for one in by_claims.findings if one.cause.part != "retriever")
    return replace(by_facts, findings=by_facts.findings + found, undecided="")


def _with_facts(outcome: Outcome, case: Case, store: Store | None) -> Outcome:
    """The outcome by the claims, with the facts that no chunk contains: claims show the answer, facts what was retrieved."""
    if lost := tuple(trace_facts(case, store)):  # what was not retrieved is not named twice
        kept = (one for one in outcome.findings if one.kind != "fact" and one.cause.part != "retriever")
        return replace(outcome, findings=(*lost, *kept))
    verdict = judge_answer(case) if case.sample.facts else None
    return replace(outcome, seems_right=verdict.right, right_by=verdict.by) if verdict else outcome


def _by_claims_or_origin(case: Case, store: Store | None, unanswerable: bool) -> Outcome | None:
    """The outcome by the claims; without a reference, only the source of the answer's claims is known."""
    if case.has(*_OF_REFERENCE) and not unanswerable:
        return _by_claims(case, store)
    if not case.has(*_OF_ANSWER) or not case.claims("answer"):
        return None
    lacking = _lacking(case, *_OF_REFERENCE[1:]) if case.sample.references and not unanswerable else ()
    findings = tuple(_trace_answer(case, unanswerable))
    return Outcome(case.sample.id, findings, seen_by="claims", lacking=lacking)


def _lacking(case: Case, *names: str) -> tuple[str, ...]:
    """The verdicts that the answer and the chunks should have and that are not there."""
    if case.sample.answer is None or case.sample.contexts is None:
        return ()
    return tuple(name for name in names if not case.has(name))


def _fit_together(case: Case) -> bool:
    """Whether every claim has a verdict: imported data may be truncated."""
    for whose, other in (("answer", "reference"), ("reference", "answer")):
        names = (f"{whose}_claims_in_{other}", f"{whose}_claims_in_contexts", f"{whose}_claims_in_all_contexts")
        if case.has(f"{whose}_claims") and any(
            len(case.evidence[name]) != len(case.claims(whose)) for name in names if case.has(name)
        ):
            return False
    return True


def _by_claims(case: Case, store: Store | None) -> Outcome:
    refused = declines(case)
    findings = list(_trace_reference(case, refused))
    if any(finding.cause is MISSING for finding in findings):
        # A judge finds that a claim is missing; the text of a fact shows whether it was split or lost.
        findings += [finding for finding in trace_facts(case, store) if finding.cause in (SPLIT, LOST)]
    if not refused and case.has(*_OF_ANSWER):
        findings += _trace_answer(case, unanswerable=False)
    lacking = () if refused else _lacking(case, *_OF_ANSWER[1:])
    return Outcome(case.sample.id, tuple(findings), seen_by="claims", tally=_tally(case), lacking=lacking)


def _tally(case: Case) -> dict[str, int]:
    """Counts of reference claims: stated, retrieved but not stated, not retrieved, and unsure."""
    counts = {"said": 0, "ignored": 0, "missing": 0}
    rows = case.matrix("reference_claims_in_contexts")
    for verdict, row in zip(case.verdicts("reference_claims_in_answer"), rows, strict=True):
        retrieved = "ignored" if YES in row else "unsure" if UNSURE in row else "missing"
        kind = "said" if verdict == YES else "unsure" if verdict == UNSURE else retrieved
        counts[kind] = counts.get(kind, 0) + 1
    return counts


def _trace_reference(case: Case, refused: bool) -> Iterator[Finding]:
    """One finding per reference claim that the answer does not make."""
    rows = case.matrix("reference_claims_in_contexts")
    for number, (verdict, row) in enumerate(zip(case.verdicts("reference_claims_in_answer"), rows, strict=True)):
        if verdict not in (YES, UNSURE) and (YES in row or UNSURE not in row):
            cause, chunks, why = _unsaid(case, number, verdict, row, refused)
            claim = case.claims("reference")[number].text
            yield Finding(cause, "reference claim", number + 1, claim, tuple(chunks), why)


def _unsaid(
    case: Case, number: int, verdict: str, row: Sequence[str], refused: bool
) -> tuple[Cause, Sequence[int], str]:
    there = _ranks(row, YES)
    noise = sorted(_unshared(case, "answer", "reference").intersection(_ranks(row, NO)))
    if noise and verdict == NO and not refused:
        return NOISE, noise, f"the answer follows {name_chunks(noise)}; the reference says otherwise"
    if not there:
        together = case.verdicts("reference_claims_in_all_contexts")
        if together and together[number] == YES:
            return SPLIT, (), "the chunks contain it together, none of them alone"
        hint = _near(case, case.claims("reference")[number].text, row)
        return MISSING, (), f"no retrieved chunk contains it{hint}" if row else "nothing was retrieved"
    if refused:
        return REFUSED, there, f"{_chunks_that(there, 'contain')} it, the answer declines"
    if case.answer_is_empty:
        return NO_ANSWER, there, f"{_chunks_that(there, 'contain')} it, the answer is empty"
    if verdict == NO:
        return MISREAD, there, f"{_chunks_that(there, 'contain')} it, the answer says otherwise"
    used = {rank for row in case.matrix("answer_claims_in_contexts") for rank in _ranks(row, YES)}
    if there[0] > FIRST_FEW and there[0] > max(used, default=0):
        below = f"below {name_chunks(sorted(used))}, which the answer uses" if used else "and the answer uses none"
        return LOW, there, f"its first chunk is chunk {there[0]}, {below}"
    return IGNORED, there, f"{_chunks_that(there, 'contain')} it, the answer leaves it out"


def _trace_answer(case: Case, unanswerable: bool) -> Iterator[Finding]:
    """One finding per answer claim that is wrong or that no chunk supports."""
    rows = case.matrix("answer_claims_in_contexts")
    right = case.verdicts("answer_claims_in_reference") if not unanswerable else [NO] * len(rows)
    for number, claim in enumerate(case.claims("answer")):
        verdict = right[number] if right else None
        if found := _origin(case, number, verdict, rows[number]):
            cause, chunks, why = found
            read = [*rows[number], *case.verdicts("answer_claims_in_all_contexts")[number : number + 1]]
            likely = None if right else _probability(read, cause)
            yield Finding(cause, "answer claim", number + 1, claim.text, tuple(chunks), why, likely)


def _origin(
    case: Case, number: int, verdict: str | None, row: Sequence[str]
) -> tuple[Cause, Sequence[int], str] | None:
    there = _ranks(row, YES)
    together = case.verdicts("answer_claims_in_all_contexts")[number : number + 1]
    earlier = case.verdicts("answer_claims_in_history")[number : number + 1]
    founded = bool(there) or YES in together
    if verdict == UNSURE or (not founded and UNSURE in (*row, *together, *earlier)):
        return None
    if not founded and YES in earlier:
        return None if verdict in (None, YES) else (EXTRA, (), "earlier turns support it, the reference does not")
    hint = "" if founded else _near(case, case.claims("answer")[number].text, row)
    denied = [] if founded else _ranks(row, NO)
    against = denied if verdict is None else sorted(set(denied) & _unshared(case, "reference", "answer"))
    if against and verdict != YES:
        return MISREAD, against, say_otherwise(case, case.claims("answer")[number].text, against)
    if verdict is None:
        checked = ", and it was not checked against the reference" if case.sample.references else ""
        return None if founded else (UNSUPPORTED, (), f"no chunk supports it{checked}{hint}")
    if verdict == YES:
        return None if founded else (OWN, (), f"it is correct, but no chunk supports it{hint}")
    if founded:
        if verdict == NO and (confused := sorted(set(there) & _chunks_of_denied(case, YES))):
            return MISREAD, confused, f"{_chunks_that(confused, 'support')} it, and also what the reference says"
        source = f"{_chunks_that(there, 'support')} it" if there else "the chunks support it together"
        if verdict == NO or set(there) & _chunks_of_denied(case, NO):
            return NOISE, there, f"{source}, but the reference says otherwise"
        return EXTRA, there, f"{source}, the reference does not mention it"
    other = say_otherwise(case, case.claims("answer")[number].text, denied) if denied else ""
    return HALLUCINATED, denied, f"no chunk supports it{f'; {other}' if other else hint}"


def _near(case: Case, claim: str, row: Sequence[Any]) -> str:
    """The sentence of a chunk with nearly the same words, where the local judge finds no support."""
    if not (case.words and case.has_probabilities and any(probability_of(one) is not None for one in row)):
        return ""
    near = near_sentence(claim, dict(enumerate((chunk.text for chunk in case.sample.contexts or ()), start=1)))
    return f"; chunk {near[0]} says {near[1]}" if near else ""


def _probability(row: Sequence[Any], cause: Cause) -> float | None:
    """How probably the chunks deny or do not support a claim, without a reference; None if the verdicts have no probabilities."""
    read = [one for one in row if probability_of(one) is not None]
    if not read or cause not in (UNSUPPORTED, MISREAD):
        return None
    denied, supported = max(float(one.contradiction) for one in read), max(float(one.support) for one in read)
    return round(denied if cause is MISREAD else 1.0 - supported, 2)


def _ranks(row: Sequence[str], verdict: str) -> list[int]:
    return [rank for rank, word in enumerate(row, start=1) if word == verdict] if verdict in row else []


def _unshared(case: Case, whose: str, other: str) -> set[int]:
    """The chunks that support a claim of the answer or the reference that the other one does not support."""
    rows, said = case.matrix(f"{whose}_claims_in_contexts"), case.verdicts(f"{whose}_claims_in_{other}")
    return {rank for row, verdict in zip(rows, said, strict=False) if verdict != YES for rank in _ranks(row, YES)}


def _chunks_of_denied(case: Case, held: str) -> set[int]:
    """The chunks with this verdict on a reference claim that the answer contradicts."""
    rows, said = case.matrix("reference_claims_in_contexts"), case.verdicts("reference_claims_in_answer")
    return {rank for row, verdict in zip(rows, said, strict=False) if verdict == NO for rank in _ranks(row, held)}


def _chunks_that(ranks: Sequence[int], verb: str) -> str:
    """`chunk 1 contains`, `chunks 1 and 2 contain`."""
    return f"{name_chunks(ranks)} {verb}{'s' if len(ranks) == 1 else ''}"


def explain_misses(outcome: Outcome, sample: Sample) -> Outcome:
    """The outcome with the causes of missing chunks made more precise by the sample's steps."""
    if sample.steps is None or not any(finding.cause is MISSING for finding in outcome.findings):
        return outcome
    needed = len({finding.text for finding in outcome.findings if finding.kind in ("fact", "reference claim")})
    alone = needed == 1 and len(sample.facts or ()) <= 1
    findings = (_explain(one, sample, alone) if one.cause is MISSING else one for one in outcome.findings)
    return replace(outcome, findings=tuple(findings))


def _explain(finding: Finding, sample: Sample, alone: bool) -> Finding:
    steps = sample.steps or []
    if finding.kind == "fact" and (dropped := _found_in(finding.text, sample)):
        why = f"step {dropped} retrieved it, but its chunk is not among the contexts"
        return replace(finding, why=why)
    queries = {number: step.query for number, step in enumerate(steps, 1) if step.query and step.query.strip()}
    asked = [number for number, query in queries.items() if _asks_for(query, finding.text, sample, alone)]
    if asked:
        shown = f"steps {', '.join(map(str, asked[:-1]))} and {asked[-1]} ask" if asked[1:] else f"step {asked[0]} asks"
        return replace(finding, cause=MISSED, why=f"{shown} for it, but no retrieved chunk contains it")
    if steps and len(queries) == len(steps):
        which = "the query of the only step" if len(steps) == 1 else f"none of the {len(steps)} queries"
        words = f"{which} {'does not ask' if len(steps) == 1 else 'asks'} for it"
        return replace(finding, cause=NEVER_SEARCHED, why=words)
    if not steps and not sample.contexts:
        return replace(finding, cause=NEVER_SEARCHED, why="there was no search")
    return finding  # a query is not known


def _found_in(text: str, sample: Sample) -> int | None:
    """The first step with a chunk that contains a text."""
    wanted = FoldedText(text)
    steps = enumerate(sample.steps or (), start=1)
    texts = ((number, FoldedText(chunk.text).folded) for number, step in steps for chunk in step.contexts or ())
    return next((number for number, text in texts if wanted and wanted.folded in text), None)


def _asks_for(query: str, text: str, sample: Sample, alone: bool) -> bool:
    return _shares(query, text) or (alone and bool(sample.question) and _shares(query, sample.question or ""))


def _shares(query: str, text: str) -> bool:
    """Whether half of the content words of one text are in the other."""
    asked, wanted = content_stems(query), content_stems(text)
    fewer = min(len(asked), len(wanted))
    return fewer > 0 and len(asked & wanted) >= _HALF * fewer
