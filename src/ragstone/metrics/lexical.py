"""The answer compared with references and contexts by words.

Texts are normalised as in SQuAD's evaluation script (Rajpurkar et al. 2016): lower case, no ASCII punctuation, no English
articles; beyond ASCII, `text.squad` does more, and `squad.exact_match` and `squad.f1` keep to the script. Words are counted with repetition. K-precision is from Adlakha et al. 2023.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from ragstone.data.columns import SKIPPED, Cells, Ragged
from ragstone.data.share import Items
from ragstone.data.tokens import Nested, Tokens, shared_ngrams
from ragstone.metrics.retrieval import divide
from ragstone.registry import metric
from ragstone.text.squad import strict_tokens

_ADLAKHA = "Adlakha et al. 2023"
_PARAPHRASE = "A right answer in other words scores low; a wrong one with the same words scores high."
_ANSWER, _REFERENCE = "answer word", "reference word"
_COMMON: dict[str, Any] = {
    "family": "lexical",
    "judges": "answer",
    "against": "references",
    "source": "SQuAD (Rajpurkar et al. 2016)",
    "columnar": True,
}


@metric(
    "exact_match",
    **_COMMON,
    misleads="Long answers almost never match, even if they are right.",
    aliases=("em",),
    sets=("traditional",),
)
def exact_match(shared_with_references: Ragged, answer_tokens: Tokens, reference_tokens: Nested[Tokens]) -> np.ndarray:
    """Whether the answer equals a reference, ignoring case, punctuation and articles.

    1 if the normalised answer equals a normalised reference, else 0.
    """
    rows, lengths = reference_tokens.row_of, reference_tokens.inner.lengths
    same_words = (shared_with_references.values == lengths) & (answer_tokens.lengths[rows] == lengths)
    matched = np.zeros(len(answer_tokens))
    for entry in np.flatnonzero(same_words).tolist():
        matched[rows[entry]] = max(matched[rows[entry]], answer_tokens[rows[entry]] == reference_tokens.inner[entry])
    return matched


@metric(
    "contains",
    **{**_COMMON, "source": f"RecallEM, {_ADLAKHA}"},
    misleads="An answer that lists everything contains the reference; so does a denial of it.",
    aliases=("recall_em", "lexical_match"),
)
def contains(answer_tokens: Tokens, reference_tokens: Nested[Tokens]) -> Cells:
    """Whether the answer contains a reference verbatim after normalisation.

    A normalised reference is a substring of the normalised answer. Empty references are ignored; skipped if
    all are empty.
    """
    answers, references = answer_tokens.joined(), reference_tokens.inner.joined()
    matched, known = np.zeros(len(answers)), np.zeros(len(answers), dtype=bool)
    for row, reference in zip(reference_tokens.row_of.tolist(), references, strict=True):
        if reference:
            known[row] = True
            matched[row] = max(matched[row], reference in answers[row])
    return Cells.unless(~known, "the references contain no words", matched)


@metric(
    "token_recall",
    **{**_COMMON, "source": f"unitxt answer correctness, {_ADLAKHA}"},
    misleads=f"{_PARAPHRASE} Long answers score higher.",
    aliases=("unitxt.answer_correctness",),
    sets=("unitxt",),
    headline=10,
)
def token_recall(shared_with_references: Ragged, answer_tokens: Tokens, reference_tokens: Nested[Tokens]) -> Cells:
    """Share of a reference's words that the answer contains; best over references.

    Shared words / words of the reference. No words on either side: 1; on one side: 0.
    """
    said, expected = _lengths(answer_tokens, reference_tokens)
    shares = _shares(shared_with_references, expected, said + expected)
    return _best(
        shares, answer_tokens, reference_tokens, lambda answer, reference: (_shared(_REFERENCE, reference, answer),)
    )


@metric("token_precision", **_COMMON, misleads=f"{_PARAPHRASE} Polite filler words lower it.")
def token_precision(shared_with_references: Ragged, answer_tokens: Tokens, reference_tokens: Nested[Tokens]) -> Cells:
    """Share of the answer's words that a reference contains; best over references.

    Shared words / words of the answer. No words on either side: 1; on one side: 0.
    """
    said, expected = _lengths(answer_tokens, reference_tokens)
    shares = _shares(shared_with_references, said, said + expected)
    return _best(
        shares, answer_tokens, reference_tokens, lambda answer, reference: (_shared(_ANSWER, answer, reference),)
    )


@metric("token_f1", **_COMMON, misleads=_PARAPHRASE, sets=("traditional",), headline=9)
def token_f1(shared_with_references: Ragged, answer_tokens: Tokens, reference_tokens: Nested[Tokens]) -> Cells:
    """Harmonic mean of token precision and recall per reference; best over references.

    The best reference may differ from that of `token_recall`.
    """
    both = np.add(*_lengths(answer_tokens, reference_tokens))
    shares = _shares(shared_with_references, both / 2, both)
    return _best(
        shares,
        answer_tokens,
        reference_tokens,
        lambda answer, reference: (_shared(_ANSWER, answer, reference), _shared(_REFERENCE, reference, answer)),
    )


_STRICT: dict[str, Any] = {**_COMMON, "family": "squad", "columnar": False, "slow": True}


@metric("squad.exact_match", **_STRICT, misleads="Curly quotes, dashes and accents typed in two ways do not match.")
def squad_exact_match(answer: str, references: list[str]) -> float:
    """The `exact_match` with the normalisation of SQuAD's script, which removes ASCII punctuation only."""
    return float(strict_tokens(answer) in [strict_tokens(reference) for reference in references])


