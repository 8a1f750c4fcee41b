from dataclasses import replace

import pytest

from ragstone.analysis.causes import find_causes
from ragstone.data.types import Chunk, Step
from tests.analysis.making import claim_case, fact_case

FIRST, SECOND = "Inception was directed by Christopher Nolan", "Christopher Nolan was born in London"
OTHER = Chunk("Ferries leave at nine.", "o")


def causes(case, steps):
    outcome = find_causes(replace(case, sample=replace(case.sample, steps=steps)))
    return [(one.cause.name, one.text, one.why) for one in outcome.findings if one.kind in ("fact", "reference claim")]


def two_hops():
    return fact_case([FIRST, SECOND], [Chunk(f"{FIRST}.")], "Paris.", ["London."])


@pytest.mark.parametrize(
    ("queries", "cause", "why"),
    [
        (["director of Inception"], "never searched for", "the query of the only step does not ask for it"),
        (["director of Inception", "Inception cast"], "never searched for", "none of the 2 queries asks for it"),
        (["director of Inception", "Christopher Nolan birthplace"], "searched and missed", "step 2 asks for it"),
        (["Where was Christopher Nolan born?"] * 2, "searched and missed", "steps 1 and 2 ask for it"),
        ([None, "cast"], "missing chunk", "no retrieved chunk contains it"),
    ],
)
def test_a_missing_fact_was_searched_for_or_not(queries, cause, why):
    ((name, text, reason),) = causes(two_hops(), [Step("search", query, [OTHER]) for query in queries])
    assert (name, text) == (cause, SECOND)
    assert reason.startswith(why)


def test_rows_without_steps_keep_their_causes():
    assert [name for name, *_ in causes(two_hops(), None)] == ["missing chunk"]


def test_no_search_at_all():
    case = fact_case([SECOND], [], "Paris.", ["London."])
    assert causes(case, []) == [("never searched for", SECOND, "there was no search")]


def test_contexts_without_steps_stay_undecided():
    case = fact_case([SECOND], [OTHER], "Paris.", ["London."])
    assert [name for name, *_ in causes(case, [])] == ["missing chunk"]


def test_the_question_asks_for_the_only_fact():
    case = fact_case(["It opens at nine"], [OTHER], "Late.", ["Nine."], question="When does the harbour open?")
    steps = [Step("search", "harbour opening", [OTHER])]
    assert [name for name, *_ in causes(case, steps)] == ["searched and missed"]


def test_a_chunk_that_a_step_found_and_the_system_dropped():
    case = fact_case([SECOND], [OTHER], "Paris.", ["London."])
    ((name, _, why),) = causes(case, [Step("search", "x", [Chunk(f"{SECOND}.")])])
    assert name == "missing chunk"
    assert why == "step 1 retrieved it, but its chunk is not among the contexts"


def test_claims_of_the_reference():
    case = claim_case(said="..", found=". .", right="", founded="")
    claims = [replace(claim, text=text) for claim, text in zip(case.claims("reference"), (FIRST, SECOND), strict=True)]
    case = replace(case, evidence={**case.evidence, "reference_claims": claims})
    found = causes(case, [Step("search", "Who directed Inception?", [OTHER])])
    assert [(name, text) for name, text, _ in found] == [("searched and missed", FIRST), ("never searched for", SECOND)]
