import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text.feedback import read_feedback

COMPLAINTS = [
    "No, I wanted something else",
    "no i meant the winter timetable",
    "That's not what I asked.",
    "That’s wrong.",
    "This is incorrect, the ferry leaves at nine",
    "It is still wrong",
    "Your answer is not helpful",
    "That doesn't answer my question",
    "you misunderstood me",
    "I asked for the price, not the time",
    "Wrong!",
    "Are you sure? The site says nine.",
    "Please try again",
    "Thanks, but that is not what I wanted.",
    "I didn't ask about dogs",
    "I don't think that's right",
    "You're wrong",
    "Nope, wrong",
    "not correct",
    "that isn't correct",
    "That was great, but I meant the other ferry",
    "Nein, ich wollte etwas anderes",
    "Das ist leider falsch.",
    "Das stimmt nicht",
    "Das ist nicht das, was ich wollte",
    "Danke, aber du hast mich falsch verstanden",
    "Non, je voulais autre chose",
    "C'est faux",
    "Ce n'est pas ce que j'ai demandé",
    "Ça ne répond pas à ma question",
    "No, quería otra cosa",
    "Eso no es correcto",
    "Eso está mal",
    "No es lo que pedí",
    "不对，我要的是冬季时刻表",
    "这不是我想要的",
    "答非所问",
]
THANKS = [
    "Thanks!",
    "thank you, and what does a child pay?",
    "Perfect",
    "Great, that's clear now.",
    "That helps.",
    "this is exactly what I needed",
    "Danke, und wann fährt die nächste?",
    "Vielen Dank!",
    "Perfekt.",
    "Merci beaucoup",
    "Parfait !",
    "¡Muchas gracias!",
    "Perfecto",
    "谢谢！",
    "太好了",
]
NEITHER = [
    "",
    "And in winter?",
    "When does the next ferry leave?",
    "Which parts of this form are wrong?",
    "What is the wrong side of the pier?",
    "No",
    "No thanks",
    "Is there something else I should know about dogs?",
    "What happens if the answer is incorrectly filed?",
    "What happens if it is wrong?",
    "It is not right to park here, is it?",
    "C'est faux que les chiens voyagent ?",
    "How do I thank the captain?",
    "I asked my doctor, he was not there. Where is the pharmacy?",
    "Welche Unterlagen sind falsch ausgefüllt worden?",
    "Wann fährt die Fähre nicht?",
    "Quels documents faut-il ?",
    "¿Cuánto paga un niño?",
    "儿童票多少钱？",
    "Great Britain: which ports are served?",
]


@pytest.mark.parametrize("text", COMPLAINTS)
def test_complaints(text):
    found = read_feedback(text)
    assert found is not None
    assert found.kind == "complaint"
    assert found.words


@pytest.mark.parametrize("text", THANKS)
def test_thanks(text):
    found = read_feedback(text)
    assert found is not None
    assert found.kind == "thanks"


@pytest.mark.parametrize("text", NEITHER)
def test_a_new_question_says_nothing_about_the_answer(text):
    assert read_feedback(text) is None


def test_only_the_beginning_is_looked_at():
    assert read_feedback("Tell me about the pier. " * 20 + "That's wrong.") is None


@given(st.text())
def test_any_text_can_be_read(text):
    found = read_feedback(text)
    assert found is None or found.kind in ("thanks", "complaint")
