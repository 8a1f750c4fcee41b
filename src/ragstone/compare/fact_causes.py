"""Why a sample fails, without a judge: from where its facts stand in the chunks and from the words of its answer.

A fact that no retrieved chunk has was cut in two if a chunk ends or begins in the middle of it, or if two chunks joined
have it; was lost if all chunks that should be retrieved are there, or if no chunk of the whole store has it; else its chunk
is missing. A wrong answer is traced by its numbers; one that has no wrong number was seen by nobody to read the fact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from ragstone.compare.cases import Case
from ragstone.compare.findings import (
    HALLUCINATED,
    IGNORED,
    LOST,
    LOW,
    MISREAD,
    MISSING,
    NOISE,
    OWN,
    REFUSED,
    SPLIT,
    WRONG,
    Cause,
    Finding,
    Outcome,
)
from ragstone.compare.refusing import declines
from ragstone.compare.store import Store
from ragstone.compare.wording import foreign_numbers, numbers, seems_right
from ragstone.text.words import FoldedText

# A chunk among the first few is not ranked too low, whatever the answer makes of it.
FIRST_FEW = 3
# Fewer words at the edge of a chunk are no sign that a fact was cut there.
_LEAST_WORDS_AT_EDGE = 4

Found = tuple[Cause, Sequence[int], str]


def decide_facts(case: Case, store: Store | None, nothing_to_go_by: str) -> Outcome:
    """What facts and wording show about a sample."""
    sample = case.sample
    if sample.answerable is False:
        return Outcome(sample.id, tuple(_invented(case)), seen_by="facts")
    if not sample.facts or not case.has("fact_ranks"):
        return Outcome(sample.id, undecided=nothing_to_go_by)
    lost = list(trace_facts(case, store))
    right = _seems_right(case)
    findings = lost if right is None else [*lost, *_trace_answer(case, right, len(lost))]
    return Outcome(sample.id, tuple(findings), seen_by="facts", seems_right=None if lost else right)


def trace_facts(case: Case, store: Store | None) -> Iterator[Finding]:
    """What became of each fact that no retrieved chunk has."""
    facts, ranks = case.sample.facts or [], case.evidence.get("fact_ranks") or []
    for number, (fact, rank) in enumerate(zip(facts, ranks, strict=False), start=1):
        if rank is None:
            cause, chunks, why = _lost(case, fact.text, store)
            yield Finding(cause, "fact", number, fact.text, tuple(chunks), why)


def _lost(case: Case, fact: str, store: Store | None) -> Found:
    texts = [chunk.text for chunk in case.sample.contexts or ()]
    if store and (where := store.find(fact)):
        cause, why = where
        return cause, _cut_by(fact, texts), why
    if cut := _cut_by(fact, texts):
        return SPLIT, cut, _cut_words(cut)
    if texts and _all_expected_are_there(case):
        return LOST, (), "all chunks that should be retrieved are there, and none of them has it"
    return MISSING, (), "no retrieved chunk has it" if texts else "nothing was retrieved"


def _cut_by(fact: str, texts: Sequence[str]) -> tuple[int, ...]:
    """The two chunks that have a fact when they are joined, or the one that ends or begins in the middle of it."""
    words = FoldedText(fact).folded.split()
    folded = [FoldedText(text).folded.split() for text in texts]
    ends = {rank: size for rank, chunk in enumerate(folded, 1) if 0 < (size := _common(chunk, words)) < len(words)}
    begins = {rank: size for rank, chunk in enumerate(folded, 1) if 0 < (size := _common(words, chunk)) < len(words)}
    for first, second in permutations({*ends, *begins}, 2):
        if ends.get(first, 0) + begins.get(second, 0) >= len(words):
            return (first, second)
    least = min(_LEAST_WORDS_AT_EDGE, len(words) // 2 + 1)
    edges = {rank: max(ends.get(rank, 0), begins.get(rank, 0)) for rank in {*ends, *begins}}
    longest = max(edges, key=lambda rank: edges[rank], default=None)
    return (longest,) if longest is not None and edges[longest] >= least else ()


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    """How many words at the end of one text are those at the beginning of the other."""
    most = min(len(before), len(after))
    return next((size for size in range(most, 0, -1) if list(before[-size:]) == list(after[:size])), 0)


def _cut_words(cut: Sequence[int]) -> str:
    if len(cut) == 1:
        return f"chunk {cut[0]} has only a part of it, at its edge"
    return f"it begins in chunk {cut[0]} and ends in chunk {cut[1]}"


def _all_expected_are_there(case: Case) -> bool:
    """Whether every chunk that should be retrieved was, by id or else by text."""
    sample = case.sample
    wanted = {name for name, grade in (sample.relevance or {}).items() if grade > 0}
    if wanted:
        return wanted <= {chunk.id for chunk in sample.contexts or ()}
    texts = [FoldedText(chunk.text) for chunk in sample.contexts or ()]
    expected = [FoldedText(text) for text in sample.reference_contexts or ()]
    return bool(expected) and all(any(text.find(wish) for text in texts) for wish in expected)


def _seems_right(case: Case) -> bool | None:
    sample = case.sample
    if sample.answer is None or not sample.references:
        return None
    return not declines(case) and seems_right(sample.answer, sample.references)


def _trace_answer(case: Case, right: bool, missing: int) -> Iterator[Finding]:
    """What the answer makes of the facts; where some were not retrieved, a wrong answer is no wonder."""
    ranks, answer = case.evidence["fact_ranks"], case.sample.answer or ""
    if right:
        if missing == len(ranks):
            yield Finding(OWN, "answer", 1, answer, (), "it has the words of a reference, but no chunk has the facts")
    elif missing:
        strange = _strange_numbers(case)
        if strange and not _chunks_with(case, strange):
            why = f"{_listed(strange)} {'stands' if len(strange) == 1 else 'stand'} in no chunk"
            yield Finding(HALLUCINATED, "answer", 1, answer, (), why)
    else:
        for number, (fact, rank) in enumerate(zip(case.sample.facts or (), ranks, strict=True), 1):
            cause, chunks, why = _unused(case, rank)
            yield Finding(cause, "fact", number, fact.text, tuple(chunks), why)


def _unused(case: Case, rank: int) -> Found:
    """Why an answer that seems wrong does not have a fact that stands in a chunk."""
    if declines(case):
        return REFUSED, (rank,), f"chunk {rank} has it, the answer declines"
    strange = _strange_numbers(case)
    origins = _chunks_with(case, strange)
    if strange and not origins:
        return HALLUCINATED, (rank,), f"chunk {rank} has it; the answer has {_listed(strange)}, which no chunk has"
    if strange and rank not in origins:
        return NOISE, (*origins,), f"chunk {rank} has it; the answer has {_listed(strange)} from chunk {origins[0]}"
    if strange:
        return MISREAD, (rank,), f"the answer has {_listed(strange)}, which chunk {rank} says of something else"
    if rank > FIRST_FEW:
        return LOW, (rank,), f"it first stands in chunk {rank}, and the answer does without"
    if numbers(" ".join(case.sample.references or ())) - numbers(case.sample.answer or ""):
        return IGNORED, (rank,), f"chunk {rank} has it, the answer leaves its numbers out"
    return WRONG, (rank,), f"chunk {rank} has it, and the answer has few words of any reference"


def _invented(case: Case) -> Iterator[Finding]:
    answer = case.sample.answer
    if answer is not None and answer.strip() and not declines(case):
        why = "the documents do not hold the answer, and it does not decline"
        yield Finding(HALLUCINATED, "answer", 1, answer, (), why)


def _strange_numbers(case: Case) -> set[str]:
    sample = case.sample
    known = [sample.question or "", *(sample.references or ()), *(fact.text for fact in sample.facts or ())]
    return foreign_numbers(sample.answer or "", *known)


def _chunks_with(case: Case, wanted: set[str]) -> list[int]:
    return [rank for rank, chunk in enumerate(case.sample.contexts or (), 1) if wanted & numbers(chunk.text)]


def _listed(found: set[str]) -> str:
    return " and ".join(sorted(found)[:3])
