"""Agentic retrieval: what each search of an agent found, which steps added nothing, and whether it called the expected tools.

A search is a step with a list of chunks, which may be empty. Searches are counted from 1; steps that do not retrieve are not
searches. Per-search metrics average the searches of a row, then the rows.
"""

from __future__ import annotations

from typing import Any, Literal

from ragstone.data.share import Items, Share
from ragstone.data.types import Chunk, Fact, Step
from ragstone.errors import Skip
from ragstone.evidence_functions.claims import NO_ANSWER_CLAIMS, Matrix, supports
from ragstone.evidence_functions.steps import (
    StepItems,
    first_finds,
    is_search,
    match_steps,
    new_chunks,
    same_call,
    step_ranks,
)
from ragstone.registry import metric

_NO_SEARCH = "no step retrieves"
_STEP, _EXPECTED = "step", "expected step"
_SPLIT = "A fact cut in two by the splitter is found in neither chunk."
_ADAPTED = "per-search form of recall and precision"
_FACTS: dict[str, Any] = {"judges": "steps", "against": "facts", "source": f"{_ADAPTED}, by DIAL's facts"}
_CHUNKS: dict[str, Any] = {"judges": "steps", "against": "relevance", "source": _ADAPTED}
_CALLS: dict[str, Any] = {
    "judges": "steps",
    "against": "expected_steps",
    "source": "multiset form of tool-call matching; ragas ToolCallF1 and ToolCallAccuracy differ (docs/systems/ragas.md)",
}
_ONE_WAY = "A good agent may reach the answer with other calls than those expected."


@metric("steps.fact_recall", **_FACTS, misleads=f"{_SPLIT} Searches for different facts cannot all have all facts.")
def fact_recall(steps: list[Step], facts: list[Fact], facts_in_steps: StepItems) -> float:
    """Share of the needed facts that one search finds on average.

    Mean over the searches of facts in its chunks / facts. Skipped if no step retrieves.
    """
    return _per_search(steps, [share / len(facts) for share in found_per_search(steps, facts_in_steps)])


@metric("steps.fact_precision", **_FACTS, misleads=f"{_SPLIT} A useful chunk whose fact is not listed counts as noise.")
def fact_precision(steps: list[Step], facts_in_steps: StepItems) -> float:
    """Share of the chunks of a search that contain a needed fact, on average.

    Mean over the searches of chunks with a fact / chunks; 0 for a search that found nothing. Skipped if no step retrieves.
    """
    return _per_search(steps, precisions(steps, facts_in_steps))


@metric("steps.fact_gain", **_FACTS, misleads="Each further search lowers it, even one that is needed.")
def fact_gain(steps: list[Step], facts: list[Fact], facts_in_steps: StepItems) -> float:
    """Share of the needed facts that one search adds to those of earlier searches, on average.

    Mean over the searches of facts found for the first time / facts. Skipped if no step retrieves.
    """
    return _per_search(steps, [gain / len(facts) for gain in gains_per_search(steps, facts_in_steps)])


@metric(
    "steps.first_found",
    **_FACTS,
    bounds=(1.0, None),
    better="lower",
    misleads="Facts that no search finds do not count: read it with `fact_recall`.",
)
def first_found(steps: list[Step], facts_in_steps: StepItems) -> float:
    """The search that finds a fact first, on average over the facts that are found.

    Mean of the number, from 1, of that search. Skipped if no step retrieves or no fact is found.
    """
    numbers = found_at(steps, facts_in_steps)
    return _over_found(numbers, [float(number) for number in numbers])


@metric(
    "steps.found_later", **_FACTS, better="none", misleads="High: later searches are needed, or the first one is poor."
)
def found_later(steps: list[Step], facts_in_steps: StepItems) -> float:
    """Share of the found facts that the first search misses and a later one finds.

    Facts found first by search 2 or later / facts found. Skipped if no step retrieves or no fact is found.
    """
    numbers = found_at(steps, facts_in_steps)
    return _over_found(numbers, [float(number > 1) for number in numbers])


