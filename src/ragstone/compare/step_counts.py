"""The share of each step in the metrics of agentic retrieval, for `explain` and the viewer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ragstone.compare.sample_evidence import Case
from ragstone.data.types import Step
from ragstone.errors import Skip
from ragstone.evidence.steps import first_finds, is_search, match_steps, new_chunks, same_call
from ragstone.metrics.steps import found_at, found_per_search, gains_per_search, precisions, search_use


class Shares(NamedTuple):
    """The kind of the items, what each adds to the numerator, and what it adds to the denominator."""

    kind: str
    above: list[float]
    below: list[float] | None = None


StepCount = Callable[[Case, Mapping[str, Any]], Shares]
STEP, EXPECTED = "step", "expected step"


def _per_search(values: Callable[[Case], list[float]]) -> StepCount:
    """A mean over the searches; other steps count nothing."""

    def count(case: Case, _: Mapping[str, Any]) -> Shares:
        steps = case.sample.steps or []
        found = iter(values(case))
        return Shares(STEP, [next(found) if is_search(s) else 0.0 for s in steps], [float(is_search(s)) for s in steps])

    return count


def _of_facts(count: Callable[[list[Step], list[Any]], list[int]]) -> Callable[[Case], list[float]]:
    def values(case: Case) -> list[float]:
        total = len(case.sample.facts or ())
        return [one / total for one in count(case.sample.steps or [], case.evidence["facts_in_steps"])]

    return values


def _of_relevant(count: Callable[[list[Step], list[Any]], list[int]]) -> Callable[[Case], list[float]]:
    def values(case: Case) -> list[float]:
        total = case.evidence["relevant_total"]
        return [one / total for one in count(case.sample.steps or [], case.evidence["relevant_in_steps"])]

    return values


def _precisions(name: str) -> Callable[[Case], list[float]]:
    return lambda case: precisions(case.sample.steps or [], case.evidence[name])


def _redundant(case: Case) -> list[float]:
    steps = case.sample.steps or []
    return [float(new == 0) for step, new in zip(steps, new_chunks(steps), strict=True) if is_search(step)]


def _unused(case: Case) -> list[float]:
    steps = case.sample.steps or []
    uses = search_use(steps, case.sample.contexts or [], case.evidence["answer_claims_in_contexts"])
    return [1.0 - use for step, use in zip(steps, uses, strict=True) if is_search(step)]


def _found(later: bool) -> StepCount:
    """Over the facts that were found: the number of the search, or whether it is not the first."""

    def count(case: Case, _: Mapping[str, Any]) -> Shares:
        try:
            numbers = found_at(case.sample.steps or [], case.evidence["facts_in_steps"])
        except Skip:
            numbers = {}
        facts = range(len(case.sample.facts or ()))
        above = [float(numbers.get(fact, 1) > 1) if later else float(numbers.get(fact, 0)) for fact in facts]
        return Shares("fact", above, [float(fact in numbers) for fact in facts])

    return count


def _calls(expected: bool) -> StepCount:
    def count(case: Case, settings: Mapping[str, Any]) -> Shares:
        made, wanted = case.sample.steps or [], case.sample.expected_steps or []
        matched = match_steps(made, wanted, settings.get("by", "query") == "query")
        if expected:
            return Shares(EXPECTED, [float(number in matched) for number in range(len(wanted))])
        taken = set(matched.values())
        return Shares(STEP, [float(number in taken) for number in range(len(made))])

    return count


def _sequence(case: Case, settings: Mapping[str, Any]) -> Shares:
    made, wanted = case.sample.steps or [], case.sample.expected_steps or []
    by_query = settings.get("by", "query") == "query"
    right = [n < len(made) and same_call(made[n], step, by_query) for n, step in enumerate(wanted)]
    return Shares(EXPECTED, [float(one) for one in right])


STEP_COUNTS: dict[str, tuple[StepCount, ...]] = {
    "steps.fact_recall": (_per_search(_of_facts(found_per_search)),),
    "steps.fact_precision": (_per_search(_precisions("facts_in_steps")),),
    "steps.fact_gain": (_per_search(_of_facts(gains_per_search)),),
    "steps.first_found": (_found(later=False),),
    "steps.found_later": (_found(later=True),),
    "steps.recall": (_per_search(_of_relevant(found_per_search)),),
    "steps.precision": (_per_search(_precisions("relevant_in_steps")),),
    "steps.gain": (_per_search(_of_relevant(gains_per_search)),),
    "steps.redundant": (_per_search(_redundant),),
    "steps.unused": (_per_search(_unused),),
    "steps.tool_precision": (_calls(expected=False),),
    "steps.tool_recall": (_calls(expected=True),),
    "steps.tool_f1": (_calls(expected=False), _calls(expected=True)),
    "steps.tool_sequence": (_sequence,),
}


class StepView(NamedTuple):
    """A step for people: its number, tool and query, its chunks and how many of them are new, and what it found first."""

    number: int
    tool: str
    query: str | None
    # None if the step does not retrieve.
    chunks: int | None
    new: int
    # Numbers of the facts, from 1, that no earlier step found; None if the run did not look for facts.
    facts: list[int] | None
    seconds: float | None
    # Whether it is expected; None if the data does not say.
    expected: bool | None

    @property
    def label(self) -> str:
        """`search: opening hours`."""
        return f"{self.tool}: {self.query}" if self.query else self.tool


def describe_steps(case: Case) -> list[StepView]:
    """The steps of a sample in order."""
    steps, wanted = case.sample.steps or [], case.sample.expected_steps
    first = first_finds(case.evidence["facts_in_steps"]) if case.has("facts_in_steps") else None
    taken = set(match_steps(steps, wanted).values()) if wanted else None
    return [
        StepView(
            number=number + 1,
            tool=step.tool,
            query=step.query,
            chunks=None if step.contexts is None else len(step.contexts),
            new=new,
            facts=None if first is None else sorted(fact + 1 for fact, at in first.items() if at == number),
            seconds=step.seconds,
            expected=None if taken is None else number in taken,
        )
        for number, (step, new) in enumerate(zip(steps, new_chunks(steps), strict=True))
    ]


def missed_calls(case: Case) -> list[str]:
    """The expected steps that were not made, as `tool: query`."""
    steps, wanted = case.sample.steps, case.sample.expected_steps or []
    if steps is None:
        return []
    made = match_steps(steps, wanted)
    return [call_text(step) for number, step in enumerate(wanted) if number not in made]


def call_text(step: Step) -> str:
    """`search: opening hours`."""
    return f"{step.tool}: {step.query}" if step.query else step.tool
