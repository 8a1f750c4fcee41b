import pytest

from ragstone.text.questions import complete_follow_up, is_follow_up


@pytest.mark.parametrize(
    "question",
    [
        "And for children?",
        "What about Sundays?",
        "How old is it?",
        "Who founded them?",
        "How do I get there?",
        "Why?",
        "Und für Kinder?",
        "Wie alt ist er?",
        "how much is the ticket for it",
        "为什么？",
        "Does that ship sail in February?",
        "What do I have to pay for that month?",
    ],
)
def test_questions_that_need_a_conversation(question):
    assert is_follow_up(question)


@pytest.mark.parametrize(
    "question",
    [
        "What does admission to the harbour museum cost?",
        "When does the museum open and when does it close?",
        "Is there a discount for students at the museum?",
        "What is the capital of France and its population?",
        "Wann öffnet das Museum am Sonntag?",
        "Do the rules of the ferry say that dogs travel free?",
        "什么时候可以参观港口博物馆的展览？",
    ],
)
def test_questions_that_stand_alone(question):
    assert not is_follow_up(question)
    assert complete_follow_up(question, ["What else?"]) == question


def test_a_follow_up_is_joined_to_the_last_question_that_stands_alone():
    earlier = ["Where is the town hall of Aldmoor?", "What does the harbour museum cost?", "And for children?"]
    assert complete_follow_up("And on  Sundays?", earlier) == (
        "What does the harbour museum cost? And for children? And on Sundays?"
    )
    assert complete_follow_up("And on Sundays?", ["And for children?"]) == "And for children? And on Sundays?"
    assert complete_follow_up("And on Sundays?", []) == "And on Sundays?"
