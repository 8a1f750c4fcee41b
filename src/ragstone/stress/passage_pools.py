"""Passages for test beds: those that contain the answer to a question, and similar ones that do not.

Negatives are passages of other questions, the closest by words and by meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from ragstone.data.types import Chunk, Sample
from ragstone.errors import UsageError
from ragstone.formats.rgb import PARTS
from ragstone.metrics.rgb import NEEDED
from ragstone.text.matchers import CitationMatcher
from ragstone.text.word_columns import number_words
from ragstone.text.words import FoldedText

# Texts to vectors, one row per text.
Embed = Callable[[Sequence[str]], np.ndarray]
# The number of closest passages considered, by words and by meaning.
_CANDIDATES = 100
_QUESTIONS_AT_ONCE = 256
# The usual constant of reciprocal rank fusion.
_DAMPING = 60
_LONG_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,:]?\d)+(?![\w])")
# The metadata name of the reason why no error could be planted.
WHY_NO_ERROR = "why_no_error"


@dataclass(frozen=True)
class Pool:
    """One question with its passages. `groups` has one list of passages per separate part of the answer."""

    id: str
    question: str
    # Every needed answer, each with its spellings.
    answers: list[list[str]]
    groups: list[list[Chunk]]
    negatives: list[Chunk] = field(default_factory=list)
    # Passages with the answer replaced, and its replacement.
    wrong: list[Chunk] = field(default_factory=list)
    fake: str | None = None
    references: list[str] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    # Whether the passages come from RGB's files; then they are mixed as in RGB's code.
    is_rgb: bool = False
    # The passages that the user's retriever returned, in its order.
    retrieved: list[Chunk] = field(default_factory=list)

    @property
    def positives(self) -> list[Chunk]:
        """All passages with the answer or a part of it: one of each group, then the next of each."""
        return list(_in_turn(self.groups))

    @property
    def spellings(self) -> list[str]:
        """Every spelling of every needed answer."""
        return [spelling for answer in self.answers for spelling in answer]

    def holds_answer(self, text: str) -> bool:
        """Whether a text contains a spelling of a needed answer, as whole words."""
        return any(stands_in(spelling, text) for spelling in self.spellings)


def read_pools(samples: Iterable[Sample]) -> list[Pool]:
    """One pool per sample; only RGB's samples have negatives yet."""
    return [_from_rgb(sample) if PARTS in sample.metadata else _from_sample(sample) for sample in samples]


def shorten_answer(pool: Pool) -> Pool:
    """The pool with a number of its reference in place of the whole sentence, if no passage contains the sentence.

    It is the first number of two digits or more that a passage contains and the question does not.
    """
    chunks = _unique([*pool.retrieved, *pool.positives])
    if len(pool.answers) != 1 or any(pool.holds_answer(chunk.text) for chunk in chunks):
        return pool
    for number in _LONG_NUMBER.findall(" ".join(pool.answers[0][:1])):
        holding = [chunk for chunk in chunks if stands_in(number, chunk.text)]
        if holding and not stands_in(number, pool.question):
            negatives = [chunk for chunk in pool.negatives if not stands_in(number, chunk.text)]
            return replace(pool, answers=[[number]], groups=[holding], negatives=negatives)
    return pool


def stands_in(words: str, text: str) -> bool:
    """Whether a text contains these words, whole, ignoring case and punctuation."""
    wanted = fold(words)
    if wanted.strip():
        return wanted in fold(text)
    return bool(words.strip()) and words.strip() in text


@lru_cache(maxsize=100_000)
def fold(text: str) -> str:
    """The folded words of a text, cached because each passage is compared with many questions."""
    return FoldedText(text).folded


def _from_rgb(sample: Sample) -> Pool:
    parts = sample.metadata[PARTS]
    positive = parts.get("positive") or []
    nested = any(isinstance(group, list) for group in positive)
    groups = [group if isinstance(group, list) else [group] for group in positive] if nested else [positive]
    return Pool(
        id=sample.id,
        question=sample.question or "",
        answers=[[str(spelling) for spelling in needed] for needed in parts.get("answer") or []],
        groups=[_chunks(group, f"{sample.id}+") for group in groups if group],
        negatives=_chunks(parts.get("negative") or [], f"{sample.id}-"),
        wrong=_chunks(parts.get("positive_wrong") or [], f"{sample.id}!"),
        fake=parts.get("fakeanswer"),
        references=sample.references,
        metadata={name: value for name, value in sample.metadata.items() if name != PARTS},
        is_rgb=True,
    )


