"""A user's system is asked all questions, each outcome is reported, and a quote makes no call."""

import pytest

from ragstone.engine.ask_system import Asked, ask_system, describe_system, quote_system

QUESTIONS = [Asked(f"q{number}", f"question {number}") for number in range(5)]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))


class Echo:
    """A system that repeats the question and fails for one of them."""

    def __init__(self):
        self.calls = 0

    def __call__(self, question):
        self.calls += 1
        if question.endswith("3"):
            raise ValueError("no answer to this")
        return f"answer to {question}"


def test_outcomes_are_in_the_order_of_the_questions():
    progress, outcomes = [], []
    asking = ask_system(Echo(), QUESTIONS, progress=progress.append, told=outcomes.append, version="1")
    assert [outcome.asked.id for outcome in asking.outcomes] == [question.id for question in QUESTIONS]
    assert [outcome.asked.id for outcome in asking.failures] == ["q3"]
    assert "no answer to this" in asking.failures[0].error
    assert asking.outcomes[1].answer.text == "answer to question 1"
    assert len(outcomes) == 5
    assert [(step.done, step.total) for step in progress] == [(done, 5) for done in range(6)]


def test_a_quote_asks_nothing():
    system = Echo()
    quote = quote_system(system, QUESTIONS, version="1")
    assert (system.calls, quote.questions) == (0, 5)
    assert quote.system == describe_system(system, version="1")[0]


def test_a_quote_for_no_questions_is_empty():
    quote = quote_system(Echo(), [], version="1")
    assert (quote.questions, quote.calls, quote.seconds) == (0, 0.0, 0.0)
