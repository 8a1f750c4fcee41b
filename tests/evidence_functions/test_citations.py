"""Which claims cite which chunks, and how far these support them."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.types import Chunk, Citation, CitedPart, Claim
from ragstone.data.verdict import Verdict
from ragstone.errors import Skip
from ragstone.evidence_functions.citations import answer_citations, cited_support, claim_citations
from ragstone.evidence_functions.claims import answer_claims, reference_claims_in_answer
from ragstone.tools.local_judges import LocalExtractor
from tests.metrics.claims import matrix, verdicts
from tests.tools.checking import Stub

CHUNKS = [Chunk("one", "a"), Chunk("two", "b", source="handbook.pdf"), Chunk("three", "c", source="handbook.pdf")]


def cited(answer, *claims, citations=None):
    found = answer_citations(answer, CHUNKS, citations)
    each = claim_citations(answer, [Claim(claim) for claim in claims], found)
    return [[found[one].chunks for one in some] for some in each]


def test_a_claim_has_the_citations_of_its_sentence():
    answer = "The harbour opens at nine [1]. The ferry leaves at ten. The pier is long.[2]"
    claims = ("The harbour opens at nine.", "The ferry leaves at ten.", "The pier is long.")
    assert cited(answer, *claims) == [[[0]], [], [[1]]]


def test_a_sentence_with_several_citations_is_divided():
    answer = "The Arden harbour opens at nine [1] and closes at five [2]."
    claims = ("The Arden harbour opens at nine.", "The Arden harbour closes at five.")
    assert cited(answer, *claims) == [[[0]], [[1]]]
    assert cited(answer, "The Arden harbour opens at nine and closes at five.") == [[[0], [1]]]


def test_a_source_of_several_chunks():
    assert cited("The harbour opens at nine [handbook.pdf].", "The harbour opens at nine.") == [[[1, 2]]]


def test_what_is_not_in_the_answer_cites_nothing():
    assert cited("The harbour opens at nine [1].", "Bread is cheap.") == [[]]
    assert cited("The harbour opens at nine.", "The harbour opens at nine.") == [[]]


def test_given_citations():
    answer = "The harbour opens at nine. The ferry leaves at ten [1]."
    claims = ("The harbour opens at nine.", "The ferry leaves at ten.")
    assert cited(answer, *claims, citations=[]) == [[], []]
    assert cited(answer, *claims, citations=[Citation("b", 0, 26)]) == [[[1]], []]
    assert cited(answer, *claims, citations=[Citation("3", text="leaves at ten")]) == [[], [[2]]]
    assert cited(answer, *claims, citations=[Citation("lost")]) == [[[]], [[]]]
    assert cited(answer, *claims, citations=[Citation("a", text="never said")]) == [[[0]], [[0]]]
    with pytest.raises(Skip, match="no answer"):
        answer_citations(None, CHUNKS, [])


def test_claims_and_verdicts_are_made_without_marks():
    class Checker(Stub):
        async def in_text(self, question, claims, text):
            return [text] * len(claims)

    answer = "The harbour opens at nine [1], it closes at five.[^2]\n\n[^2]: handbook.pdf"
    claims = asyncio.run(answer_claims("When?", answer, LocalExtractor()))
    assert not any("[" in claim.text for claim in claims)
    [read] = asyncio.run(reference_claims_in_answer("When?", [Claim("x")], answer, Checker()))
    assert read == "The harbour opens at nine, it closes at five."


def part(*chunks):
    return CitedPart(0, 1, 0, 1, list(chunks))


def test_support_of_claims_and_citations():
    found = cited_support(matrix("en", "ne", "nn"), verdicts("eee"), [part(0), part(1), part()], [[0], [0, 1], [0, 2]])
    assert found.claims == [1.0, 1.0, 0.0]
    assert found.citations == [1.0, 1.0, 0.0]
    assert found.elsewhere == [0.0, 0.0, 0.0]


def test_a_citation_is_needless_if_the_others_do_without_it():
    found = cited_support(matrix("ne"), verdicts("e"), [part(0), part(1)], [[0, 1]])
    assert found.citations == [0.0, 1.0]


def test_together_counts_only_if_no_chunk_does_it_alone():
    both = [part(0), part(1)]
    assert cited_support(matrix("nnn"), verdicts("e"), both, [[0, 1]]).citations == [1.0, 1.0]
    assert cited_support(matrix("nne"), verdicts("e"), both, [[0, 1]]) == ([0.0], [0.0, 0.0], [1.0])
    assert cited_support(matrix("nnn"), verdicts("e"), both, [[0]]).claims == [0.0]


def test_a_citation_that_belongs_to_no_claim_is_not_counted():
    assert cited_support(matrix("e"), verdicts("e"), [part(0), part(0)], [[0]]).citations == [1.0, None]


def test_probabilities_count_in_part():
    row = [Verdict("unsure", 0.5, 0.0), Verdict("entailment", 0.9, 0.0)]
    found = cited_support([row], verdicts("e"), [part(0)], [[0]])
    assert (found.claims, found.citations, found.elsewhere) == ([0.5], [0.5], [pytest.approx(0.4)])


@given(st.data())
def test_laws_of_support(data):
    claims, chunks = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 4))
    word = st.sampled_from(["entailment", "neutral", "contradiction"])
    rows = [data.draw(st.lists(word, min_size=chunks, max_size=chunks)) for _ in range(claims)]
    joint = [data.draw(word) for _ in range(claims)]
    some = st.lists(st.integers(0, chunks - 1), max_size=2, unique=True) if chunks else st.just([])
    citations = [part(*data.draw(some)) for _ in range(data.draw(st.integers(0, 4)))]
    numbers = st.lists(st.integers(0, len(citations) - 1), unique=True) if citations else st.just([])
    each = [data.draw(numbers) for _ in range(claims)]
    found = cited_support(rows, joint, citations, each)
    for number, own in enumerate(each):
        assert found.claims[number] == 0.0 or own, "without citations nothing is supported"
        assert not (found.claims[number] and found.elsewhere[number])
        # A claim is supported exactly if one of its citations is right or needed.
        assert found.claims[number] <= max((found.citations[one] for one in own), default=0.0)
    for number, value in enumerate(found.citations):
        assert (value is None) == all(number not in own for own in each)
        assert citations[number].chunks or not value
