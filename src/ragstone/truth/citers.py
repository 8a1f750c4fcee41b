"""Citers: name the citations that support an answer, with a language model or with local models.

Local models choose sentences: by the answer's words (rare ones weigh more), the question's words, the MiniLM cosine and the
offline judge, if these models are installed. Sentences are added as long as they contain words of the answer that the
earlier ones lack.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from ragstone.llm.prompted import Judge
from ragstone.llm.reply_types import CitationsReply
from ragstone.text.overlap import content_words, shares_topic
from ragstone.text.passages import Passages
from ragstone.text.questions import complete
from ragstone.text.sentences import sentences
from ragstone.text.words import FoldedText, words

if TYPE_CHECKING:
    from ragstone.models.embedders import LocalEmbedder
    from ragstone.models.local_judge import Judgements

PROMPT = "citations"
# Words of passages per call, about 4,000 tokens, which small models still read accurately.
CALL_WORDS = 2_500
MOST_CITATIONS = 5
# The answer's words count most, because a sentence that only repeats the question is not evidence.
_ANSWER, _QUESTION, _VERBATIM, _MEANING, _SUPPORT = 2.0, 1.0, 1.0, 1.0, 1.0
# The offline judge is slow, so it gets only the best sentences by the other scores.
_SHOWN_TO_JUDGE = 8
_LEAST_GAIN = 0.25
# Without the offline judge, the share of the answer's words, without those of the question, that a citation must contain.
_LEAST_COVERED = 0.5


class Support(NamedTuple):
    """Whether a citation supports the answer; `sure` is None if that was not measured."""

    supports: bool
    sure: float | None = None
    off_topic: bool = False


# The model named the citation as support.
NAMED = Support(supports=True)


class Citer(Protocol):
    """Names the citations that support an answer."""

    @property
    def signature(self) -> str:
        """The identity of the citer."""
        ...

    async def citations(self, question: str, answer: str, texts: Sequence[str]) -> list[str]:
        """Quotes of the texts that support the answer; the caller checks that they are really there."""
        ...

    async def support(self, question: str, answer: str, citations: Sequence[str]) -> list[Support]:
        """Whether each citation supports the answer, and how likely that is."""
        ...


class JudgeCiter:
    """Asks a language model."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    @property
    def signature(self) -> str:
        """The model."""
        return self._judge.signature

    @property
    def prompts(self) -> dict[str, str]:
        """The hash of the prompt."""
        return {PROMPT: self._judge.prompt_hash(PROMPT)}

    async def citations(self, question: str, answer: str, texts: Sequence[str]) -> list[str]:
        """Asks once per batch of texts."""
        citations: list[str] = []
        for passages in split_calls(texts):
            data = {"question": question, "answer": answer, "passages": passages}
            first = passages[0]
            guess = CitationsReply(citations=[first[span.start : span.end] for span in sentences(first)[:2]])
            reply = await self._judge.ask(PROMPT, CitationsReply, data, guess)
            citations += reply.citations
        return citations

    async def support(self, question: str, answer: str, citations: Sequence[str]) -> list[Support]:  # noqa: ARG002
        """The model names only citations that support the answer; how likely that is is not measured."""
        return [NAMED] * len(citations)


def split_calls(texts: Sequence[str], most: int = CALL_WORDS) -> Iterator[list[str]]:
    """The texts in order, as many per call as fit; a longer text is split between sentences."""
    batch: list[str] = []
    room = most
    for text in texts:
        for piece in Passages(text, size=most).all():
            size = sum(1 for _ in words(piece))
            if batch and size > room:
                yield batch
                batch, room = [], most
            batch.append(piece)
            room -= size
    if batch:
        yield batch


