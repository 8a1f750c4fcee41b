"""Why an agent missed something: it never searched for it, or it searched and the search did not find it.

A query asks for a fact or claim if half of its content words are in the fact, or half of the fact's words in the query. If
only one fact or claim is needed, a query also asks for it if it has half of the question's words.
"""

from __future__ import annotations

from dataclasses import replace

from ragstone.compare.cause_names import MISSED, MISSING, NEVER_SEARCHED, Finding, Outcome
from ragstone.data.types import Sample
from ragstone.text.overlap import content_stems
from ragstone.text.words import FoldedText

_HALF = 0.5


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
    for number, step in enumerate(sample.steps or (), start=1):
        if any(wanted and wanted.folded in FoldedText(chunk.text).folded for chunk in step.contexts or ()):
            return number
    return None


def _asks_for(query: str, text: str, sample: Sample, alone: bool) -> bool:
    return _shares(query, text) or (alone and bool(sample.question) and _shares(query, sample.question or ""))


def _shares(query: str, text: str) -> bool:
    """Whether half of the content words of one text are in the other."""
    asked, wanted = content_stems(query), content_stems(text)
    if not asked or not wanted:
        return False
    common = len(asked & wanted)
    return common >= _HALF * len(asked) or common >= _HALF * len(wanted)
