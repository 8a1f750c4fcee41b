"""Claims and facts with the sentences of the chunks."""

import pytest

from ragstone.analysis.causes import find_causes
from ragstone.analysis.sample_evidence import Case
from ragstone.data.types import Chunk, Claim, Fact, FactMatch, Sample
from ragstone.data.verdict import Verdict
from ragstone.web.evidence_links import EvidenceLinks, label_of

FIRST = "The harbour is old. The ferry leaves from pier 7 at night. Dogs are welcome."
SECOND = "A return ticket costs 28 euros on weekdays. The crew is kind."
YES, NO, SILENT = "entailment", "contradiction", "neutral"


def links(facts=(), matches=None, chunks=(FIRST, SECOND), **evidence):
    sample = Sample("a", "q", "an answer", [Chunk(text) for text in chunks], facts=[Fact(text) for text in facts])
    if matches is not None:
        evidence["fact_matches"] = matches
        evidence["fact_ranks"] = [next((m.chunk + 1 for m in matches if m.fact == n), None) for n in range(len(facts))]
    case = Case(sample, evidence)
    return EvidenceLinks(case, find_causes(case), 20_000)


@pytest.fixture
def judged():
    return links(
        answer_claims=[
            Claim("The ferry leaves from pier 7."),
            Claim("A return ticket costs 48 euros."),
            Claim("Cats are banned."),
        ],
        answer_claims_in_contexts=[
            [Verdict(YES, 0.96, 0.01, counted=0.9), SILENT],
            [SILENT, Verdict(NO, 0.02, 0.95, counted=0.1)],
            [Verdict("unsure", 0.5, 0.1), SILENT],
        ],
    )


def test_the_nearest_sentence_is_called_nearest(judged):
    [quote] = judged.quotes("answer-1")
    assert quote["text"] == "The ferry leaves from pier 7 at night."
    assert (quote["rank"], quote["state"], quote["probability"], quote["exact"]) == (1, "supported", 0.96, False)
    [quote] = judged.quotes("answer-2")
    assert (quote["text"], quote["tone"], quote["probability"]) == (
        "A return ticket costs 28 euros on weekdays.",
        "bad",
        0.95,
    )


def test_a_sentence_that_states_the_claim_is_exact():
    found = links(answer_claims=[Claim("Dogs are welcome.")], answer_claims_in_contexts=[[YES, SILENT]])
    assert found.quotes("answer-1")[0]["exact"]


def test_a_claim_without_a_near_sentence_leads_to_the_chunk(judged):
    assert judged.quotes("answer-3") == []
    assert judged.matrix()["rows"][2]["cells"][0]["address"] == "#chunk-1"


def test_the_matrix_has_a_state_per_claim_and_chunk(judged):
    matrix = judged.matrix()
    assert matrix["ranks"] == [1, 2]
    states = [[(cell["state"], cell["probability"]) for cell in row["cells"]] for row in matrix["rows"]]
    assert states == [
        [("supported", 0.96), ("not stated", None)],
        [("not stated", None), ("contradicted", 0.95)],
        [("unsure", 0.5), ("not stated", None)],
    ]
    assert matrix["rows"][0]["cells"][0]["address"] == "#at-1-answer-1"


def test_pieces_are_the_whole_chunk_with_keys(judged):
    pieces = judged.pieces(1)
    assert "".join(piece["text"] for piece in pieces) == FIRST
    assert [piece["text"] for piece in pieces if "answer-1" in piece["keys"]] == [
        "The ferry leaves from pier 7 at night."
    ]
    assert [link.key for link in judged.in_chunk(2)] == ["answer-2"]


def test_a_claim_that_no_chunk_states_has_its_nearest_sentence():
    found = links(answer_claims=[Claim("The crew is very kind to dogs.")], answer_claims_in_contexts=[[SILENT, SILENT]])
    [quote] = found.quotes("answer-1")
    assert (quote["text"], quote["state"], quote["tone"]) == ("The crew is kind.", "not stated", "silent")
    assert found.in_chunk(2) == []


def test_facts_are_exact_and_split_facts_show_their_parts():
    start = FIRST.index("Dogs")
    found = links(["Dogs are welcome", "not there at all"], [FactMatch(0, 0, start, start + 16, 1.0, "m")])
    assert found.quotes("fact-1")[0] | {"address": ""} == {
        "rank": 1, "state": "contained", "tone": "good", "sign": "✓", "exact": True, "probability": None,
        "text": "Dogs are welcome", "address": "",
    }  # fmt: skip
    assert found.matrix()["rows"][1]["cells"][0]["state"] == "not found"
    split = links(
        ["the old stone pier is four hundred metres long"],
        [],
        ("See the old stone pier is", "four hundred metres long. End."),
    )
    assert [(quote["rank"], quote["text"]) for quote in split.quotes("fact-1")] == [
        (1, "the old stone pier is"),
        (2, "four hundred metres long"),
    ]


def test_labels_are_short():
    assert [label_of(key) for key in ("answer-1", "reference-12", "fact-3")] == ["A1", "R12", "F3"]
