from ragstone.analysis.causes import find_causes
from ragstone.analysis.explain import count_items
from ragstone.analysis.sample_evidence import Case, earlier_turns, standalone_question, turn_behind
from ragstone.data.types import Chunk, Claim, Sample, Turn

TURNS = [
    Turn("user", "What does the museum cost?"),
    Turn("assistant", "See the list.", [Chunk("Adults pay 12 euros.")]),
    Turn("user", "Is it open on Sundays?"),
]
SAMPLE = Sample("c#2", "And for children?", "Free. Adults pay 12 euros.", [Chunk("Free for children.")], history=TURNS)
EVIDENCE = {
    "answer_claims": [Claim("Children enter free."), Claim("Adults pay 12 euros.")],
    "answer_claims_in_contexts": [["entailment"], ["neutral"]],
    "answer_claims_in_history": ["neutral", "entailment"],
    "standalone_question": "What does the museum cost for children?",
}
CASE = Case(SAMPLE, EVIDENCE)


def test_a_claim_rests_on_the_turn_with_its_words():
    assert [turn_behind(CASE, number) for number in (1, 2, 3)] == [None, 2, None]
    assert [(turn.number, turn.role, turn.chunks, turn.claims) for turn in earlier_turns(CASE)] == [
        (1, "user", 0, ()),
        (2, "assistant", 1, (2,)),
        (3, "user", 0, ()),
    ]
    assert earlier_turns(Case(Sample("1"), {})) == []


def test_a_question_that_was_not_changed_is_not_shown_twice():
    assert standalone_question(CASE) == "What does the museum cost for children?"
    assert standalone_question(Case(SAMPLE, {"standalone_question": SAMPLE.question})) is None


def test_scores_are_explained_by_claims_words_and_questions():
    def counted(metric):
        [count] = count_items(metric, CASE, {})
        return count.above, len(count.below)

    assert counted("ragchecker.faithfulness") == ((1, 2), 2)
    assert counted("conversation_completeness") == ((1, 3), 3)
    assert counted("context_carryover") == ((1, 2), 2)


def test_a_claim_of_the_conversation_is_not_made_up():
    assert find_causes(CASE).cause is None
    wrong = {**EVIDENCE, "answer_claims_in_reference": ["entailment", "neutral"]}
    [finding] = find_causes(Case(SAMPLE, wrong)).findings
    assert finding.why == "earlier turns support it, the reference does not"
    without = {**wrong, "answer_claims_in_history": ["neutral", "neutral"]}
    assert find_causes(Case(SAMPLE, without)).cause is not None
