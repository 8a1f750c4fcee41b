"""Whether a system gives the same answer when it is asked the same question again.

The metadata of a row has the other answers to its question, from `truth collect --repeats` or made from rows with the same
`repeat_of`. Each row is compared with the others, so that the mean over the rows is the mean over all ordered pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.data.share import Share
from ragstone.data.types import Claim
from ragstone.data.verdict import ENTAILMENT, Verdict
from ragstone.errors import Skip
from ragstone.evidence_functions.claims import ANSWER_CLAIM, NO_ANSWER_CLAIMS, share, supports, with_words
from ragstone.llm.concurrency import gather_or_cancel
from ragstone.registry import evidence, metric
from ragstone.text.cited_parts import without_marks
from ragstone.text.squad import tokens
from ragstone.tools.protocols import Checker, Grader, Whole, check_text

_COMMON: dict[str, Any] = {
    "family": "consistency",
    "judges": "answer",
    "against": "metadata",
    "sets": ("reference_free",),
}
OTHER_ANSWER = "other answer"
_WRONG = "A system that always gives the same wrong answer is consistent."


@evidence(transient=True)
def other_answers(metadata: dict[str, Any]) -> list[str]:
    """The other answers to the same question."""
    others = read_other_answers(metadata)
    if not others:
        raise Skip("the question has no other answer (metadata.other_answers)")
    return others


def read_other_answers(metadata: Mapping[str, Any]) -> list[str]:
    """The other answers in the metadata of a row; empty if there are none."""
    others = metadata.get("other_answers")
    return [text for text in others if isinstance(text, str)] if isinstance(others, list) else []


@evidence(prompts=("verdicts",))
async def answer_claims_in_other_answers(
    question: str, answer: str, answer_claims: list[Claim], other_answers: list[str], checker: Checker
) -> list[list[Verdict]]:
    """For each other answer, whether it entails each claim of the answer; an identical one does without a call."""
    claims = [claim.text for claim in answer_claims]

    async def check(other: str) -> list[Verdict]:
        if other == answer:
            return with_words(answer_claims, [Verdict(ENTAILMENT)] * len(claims))
        return with_words(answer_claims, await check_text(checker, question, claims, Whole(without_marks(other))))

    return list(await gather_or_cancel(check(other) for other in other_answers))


@evidence(prompts=("answer_match",))
async def other_answer_matches(question: str, answer: str, other_answers: list[str], grader: Grader) -> list[float]:
    """For each other answer, the probability that the answer means the same; 1 without a call if they are identical."""
    own, others = without_marks(answer), [without_marks(other) for other in other_answers]
    different = [other for other in dict.fromkeys(others) if other != own]
    found = await grader.matches(question, own, different) if different else []
    known = {own: 1.0, **dict(zip(different, found, strict=True))}
    return [known[other] for other in others]


@metric(
    "consistency.claims",
    **_COMMON,
    source="self-consistency of claims (SelfCheckGPT, Manakul et al. 2023), between whole answers",
    misleads=f"{_WRONG} An answer that says less than the others is supported by them, but does not support them.",
    slow=True,  # one call per pair of answers
)
def consistency_claims(answer_claims_in_other_answers: Sequence[Sequence[str]]) -> float:
    """Share of the claims of the answer that the other answers to the same question support.

    Supported claims / claims per other answer, then the mean over the other answers. Skipped if the answer makes no claims
    or the question was asked once.
    """
    others = answer_claims_in_other_answers
    shares = [share(ANSWER_CLAIM, supports(row), NO_ANSWER_CLAIMS, row) for row in others]
    value = share(OTHER_ANSWER, shares, NO_ANSWER_CLAIMS)
    repeated = [sum(column) / len(column) for column in zip(*map(supports, others), strict=True)]
    return Share(value, *share(ANSWER_CLAIM, repeated, NO_ANSWER_CLAIMS, others[0]).counts)


@metric(
    "consistency.answer_match",
    **_COMMON,
    source="answer equivalence (Bulian et al. 2022), between answers to the same question",
    misleads=f"{_WRONG} Long answers that differ in a detail count as different.",
    slow=True,  # asks a judge
)
def consistency_answer_match(other_answer_matches: Sequence[float]) -> float:
    """Probability that another answer to the same question means the same.

    From the local judge; a language model returns 1 or 0. Mean over the other answers. Skipped if the question was asked
    once.
    """
    return Share.of(OTHER_ANSWER, other_answer_matches)


@metric(
    "consistency.exact_match",
    **_COMMON,
    source="exact match of SQuAD (Rajpurkar et al. 2016), between answers to the same question",
    misleads=f"{_WRONG} The same answer in other words counts as different.",
)
def consistency_exact_match(answer: str, other_answers: Sequence[str]) -> float:
    """Share of the other answers to the same question that are the same text.

    Case, punctuation, articles and white space do not matter, as in `exact_match`. Skipped if the question was asked once.
    """
    mine = tokens(without_marks(answer))
    same = [tokens(without_marks(other)) == mine for other in other_answers]
    return Share.of(OTHER_ANSWER, same)
