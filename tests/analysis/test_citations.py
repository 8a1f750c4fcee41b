"""What each claim cites, in words."""

import pytest

from ragstone.analysis.explain import count_items
from ragstone.analysis.sample_evidence import Case, citation_texts, cited_claims
from ragstone.data.types import Chunk, CitedPart, Claim, Sample
from tests.metrics.claims import matrix, verdicts

ANSWER = "It opens [1]."


def case(row, together="n", cited=((0,),), joint=None):
    citations = [CitedPart(9, 12, 0, len(ANSWER), list(one), "[1]") for one in cited]
    evidence = {
        "answer_claims": [Claim("It opens.")],
        "answer_claims_in_contexts": matrix(row) if isinstance(row, str) else [row],
        "answer_claims_in_all_contexts": verdicts(together),
        "answer_citations": citations,
        "claim_citations": [list(range(len(citations)))],
    }
    return Case(Sample("1", answer=ANSWER, contexts=[Chunk("x")] * 3), evidence)


@pytest.mark.parametrize(
    ("given", "tone", "words"),
    [
        (case("enn"), "good", "cites chunk 1"),
        (case("enn", cited=((0,), (1,))), "good", "cites chunks 1 and 2, chunk 2 needlessly"),
        (case("enn", cited=((0, 1),)), "good", "cites chunks 1 and 2"),
        (case("nnn", "e", cited=((0,), (1,))), "good", "cites chunks 1 and 2, which support it together"),
        (case("nee"), "bad", "cites chunk 1, but chunks 2 and 3 support it"),
        (case("nnn"), "bad", "cites chunk 1; no chunk supports it"),
        (case(["unsure", "neutral", "neutral"]), "unsure", "cites chunk 1, which may support it"),
        (case("nen", cited=((),)), "bad", "cites [1], which was not retrieved, but chunk 2 supports it"),
        (case("enn", cited=()), "silent", "cites nothing"),
    ],
)
def test_the_citations_of_a_claim(given, tone, words):
    [found] = cited_claims(given)
    assert (found.tone, found.words) == (tone, words)


def test_a_run_without_citations_has_none():
    assert cited_claims(Case(Sample("1"))) == []
    assert citation_texts(Case(Sample("1"))) == []
    assert count_items("citation_recall", Case(Sample("1")), {}) == []


def test_the_items_of_each_score():
    sample = case("nen", cited=((0,), (1,), ()))
    assert count_items("citation_recall", sample, {})[0].parts == ((1, 1.0, 1.0),)
    assert count_items("citation_precision", sample, {})[0].value == pytest.approx(1 / 3)
    assert count_items("unresolved_citations", sample, {})[0].above == (3,)
    assert count_items("uncited_claims", sample, {})[0].value == 0.0
    assert count_items("wrongly_cited_claims", case("nen"), {})[0].above == (1,)
    assert count_items("citation_precision", case("nen", cited=()), {})[0].value == 0.0
    assert citation_texts(sample) == ["[1] (chunk 1)", "[1] (chunk 2)", "[1] (not retrieved)"]