def _chunks(texts: Sequence[str], prefix: str) -> list[Chunk]:
    return [Chunk(str(text), id=f"{prefix}{number}") for number, text in enumerate(texts, start=1)]


def _from_sample(sample: Sample) -> Pool:
    needed = sample.metadata.get(NEEDED)
    answers = [one if isinstance(one, list) else [one] for one in needed] if isinstance(needed, list) else []
    answers = answers or ([list(sample.references)] if sample.references else [])
    return Pool(
        id=sample.id,
        question=sample.question or "",
        answers=[[str(spelling) for spelling in spellings] for spellings in answers],
        groups=_group_positives(sample, [spelling for spellings in answers for spelling in spellings]),
        retrieved=_retrieved(sample),
        references=sample.references,
        metadata={name: value for name, value in sample.metadata.items() if name != NEEDED},
    )


def _retrieved(sample: Sample) -> list[Chunk]:
    return [chunk for chunk in sample.contexts or () if chunk.text.strip()]


def _known(sample: Sample) -> list[Chunk]:
    return [Chunk(text) for text in sample.reference_contexts or () if text.strip()]


def _group_positives(sample: Sample, spellings: Sequence[str]) -> list[list[Chunk]]:
    """The passages with the answer: by its facts, otherwise by reference contexts, grades, or the answer's words."""
    retrieved, texts = _retrieved(sample), _known(sample)
    if sample.facts and (groups := _by_facts([fact.text for fact in sample.facts], [*retrieved, *texts])):
        return groups
    if texts:
        return [
            _unique(
                [*texts, *(chunk for chunk in retrieved if any(stands_in(known.text, chunk.text) for known in texts))]
            )
        ]
    relevance = sample.relevance or {}
    graded = [chunk for chunk in retrieved if chunk.id is not None and relevance.get(chunk.id, 0) > 0]
    if graded:
        return [graded]
    holding = [chunk for chunk in retrieved if any(stands_in(spelling, chunk.text) for spelling in spellings)]
    return [holding] if holding else []


def _by_facts(facts: Sequence[str], chunks: Sequence[Chunk]) -> list[list[Chunk]]:
    """The chunks that contain each fact; facts in the same chunks form one group."""
    chunks = _unique(chunks)
    holders: dict[int, set[int]] = {}
    for found in CitationMatcher().find(facts, [chunk.text for chunk in chunks]):
        holders.setdefault(found.fact, set()).add(found.chunk)
    groups = list(dict.fromkeys(tuple(sorted(found)) for _, found in sorted(holders.items())))
    if any(all(position in found for found in groups) for position in range(len(chunks))):
        # One chunk contains all facts, so nothing needs to be combined.
        return (
            [[chunks[position] for position in sorted({position for found in groups for position in found})]]
            if groups
            else []
        )
    return [[chunks[position] for position in found] for found in groups]


def _unique(chunks: Iterable[Chunk]) -> list[Chunk]:
    last_first = reversed(list(chunks))
    return list({" ".join(chunk.text.split()).casefold(): chunk for chunk in last_first}.values())[::-1]


def _in_turn(groups: Sequence[Sequence[Chunk]]) -> Iterator[Chunk]:
    """The first of each group, then the second of each; a chunk in two groups counts once."""
    seen: set[int] = set()
    for place in range(max(map(len, groups), default=0)):
        for group in groups:
            if place < len(group) and id(group[place]) not in seen:
                seen.add(id(group[place]))
                yield group[place]


def build_pools(
    samples: Sequence[Sample], wanted: int, keep_contaminated: bool = False, embed: Embed | None = None
) -> tuple[list[Pool], dict[str, int]]:
    """Pools with negatives: RGB's samples have them, for others up to `wanted` per pool are searched.

    Also the number of noise passages that contain an answer, per question.
    """
    pools = read_pools(samples)
    is_rgb = [PARTS in sample.metadata for sample in samples]
    if all(is_rgb):
        cleaned, holding = clean_negatives(pools)
        # Contaminated passages are kept on request; their rows are marked.
        return pools if keep_contaminated else cleaned, holding
    if any(is_rgb):
        raise UsageError("some samples are RGB's and some are not; test them in separate runs")
    return find_negatives(pools, samples, wanted, embed)


def clean_negatives(pools: Sequence[Pool]) -> tuple[list[Pool], dict[str, int]]:
    """Removes negatives that contain the answer, because they would contaminate the bed."""
    holding: dict[str, int] = {}
    cleaned = []
    for pool in pools:
        kept = [chunk for chunk in pool.negatives if not pool.holds_answer(chunk.text)]
        if len(kept) < len(pool.negatives):
            holding[pool.id] = len(pool.negatives) - len(kept)
        cleaned.append(replace(pool, negatives=kept))
    return cleaned, holding


