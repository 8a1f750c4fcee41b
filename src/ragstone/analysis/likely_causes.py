"""How probable each cause is, given that a row is wrong: from what a local judge says about all its claims together.

One claim rarely shows the cause: an answer from an old document leaves out the reference as an incomplete one does. So signs of
the whole row are weighed by weights in likely_causes.json, fitted on rows with planted faults (training/row_causes.py).
docs/trust.md says how often the first cause is right. The claim that shows it best is the first finding of the row.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from ragstone.analysis.cause_names import (
    CERTAIN,
    HALLUCINATED,
    IGNORED,
    LOST,
    LOW,
    MISREAD,
    MISSING,
    NOISE,
    REFUSED,
    SPLIT,
    Cause,
    Finding,
    Kind,
    Outcome,
)
from ragstone.analysis.fact_causes import declines, has_other_name, numbers, quoted, says_opposite
from ragstone.analysis.row_status import denial_of, foundations, support_of
from ragstone.analysis.sample_evidence import Case
from ragstone.data.verdict import CONTRADICTION, ENTAILMENT, NEUTRAL, UNSURE
from ragstone.text.cited_parts import without_marks
from ragstone.text.overlap import content_stems
from ragstone.text.refusals import find_refusal
from ragstone.text.sentences import sentences
from ragstone.text.statements import without_question

_WEIGHTS = Path(__file__).parent / "likely_causes.json"
_FAMILY = {SPLIT: MISSING, LOST: MISSING, LOW: IGNORED}  # More precise names of a cause.
_SAME = 0.5  # From here, the answer as a whole says what the reference says.
_STATED = 0.65  # From here, the verdict is "supported".
LIKELY = (MISSING, NOISE, MISREAD, HALLUCINATED, IGNORED)
_UNFOUNDED, _OF_ANSWER = (MISSING, HALLUCINATED), (NOISE, HALLUCINATED)


class _Read(NamedTuple):
    """A claim of one side: how probably the other side lacks and denies it, and the chunk that says most for it.

    `said` and `held` are the verdicts of the other side and of this chunk.
    """

    number: int
    text: str
    said: str
    held: str
    lacking: float
    denied: float
    found: float
    chunk: int
    against: float


# The claim of the reference that the chunks contain and the answer lacks; the claim that the other side and the chunks lack; the
# claim that a chunk denies and none supports.
_unsaid = partial(max, key=lambda one: one.lacking * one.found)
_missing = partial(max, key=lambda one: one.lacking * (1.0 - one.found))
_denied = partial(max, key=lambda one: one.against * (1.0 - one.found))


def with_likely_cause(case: Case, outcome: Outcome) -> Outcome:
    """The outcome whose causes have their probabilities, the most probable one first; a row that is fine has none.

    A row that needs a look and whose claims show no fault has no cause either, but a `doubt`.
    """
    named = _rank_causes(case, outcome)
    clear = named.status != "look" or named.failures or named.labelled_by
    return named if clear else replace(named, doubt=_doubt(case))


def _doubt(case: Case) -> str:
    """Why a row needs a look, if no claim shows a fault."""
    if declines(case):
        return "the answer declines; without a reference nothing shows whether it should"
    if max(case.evidence.get("reference_matches") or (), default=1.0) < _SAME:
        return "the judge is not sure whether answer and reference say the same"
    best = [max(row, key=support_of, default=NEUTRAL) for row in foundations(case)]
    number, least = min(enumerate(best, start=1), key=lambda one: support_of(one[1]), default=(0, ""))
    if not number:
        return ""
    text = without_question(case.sample.question or "", case.claims("answer")[number - 1].text)
    claim = f"answer claim {number}: {quoted(text, text)}"
    if least == ENTAILMENT:
        return f"nothing clearly wrong: the judge is least sure of {claim}"
    return f"no chunk{_clearly(least)} supports {claim}"


def _rank_causes(case: Case, outcome: Outcome) -> Outcome:
    whole = {*CERTAIN, REFUSED} & {one.cause for one in outcome.failures}
    if outcome.status not in ("wrong", "look") or outcome.seen_by != "claims" or whole:
        return outcome
    chances = cause_chances(case)
    if not chances:
        return outcome
    best = max(chances, key=chances.__getitem__)
    best = _in_place_of_noise(case, chances) if best is NOISE else best
    best = MISREAD if best is IGNORED and (says_opposite(case) or has_other_name(case)) else best
    rated = [replace(one, probability=chances.get(_family(one), one.probability)) for one in outcome.findings]
    if rated and rated[0].kind == "fact":  # The facts show what was not retrieved.
        return replace(outcome, findings=(replace(rated[0], probability=chances[best]), *rated[1:]))
    if outcome.status == "look" and not _is_shown(case, best):
        return replace(outcome, findings=tuple(one for one in rated if not one.cause.fails))
    named, shown = [one for one in rated if _family(one) is best], _show(case, best, chances[best])
    # A claim that a chunk denies shows a misread one best; then the claim that shows the cause most, if it was found so.
    denied = [one for one in named if one.cause is MISREAD and one.kind == "answer claim"]
    same = [one for one in named if (one.kind, one.number) == (shown.kind, shown.number)]
    finer = [one for one in named if one.cause is not best]
    first = (*finer, shown)[0] if shown.cause is REFUSED else (*denied, *same, *finer, shown)[0]
    others = [one for one in rated if (one.kind, one.number) != (first.kind, first.number)]
    others.sort(key=lambda one: (not one.cause.fails, -(one.probability or 0.0)))
    return replace(outcome, findings=(first, *others))


def _in_place_of_noise(case: Case, chances: dict[Cause, float]) -> Cause:
    """Not noise if the answer denies nothing, or if the same chunk has the reference."""
    denied = (*case.verdicts("reference_claims_in_answer"), *case.verdicts("answer_claims_in_reference"))
    if not (
        cause_signs(case)["other_numbers"] or has_other_name(case) or says_opposite(case) or CONTRADICTION in denied
    ):
        return max((MISSING, HALLUCINATED, IGNORED), key=chances.__getitem__)
    wanted = _unsaid(_read(case, "reference"))
    is_same = wanted.found >= _STATED and wanted.chunk == _shown_by(case, NOISE).chunk
    return max((MISREAD, IGNORED), key=chances.__getitem__) if is_same else NOISE


def _family(finding: Finding) -> Cause:
    return _FAMILY.get(finding.cause, finding.cause)


def cause_chances(case: Case) -> dict[Cause, float]:
    """The probability of each likely cause; empty if the local judges did not read all that it takes."""
    signs = cause_signs(case)
    if not signs:
        return {}
    weights = _read_weights()[case.judge]
    odds = {cause: sum(weights[cause.name].get(name, 0.0) * value for name, value in signs.items()) for cause in LIKELY}
    most = max(odds.values())
    shares = {cause: math.exp(value - most) for cause, value in odds.items()}
    return {cause: round(share / sum(shares.values()), 2) for cause, share in shares.items()}


@cache
def _read_weights() -> dict[str, dict[str, dict[str, float]]]:
    return dict(json.loads(_WEIGHTS.read_text(encoding="utf-8"))["weights"])


def cause_signs(case: Case) -> dict[str, float]:
    """The signs of the causes, as numbers from 0 to 1, and how much longer the answer is than the reference."""
    wanted, said = _read(case, "reference"), _read(case, "answer")
    if not (wanted and said and case.judged_locally and case.sample.references):
        return {}
    question, answer = case.sample.question or "", without_marks(case.sample.answer or "")
    reference = min(case.sample.references, key=lambda text: abs(len(text) - len(answer)))
    chunks = [chunk.text for chunk in case.sample.contexts or ()]
    parts = [text[one.start : one.end] for text in chunks for one in sentences(text)]
    known, stated = numbers(reference) - numbers(question), numbers(answer) - numbers(question)
    worst, unsaid, denied = _missing(said), _unsaid(wanted), _denied(said)
    unfounded, retrieved = worst.lacking * (1.0 - worst.found), unsaid.lacking * unsaid.found
    own = content_stems(reference) - content_stems(question)
    return {
        "always": 1.0,
        "not_retrieved": max(one.lacking * (1.0 - one.found) for one in wanted),
        "retrieved": retrieved,
        "left_out": retrieved * (1.0 - unfounded),
        "unfounded": unfounded,
        "chunk_denies_answer": denied.against * (1.0 - denied.found),
        "answer_denies_reference": max(one.denied for one in wanted),
        "chunk_denies_reference": max(one.against for one in wanted),
        "other_numbers": float(bool(known - stated) and bool(stated - known)),
        "numbers_in_no_chunk": float(bool(stated - numbers(" ".join(chunks)))),
        "longer": math.log((1 + len(answer.split())) / (1 + len(reference.split()))),
        "reference_words_said": len(own & content_stems(answer)) / max(len(own), 1),
        "worst_like_reference": max(_share(worst.text, one.text) for one in wanted),
        "worst_like_chunk": max((_share(worst.text, part) for part in parts), default=0.0),
    }


def _read(case: Case, whose: str) -> list[_Read]:
    """The claims of `answer` or `reference` with what the other side and the chunks say about them."""
    if whose == "answer":
        verdicts, rows = case.verdicts("answer_claims_in_reference"), foundations(case)
    else:
        verdicts = case.verdicts("reference_claims_in_answer")
        together = case.verdicts("reference_claims_in_all_contexts")
        rows = [[*row, *together[at : at + 1]] for at, row in enumerate(case.matrix("reference_claims_in_contexts"))]
    claims = case.claims(whose)
    if not len(verdicts) == len(claims) == len(rows) or not all(rows):
        return []
    found = []
    for number, (claim, verdict, row) in enumerate(zip(claims, verdicts, rows, strict=True), start=1):
        # What stands after the chunks, as all of them together, has no rank.
        held = [support_of(one) for one in row]
        at = max(range(len(case.sample.contexts or ())), key=held.__getitem__)
        known = (1.0 - support_of(verdict), denial_of(verdict), max(held), at + 1, max(map(denial_of, row)))
        found.append(_Read(number, claim.text, verdict, row[at], *known))
    return found


def _share(claim: str, text: str) -> float:
    words = content_stems(claim)
    return len(words & content_stems(text)) / max(len(words), 1)


def _shown_by(case: Case, cause: Cause) -> _Read:
    """The claim that shows a cause best."""
    claims = _read(case, "answer" if cause in _OF_ANSWER else "reference")
    shown: _Read = (_missing if cause in _UNFOUNDED else _unsaid)(claims)
    return shown


def _is_shown(case: Case, cause: Cause) -> bool:
    """Whether a claim shows the cause: not one that the side states which should lack it."""
    shown = _shown_by(case, cause)
    return shown.found < _STATED if cause in _UNFOUNDED else min(shown.lacking, shown.found) > 1.0 - _STATED


def _show(case: Case, cause: Cause, chance: float) -> Finding:
    """The claim that shows a cause best, and why: the words are as sure as the marks of the verdicts."""
    shown, answer = _shown_by(case, cause), case.sample.answer or ""
    lacks, has = shown.said in (NEUTRAL, CONTRADICTION), shown.held == ENTAILMENT
    if cause in _UNFOUNDED:
        words = "no retrieved chunk{} contains it" if cause is MISSING else "no chunk{} supports it"
        why = f"the chunks support it only weakly ({shown.found:.2f})" if has else words.format(_clearly(shown.held))
    elif cause is NOISE:
        why = f"the answer {'follows' if has else 'seems to follow'} chunk {shown.chunk}; the reference {'does' if lacks else 'may'} not say it"
    else:
        says = "leaves it out" if lacks else "may leave it out"
        if cause is IGNORED and any(find_refusal(answer[one.start : one.end]) for one in sentences(answer)):
            cause, says = REFUSED, "says that it is not known"
        elif cause is MISREAD:
            sure = "says otherwise" if shown.said == CONTRADICTION else "says something else"
            says = sure if lacks else "may say otherwise"
        why = f"chunk {shown.chunk} {'contains' if has else 'seems to contain'} it, the answer {says}"
    kind: Kind = "answer claim" if cause in _OF_ANSWER else "reference claim"
    chunks = () if cause in _UNFOUNDED else (shown.chunk,)
    return Finding(cause, kind, shown.number, shown.text, chunks, why, chance)


def _clearly(verdict: str) -> str:
    return " clearly" if verdict == UNSURE else ""