@metric("steps.recall", **_CHUNKS, misleads="Searches for different chunks cannot all have all relevant chunks.")
def recall(steps: list[Step], relevant_in_steps: StepItems, relevant_total: int) -> float:
    """Share of the relevant chunks that one search finds on average.

    Mean over the searches of relevant chunks found / relevant chunks, by id or otherwise by reference contexts. Skipped if
    nothing is relevant or no step retrieves.
    """
    wanted = _wanted(relevant_total)
    return _per_search(steps, [share / wanted for share in found_per_search(steps, relevant_in_steps)])


@metric("steps.precision", **_CHUNKS, misleads="Unjudged chunks count as noise.")
def precision(steps: list[Step], relevant_in_steps: StepItems, relevant_total: int) -> float:
    """Share of the chunks of a search that are relevant, on average.

    Mean over the searches of relevant chunks / chunks; 0 for a search that found nothing. Skipped if nothing is relevant or
    no step retrieves.
    """
    _wanted(relevant_total)
    return _per_search(steps, precisions(steps, relevant_in_steps))


@metric("steps.gain", **_CHUNKS, misleads="Each further search lowers it, even one that is needed.")
def gain(steps: list[Step], relevant_in_steps: StepItems, relevant_total: int) -> float:
    """Share of the relevant chunks that one search adds to those of earlier searches, on average.

    Mean over the searches of relevant chunks found for the first time / relevant chunks. Skipped if nothing is relevant or
    no step retrieves.
    """
    wanted = _wanted(relevant_total)
    return _per_search(steps, [new / wanted for new in gains_per_search(steps, relevant_in_steps)])


@metric(
    "steps.redundant",
    judges="steps",
    against="steps",
    better="lower",
    source="share of searches without new chunks",
    misleads="A search that confirms an earlier one may be intended.",
)
def redundant(steps: list[Step]) -> float:
    """Share of the searches that retrieve nothing new.

    Searches whose chunks earlier searches retrieved, or that found nothing / searches. Two chunks are the same if their ids
    and texts are equal. Skipped if no step retrieves.
    """
    new_ones = zip(steps, new_chunks(steps), strict=True)
    return _per_search(steps, [float(new == 0) for step, new in new_ones if is_search(step)])


@metric(
    "steps.unused",
    judges="steps",
    against="answer",
    better="lower",
    source="claim verdicts of RAGChecker, per search",
    misleads="The judge may be wrong. A search that shows where to look next supports no claim itself.",
    by_id=True,
)
def unused(steps: list[Step], contexts: list[Chunk], answer_claims_in_contexts: Matrix) -> float:
    """Share of the searches of which the answer uses nothing.

    Searches none of whose chunks entails a claim of the answer / searches. A chunk that is not among the contexts is not
    used. Skipped if no step retrieves or the answer makes no
    claims.
    """
    if not answer_claims_in_contexts:
        raise Skip(NO_ANSWER_CLAIMS)
    uses = search_use(steps, contexts, answer_claims_in_contexts)
    return _per_search(steps, [1.0 - use for step, use in zip(steps, uses, strict=True) if is_search(step)])


@metric(
    "steps.count",
    judges="steps",
    against="steps",
    bounds=(0.0, None),
    better="none",
    source="number of tool calls",
    misleads="Hard questions need more steps.",
)
def count(steps: list[Step]) -> float:
    """Number of steps on the way to the answer: searches and other calls of tools."""
    return float(len(steps))


By = Literal["query", "tool"]


@metric("steps.tool_precision", **_CALLS, misleads=_ONE_WAY)
def tool_precision(steps: list[Step], expected_steps: list[Step], by: By = "query") -> Share:
    """Share of the calls that are expected.

    Matched calls / calls; each call matches at most one expected call. A call matches if the tool has the expected name and,
    if the expected call has a query, the query has the same words (`by=tool`: names only). No calls: 0.
    """
    taken = set(match_steps(steps, expected_steps, by == "query").values())
    return Share.of(_STEP, [at in taken for at in range(len(steps))]) if steps else Share(0.0, Items(_STEP, ()))


