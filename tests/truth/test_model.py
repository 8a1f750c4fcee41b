from dataclasses import replace

from ragstone.data.types import Chunk, Fact
from ragstone.truth.model import Case, TruthFact, cases_from_table, cases_to_table

CASE = Case(
    id="q1",
    question="How deep is the harbour?",
    references=["12 metres"],
    facts=[
        TruthFact("The basin is 12 metres deep", source="guide.pdf"),
        TruthFact("It was dredged in 1998", provenance="judge", standing="proposed", confidence=0.8),
        TruthFact("It is 9 metres deep", standing="rejected", note="an older edition"),
    ],
    documents=["guide.pdf"],
    passages=[Chunk("The basin is 12 metres deep.", id="p1", source="guide.pdf")],
    relevance={"p1": 2.0},
    answerable=True,
    weight=3.5,
    metadata={"language": "en", "turns": 2},
)


def test_cases_come_back_from_their_table_as_they_went_in():
    bare = Case(id="q2", question="And the pier?")
    assert cases_from_table(cases_to_table([CASE, bare])) == [CASE, bare]
    assert cases_from_table(cases_to_table([])) == []


def test_only_accepted_facts_are_scored_against():
    sample = CASE.as_sample()
    assert sample.facts == [Fact("The basin is 12 metres deep", "citation", "guide.pdf")]
    assert sample.answer is None
    assert sample.contexts is None
    assert sample.metadata == {"language": "en", "turns": 2, "weight": 3.5}
    assert Case(id="q2", question="?").as_sample().facts is None


def test_references_that_are_only_proposed_are_not_scored_against():
    assert CASE.as_sample().references == ["12 metres"]
    proposed = replace(CASE, standing="proposed")
    assert proposed.as_sample().references is None
    assert cases_from_table(cases_to_table([proposed])) == [proposed]


def test_nothing_that_a_model_made_counts_before_it_is_accepted():
    made = Case("q", "Who?", answerable=False, provenance="synthetic", standing="proposed")
    assert made.has_proposed_answer
    assert made.as_sample().answerable is None
    assert replace(made, standing="rejected").as_sample().answerable is None
    assert replace(made, standing="accepted").as_sample().answerable is False
    answered = replace(made, answerable=True, references=["Ada"], reference_contexts=["Ada is."], relevance={"p": 1.0})
    sample = answered.as_sample()
    assert (sample.answerable, sample.reference_contexts, sample.relevance) == (None, None, None)
    sample = replace(answered, facts=[TruthFact("Ada is")]).as_sample()
    assert (sample.answerable, sample.reference_contexts, sample.references) == (True, ["Ada is."], None)


def test_what_a_person_wrote_counts_while_the_answer_is_proposed():
    sample = replace(CASE, facts=[], standing="proposed").as_sample()
    assert (sample.answerable, sample.relevance, sample.references) == (True, {"p1": 2.0}, None)
