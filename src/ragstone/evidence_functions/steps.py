"""The finds of each step of an agent: needed facts, relevant chunks, and chunks that no earlier step retrieved.

A step that has `contexts` is a search, even if it found nothing. Other steps (a calculator, say) retrieve nothing by design.
Two chunks are the same if their ids and their texts are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

from ragstone.data.schema import unknown_reason
from ragstone.data.types import Chunk, Fact, FactMatch, Step
from ragstone.errors import Skip
from ragstone.evidence_functions.gains import first_match
from ragstone.registry import evidence
from ragstone.text.matchers import Matcher
from ragstone.text.words import FoldedText

# Per step and chunk of the step, the positions of the facts or relevant chunks that it contains.
StepItems = list[list[list[int]]]


class StepRelevance(TypedDict):
    """The relevant chunks that each step retrieved, and how many are relevant in total."""

    relevant_in_steps: StepItems
    relevant_total: int


@evidence
def facts_in_steps(
    steps: list[Step], facts: list[Fact], contexts: list[Chunk], fact_matches: list[FactMatch], matcher: Matcher
) -> StepItems:
    """The positions of the facts that each chunk of each step contains.

    Chunks that are among the contexts are matched already; only the others are searched.
    """
    _refuse_unknown([chunk for step in steps for chunk in step.contexts or ()])
    by_text: dict[str, set[int]] = {chunk.text: set() for chunk in contexts}
    for match in fact_matches:
        by_text[contexts[match.chunk].text].add(match.fact)
    texts = dict.fromkeys(chunk.text for step in steps for chunk in step.contexts or ())
    rest = [text for text in texts if text not in by_text]
    by_text |= {text: set() for text in rest}
    for found in matcher.find([fact.text for fact in facts], rest) if rest else ():
        by_text[rest[found.chunk]].add(found.fact)
    return [[sorted(by_text[chunk.text]) for chunk in step.contexts or ()] for step in steps]


@evidence(yields=("relevant_in_steps", "relevant_total"), either=("relevance", "reference_contexts"))
def relevance_of_steps(
    steps: list[Step], relevance: dict[str, float] | None, reference_contexts: list[str] | None
) -> StepRelevance:
    """The relevant chunks in each step, by the rules of `retrieval_judgements`: by id, otherwise by text.

    A chunk that a step retrieved twice counts once.
    """
    chunks = [chunk for step in steps for chunk in step.contexts or ()]
    if relevance and all(chunk.id is not None for chunk in chunks):
        wanted = sorted(name for name, grade in relevance.items() if grade > 0)
        position = {name: number for number, name in enumerate(wanted)}
        ids = (dict.fromkeys(str(chunk.id) for chunk in step.contexts or ()) for step in steps)
        found = [[[position[name]] if name in position else [] for name in names] for names in ids]
        return {"relevant_in_steps": found, "relevant_total": len(wanted)}
    if not reference_contexts:
        raise Skip("a chunk of a step has no id")
    _refuse_unknown(chunks)
    references = [text for text in dict.fromkeys(_fold(reference_contexts)) if text.strip()]
    if not references:
        raise Skip("the reference contexts contain no words")
    if chunks and not any(text.strip() for text in _fold(chunk.text for chunk in chunks)):
        raise Skip("the retrieved chunks contain no words")
    by_text = [_by_text([chunk.text for chunk in step.contexts or ()], references) for step in steps]
    return {"relevant_in_steps": by_text, "relevant_total": len(references)}


def _refuse_unknown(chunks: Sequence[Chunk]) -> None:
    if unknown := sum(bool(chunk.unknown) for chunk in chunks):
        raise Skip(unknown_reason(unknown, len(chunks)))


def _by_text(texts: Iterable[str], references: Sequence[str]) -> list[list[int]]:
    """The references that each distinct text matches; a reference counts for the first text only."""
    folded = [text if text.strip() else "" for text in dict.fromkeys(_fold(texts))]
    found: list[list[int]] = [[] for _ in folded]
    for number, reference in enumerate(references):
        if rank := first_match(folded, reference):
            found[rank - 1].append(number)
    return found


def _fold(texts: Iterable[str]) -> list[str]:
    return [FoldedText(text).folded for text in texts]


def is_search(step: Step) -> bool:
    """Whether a step retrieves: it has a list of chunks, which may be empty."""
    return step.contexts is not None


def new_chunks(steps: Iterable[Step]) -> list[int]:
    """How many chunks of each step no earlier step retrieved."""
    seen: set[tuple[str | None, str]] = set()
    counts = []
    for step in steps:
        before = len(seen)
        seen.update((chunk.id, chunk.text) for chunk in step.contexts or ())
        counts.append(len(seen) - before)
    return counts


def first_finds(items: StepItems) -> dict[int, int]:
    """For each fact or relevant chunk that was found, the position of the step that found it first."""
    first: dict[int, int] = {}
    for number, chunks in enumerate(items):
        for chunk in chunks:
            for item in chunk:
                first.setdefault(item, number)
    return first


def step_ranks(steps: Iterable[Step], contexts: Sequence[Chunk]) -> list[list[int]]:
    """For each step the positions in `contexts` of the chunks that it retrieved."""
    ranks: dict[tuple[str | None, str], list[int]] = {}
    for rank, chunk in enumerate(contexts):
        ranks.setdefault((chunk.id, chunk.text), []).append(rank)
    return [
        sorted({rank for chunk in step.contexts or () for rank in ranks.get((chunk.id, chunk.text), ())})
        for step in steps
    ]


def match_steps(steps: Sequence[Step], expected: Sequence[Step], by_query: bool = True) -> dict[int, int]:
    """The largest one-to-one match of expected steps to steps, as positions: expected to made.

    The tools must have the same name and, if the expected step has a query and `by_query`, the queries the same words.
    Expected steps with a query choose first: what is left suits the others.
    """
    free: dict[tuple[str, str | None], list[int]] = {}
    for number, step in enumerate(steps):
        for key in {(_tool(step), None), (_tool(step), _words(step.query))}:
            free.setdefault(key, []).append(number)
    chosen: dict[int, int] = {}
    taken: set[int] = set()
    keys = [(_tool(step), _words(step.query) if by_query else None) for step in expected]
    for number in sorted(range(len(keys)), key=lambda number: keys[number][1] is None):
        queue = free.get(keys[number], [])
        while queue and queue[0] in taken:
            queue.pop(0)
        if queue:
            chosen[number] = queue.pop(0)
            taken.add(chosen[number])
    return chosen


def same_call(step: Step, expected: Step, by_query: bool = True) -> bool:
    """Whether a step is the expected one."""
    query = _words(expected.query) if by_query else None
    return _tool(step) == _tool(expected) and query in (None, _words(step.query))


def _tool(step: Step) -> str:
    return step.tool.strip().casefold()


def _words(query: str | None) -> str | None:
    """The words of a query; None if it has none."""
    folded = FoldedText(query or "")
    return folded.folded if folded else None
