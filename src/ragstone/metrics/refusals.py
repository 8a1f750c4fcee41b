"""Refusals by phrases, and whether they are right: RGB's negative rejection (Chen et al. 2024).

`text.refusals` defines refusals. The clause that declines is stored as evidence `declining_words`.
"""

from __future__ import annotations

from ragstone.errors import Skip
from ragstone.registry import evidence, metric
from ragstone.text.refusal_phrases import phrases_signature
from ragstone.text.refusals import find_refusal

_RGB = "RGB (Chen et al. 2024)"
_PHRASES = (
    "Refusals are found by phrases in eleven languages; unusual ones are missed (add yours with "
    "`ragstone.text.refusal_phrases.add_refusal_phrases`). An answer that declines and then guesses counts as an answer."
)


@evidence(version=2, signature=phrases_signature)
def declining_words(answer: str) -> list[str]:
    """The clause with which the answer declines; empty if it does not."""
    if not answer.strip():
        raise Skip("the answer is empty")
    clause = find_refusal(answer)
    return [clause] if clause else []


@metric(
    "refusal",
    family="refusals",
    better="none",
    judges="answer",
    against="answer",
    source=f"negative rejection, {_RGB}",
    misleads=_PHRASES,
    aliases=("rgb.reject_rate", "rejection", "abstention"),
    sets=("reference_free",),
    headline=19,
)
def refusal(declining_words: list[str]) -> float:
    """Whether the answer says that it, or the documents, cannot answer.

    1 if a clause declines and no other has content, else 0; an answer with a caveat is not a refusal. English, Chinese,
    German, French, Spanish, Italian, Portuguese, Russian, Japanese, Arabic, Hindi. `answerability_accuracy` measures
    whether declining was right. Skipped if the answer is empty.

    On 300 refusals and 300 look-alikes from ten domains (`tests/text/refusal_rows.jsonl`), recall is 0.993 and precision
    1.0. The patterns were written for two thirds of these rows; on the other third, recall is 0.98 and precision 1.0.
    """
    return float(bool(declining_words))


@metric(
    "answerability_accuracy",
    family="refusals",
    judges="answer",
    against="answerable",
    source=f"negative rejection, {_RGB}; SQuAD 2.0 (Rajpurkar et al. 2018)",
    misleads=f"A wrong answer to an answerable question counts as right. {_PHRASES}",
    aliases=("rejection_accuracy", "abstention_accuracy"),
    headline=20,
)
def answerability_accuracy(declining_words: list[str], answerable: bool) -> float:
    """Whether the answer declines if, and only if, the question cannot be answered from the documents.

    An answerable question is answered, or an unanswerable one declined. Skipped if the answer is empty.
    """
    return float(bool(declining_words) != answerable)