@metric("steps.tool_recall", **_CALLS, misleads=_ONE_WAY)
def tool_recall(steps: list[Step], expected_steps: list[Step], by: By = "query") -> Share:
    """Share of the expected calls that are made.

    Matched calls / expected calls, matched as in `steps.tool_precision`.
    """
    matched = match_steps(steps, expected_steps, by == "query")
    return Share.of(_EXPECTED, [at in matched for at in range(len(expected_steps))])


@metric("steps.tool_f1", **_CALLS, misleads=_ONE_WAY)
def tool_f1(steps: list[Step], expected_steps: list[Step], by: By = "query") -> float:
    """Balance of the share of calls that are expected and of expected calls that are made.

    2 × matched calls / (calls + expected calls): the harmonic mean of both shares. The order does not matter.
    """
    exact, complete = tool_precision(steps, expected_steps, by), tool_recall(steps, expected_steps, by)
    matched = len(complete.counts[0].above)
    return Share(2 * matched / (len(steps) + len(expected_steps)), *exact.counts, *complete.counts)


@metric("steps.tool_sequence", **_CALLS, misleads=f"{_ONE_WAY} One additional call gives 0.")
def tool_sequence(steps: list[Step], expected_steps: list[Step], by: By = "query") -> float:
    """Whether exactly the expected calls are made in the expected order.

    1 if both lists have the same length and each call matches the expected one at its position, otherwise 0.
    """
    made = len(steps)
    right = [at < made and same_call(steps[at], step, by == "query") for at, step in enumerate(expected_steps)]
    return Share(float(made == len(expected_steps) and all(right)), Items.counted(_EXPECTED, right))


def found_per_search(steps: list[Step], items: StepItems) -> list[int]:
    """How many of the wanted items each search finds."""
    return [len({item for chunk in chunks for item in chunk}) for chunks in _searches(steps, items)]


def gains_per_search(steps: list[Step], items: StepItems) -> list[int]:
    """How many of the wanted items each search finds for the first time."""
    searches = _searches(steps, items)
    gains = [0] * len(searches)
    for number in first_finds(searches).values():
        gains[number] += 1
    return gains


def precisions(steps: list[Step], items: StepItems) -> list[float]:
    """For each search the share of its chunks with a wanted item."""
    return [sum(map(bool, chunks)) / len(chunks) if chunks else 0.0 for chunks in _searches(steps, items)]


def found_at(steps: list[Step], items: StepItems) -> list[int]:
    """The number of the search, from 1, that finds each item first; 0 for an item that no search finds."""
    searches = _searches(steps, items)
    if not searches:
        raise Skip(_NO_SEARCH)
    first = first_finds(searches)
    return [first[item] + 1 if item in first else 0 for item in range(max(first, default=-1) + 1)]


def search_use(steps: list[Step], contexts: list[Chunk], answer_matrix: Matrix) -> list[float]:
    """For each step how far its chunks support the claim of the answer that they support best."""
    columns = [max(supports(column)) for column in zip(*answer_matrix, strict=True)]
    ranks = step_ranks(steps, contexts)
    return [max((columns[rank] for rank in found if rank < len(columns)), default=0.0) for found in ranks]


def _searches(steps: list[Step], items: StepItems) -> StepItems:
    return [chunks for step, chunks in zip(steps, items, strict=True) if is_search(step)]


def _wanted(total: int) -> int:
    if not total:
        raise Skip("no grade in relevance is above 0")
    return total


def _per_search(steps: list[Step], values: list[float]) -> Share:
    """The mean over the searches; other steps do not count."""
    if not values:
        raise Skip(_NO_SEARCH)
    added, searches = iter(values), [float(is_search(step)) for step in steps]
    return Share.of(_STEP, [next(added) if search else 0.0 for search in searches], searches)


def _over_found(numbers: list[int], values: list[float]) -> Share:
    """The mean over the facts that were found."""
    if not numbers:
        raise Skip("no search found a fact")
    return Share.of("fact", values, [float(number > 0) for number in numbers])
