"""Citations named without a language model: sentences chosen by the words and the meaning that they share with question and answer.

Each sentence is scored by the answer's words that it has (rare ones weigh more), by the question's, by the cosine of its
embedding with question and answer where MiniLM is there, and by how far the offline judge says that it supports the answer
where that is there. Sentences are taken as long as they have words of the answer that those before them lack.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ragstone.text.overlap import content_words
from ragstone.text.questions import complete
from ragstone.text.sentences import sentences
from ragstone.text.words import FoldedText

if TYPE_CHECKING:
    from ragstone.models.embedders import LocalEmbedder
    from ragstone.models.local_judge import Judgements

MOST_CITATIONS = 5
# What the answer says counts most: a sentence that only repeats the question is no evidence.
_ANSWER, _QUESTION, _VERBATIM, _MEANING, _SUPPORT = 2.0, 1.0, 1.0, 1.0, 1.0
# Only the best by the other scores are shown to the offline judge, which takes longest.
_SHOWN_TO_JUDGE = 8
_LEAST_GAIN = 0.25


class _Scored(NamedTuple):
    text: str
    words: frozenset[str]
    score: float


class LocalCiter:
    """Chooses sentences; better with an embedder and with the offline judge, and able to do without."""

    def __init__(self, embedder: LocalEmbedder | None = None, judgements: Judgements | None = None) -> None:
        self._embedder = embedder
        self._judgements = judgements

    @property
    def signature(self) -> str:
        """Who takes part in the choice."""
        parts = ["lexical", *(["minilm"] if self._embedder else []), *(["judge"] if self._judgements else [])]
        return f"local-citer/1:{'+'.join(parts)}"

    async def citations(self, question: str, answer: str, texts: Sequence[str]) -> list[str]:
        """The best sentence, and others as long as they bring words of the answer."""
        listed = list(dict.fromkeys(text[span.start : span.end] for text in texts for span in sentences(text)))
        scores = _lexical(question, answer, listed)
        if self._embedder and listed:
            scores += _MEANING * await _nearness(self._embedder, complete(question, answer), listed)
        if self._judgements and listed:
            best = np.argsort(-scores, kind="stable")[:_SHOWN_TO_JUDGE]
            scores[best] += _SUPPORT * await _support(
                self._judgements, complete(question, answer), [listed[place] for place in best.tolist()]
            )
        ranked = sorted(zip(listed, scores, strict=True), key=lambda pair: -pair[1])
        return _choose(answer, [_Scored(text, content_words(text), float(score)) for text, score in ranked])


async def _nearness(embedder: LocalEmbedder, claim: str, listed: Sequence[str]) -> np.ndarray:
    """The cosine of each sentence with the claim."""
    vectors = await embedder.embed([claim, *listed])
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    cosines: np.ndarray = unit[1:] @ unit[0]
    return cosines


async def _support(judgements: Judgements, claim: str, listed: Sequence[str]) -> np.ndarray:
    """How likely each sentence supports the claim."""
    return np.array([found.supported for found in await judgements.support([(text, claim) for text in listed])])


def _lexical(question: str, answer: str, listed: Sequence[str]) -> np.ndarray:
    """Weighted shares of the answer's and of the question's words in each sentence, and whether the answer stands in it."""
    there = [content_words(text) for text in listed]
    common = Counter(word for words in there for word in words)
    wanted = content_words(answer)
    asked = content_words(question) - wanted
    told = FoldedText(answer)
    return np.array(
        [
            _ANSWER * _share(wanted, words, common, len(listed))
            + _QUESTION * _share(asked, words, common, len(listed))
            + _VERBATIM * bool(told and told.folded in FoldedText(text).folded)
            for text, words in zip(listed, there, strict=True)
        ],
        dtype=float,
    )


def _share(wanted: frozenset[str], there: frozenset[str], common: Counter[str], count: int) -> float:
    """The share of some words that a sentence has; words that few sentences have weigh more."""
    weights = {word: math.log1p(count / max(common[word], 1)) for word in wanted}
    whole = sum(weights.values())
    return sum(weight for word, weight in weights.items() if word in there) / whole if whole else 0.0


def _choose(answer: str, ranked: Sequence[_Scored]) -> list[str]:
    """The best one, then those that bring enough of what is still lacking of the answer."""
    if not ranked:
        return []
    wanted = content_words(answer)
    chosen, lacking = [ranked[0]], wanted - ranked[0].words
    for sentence in ranked[1:]:
        if not lacking or len(chosen) == MOST_CITATIONS:
            break
        if len(lacking & sentence.words) / len(wanted) >= _LEAST_GAIN:
            chosen.append(sentence)
            lacking -= sentence.words
    return [sentence.text for sentence in chosen]


def open_local_citer() -> LocalCiter:
    """With those models that are on this machine."""
    from ragstone.models.embedders import LocalEmbedder, find_minilm  # noqa: PLC0415  (reads models)
    from ragstone.models.local_judge import Judgements, find_local_judge  # noqa: PLC0415

    minilm, judge = find_minilm(), find_local_judge()
    return LocalCiter(LocalEmbedder(minilm) if minilm else None, Judgements(judge) if judge else None)
