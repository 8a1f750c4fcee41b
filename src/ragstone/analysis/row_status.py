"""Whether the answer of a row is wrong: one probability from all that was measured, and the word for it.

Labels of people decide: the mean of their labels, in place of all that follows. Then facts: an empty answer, a refusal, an answer to a question that the documents do not answer. Verdicts without
probabilities, of language models and people, decide by the causes they lead to. For the local judges, what their verdicts say
is weighed by weights in row_status.json, fitted on labelled rows of many domains (training/row_status.py): which share of the
claims of the answer the chunks, the references or either support, which share of the reference the answer says, and whether
both match. docs/trust.md has the figures for domains that the fit did not see.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from ragstone.analysis.cause_names import CERTAIN, UNSUPPORTED, Outcome, Status
from ragstone.analysis.fact_causes import declines, has_other_name, numbers, says_opposite, strange_numbers
from ragstone.analysis.sample_evidence import Case
from ragstone.data.types import Claim
from ragstone.data.verdict import CONTRADICTION, ENTAILMENT, NEUTRAL, UNSURE
from ragstone.storage.human_labels import mean_label
from ragstone.text.answer_words import compare_answer
from ragstone.text.cited_parts import without_marks
from ragstone.text.claim_numbers import same_numbers
from ragstone.text.overlap import content_stems
from ragstone.text.refusals import find_refusal, says_absent

_MODELS = Path(__file__).parent / "row_status.json"
# Verdicts without probabilities next to those of a local judge, as in a cascade.
_SUPPORT = {ENTAILMENT: 0.95, UNSURE: 0.5, NEUTRAL: 0.06, CONTRADICTION: 0.03}
# Of support, and that a row is wrong: of rows that were called fine, 3 % were.
_LEAST, _MOST_SURE = 0.02, 0.01
# Log-odds of support, of 0.2 and 0.1: of rows that would be fine otherwise, 10 of 14 with less had a planted fault.
INVENTED, INVENTED_WRONG = {"small": -1.386, "large": -2.197}, 0.64
# Most support and share of words by the answer, least support by a chunk, of a claim left out: of rows that would be fine otherwise, 6 of 10 were wrong.
_UNSAID, _MOST_WORDS, _SURELY = 0.25, 0.75, 0.7
# What was not estimated from labelled rows: facts, and the verdicts of language models and people.
_CERTAIN, _FOUND, _UNFOUNDED, _NONE = 0.97, 0.9, 0.6, 0.05
# People make mistakes too.
_RIGHT_LABEL, _WRONG_LABEL = 0.03, 0.97


@cache
def limits() -> tuple[float, float]:
    """The probabilities below which a row is fine and from which it is wrong."""
    fine, wrong = json.loads(_MODELS.read_text(encoding="utf-8"))["limits"]
    return float(fine), float(wrong)


def word_of(probability: float | None) -> Status:
    """The word for the probability that a row is wrong."""
    if probability is None:
        return "no judgement"
    fine, wrong = limits()
    return "wrong" if probability >= wrong else "fine" if probability < fine else "look"


def with_status(case: Case, outcome: Outcome) -> Outcome:
    """The outcome with the probability that the row is wrong, and its word; by the labels of people, if there are any."""
    if (right := mean_label(case.labels)) is not None:
        share = min(max(1.0 - right, _RIGHT_LABEL), _WRONG_LABEL)
        people = tuple(label.author for label in case.labels)
        known = replace(outcome, wrong=share, status=word_of(share), undecided="", labelled_by=people)
        return replace(known, judged_wrong=judge_row(case, outcome))
    judged = judge_row(case, outcome)
    # What is unsure claim by claim may be sure of the whole row.
    undecided = outcome.undecided if judged is None else ""
    return replace(outcome, wrong=judged, judged_wrong=judged, status=word_of(judged), undecided=undecided)


def judge_row(case: Case, outcome: Outcome) -> float | None:
    """The probability that the row is wrong; None if nothing was measured that shows it."""
    found = outcome.failures
    if any(one.cause in CERTAIN for one in found):
        return _CERTAIN
    if case.sample.answer is not None and has_no_answer(case):
        return _NONE if declines(case) or says_absent(case.sample.answer) else _FOUND
    if case.sample.answer is not None and declines(case):
        return _of_refusal(case, outcome)
    chance = _weigh(case) if case.sample.answer is not None and case.judged_locally else None
    if chance is None:
        if outcome.undecided:
            return None
        return _FOUND if any(one.cause is not UNSUPPORTED for one in found) else _UNFOUNDED if found else _NONE
    # With another technical name than the reference, 11 of 11 known rows were wrong, 10 of them of one domain.
    chance = max(chance, INVENTED_WRONG) if (renamed := has_other_name(case)) else chance
    if outcome.right_by == "words" and (outcome.seen_by == "facts" or word_of(chance) == "look"):
        # The differing words decide if the local judge, which read the claims, is not sure. Right words say nothing about claims next to them.
        signs = signs_of(case)
        is_founded = not renamed and signs.get("either_least", signs.get("chunks_least", 0.0)) >= 0.0
        return max(chance, _FOUND) if not outcome.seems_right else min(chance, _NONE) if is_founded else chance
    # "Yes" in place of "no": 50 of 50 such labelled rows were wrong.
    chance = max(chance, _FOUND) if says_opposite(case) else chance
    # A fact that no chunk contains is a failure of the retriever, even if the answer is right.
    is_lost = any(one.kind == "fact" and one.cause.part == "retriever" for one in found)
    return max(chance, _UNFOUNDED) if is_lost else chance


def has_no_answer(case: Case) -> bool:
    """Whether the documents do not answer the question, by the data or by all its references."""
    sample = case.sample
    declined = bool(sample.references) and not sample.facts and all(map(find_refusal, sample.references or ()))
    return declined or sample.answerable is False


def _of_refusal(case: Case, outcome: Outcome) -> float | None:
    """A refusal is wrong if there is an answer."""
    sample = case.sample
    has_answer = sample.references or sample.facts or outcome.failures
    # Nothing else shows whether the chunks contain the answer.
    return _FOUND if has_answer else _UNFOUNDED if sample.contexts else None


def _weigh(case: Case) -> float | None:
    """The probability by the weights for the kinds of evidence that there are."""
    signs = signs_of(case)
    for model in _read_models(case.judge):
        if model["weights"].keys() <= signs.keys():
            odds = model["bias"] + sum(weight * signs[name] for name, weight in model["weights"].items())
            chance = round(min(max(1.0 / (1.0 + math.exp(-odds)), _MOST_SURE), float(model["most"])), 3)
            # Not fine, nor fixed, if no text supports one of its claims at all; with a number in no text, by the lower limit.
            least, chunks = signs.get("either_least", 0.0), (chunk.text for chunk in case.sample.contexts or ())
            invents = least < INVENTED["small"] and (least < INVENTED[case.judge] or strange_numbers(case, *chunks))
            omits = case.judge == "small" and signs.get("left_out", 0.0) >= _SURELY
            return max(chance, INVENTED_WRONG) if invents or omits else chance
    return None


@cache
def _read_models(judge: str) -> list[Mapping[str, Any]]:
    """The weights, first those that need most kinds of evidence."""
    models = json.loads(_MODELS.read_text(encoding="utf-8"))["models"]
    return list(models.get(judge, models["small"]).values())


def signs_of(case: Case) -> dict[str, float]:
    """The evidence about the answer as numbers; a kind of evidence that is absent gives none."""
    return {**_by_chunks(case), **_by_reference(case)}


def _by_chunks(case: Case) -> dict[str, float]:
    read = foundations(case)
    if not read:
        return {}
    support = [max(map(support_of, row), default=0.0) for row in read]
    denied = [max(map(denial_of, row), default=0.0) * (1.0 - known) for row, known in zip(read, support, strict=True)]
    more = {"chunks_denied": max(denied), "claims": math.log(len(read))}
    return _shares("chunks", support, case.claims("answer")) | more


def _by_reference(case: Case) -> dict[str, float]:
    references = case.sample.references
    if not references:
        return {}
    found: dict[str, float] = {}
    if matches := case.evidence.get("reference_matches"):
        found["match"] = _logit(max(matches))
    if said := case.verdicts("reference_claims_in_answer"):
        found |= _shares("said", list(map(support_of, said)), case.claims("reference"))
    if right := case.verdicts("answer_claims_in_reference"):
        found["extra_mean"] = sum(map(support_of, right)) / len(right)
        found["extra_least"] = _logit(min(map(support_of, right)))
        if read := foundations(case):
            either = [max(support_of(one), *map(support_of, row)) for one, row in zip(right, read, strict=True)]
            found |= _shares("either", either, case.claims("answer"))
    answer, question = without_marks(case.sample.answer or ""), case.sample.question or ""
    words = [compare_answer(question, answer, text) for text in references]
    found["words"] = 1.0 if True in words else 0.0 if None in words else -1.0
    wanted = numbers(" ".join(references)) - numbers(question)
    lost = len(wanted - numbers(answer)) / max(len(wanted), 1)
    found["numbers_left_out"] = 0.0 if lost and any(same_numbers(answer, text) for text in references) else lost
    # A longer answer says more that may be wrong; it is measured by the reference that is nearest in length.
    size = 1 + len(answer.split())
    found["longer"] = min((math.log(size / (1 + len(text.split()))) for text in references), key=abs)
    # Where the judge finds the reference in the chunks, what the answer says otherwise counts more. How surely it is not found
    # does not matter: a missed chunk must not make a wrong answer look right.
    rows = case.matrix("reference_claims_in_contexts") if case.sample.contexts else []
    there = [max(map(support_of, row), default=0.0) for row in rows]
    found["reference_found"] = max(_logit(min(there, default=0.0)), 0.0)
    asked, own = content_stems(question), content_stems(answer)
    claims = zip(case.claims("reference"), said, there, strict=False)
    unsaid = [(content_stems(one.text) - asked, best) for one, by, best in claims if support_of(by) < _UNSAID]
    omitted = [best for new, best in unsaid if len(new & own) < _MOST_WORDS * len(new)]
    return found | {"left_out": max(omitted, default=0.0)}


def foundations(case: Case) -> list[list[str]]:
    """The verdicts on each claim of the answer by all that it may be founded on: chunks, all chunks, earlier turns."""
    together, earlier = case.verdicts("answer_claims_in_all_contexts"), case.verdicts("answer_claims_in_history")
    rows = case.matrix("answer_claims_in_contexts") if case.sample.contexts else []
    return [[*row, *together[at : at + 1], *earlier[at : at + 1]] for at, row in enumerate(rows)]


def _shares(name: str, support: Sequence[float], claims: Sequence[Claim]) -> dict[str, float]:
    """The mean by words, the least, and the log-probability that all are supported."""
    weights = [float(claim.words or 1) for claim in claims] if len(claims) == len(support) else [1.0] * len(support)
    mean = sum(share * weight for share, weight in zip(support, weights, strict=True)) / sum(weights)
    every = sum(math.log(max(share, _LEAST)) for share in support)
    return {f"{name}_mean": mean, f"{name}_least": _logit(min(support)), f"{name}_all": every}


def support_of(verdict: Any) -> float:
    """How probably a verdict says that a text supports a claim."""
    known = getattr(verdict, "support", None)
    return _SUPPORT.get(str(verdict), 0.5) if known is None else float(known)


def denial_of(verdict: Any) -> float:
    """How probably a verdict says that a text denies a claim."""
    return float(verdict == CONTRADICTION if (known := getattr(verdict, "contradiction", None)) is None else known)


def _logit(share: float) -> float:
    kept = min(max(share, _LEAST), 1.0 - _LEAST)
    return math.log(kept / (1.0 - kept))
