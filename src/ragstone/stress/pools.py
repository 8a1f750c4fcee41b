"""What test beds are made from: a question with passages that hold its answer and passages that do not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ragstone.data.types import Chunk, Sample
from ragstone.evidence.abilities import NEEDED
from ragstone.formats.rgb import PARTS
from ragstone.text.matchers import CitationMatcher
from ragstone.text.words import FoldedText


@dataclass(frozen=True)
class Pool:
    """One question. `groups` are the passages that hold the answer, one group for each part of it that lies elsewhere."""

    id: str
    question: str
    # All that is needed, each with its spellings.
    answers: list[list[str]]
    groups: list[list[Chunk]]
    negatives: list[Chunk] = field(default_factory=list)
    # Passages with the answer replaced, and by what.
    wrong: list[Chunk] = field(default_factory=list)
    fake: str | None = None
    references: list[str] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def positives(self) -> list[Chunk]:
        """All passages that hold the answer or a part of it, one of each group, then the next of each."""
        return list(_in_turn(self.groups))

    @property
    def spellings(self) -> list[str]:
        """Every spelling of every needed answer."""
        return [spelling for answer in self.answers for spelling in answer]

    def holds_answer(self, text: str) -> bool:
        """Whether a text has a spelling of a needed answer in it, as whole words."""
        return any(stands_in(spelling, text) for spelling in self.spellings)


def read_pools(samples: Iterable[Sample]) -> list[Pool]:
    """A pool for each sample; one that is not RGB's has its negatives found among the others later."""
    return [_from_rgb(sample) if PARTS in sample.metadata else _from_sample(sample) for sample in samples]


def stands_in(words: str, text: str) -> bool:
    """Whether words stand in a text, whole and whatever their case and punctuation."""
    wanted = fold(words)
    if wanted.strip():
        return wanted in fold(text)
    return bool(words.strip()) and words.strip() in text


@lru_cache(maxsize=100_000)
def fold(text: str) -> str:
    """A text as its folded words; the same passages are looked at for many questions."""
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
        references=sample.references,
        metadata={name: value for name, value in sample.metadata.items() if name != NEEDED},
    )


def _group_positives(sample: Sample, spellings: Sequence[str]) -> list[list[Chunk]]:
    """The passages that hold the answer: by its facts, else by reference contexts, by grades, or by the answer's words."""
    given = [chunk for chunk in sample.contexts or () if chunk.text.strip()]
    texts = [Chunk(text) for text in sample.reference_contexts or () if text.strip()]
    if sample.facts and (groups := _by_facts([fact.text for fact in sample.facts], [*given, *texts])):
        return groups
    if texts:
        return [_unique([*texts, *(chunk for chunk in given if _is_one_of(chunk, texts))])]
    relevance = sample.relevance or {}
    graded = [chunk for chunk in given if chunk.id is not None and relevance.get(chunk.id, 0) > 0]
    if graded:
        return [graded]
    holding = [chunk for chunk in given if any(stands_in(spelling, chunk.text) for spelling in spellings)]
    return [holding] if holding else []


def _by_facts(facts: Sequence[str], chunks: Sequence[Chunk]) -> list[list[Chunk]]:
    """For each fact that stands somewhere the chunks that hold it; facts that lie in the same chunks are one."""
    chunks = _unique(chunks)
    holders: dict[int, set[int]] = {}
    for found in CitationMatcher().find(facts, [chunk.text for chunk in chunks]):
        holders.setdefault(found.fact, set()).add(found.chunk)
    places = list(dict.fromkeys(tuple(sorted(found)) for _, found in sorted(holders.items())))
    if any(all(place in found for found in places) for place in range(len(chunks))):
        # One chunk holds them all: nothing need be put together.
        return [[chunks[place] for place in sorted({place for found in places for place in found})]] if places else []
    return [[chunks[place] for place in found] for found in places]


def _is_one_of(chunk: Chunk, references: Sequence[Chunk]) -> bool:
    return any(stands_in(reference.text, chunk.text) for reference in references)


def _unique(chunks: Iterable[Chunk]) -> list[Chunk]:
    return list({_folded(chunk.text): chunk for chunk in reversed(list(chunks))}.values())[::-1]


def _folded(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().casefold()


def _in_turn(groups: Sequence[Sequence[Chunk]]) -> Iterator[Chunk]:
    """The first of each group, then the second of each; a chunk of two groups once."""
    seen: set[int] = set()
    for place in range(max(map(len, groups), default=0)):
        for group in groups:
            if place < len(group) and id(group[place]) not in seen:
                seen.add(id(group[place]))
                yield group[place]
