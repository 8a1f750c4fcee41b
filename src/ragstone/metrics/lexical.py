"""Word overlap: the answer against the references, the answer against the retrieved contexts.

Texts are compared as SQuAD's evaluation script does (Rajpurkar et al. 2016): lower-case, no ASCII punctuation, no
English articles; words are counted with repetition. K-precision is Adlakha et al. 2023.
"""

from __future__ import annotations

from typing import Literal

from ragstone.errors import Skip
from ragstone.registry import metric
from ragstone.text.overlap import bag_overlap

SQUAD = "SQuAD (Rajpurkar et al. 2016)"
ADLAKHA = "Adlakha et al. 2023"
PARAPHRASE = "A right answer in other words scores low; a wrong one with the same words scores high."


@metric(
    "exact_match",
    family="lexical",
    judges="answer",
    against="references",
    source=SQUAD,
    misleads="Long answers almost never match, however right they are.",
    aliases=("em", "squad.exact_match"),
    sets=("traditional",),
)
def exact_match(answer_tokens: list[str], reference_tokens: list[list[str]]) -> float:
    """The answer is one of the reference answers, but for case, punctuation and articles.

    1 if the normalised answer equals a normalised reference, else 0.
    """
    return float(answer_tokens in reference_tokens)


@metric(
    "contains",
    family="lexical",
    judges="answer",
    against="references",
    source=f"RecallEM, {ADLAKHA}",
    misleads="A long answer that says everything contains the reference too; so does its denial.",
    aliases=("recall_em", "lexical_match"),
)
def contains(answer_tokens: list[str], reference_tokens: list[list[str]]) -> float:
    """A reference answer stands word for word in the answer.

    1 if a normalised reference is a substring of the normalised answer, else 0. Empty references are passed over.
    """
    answer = " ".join(answer_tokens)
    references = [" ".join(tokens) for tokens in reference_tokens if tokens]
    if not references:
        raise Skip("the references hold no words")
    return float(any(reference in answer for reference in references))


@metric(
    "token_recall",
    family="lexical",
    judges="answer",
    against="references",
    source=f"unitxt answer correctness, {ADLAKHA}",
    misleads=f"{PARAPHRASE} Long answers collect words.",
    aliases=("unitxt.answer_correctness",),
    sets=("unitxt",),
)
def token_recall(answer_tokens: list[str], reference_tokens: list[list[str]]) -> float:
    """How much of the reference answer's words the answer has; the best over the references.

    Shared words / words of the reference. Both sides without words: 1; one side: 0.
    """
    return max(bag_overlap(answer_tokens, reference).recall for reference in reference_tokens)


@metric(
    "token_precision",
    family="lexical",
    judges="answer",
    against="references",
    source=SQUAD,
    misleads=f"{PARAPHRASE} Every polite word costs.",
)
def token_precision(answer_tokens: list[str], reference_tokens: list[list[str]]) -> float:
    """How much of the answer stands in a reference answer; the best over the references.

    Shared words / words of the answer. Both sides without words: 1; one side: 0.
    """
    return max(bag_overlap(answer_tokens, reference).precision for reference in reference_tokens)


@metric(
    "token_f1",
    family="lexical",
    judges="answer",
    against="references",
    source=SQUAD,
    misleads=PARAPHRASE,
    aliases=("squad.f1",),
    sets=("traditional",),
)
def token_f1(answer_tokens: list[str], reference_tokens: list[list[str]]) -> float:
    """The harmonic mean of token precision and recall; the best over the references.

    Its own maximum: it may come from another reference than token_recall's.
    """
    return max(bag_overlap(answer_tokens, reference).f1 for reference in reference_tokens)


@metric(
    "k_precision",
    family="lexical",
    judges="answer",
    against="contexts",
    source=f"K-Precision, {ADLAKHA}; unitxt faithfulness",
    misleads="It looks at words one by one: an answer can reuse the context's words to say something else.",
    aliases={"unitxt.faithfulness": {"aggregate": "max"}},
    sets={"unitxt": {"aggregate": "max"}, "reference_free": {}},
)
def k_precision(
    answer_tokens: list[str], context_tokens: list[list[str]], aggregate: Literal["joined", "max"] = "joined"
) -> float:
    """How much of the answer's words stand in the retrieved contexts: a cheap sign of faithfulness.

    Shared words / words of the answer, over the contexts joined to one text (Adlakha) or the best single context (`aggregate=max`, unitxt).
    Skipped when nothing was retrieved or the answer has no words.
    """
    if not context_tokens:
        raise Skip("nothing was retrieved")
    if not answer_tokens:
        raise Skip("the answer has no words")
    if aggregate == "max":
        return max(bag_overlap(answer_tokens, context).precision for context in context_tokens)
    return bag_overlap(answer_tokens, [token for context in context_tokens for token in context]).precision