def find_negatives(
    pools: Sequence[Pool], samples: Sequence[Sample], wanted: int, embed: Embed | None = None
) -> tuple[list[Pool], dict[str, int]]:
    """Adds up to `wanted` negatives per pool: the question's own retrieved passages first, then those of others.

    The noise that the user's retriever returns is the noise that the generator gets in production.
    """
    holding: dict[str, int] = {}
    retrieved = [_retrieved(sample) for sample in samples]
    everything = [chunk for own, sample in zip(retrieved, samples, strict=True) for chunk in (*own, *_known(sample))]
    chunks = list({chunk.text: chunk for chunk in everything}.values())
    rankings = _rank([pool.question for pool in pools], [chunk.text for chunk in chunks], embed)
    completed = []
    for pool, sample, own, ranking in zip(pools, samples, retrieved, rankings, strict=True):
        candidates = [*own, *(chunks[position] for position in ranking)]
        completed.append(replace(pool, negatives=_choose(pool, sample, candidates, wanted, holding)))
    return completed, holding


def _choose(
    pool: Pool, sample: Sample, candidates: Sequence[Chunk], wanted: int, holding: dict[str, int]
) -> list[Chunk]:
    """The first candidates that are not positives and contain neither the answer nor a fact."""
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
            holding[pool.id] = holding.get(pool.id, 0) + 1
        else:
            chosen.append(chunk)
    return chosen


def named(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Chunks with unique ids; passages of several questions may share an id."""
    seen: set[str] = set()
    renamed = []
    for position, chunk in enumerate(chunks, start=1):
        name = chunk.id or f"#{position}"
        name = f"{name}#{position}" if name in seen else name
        seen.add(name)
        renamed.append(replace(chunk, id=name))
    return renamed


def _rank(questions: Sequence[str], passages: Sequence[str], embed: Embed | None) -> list[list[int]]:
    """The positions of the closest passages per question, best first."""
    if not passages:
        return [[] for _ in questions]
    by_words = _rank_by_words(questions, passages)
    if embed is None:
        return [ranking.tolist() for ranking in by_words]
    by_meaning = _rank_by_meaning(embed(list(questions)), embed(list(passages)))
    return [_fuse(words, meaning) for words, meaning in zip(by_words, by_meaning, strict=True)]


def _rank_by_words(questions: Sequence[str], passages: Sequence[str]) -> Iterator[np.ndarray]:
    """Ranks by shared words; rare words count more, and long passages less."""
    words, offsets, _ = number_words(pa.array([*questions, *passages], pa.string()))
    lengths, first = np.diff(offsets), len(questions)
    # The passages of each word, one word after another.
    keys = np.unique(words.astype(np.int64) * len(lengths) + np.repeat(np.arange(len(lengths)), lengths))
    word, text = np.divmod(keys[keys % len(lengths) >= first], len(lengths))
    starts = np.searchsorted(word, np.arange(int(words.max(initial=0)) + 2))
    rarity = np.log1p(len(passages) / (1.0 + np.diff(starts)))
    for question in range(first):
        closeness = np.zeros(len(passages))
        for number in np.unique(words[offsets[question] : offsets[question + 1]]):
            closeness[text[starts[number] : starts[number + 1]] - first] += rarity[number]
        yield _best(closeness / np.sqrt(lengths[first:] + 1.0))


def _rank_by_meaning(questions: np.ndarray, passages: np.ndarray) -> Iterator[np.ndarray]:
    lengths = (np.linalg.norm(vectors, axis=1, keepdims=True) for vectors in (questions, passages))
    divisors = [np.where(length > 0, length, 1.0) for length in lengths]
    questions, passages = questions / divisors[0], passages / divisors[1]
    for start in range(0, len(questions), _QUESTIONS_AT_ONCE):
        yield from (_best(row) for row in questions[start : start + _QUESTIONS_AT_ONCE] @ passages.T)


def _best(closeness: np.ndarray) -> np.ndarray:
    """The positions of the highest values, best first; ties keep their order."""
    return np.argsort(-closeness, kind="stable")[:_CANDIDATES]


def _fuse(words: np.ndarray, meaning: np.ndarray) -> list[int]:
    """Reciprocal rank fusion of two rankings."""
    worth: dict[int, float] = {}
    for ranking in (words, meaning):
        for rank, position in enumerate(ranking.tolist()):
            worth[position] = worth.get(position, 0.0) + 1 / (_DAMPING + rank)
    return sorted(worth, key=lambda position: -worth[position])