@metric("squad.f1", **_STRICT, misleads="Curly quotes, dashes and accents typed in two ways do not match.")
def squad_f1(answer: str, references: list[str]) -> float:
    """The `token_f1` with the normalisation of SQuAD's script, which removes ASCII punctuation only.

    No words on either side: 1; on one side: 0.
    """
    said = Counter(strict_tokens(answer))
    expected = [Counter(strict_tokens(reference)) for reference in references]
    shares = [2 * (said & words).total() / max(1, said.total() + words.total()) for words in expected]
    return max([1.0 if not said and {} in expected else 0.0, *shares])


@metric(
    "k_precision",
    **{**_COMMON, "against": "contexts", "source": f"K-Precision, {_ADLAKHA}; unitxt faithfulness"},
    misleads="An answer can use the same words to state something else.",
    aliases={"unitxt.faithfulness": {"aggregate": "max"}},
    sets={"unitxt": {"aggregate": "max"}, "reference_free": {}},
    headline=11,
)
def k_precision(
    answer_tokens: Tokens, context_tokens: Nested[Tokens], aggregate: Literal["joined", "max"] = "joined"
) -> Cells:
    """Share of the answer's words that the retrieved contexts contain: a cheap proxy for faithfulness.

    Shared words / words of the answer, over all contexts joined (Adlakha) or the best single context (`aggregate=max`,
    unitxt). Skipped if nothing was retrieved or the answer has no words.
    """
    if aggregate == "joined":
        joined = context_tokens.joined()
        shared = shared_ngrams(answer_tokens, joined, 1)
    else:
        each = shared_ngrams(answer_tokens.take(context_tokens.row_of), context_tokens.inner, 1)
        shared = best_per_row(each, context_tokens)

    def items(row: int) -> tuple[Items, ...]:
        text = joined[row] if aggregate == "joined" else context_tokens.inner[_best_entry(each, context_tokens, row)]
        return (_shared(_ANSWER, answer_tokens[row], text),)

    cells = Cells.unless(answer_tokens.lengths == 0, "the answer has no words", divide(shared, answer_tokens.lengths))
    for row in np.flatnonzero(context_tokens.lengths == 0).tolist():
        cells.fail(row, "nothing was retrieved", SKIPPED)
    return cells.counting(items)


def _lengths(answer_tokens: Tokens, reference_tokens: Nested[Tokens]) -> tuple[np.ndarray, np.ndarray]:
    """Number of words of the answer and of the reference, one entry per reference."""
    return answer_tokens.lengths[reference_tokens.row_of], reference_tokens.inner.lengths


def _shares(shared: Ragged, whole: np.ndarray, both: np.ndarray) -> np.ndarray:
    """Shared / whole per reference; 1 if neither side has words."""
    return np.where(both == 0, 1.0, divide(shared.values, whole))


def _best(
    shares: np.ndarray,
    answer_tokens: Tokens,
    reference_tokens: Nested[Tokens],
    count: Callable[[Sequence[str], Sequence[str]], tuple[Items, ...]],
) -> Cells:
    """The best share of each row; `count` makes the items of an answer and its best reference."""

    def items(row: int) -> tuple[Items, ...]:
        answer, reference = answer_tokens[row], reference_tokens.inner[_best_entry(shares, reference_tokens, row)]
        return count(answer, reference) if answer or reference else ()

    return Cells.all_ok(best_per_row(shares, reference_tokens)).counting(items)


def _best_entry(values: np.ndarray, lists: Nested[Tokens], row: int) -> int:
    """The position of the largest value of a row."""
    start, end = lists.offsets[row], lists.offsets[row + 1]
    return int(start + np.argmax(values[start:end]))


def _shared(kind: str, words: Sequence[str], other: Sequence[str]) -> Items:
    """The words of one text that the other has too; a word counts as often as both have it."""
    left = Counter(other)
    marks = []
    for word in words:
        marks.append(left[word] > 0)
        left[word] -= 1
    return Items.counted(kind, marks, texts=words)


def best_per_row(values: np.ndarray, lists: Ragged | Nested[Tokens]) -> np.ndarray:
    """The largest value of each row's list; 0 if the list is empty."""
    best = np.zeros(len(lists))
    np.maximum.at(best, lists.row_of, values)
    return best
