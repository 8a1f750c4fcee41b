"""Word overlap: the answer against the references, the answer against the retrieved contexts.

Texts are compared as SQuAD's evaluation script does (Rajpurkar et al. 2016): lower-case, no ASCII punctuation, no
English articles; words are counted with repetition. K-precision is Adlakha et al. 2023. Whole columns at once.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ragstone.data.columns import SKIPPED, Cells, Ragged
from ragstone.data.ngrams import shared_ngrams
from ragstone.data.tokens import Nested, Tokens
from ragstone.registry import metric

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
    columnar=True,
)
def exact_match(shared_with_references: Ragged, answer_tokens: Tokens, reference_tokens: Nested[Tokens]) -> np.ndarray:
    """The answer is one of the reference answers, but for case, punctuation and articles.

    1 if the normalised answer equals a normalised reference, else 0.
    """
    rows, lengths = reference_tokens.row_of, reference_tokens.inner.lengths
    same_words = (shared_with_references.values == lengths) & (answer_tokens.lengths[rows] == lengths)
    found = np.zeros(len(answer_tokens))
    for entry in np.flatnonzero(same_words).tolist():
        found[rows[entry]] = max(found[rows[entry]], answer_tokens[rows[entry]] == reference_tokens.inner[entry])
    return found


@metric(
    "contains",
    family="lexical",
    judges="answer",
    against="references",
    source=f"RecallEM, {ADLAKHA}",
    misleads="A long answer that says everything contains the reference too; so does its denial.",
    aliases=("recall_em", "lexical_match"),
    columnar=True,
)
def contains(answer_tokens: Tokens, reference_tokens: Nested[Tokens]) -> Cells:
    """A reference answer stands in the answer, letter for letter once both are normalised.

    1 if a normalised reference is a substring of the normalised answer, else 0. Empty references are passed over;
    skipped when all are empty.
    """
    answers, references = answer_tokens.joined(), reference_tokens.inner.joined()
    found, known = np.zeros(len(answers)), np.zeros(len(answers), dtype=bool)
    for row, reference in zip(reference_tokens.row_of.tolist(), references, strict=True):
        if reference:
            known[row] = True
            found[row] = max(found[row], reference in answers[row])
    return Cells.unless(~known, "the references hold no words", found)


@metric(
    "token_recall",
    family="lexical",
    judges="answer",
    against="references",
    source=f"unitxt answer correctness, {ADLAKHA}",
    misleads=f"{PARAPHRASE} Long answers collect words.",
    aliases=("unitxt.answer_correctness",),
    sets=("unitxt",),
    columnar=True,
)
def token_recall(shared_with_references: Ragged, answer_tokens: Tokens, reference_tokens: Nested[Tokens]) -> np.ndarray:
    """How much of the reference answer's words the answer has; the best over the references.

    Shared words / words of the reference. Both sides without words: 1; one side: 0.
    """
    said, expected = _lengths(answer_tokens, reference_tokens)
    return _best(
        np.where(said + expected == 0, 1.0, _share(shared_with_references.values, expected)), shared_with_references
    )


@metric(
    "token_precision",
    family="lexical",
    judges="answer",
    against="references",
    source=SQUAD,
    misleads=f"{PARAPHRASE} Every polite word costs.",
    columnar=True,
)
def token_precision(
    shared_with_references: Ragged, answer_tokens: Tokens, reference_tokens: Nested[Tokens]
) -> np.ndarray:
    """How much of the answer stands in a reference answer; the best over the references.

    Shared words / words of the answer. Both sides without words: 1; one side: 0.
    """
    said, expected = _lengths(answer_tokens, reference_tokens)
    return _best(
        np.where(said + expected == 0, 1.0, _share(shared_with_references.values, said)), shared_with_references
    )


@metric(
    "token_f1",
    family="lexical",
    judges="answer",
    against="references",
    source=SQUAD,
    misleads=PARAPHRASE,
    aliases=("squad.f1",),
    sets=("traditional",),
    columnar=True,
)
def token_f1(shared_with_references: Ragged, answer_tokens: Tokens, reference_tokens: Nested[Tokens]) -> np.ndarray:
    """The harmonic mean of token precision and recall; the best over the references.

    Its own maximum: it may come from another reference than token_recall's.
    """
    said, expected = _lengths(answer_tokens, reference_tokens)
    return _best(
        np.where(said + expected == 0, 1.0, _share(2 * shared_with_references.values, said + expected)),
        shared_with_references,
    )


@metric(
    "k_precision",
    family="lexical",
    judges="answer",
    against="contexts",
    source=f"K-Precision, {ADLAKHA}; unitxt faithfulness",
    misleads="It looks at words one by one: an answer can reuse the context's words to say something else.",
    aliases={"unitxt.faithfulness": {"aggregate": "max"}},
    sets={"unitxt": {"aggregate": "max"}, "reference_free": {}},
    columnar=True,
)
def k_precision(
    answer_tokens: Tokens, context_tokens: Nested[Tokens], aggregate: Literal["joined", "max"] = "joined"
) -> Cells:
    """How much of the answer's words stand in the retrieved contexts: a cheap sign of faithfulness.

    Shared words / words of the answer, over the contexts joined to one text (Adlakha) or the best single context
    (`aggregate=max`, unitxt). Skipped when nothing was retrieved or the answer has no words.
    """
    if aggregate == "joined":
        shared = shared_ngrams(answer_tokens, context_tokens.joined(), 1)
    else:
        each = shared_ngrams(answer_tokens.take(context_tokens.row_of), context_tokens.inner, 1)
        shared = _best(each, context_tokens)
    cells = Cells.unless(answer_tokens.lengths == 0, "the answer has no words", _share(shared, answer_tokens.lengths))
    for row in np.flatnonzero(context_tokens.lengths == 0).tolist():
        cells.fail(row, "nothing was retrieved", SKIPPED)
    return cells


def _lengths(answer_tokens: Tokens, reference_tokens: Nested[Tokens]) -> tuple[np.ndarray, np.ndarray]:
    """Words of the answer and of the reference, for each reference."""
    return answer_tokens.lengths[reference_tokens.row_of], reference_tokens.inner.lengths


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Part / whole, and 0 where there is no whole."""
    share: np.ndarray = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return share


def _best(values: np.ndarray, lists: Ragged | Nested[Tokens]) -> np.ndarray:
    """The largest value of each row's list; 0 where the list is empty."""
    best = np.zeros(len(lists))
    np.maximum.at(best, lists.row_of, values)
    return best
