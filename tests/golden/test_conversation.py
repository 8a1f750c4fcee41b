"""Metrics of conversations on a dialogue of our own, computed by hand."""

import pytest

import ragstone
from ragstone.data.types import Chunk, Turn
from ragstone.errors import Skip
from ragstone.metrics.conversation import context_carryover, conversation_completeness, question_rewriting
from ragstone.metrics.ragas import faithfulness as ragas_faithfulness
from ragstone.metrics.ragchecker import faithfulness, hallucination, self_knowledge
from tests.metrics.claims import matrix, verdicts

# "What does admission to the harbour museum cost?" and "And for children?" become
# "What does admission to the harbour museum cost? And for children?", which adds these five stems less `children`.
WORDS = ["admiss", "cost", "harbour", "museum"]
MUSEUM = Chunk("Children enter the harbour museum free.")
FERRY = Chunk("Children ride the ferry free.")


@pytest.mark.parametrize(
    ("answer", "contexts", "in_contexts", "in_history", "expected"),
    [
        # `harbour` and `museum` are in the chunk that supports the claim.
        ("Children enter free.", [MUSEUM], matrix("e"), verdicts("n"), 2 / 4),
        # The answer has `museum`, the chunk supports nothing.
        ("The museum is free for children.", [FERRY], matrix("n"), verdicts("n"), 1 / 4),
        # Off the subject: no word of the conversation.
        ("Children ride free.", [MUSEUM, FERRY], matrix("ne"), verdicts("n"), 0.0),
        # A claim rests on the earlier turns.
        ("Adults pay 12 euros.", [FERRY], matrix("n"), verdicts("e"), 1.0),
        # Nothing was retrieved.
        ("Admission to the museum costs nothing.", [], matrix(""), verdicts("n"), 3 / 4),
    ],
)
def test_context_carryover(answer, contexts, in_contexts, in_history, expected):
    assert context_carryover(WORDS, answer, contexts, in_contexts, in_history) == pytest.approx(expected)


def test_carryover_is_skipped_if_nothing_is_carried_or_claimed():
    with pytest.raises(Skip, match="does not depend"):
        context_carryover([], "a", [], matrix(""), verdicts("n"))
    with pytest.raises(Skip, match="no claims"):
        context_carryover(WORDS, "a", [], [], [])


@pytest.mark.parametrize(
    ("completed", "rewritten", "expected"),
    [
        # admission, cost, children; admission, cost, children
        ("What does admission cost? And for children?", "admission cost for children", 1.0),
        # 2 common words; 3 and 2 words: 2 · 2 / (3 + 2)
        ("What does admission cost for children?", "admission children", 4 / 5),
        # 1 common word; 3 and 2 words: 2 · 1 / (3 + 2)
        ("What does admission cost for children?", "children ferry", 2 / 5),
        ("What does admission cost for children?", "ferry", 0.0),
    ],
)
def test_question_rewriting(completed, rewritten, expected):
    assert question_rewriting(completed, rewritten) == pytest.approx(expected)


def test_conversation_completeness():
    history = [
        Turn("user", "a"),
        Turn("assistant", "12 euros."),
        Turn("user", "b"),
        Turn("assistant", "I could not find that in the documents."),
        Turn("user", "c"),
    ]
    # Of four questions the first and the last are answered; the second is declined, the third has no reply.
    assert conversation_completeness("At nine.", history) == 2 / 4
    assert conversation_completeness("", history) == 1 / 4


def test_claims_may_rest_on_earlier_turns():
    # Four claims: in a chunk, in the turns, in both, in neither. The reference has the second and the fourth.
    chunks, turns, right = matrix("en", "nn", "ne", "nn"), verdicts("neen"), verdicts("nene")
    assert faithfulness(chunks, turns) == 3 / 4
    assert faithfulness(chunks, None) == 2 / 4
    assert hallucination(right, chunks, turns) == 0.0
    assert self_knowledge(right, chunks, turns) == 1 / 4
    assert self_knowledge(right, chunks, None) == 2 / 4
    assert ragas_faithfulness(verdicts("enen"), turns) == 3 / 4


def test_given_evidence_is_used_as_it_is():
    row = {
        "question": "And for children?",
        "standalone_question": "What does the museum cost for children?",
        "rewritten_question": "museum children",
        "history": [{"role": "user", "text": "What does the museum cost?"}],
        "answer": "Nothing.",
        "contexts": ["Children enter free."],
        "answer_claims": ["Children pay nothing at the museum.", "Adults pay 12 euros."],
        "answer_claims_in_contexts": [["entailment"], ["neutral"]],
        "answer_claims_in_history": ["neutral", "neutral"],
    }
    metrics = ["question_rewriting", "context_carryover", "ragchecker.faithfulness", "conversation_completeness"]
    run = ragstone.evaluate([row], metrics=metrics, judge="local")
    scores = {row.metric: row.mean for row in run.summary()}
    assert scores == {
        "question_rewriting": 4 / 5,
        "context_carryover": 0.0,
        "ragchecker.faithfulness": 1 / 2,
        "conversation_completeness": 1 / 2,
    }
    assert run.info["evidence"] == []
