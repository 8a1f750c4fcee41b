from ragstone.data.types import Chunk, Turn
from ragstone.evidence_functions.conversation import carried_words, history_text

TURNS = [
    Turn("system", "Answer from documents."),
    Turn("user", "What does it cost?"),
    Turn("assistant", "12 euros.", [Chunk("Adults pay 12 euros."), Chunk("Open daily.")]),
    Turn("tool", "[]"),
]


def test_turns_and_their_chunks_are_one_text():
    assert history_text(TURNS) == "What does it cost?\n12 euros.\nAdults pay 12 euros.\nOpen daily."


def test_chunks_that_were_retrieved_again_are_left_out():
    assert history_text(TURNS, [Chunk(" Open daily. ")]) == "What does it cost?\n12 euros.\nAdults pay 12 euros."
    assert history_text([]) == ""


def test_carried_words_are_those_that_the_question_lacks():
    assert carried_words("And for children?", "What does the museum cost for children?") == ["cost", "museum"]
    assert carried_words("Why?", "Why?") == []
    assert carried_words("And for my son?", "Where can I get a ticket for my son?") == ["ticket"]
    assert carried_words("And tomorrow?", "Can you tell me if we may use our bikes tomorrow?") == ["bike"]