class LocalCiter:
    """Chooses sentences by words, and also by an embedder and the offline judge if they are passed."""

    def __init__(self, embedder: LocalEmbedder | None = None, judgements: Judgements | None = None) -> None:
        self._embedder = embedder
        self._judgements = judgements

    @property
    def signature(self) -> str:
        """The methods in use."""
        parts = ["lexical", *(["minilm"] if self._embedder else []), *(["judge"] if self._judgements else [])]
        return f"local-citer/1:{'+'.join(parts)}"

    async def citations(self, question: str, answer: str, texts: Sequence[str]) -> list[str]:
        """The best sentence, and others as long as they add words of the answer."""
        listed = list(dict.fromkeys(text[span.start : span.end] for text in texts for span in sentences(text)))
        scores = _lexical(question, answer, listed)
        if self._embedder and listed:
            scores += _MEANING * await _nearness(self._embedder, complete(question, answer), listed)
        if self._judgements and listed:
            best = np.argsort(-scores, kind="stable")[:_SHOWN_TO_JUDGE]
            scores[best] += _SUPPORT * await _support(
                self._judgements, complete(question, answer), [listed[place] for place in best.tolist()]
            )
        return _choose(answer, [listed[place] for place in np.argsort(-scores, kind="stable").tolist()])

    async def support(self, question: str, answer: str, citations: Sequence[str]) -> list[Support]:
        """By the offline judge, otherwise by words: a citation alone, or all citations together if it adds to them.

        A citation about another topic than the answer supports nothing.
        """
        evidence = [*citations, "\n".join(citations)] if len(citations) > 1 else list(citations)
        sure = np.zeros(len(evidence))
        for part in _parts(answer):
            sure = np.maximum(sure, await self._sure(question, part, evidence))
        least = self._judgements.judge.card.readings["support"].threshold if self._judgements else _LEAST_COVERED
        alone, together = sure[: len(citations)].tolist(), float(sure[-1]) if len(citations) > 1 else 0.0
        adds = [not content_words(answer).isdisjoint(content_words(text)) for text in citations]
        best = [max(one, together) if added else one for one, added in zip(alone, adds, strict=True)]
        # The judge takes the nearest sentence for support if no passage has the answer.
        near = [shares_topic(text, question, answer) for text in citations]
        return [Support(one >= least and fits, round(one, 3), not fits) for one, fits in zip(best, near, strict=True)]

    async def _sure(self, question: str, part: str, evidence: Sequence[str]) -> np.ndarray:
        """The probability or, without the offline judge, the share of words with which each text supports the part."""
        if self._judgements:
            return await _support(self._judgements, complete(question, part), evidence)
        wanted = content_words(part) - content_words(question) or content_words(part)
        return np.array([len(wanted & content_words(text)) / max(1, len(wanted)) for text in evidence])


def _parts(answer: str) -> list[str]:
    """The answer and its sentences: a citation may support a part of a longer answer."""
    return list(dict.fromkeys([answer, *(answer[span.start : span.end] for span in sentences(answer))]))


async def _nearness(embedder: LocalEmbedder, claim: str, listed: Sequence[str]) -> np.ndarray:
    """The cosine of each sentence with the claim."""
    vectors = await embedder.embed([claim, *listed])
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    cosines: np.ndarray = unit[1:] @ unit[0]
    return cosines


async def _support(judgements: Judgements, claim: str, listed: Sequence[str]) -> np.ndarray:
    """The probability that each sentence supports the claim."""
    return np.array([found.supported for found in await judgements.support([(text, claim) for text in listed])])


def _lexical(question: str, answer: str, listed: Sequence[str]) -> np.ndarray:
    """Weighted shares of the answer's and the question's words per sentence, and whether it contains the answer."""
    there = [content_words(text) for text in listed]
    common = Counter(word for words in there for word in words)
    wanted = content_words(answer)
    asked = content_words(question) - wanted
    folded = FoldedText(answer)
    return np.array(
        [
            _ANSWER * _share(wanted, words, common, len(listed))
            + _QUESTION * _share(asked, words, common, len(listed))
            + _VERBATIM * bool(folded and folded.folded in FoldedText(text).folded)
            for text, words in zip(listed, there, strict=True)
        ],
        dtype=float,
    )


def _share(wanted: frozenset[str], there: frozenset[str], common: Counter[str], count: int) -> float:
    """The share of some words that a sentence contains; rare words weigh more."""
    weights = {word: math.log1p(count / max(common[word], 1)) for word in wanted}
    whole = sum(weights.values())
    return sum(weight for word, weight in weights.items() if word in there) / whole if whole else 0.0


def _choose(answer: str, ranked: Sequence[str]) -> list[str]:
    """The best sentence, then those that add enough of the missing words of the answer."""
    if not ranked:
        return []
    wanted = content_words(answer)
    chosen, lacking = [ranked[0]], wanted - content_words(ranked[0])
    for sentence in ranked[1:]:
        if not lacking or len(chosen) == MOST_CITATIONS:
            break
        gained = lacking & content_words(sentence)
        if len(gained) / len(wanted) >= _LEAST_GAIN:
            chosen.append(sentence)
            lacking -= gained
    return chosen


def open_local_citer() -> LocalCiter:
    """A local citer with the models that are installed."""
    from ragstone.models.embedders import LocalEmbedder, find_minilm  # noqa: PLC0415  (reads models)
    from ragstone.models.local_judge import Judgements, find_local_judge  # noqa: PLC0415

    minilm, judge = find_minilm(), find_local_judge()
    return LocalCiter(LocalEmbedder(minilm) if minilm else None, Judgements(judge) if judge else None)
