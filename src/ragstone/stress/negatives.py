"""Passages that look like an answer and are none: of other questions, the closest to this one by words and by meaning.

What the user's own retriever found for a question and what does not hold the answer comes first: that is the noise that
the generator really meets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from ragstone.data.types import Chunk, Sample
from ragstone.stress.pools import Pool, fold
from ragstone.text.folded import number_words

# Texts to vectors, a row a text.
Embed = Callable[[Sequence[str]], np.ndarray]
# So many of the closest are looked at, by words and by meaning.
_LOOKED_AT = 100
_QUESTIONS_AT_ONCE = 256
# What is usual where rankings are joined by their ranks.
_DAMPING = 60


@dataclass
class NegativesReport:
    """What was met on the way: passages that hold an answer they should not."""

    # Passages that were close and hold the answer, by question.
    holding: dict[str, int] = field(default_factory=dict)

    @property
    def passages(self) -> int:
        """How many they are."""
        return sum(self.holding.values())


def clean_negatives(pools: Sequence[Pool]) -> tuple[list[Pool], NegativesReport]:
    """Given negatives without those that hold the answer: a question for which one of them does has a contaminated bed."""
    report = NegativesReport()
    cleaned = []
    for pool in pools:
        kept = [chunk for chunk in pool.negatives if not pool.holds_answer(chunk.text)]
        if len(kept) < len(pool.negatives):
            report.holding[pool.id] = len(pool.negatives) - len(kept)
        cleaned.append(replace(pool, negatives=kept))
    return cleaned, report


def find_negatives(
    pools: Sequence[Pool], samples: Sequence[Sample], wanted: int, embed: Embed | None = None
) -> tuple[list[Pool], NegativesReport]:
    """Pools without negatives get so many: the question's own retrieved passages first, then those of others."""
    report = NegativesReport()
    corpus = _Corpus(samples, embed)
    ranked = corpus.rank([pool.question for pool in pools])
    found = []
    for pool, sample, places in zip(pools, samples, ranked, strict=True):
        own = [chunk for chunk in sample.contexts or () if chunk.text.strip()]
        candidates = [*own, *(corpus.chunks[place] for place in places)]
        found.append(replace(pool, negatives=_choose(pool, sample, candidates, wanted, report)))
    return found, report


def _choose(
    pool: Pool, sample: Sample, candidates: Sequence[Chunk], wanted: int, report: NegativesReport
) -> list[Chunk]:
    """The first candidates that are none of the question's own and hold neither its answer nor a fact of it."""
    taken = {fold(chunk.text) for chunk in pool.positives}
    facts = [fold(fact.text) for fact in sample.facts or ()]
    chosen: list[Chunk] = []
    for chunk in candidates:
        if len(chosen) == wanted:
            break
        folded = fold(chunk.text)
        if folded in taken:
            continue
        taken.add(folded)
        if pool.holds_answer(chunk.text) or any(fact in folded for fact in facts):
            report.holding[pool.id] = report.holding.get(pool.id, 0) + 1
        else:
            chosen.append(chunk)
    return chosen


class _Corpus:
    """All passages of all samples, each once, to be ranked by their closeness to questions."""

    def __init__(self, samples: Sequence[Sample], embed: Embed | None) -> None:
        self.chunks = list({chunk.text: chunk for chunk in _all_chunks(samples)}.values())
        self._embed = embed

    def rank(self, questions: Sequence[str]) -> list[list[int]]:
        """For each question the places of the closest passages, best first."""
        if not self.chunks:
            return [[] for _ in questions]
        by_words = _rank_by_words(questions, [chunk.text for chunk in self.chunks])
        if self._embed is None:
            return [places.tolist() for places in by_words]
        by_meaning = _rank_by_meaning(self._embed(list(questions)), self._embed([chunk.text for chunk in self.chunks]))
        return [_join(words, meaning) for words, meaning in zip(by_words, by_meaning, strict=True)]


def _all_chunks(samples: Sequence[Sample]) -> Iterator[Chunk]:
    for sample in samples:
        for chunk in sample.contexts or ():
            if chunk.text.strip():
                yield chunk
        for text in sample.reference_contexts or ():
            if text.strip():
                yield Chunk(text)


def _rank_by_words(questions: Sequence[str], passages: Sequence[str]) -> Iterator[np.ndarray]:
    """By the words that are shared, rare ones counting more, and long passages less."""
    from scipy import sparse  # noqa: PLC0415  (takes longer to load than most commands)

    numbered = number_words(pa.array([*questions, *passages], pa.string()))
    size = int(numbered.numbers.max()) + 1 if len(numbered.numbers) else 1
    counts = sparse.csr_matrix(
        (np.ones(len(numbered.numbers)), numbered.numbers, numbered.offsets), shape=(len(numbered.offsets) - 1, size)
    )
    counts.sum_duplicates()
    present = counts.copy()
    present.data[:] = 1.0
    asked, told = present[: len(questions)], present[len(questions) :]
    rarity = np.log1p(len(passages) / (1.0 + np.asarray(told.sum(axis=0)).ravel()))
    length = np.sqrt(np.asarray(counts[len(questions) :].sum(axis=1)).ravel() + 1.0)
    for start in range(0, len(questions), _QUESTIONS_AT_ONCE):
        shared = asked[start : start + _QUESTIONS_AT_ONCE].multiply(rarity).tocsr() @ told.T
        yield from (_best(row / length) for row in np.asarray(shared.todense()))


def _rank_by_meaning(questions: np.ndarray, passages: np.ndarray) -> Iterator[np.ndarray]:
    questions, passages = _unit(questions), _unit(passages)
    for start in range(0, len(questions), _QUESTIONS_AT_ONCE):
        yield from (_best(row) for row in questions[start : start + _QUESTIONS_AT_ONCE] @ passages.T)


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: np.ndarray = vectors / np.where(lengths > 0, lengths, 1.0)
    return found


def _best(closeness: np.ndarray) -> np.ndarray:
    """The places of the highest values, best first; equal ones in their order."""
    return np.argsort(-closeness, kind="stable")[:_LOOKED_AT]


def _join(words: np.ndarray, meaning: np.ndarray) -> list[int]:
    """Two rankings as one: each gives a place more the earlier it stands there."""
    worth: dict[int, float] = {}
    for ranking in (words, meaning):
        for rank, place in enumerate(ranking.tolist()):
            worth[place] = worth.get(place, 0.0) + 1 / (_DAMPING + rank)
    return sorted(worth, key=lambda place: -worth[place])
