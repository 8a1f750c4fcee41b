"""What holds for the causes of any verdicts: nothing is left out or counted twice, and the metrics count the same claims."""

from hypothesis import given
from hypothesis import strategies as st

from ragstone.analysis.causes import find_causes
from ragstone.analysis.explain import count_items
from tests.analysis.making import claim_case

LETTERS = st.sampled_from("yn.")


@st.composite
def cases(draw):
    chunks = draw(st.integers(0, 6))

    def some(claims):
        return "".join(draw(st.lists(LETTERS, min_size=claims, max_size=claims)))

    def words(claims):
        return " ".join(some(chunks) for _ in range(claims))

    wanted, told = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    return claim_case(some(wanted), words(wanted), some(told), words(told))


def of_kind(outcome, kind, *causes):
    return [one.number for one in outcome.findings if one.kind == kind and (not causes or one.cause.name in causes)]


@given(cases())
def test_each_reference_claim_that_is_not_said_has_one_cause(case):
    unsaid = [
        number for number, word in enumerate(case.verdicts("reference_claims_in_answer"), 1) if word != "entailment"
    ]
    outcome = find_causes(case)
    assert of_kind(outcome, "reference claim") == unsaid
    assert sum(outcome.tally.values()) == len(case.claims("reference"))


@given(cases())
def test_answer_claims_are_divided_as_the_metrics_divide_them(case):
    outcome = find_causes(case)
    counted = {
        name: [number for count in count_items(f"ragchecker.{name}", case, {}) for number in count.above]
        for name in (
            "hallucination",
            "self_knowledge",
            "noise_sensitivity_in_relevant",
            "noise_sensitivity_in_irrelevant",
        )
    }
    noise = sorted(counted["noise_sensitivity_in_relevant"] + counted["noise_sensitivity_in_irrelevant"])
    hallucinated, misread = (of_kind(outcome, "answer claim", kind) for kind in ("hallucinated", "misread"))
    from_chunks = of_kind(outcome, "answer claim", "wrong passage used", "beyond the reference")
    # A misread claim counts as hallucinated or as noise, depending on whether a chunk supports it.
    assert sorted({*hallucinated, *misread, *from_chunks}) == sorted({*counted["hallucination"], *noise})
    assert set(hallucinated) <= set(counted["hallucination"])
    assert set(from_chunks) <= set(noise)
    assert of_kind(outcome, "answer claim", "right, but not from the chunks") == counted["self_knowledge"]


@given(cases())
def test_chunks_that_show_it_are_there(case):
    outcome = find_causes(case)
    ranks = range(1, len(case.sample.contexts) + 1)
    assert all(rank in ranks for one in outcome.findings for rank in one.chunks)
    assert all(one.why for one in outcome.findings)
    assert (outcome.cause is None) == (not outcome.failures)


_MISSING = ("missing chunk", "nothing retrieved")


@given(cases(), st.booleans())
def test_a_refusal_leaves_the_retrievers_faults(case, evades):
    """Whether the answer declines does not change what the retriever missed."""
    case.evidence["declining_words"] = ["I do not know"] if evades else []
    missing = [
        number
        for number, (word, row) in enumerate(
            zip(case.verdicts("reference_claims_in_answer"), case.matrix("reference_claims_in_contexts"), strict=True),
            1,
        )
        if word == "neutral" and "entailment" not in row
    ]
    outcome = find_causes(case)
    found = [number for cause in _MISSING for number in of_kind(outcome, "reference claim", cause)]
    assert set(missing) <= set(found)
