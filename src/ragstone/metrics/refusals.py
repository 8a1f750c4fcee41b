"""Refusals: does the answer decline, and should it have. RGB's negative rejection (Chen et al. 2024), by phrases.

`text.refusals` says what counts as a refusal; the clause that declines is kept as evidence `declining_words`.
"""

from __future__ import annotations

from ragstone.registry import metric

RGB = "RGB (Chen et al. 2024)"
PHRASES = (
    "It knows refusals by their phrases, in eleven languages, and misses unusual ones; "
    "an answer that only guesses after declining is taken for an answer."
)


@metric(
    "refusal",
    family="refusals",
    better="none",
    judges="answer",
    against="answer",
    source=f"negative rejection, {RGB}",
    misleads=PHRASES,
    aliases=("rgb.reject_rate", "rejection", "abstention"),
    sets=("reference_free",),
)
def refusal(declining_words: list[str]) -> float:
    """The answer declines: it says that it does not know, cannot tell, or that the documents do not.

    1 if a clause declines and no other has content, else 0: a caveat before or after an answer is no refusal. English,
    Chinese, German, French, Spanish, Italian, Portuguese, Russian, Japanese, Arabic, Hindi. Neither good nor bad by itself:
    `answerability_accuracy` says whether it was right to decline. Skipped when the answer is empty.
    """
    return float(bool(declining_words))


@metric(
    "answerability_accuracy",
    family="refusals",
    judges="answer",
    against="answerable",
    source=f"negative rejection, {RGB}; SQuAD 2.0 (Rajpurkar et al. 2018)",
    misleads=f"A wrong answer to an answerable question counts as right: it was not declined. {PHRASES}",
    aliases=("rejection_accuracy", "abstention_accuracy"),
)
def answerability_accuracy(declining_words: list[str], answerable: bool) -> float:
    """The answer declines when the documents do not hold the answer, and only then.

    1 if a question that can be answered is not declined, or one that cannot is; else 0. Skipped when the answer is empty.
    """
    return float(bool(declining_words) != answerable)
