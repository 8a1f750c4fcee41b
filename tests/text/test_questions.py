"""Questions that are the same, and answers that need their question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.text.questions import complete, is_fragment, question_key


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Où est le café ?", "Ou\u0300 est le cafe\u0301 ?", True),
        ("Where is it?", " where  is\tIT", True),
        ("Wo ist die Straße?", "WO IST DIE STRASSE?", True),
        ("船在哪里？", "船在哪里", True),
        ("Ready?!", "ready...", True),
        ("?", "…", True),
        ("What is C++?", "What is C#?", False),
        ("What is 2²?", "What is 22?", False),
        ("The fare of 1.5 kg?", "The fare of 15 kg?", False),
        ("Où est le café ?", "Ou est le cafe ?", False),
    ],
)
def test_same_question(one, other, same):
    assert (question_key(one) == question_key(other)) is same


@given(st.text())
def test_key_is_stable(text):
    assert question_key(question_key(text)) == question_key(text)
    assert question_key(text) == question_key(f"  {text} ?")


@pytest.mark.parametrize(
    ("text", "fragment"), [("Paris", True), ("It is Paris.", False), ("北京", True), ("a: b", False)]
)
def test_is_fragment(text, fragment):
    assert is_fragment(text) is fragment


@pytest.mark.parametrize(
    ("question", "answer", "text"),
    [("Where  is it?", "Paris.", "Where is it? Paris."), ("", "Paris.", "Paris"), ("Where?", "", "")],
)
def test_complete(question, answer, text):
    assert complete(question, answer) == text
